//! Fashion-MNIST: images and labels in IDX files.
//!
//! ```text
//! 0 0 type dimensions   size of every dimension, 4 bytes each   values, the last dimension fastest
//! ```
//!
//! Sizes are big-endian; type 8 is unsigned bytes.

use std::path::{Path, PathBuf};

use ndarray::Array3;

use super::{Error, FileBytes, Result, gzip, named, search_dirs};

/// Images of 28 × 28 pixels and their classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Images {
    /// Image × row × column; 0 is the background.
    pub pixels: Array3<u8>,
    /// Classes from 0 to 9.
    pub labels: Vec<u8>,
}

/// The published splits of Fashion-MNIST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MnistSplit {
    /// 60,000 images.
    Train,
    /// 10,000 images.
    T10k,
}

const SIDE: usize = 28;
const CLASSES: u8 = 10;

/// Reads a split of Fashion-MNIST from the first of the [`search_dirs`] that has it.
///
/// ```
/// use windlass_paper::data::{self, MnistSplit};
///
/// match data::fashion_mnist(MnistSplit::T10k) {
///     Ok(images) => assert_eq!(images.pixels.dim(), (10_000, 28, 28)),
///     Err(error) => assert!(matches!(error, data::Error::Absent { .. })),
/// }
/// ```
pub fn fashion_mnist(split: MnistSplit) -> Result<Images> {
    fashion_mnist_from(split, &search_dirs())
}

/// Reads a split of Fashion-MNIST from the first of these directories that has it.
pub fn fashion_mnist_from(split: MnistSplit, folders: &[PathBuf]) -> Result<Images> {
    let set = named("fashion_mnist")?;
    let (first, count) = match split {
        MnistSplit::Train => (0, 60_000),
        MnistSplit::T10k => (2, 10_000),
    };
    let read = |place: usize| {
        let file = &set.files[place];
        file.read(set.path(file, folders)?)
    };
    let (images, labels) = (read(first)?, read(first + 1)?);
    let pixels = values(&images, "images", &[count, SIDE, SIDE])?;
    let classes = values(&labels, "labels", &[count])?;
    if let Some(class) = classes.iter().find(|&&class| class >= CLASSES) {
        return Err(not_idx(&labels.path, "labels", format!("there is no class {class}")));
    }
    images.verify()?;
    labels.verify()?;
    let pixels = Array3::from_shape_vec((count, SIDE, SIDE), pixels);
    Ok(Images { pixels: pixels.expect("the number of values was checked"), labels: classes })
}

/// The values of a gzipped IDX file of unsigned bytes with these dimensions.
fn values(contents: &FileBytes, expected: &'static str, dims: &[usize]) -> Result<Vec<u8>> {
    const UNSIGNED_BYTES: u8 = 8;
    let refused = |why: String| not_idx(&contents.path, expected, why);
    let mut bytes = gzip::decompress(contents)?;
    let header = 4 + 4 * dims.len();
    if bytes.len() < header {
        return Err(refused(format!("it ends after {} bytes of its header", bytes.len())));
    }
    let magic = &bytes[..4];
    if magic[..3] != [0, 0, UNSIGNED_BYTES] || usize::from(magic[3]) != dims.len() {
        return Err(refused(format!("it begins with {magic:?}")));
    }
    let sizes = bytes[4..header].chunks_exact(4);
    let sizes: Vec<u32> =
        sizes.map(|size| size.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte))).collect();
    if !sizes.iter().zip(dims).all(|(&size, &want)| size as usize == want) {
        return Err(refused(format!("its dimensions are {sizes:?}, expected {dims:?}")));
    }
    let (found, want) = (bytes.len() - header, dims.iter().product::<usize>());
    if found != want {
        return Err(refused(format!("it has {found} values, expected {want}")));
    }
    bytes.drain(..header);
    Ok(bytes)
}

fn not_idx(path: &Path, expected: &'static str, why: String) -> Error {
    Error::NotIdx { path: path.to_owned(), expected, why }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{FileBytes, values};

    fn said_of(bytes: &[u8], dims: &[usize]) -> Result<Vec<u8>, String> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        let bytes = packed.finish().unwrap();
        let contents = FileBytes { path: "f.gz".into(), bytes, sha256: "" };
        values(&contents, "labels", dims).map_err(|error| error.to_string())
    }

    #[test]
    fn headers_are_checked() {
        let refused = |why: &str| Err(format!("`f.gz` is not an idx file of labels: {why}"));
        let good = [0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9];
        assert_eq!(said_of(&good, &[3]), Ok(vec![7, 8, 9]));
        assert_eq!(said_of(&good[..7], &[3]), refused("it ends after 7 bytes of its header"));
        assert_eq!(said_of(&good[..10], &[3]), refused("it has 2 values, expected 3"));
        assert_eq!(said_of(&good, &[4]), refused("its dimensions are [3], expected [4]"));
        assert_eq!(
            said_of(&[0, 0, 9, 1, 0, 0, 0, 0], &[0]),
            refused("it begins with [0, 0, 9, 1]")
        );
        assert_eq!(
            said_of(&[0, 0, 8, 3, 0, 0, 0, 3], &[3]),
            refused("it begins with [0, 0, 8, 3]")
        );
        let huge = [0, 0, 8, 1, 255, 255, 255, 255, 1];
        assert_eq!(said_of(&huge, &[1]), refused("its dimensions are [4294967295], expected [1]"));
    }
}
