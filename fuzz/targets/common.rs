//! Some bytes as a file: it is read and augmented, or refused; never anything else.

use windlass_table::{AugmentConfig, Augmentation, ReadOptions, Table};

/// Opens a file of these bytes and makes a copy of every row, with its last column as target.
pub fn read_anything(bytes: &[u8], ending: &str) {
    let path = std::env::temp_dir().join(format!("windlass-fuzz-{}.{ending}", std::process::id()));
    std::fs::write(&path, bytes).expect("a temporary file");
    let options = ReadOptions { memory: 64 << 20, ..ReadOptions::default() };
    if let Ok(table) = Table::open(&[path], &options)
        && let Some(last) = table.schema().fields().last()
    {
        let settings = AugmentConfig { provenance: true, ..AugmentConfig::new(&[last.name()]) };
        if let Ok(augmentation) = Augmentation::fit(&table, &settings, options.memory, &()) {
            let _ = augmentation.write(&(), None, &mut |_, _| Ok(()));
        }
    }
}
