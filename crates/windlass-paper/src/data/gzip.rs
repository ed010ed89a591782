//! Compressed files.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::{Error, FileBytes, Result};

/// No file of the registry is larger when it is unpacked; damage must not fill the memory.
const LARGEST: u64 = 64 << 20;

/// What a compressed file holds.
pub(super) fn unpacked(contents: &FileBytes) -> Result<Vec<u8>> {
    let refused = |why: String| Error::NotGzip { path: contents.path.clone(), why };
    let mut bytes = Vec::new();
    MultiGzDecoder::new(&contents.bytes[..])
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(error.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(refused(format!("it holds more than {LARGEST} bytes")));
    }
    Ok(bytes)
}
