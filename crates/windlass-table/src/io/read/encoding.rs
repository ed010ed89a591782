//! Text encodings: everything but UTF-8 is converted as it is read.

use std::io::{self, Read};

/// The encoding of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16; a byte order mark decides the byte order.
    Utf16,
    /// Windows-1252, which has the characters of Latin-1 and some more.
    Latin1,
}

/// The characters of the bytes 0x80 to 0x9f; unassigned bytes are control characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl Encoding {
    /// The encoding of the bytes of a reader: that of its byte order mark, otherwise UTF-8, unless
    /// the first character that is not ASCII is not UTF-8.
    pub(super) fn detect(mut reader: impl Read) -> io::Result<Self> {
        let mut buffer = vec![0; 1 << 16];
        let mut begin = true;
        loop {
            let count = fill(&mut reader, &mut buffer)?;
            let bytes = &buffer[..count];
            if begin && (byte_order(bytes).is_some() || is_wide(bytes)) {
                return Ok(Self::Utf16);
            }
            begin = false;
            if let Some(at) = bytes.iter().position(|byte| !byte.is_ascii()) {
                let mut character = bytes[at..count.min(at + 4)].to_vec();
                let wanted = 4 - character.len() as u64;
                reader.take(wanted).read_to_end(&mut character)?;
                let is_utf8 = match std::str::from_utf8(&character) {
                    Ok(_) => true,
                    Err(error) => error.valid_up_to() > 0 || error.error_len().is_none(),
                };
                return Ok(if is_utf8 { Self::Utf8 } else { Self::Latin1 });
            }
            if count < buffer.len() {
                return Ok(Self::Utf8);
            }
        }
    }

    /// The name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16 => "UTF-16",
            Self::Latin1 => "Latin-1 (Windows-1252)",
        }
    }

    /// A reader of the same text in UTF-8.
    pub(super) fn decode(self, reader: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        match self {
            Self::Utf8 => reader,
            _ => Box::new(Decoder {
                reader,
                encoding: self,
                big_endian: None,
                rest: vec![],
                text: String::new(),
                at: 0,
                ended: false,
            }),
        }
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match reader.read(&mut buffer[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// Whether a byte order mark is big-endian; `None` without a mark.
fn byte_order(bytes: &[u8]) -> Option<bool> {
    match bytes {
        [0xfe, 0xff, ..] => Some(true),
        [0xff, 0xfe, ..] => Some(false),
        _ => None,
    }
}

/// Whether the text begins with two ASCII characters of two bytes each.
fn is_wide(bytes: &[u8]) -> bool {
    let plain = |byte: u8| byte.is_ascii() && byte != 0;
    match bytes {
        [0, a, 0, b, ..] | [a, 0, b, 0, ..] => plain(*a) && plain(*b),
        _ => false,
    }
}

struct Decoder {
    reader: Box<dyn Read + Send>,
    encoding: Encoding,
    big_endian: Option<bool>,
    /// Bytes of a character that is not complete.
    rest: Vec<u8>,
    text: String,
    /// Number of bytes of `text` that were read.
    at: usize,
    ended: bool,
}

impl Decoder {
    fn refill(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 14];
        let count = fill(&mut self.reader, &mut buffer)?;
        self.ended = count < buffer.len();
        self.text.clear();
        self.at = 0;
        if self.encoding == Encoding::Latin1 {
            self.text.extend(buffer[..count].iter().map(|&byte| match byte {
                0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
                _ => char::from(byte),
            }));
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.extend_from_slice(&buffer[..count]);
        let guess = || byte_order(&bytes).unwrap_or(bytes.first() == Some(&0));
        let big_endian = *self.big_endian.get_or_insert_with(guess);
        let unit = |pair: &[u8]| {
            let pair = [pair[0], pair[1]];
            if big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        };
        let mut complete = bytes.len() / 2 * 2;
        // Keep the first half of a surrogate pair until the second is read.
        if complete > 0 && (0xd800..0xdc00).contains(&unit(&bytes[complete - 2..complete])) {
            complete -= 2;
        }
        let bad = || io::Error::new(io::ErrorKind::InvalidData, "not UTF-16");
        for character in char::decode_utf16(bytes[..complete].chunks_exact(2).map(unit)) {
            self.text.push(character.map_err(|_| bad())?);
        }
        self.rest = bytes.split_off(complete);
        if self.ended && !self.rest.is_empty() { Err(bad()) } else { Ok(()) }
    }
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if self.ended {
                return Ok(0);
            }
            self.refill()?;
        }
        let count = buffer.len().min(self.text.len() - self.at);
        buffer[..count].copy_from_slice(&self.text.as_bytes()[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::Encoding;

    fn decoded(bytes: &[u8]) -> (Encoding, std::io::Result<String>) {
        let encoding = Encoding::detect(bytes).unwrap();
        let mut text = String::new();
        let read = encoding.decode(Box::new(std::io::Cursor::new(bytes.to_vec())));
        (encoding, { read }.read_to_string(&mut text).map(|_| text))
    }

    #[test]
    fn encodings_are_detected_and_decoded() {
        let text = "größe,€\n1.5,𝛾\n".repeat(5_000);
        let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        let with_mark = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
        let marked = |bytes: Vec<u8>| {
            let (encoding, text) = decoded(&bytes);
            (encoding, text.unwrap().trim_start_matches('\u{feff}').to_owned())
        };
        let little = with_mark(b"\xff\xfe", wide(u16::to_le_bytes));
        let big = with_mark(b"\xfe\xff", wide(u16::to_be_bytes));
        assert_eq!(marked(little), (Encoding::Utf16, text.clone()));
        assert_eq!(marked(big), (Encoding::Utf16, text.clone()));
        assert_eq!(marked(text.clone().into_bytes()), (Encoding::Utf8, text));
        let (encoding, text) = decoded(b"gr\xf6\xdfe,\x80\n1.5,2\n");
        assert_eq!((encoding, text.unwrap().as_str()), (Encoding::Latin1, "größe,€\n1.5,2\n"));
        // Without a byte order mark.
        let plain: Vec<u8> = "a,b\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let (encoding, text) = decoded(&plain);
        assert_eq!((encoding, text.unwrap().as_str()), (Encoding::Utf16, "a,b\n"));
    }

    #[test]
    fn damaged_utf_16_is_an_error() {
        for bytes in [&b"\xff\xfea"[..], b"\xff\xfea\0\0\xd8", b"\xfe\xff\xdc\0\0a"] {
            assert!(decoded(bytes).1.is_err(), "{bytes:?}");
        }
        // Two byte order marks.
        assert_eq!(decoded(b"\xff\xfe\xff\xfea\0").1.unwrap(), "\u{feff}\u{feff}a");
    }
}
