//! Files that exist under the name of an output: only those that Windlass wrote are overwritten.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::io::format::{Compression, Format};
use crate::io::read::Input;
use crate::io::read::table::file_metadata;
use crate::{Error, Result};

/// The kind of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// A table.
    Table,
    /// A model.
    Model,
    /// A fitted method, as JSON.
    Fitted,
    /// A manifest, as JSON.
    Manifest,
    /// A plot: SVG or PNG.
    Plot,
    /// A model as ONNX.
    Onnx,
    /// A model as a C header.
    CHeader,
    /// A page of HTML.
    Report,
    /// A checkpoint, which is resumed if it exists.
    Checkpoint,
}

impl OutputKind {
    /// The message for an existing file of another kind.
    fn refusal(self) -> &'static str {
        match self {
            Self::Table => "is not a table that Windlass wrote",
            Self::Model => "is not a model that Windlass wrote",
            Self::Fitted => "is not a fitted method that Windlass wrote",
            Self::Manifest => "is not a manifest that Windlass wrote",
            Self::Plot => "has no mark that Windlass drew it",
            Self::Onnx => "is not an ONNX file that Windlass wrote",
            Self::CHeader => "is not a C header that Windlass wrote",
            Self::Report => "is not a report that Windlass wrote",
            Self::Checkpoint => "is not a checkpoint",
        }
    }
}

/// Returns an error if there is a file that Windlass did not write, or of another kind.
///
/// Text files are recognized by provenance columns only. Empty files, pipes and devices are written to.
pub fn check_existing(path: &Path, kind: OutputKind) -> Result<()> {
    let Ok(metadata) = std::fs::metadata(path) else { return Ok(()) };
    if !metadata.is_file() || metadata.len() == 0 || kind == OutputKind::Checkpoint {
        return Ok(());
    }
    let why = match kind {
        OutputKind::Table if is_own_table(path)? => return Ok(()),
        OutputKind::Table if is_text(path) => "has no mark that Windlass wrote it",
        kind if is_own(path, kind)? => return Ok(()),
        kind => kind.refusal(),
    };
    Err(Error::Exists { path: path.to_owned(), why })
}

fn is_text(path: &Path) -> bool {
    Format::from_path(path).is_ok_and(|(format, _)| format.is_text())
}

fn is_own_table(path: &Path) -> Result<bool> {
    let input = Input::open(path)?;
    let compression = Compression::from_magic(&input.first_bytes(Compression::None)?);
    let Ok(first) = input.first_bytes(compression) else { return Ok(false) };
    let format = Format::from_magic(&first);
    if format.is_text() {
        // The columns of provenance are the last, but names may be long.
        let mut start = vec![];
        let Ok(reader) = input.reader(compression) else { return Ok(false) };
        let read = reader.take(1 << 16).read_to_end(&mut start);
        let header = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
        return Ok(read.is_ok() && contains(header, b"windlass_copy"));
    }
    let own = |key: &String| key.starts_with("windlass");
    Ok(file_metadata(input, format, compression).is_ok_and(|keys| keys.iter().any(own)))
}

fn is_own(path: &Path, kind: OutputKind) -> Result<bool> {
    let mut start = vec![];
    let file = File::open(path).map_err(Error::io("read", path))?;
    file.take(1 << 16).read_to_end(&mut start).map_err(Error::io("read", path))?;
    let has = |needle: &str| contains(&start, needle.as_bytes());
    Ok(match kind {
        // The header of a safetensors file follows its length.
        OutputKind::Model => start.get(8) == Some(&b'{') && has("\"windlass-model\""),
        OutputKind::Fitted => {
            start.starts_with(b"{") && has("\"version\"") && has("\"settings\"") && has("\"table\"")
        }
        OutputKind::Manifest => {
            start.starts_with(b"{") && has("\"fingerprint\"") && has("\"settings\"")
        }
        OutputKind::Plot => {
            start.starts_with(b"<svg xmlns='http://www.w3.org/2000/svg' role='img' ")
        }
        OutputKind::Onnx => contains(&start[..start.len().min(64)], b"windlass"),
        OutputKind::CHeader => start.starts_with(b"/* windlass "),
        OutputKind::Report => has("<meta name=\"generator\" content=\"windlass\">"),
        OutputKind::Table | OutputKind::Checkpoint => false,
    })
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}
