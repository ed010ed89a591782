//! Some bytes as a file: it is read and used, or refused; never anything else.
#![allow(dead_code, reason = "each target uses one function")]

use std::path::PathBuf;
use std::sync::Arc;

use windlass_table::{
    AugmentConfig, Augmentation, Fitted, Manifest, ReadOptions, Table, Verdict, VerifyOptions,
};

const MEMORY: u64 = 64 << 20;
/// A table that fitted methods and manifests of the corpus go with.
const ROWS: &str = "a,b,kind,y\n0.5,0,k0,0.25\n37.5,7,k1,1.25\n74.5,14,k2,2.25\n10.5,21,k0,3.25\n\
                    47.5,28,k1,4.25\n84.5,35,k2,5.25\n20.5,42,k0,6.25\n57.5,49,k1,7.25\n";

/// A file of these bytes that no other process writes to.
fn file(bytes: &[u8], ending: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("windlass-fuzz-{}.{ending}", std::process::id()));
    std::fs::write(&path, bytes).expect("a temporary file");
    path
}

fn options() -> ReadOptions {
    ReadOptions { memory: MEMORY, ..ReadOptions::default() }
}

/// Opens a file of these bytes and makes a copy of every row, with its last column as target.
pub fn read_anything(bytes: &[u8], ending: &str) {
    if let Ok(table) = Table::open(&[file(bytes, ending)], &options())
        && let Some(last) = table.schema().fields().last()
    {
        let settings = AugmentConfig { provenance: true, ..AugmentConfig::new(&[last.name()]) };
        if let Ok(augmentation) = Augmentation::fit(&table, &settings, MEMORY, &()) {
            let _ = augmentation.write(&(), None, &mut |_, _| Ok(()));
        }
    }
}

/// Reads a fitted method and augments a table with it.
pub fn read_fitted(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(fitted) = Fitted::from_json(text, "fitted.json".as_ref()) else { return };
    let _ = fitted.to_json();
    if fitted.settings().copies > 10 {
        return;
    }
    let table = Table::open(&[file(ROWS.as_bytes(), "fitted.csv")], &options()).expect("a table");
    if let Ok(augmentation) = Augmentation::with(&table, Arc::new(fitted), MEMORY, &()) {
        let _ = augmentation.write(&(), None, &mut |_, _| Ok(()));
    }
}

/// Reads a manifest and verifies a table by it.
pub fn read_manifest(bytes: &[u8]) {
    let Ok(manifest) = serde_json::from_slice::<Manifest>(bytes) else { return };
    let _ = manifest.to_json();
    if (11..=1_000_000).contains(&manifest.settings.copies) {
        return;
    }
    let path = file(ROWS.as_bytes(), "manifest.csv");
    let input = Table::open(std::slice::from_ref(&path), &options()).expect("a table");
    let as_text = ReadOptions { as_text: true, ..options() };
    let output = Table::open(&[path], &as_text).expect("a table");
    let manifest = Manifest {
        fingerprint: Augmentation::fit(&input, &AugmentConfig::new(&["y"]), MEMORY, &())
            .expect("a good table")
            .profile()
            .fingerprint
            .clone(),
        ..manifest
    };
    let how = VerifyOptions { manifest: Some(&manifest), ..VerifyOptions::default() };
    let _ = Verdict::verify(&output, &input, how, MEMORY, &());
}
