//! Gzipped files.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::{Error, FileBytes, Result};

/// Limit for decompressed files, above all of the registry.
const MAX_BYTES: u64 = 64 << 20;

/// Decompresses a file.
pub(super) fn decompress(contents: &FileBytes) -> Result<Vec<u8>> {
    let refused = |why: String| Error::NotGzip { path: contents.path.clone(), why };
    let mut bytes = Vec::new();
    MultiGzDecoder::new(&contents.bytes[..])
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refused(format!("it holds more than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}
