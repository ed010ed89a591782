//! Checks of a Parquet file before it is decoded.
//!
//! The `parquet` crate recurses into nested columns, trusts the schema of the footer for what the
//! pages hold, and decompresses a page of any size. So this reads the few fields that matter, in
//! Thrift's compact protocol.

use parquet::file::reader::{ChunkReader as _, Length as _};

use super::file::FileCursor;

/// Maximum depth of nested columns.
const MAX_DEPTH: usize = 64;
const MAGIC: &[u8] = b"PAR1";
/// Smaller pages are not counted.
const LARGE_PAGE: u64 = 8 << 20;

/// The reason for which a file is rejected.
pub(super) enum ParquetRefusal {
    Damaged(String),
    /// Pages that need this many bytes at the same time are too large.
    LargePages(u64),
}

impl From<String> for ParquetRefusal {
    fn from(why: String) -> Self {
        Self::Damaged(why)
    }
}

impl From<&str> for ParquetRefusal {
    fn from(why: &str) -> Self {
        Self::Damaged(why.to_owned())
    }
}

/// Checks the footer and the sizes of pages. A file without a footer is left to the decoder.
pub(super) fn check(file: &FileCursor, memory: u64) -> Result<(), ParquetRefusal> {
    let length = file.len();
    let bytes = |start, length| {
        file.get_bytes(start, length).map_err(|error| ParquetRefusal::Damaged(error.to_string()))
    };
    let Some(end) = length.checked_sub(8) else { return Ok(()) };
    let tail = bytes(end, 8)?;
    let footer = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let Some(start) = end.checked_sub(footer.into()).filter(|_| &tail[4..] == MAGIC) else {
        return Ok(());
    };
    let footer = bytes(start, footer as usize)?;
    let footer = Footer::read(&footer)?;
    footer.check_schema()?;
    let mut largest = vec![0_u64; footer.leaves()?.len()];
    for chunk in footer.chunks.iter().flatten().filter(|chunk| chunk.codec != 0) {
        let page = largest_page(file, chunk, start)?;
        if page > memory / 4 {
            return Err(ParquetRefusal::LargePages(page));
        }
        let column = &mut largest[chunk.column];
        *column = page.max(*column);
    }
    let needs = largest.into_iter().filter(|&page| page > LARGE_PAGE).sum();
    if needs > memory {
        return Err(ParquetRefusal::LargePages(needs));
    }
    Ok(())
}

/// The decompressed size of the largest page of a column chunk.
fn largest_page(file: &FileCursor, chunk: &Chunk<'_>, end: u64) -> Result<u64, ParquetRefusal> {
    /// A header is longer only if it has long statistics.
    const HEADER: u64 = 256;
    const MAX_HEADER: u64 = 16 << 20;
    let offset = |offset: i64| u64::try_from(offset).ok().filter(|&offset| offset < end);
    let first = chunk.dictionary_page.filter(|&page| page > 0 && page < chunk.data_page);
    let mut at = offset(first.unwrap_or(chunk.data_page)).ok_or("a page is outside of the file")?;
    let size = u64::try_from(chunk.compressed).map_err(|_| "a column has a negative size")?;
    let last = at.saturating_add(size).min(end);
    let mut largest = 0;
    while at < last {
        let mut wanted = HEADER.min(end - at);
        let (page, header) = loop {
            let length = usize::try_from(wanted).map_err(|_| "a page header is too long")?;
            let bytes = file.get_bytes(at, length).map_err(|error| error.to_string())?;
            let mut input = Compact { bytes: &bytes, at: 0 };
            match Page::read(&mut input) {
                Ok(page) => break (page, input.at as u64),
                Err(_) if wanted < (end - at).min(MAX_HEADER) => {
                    wanted = (wanted * 8).min(end - at);
                }
                Err(why) => return Err(why.into()),
            }
        };
        let size = |size: i64| u64::try_from(size).map_err(|_| "a page has a negative size");
        largest = largest.max(size(page.uncompressed)?);
        at = at.saturating_add(header).saturating_add(size(page.compressed)?);
    }
    Ok(largest)
}

#[derive(Default)]
struct Page {
    uncompressed: i64,
    compressed: i64,
}

impl Page {
    fn read(input: &mut Compact<'_>) -> Result<Self, String> {
        let mut page = Self::default();
        input.fields(|input, id, kind| {
            match (id, kind) {
                (2, Kind::I32) => page.uncompressed = input.integer()?,
                (3, Kind::I32) => page.compressed = input.integer()?,
                _ => input.skip(kind, 0)?,
            }
            Ok(())
        })?;
        Ok(page)
    }
}

#[derive(Default)]
struct Footer<'a> {
    schema: Vec<Element<'a>>,
    /// The column chunks of every row group.
    chunks: Vec<Vec<Chunk<'a>>>,
}

/// A node of the schema.
#[derive(Default)]
struct Element<'a> {
    name: &'a [u8],
    physical: Option<i64>,
    children: usize,
}

/// A column of a row group.
#[derive(Default)]
struct Chunk<'a> {
    /// Its index in the row group.
    column: usize,
    physical: Option<i64>,
    path: Vec<&'a [u8]>,
    codec: i64,
    compressed: i64,
    data_page: i64,
    dictionary_page: Option<i64>,
}

/// A column of the schema.
struct Leaf<'a> {
    physical: i64,
    path: Vec<&'a [u8]>,
}

impl<'a> Footer<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let mut footer = Self::default();
        let mut input = Compact { bytes, at: 0 };
        input.fields(|input, id, kind| match (id, kind) {
            (2, Kind::List) => input.structs(|input| {
                footer.schema.push(Element::read(input)?);
                Ok(())
            }),
            (4, Kind::List) => input.structs(|input| {
                footer.chunks.push(read_row_group(input)?);
                Ok(())
            }),
            _ => input.skip(kind, 0),
        })?;
        Ok(footer)
    }

    /// The columns of the schema, a tree in depth-first order.
    fn leaves(&self) -> Result<Vec<Leaf<'a>>, String> {
        let mut leaves = vec![];
        // The children that are still to come of each ancestor, and its name.
        let mut open: Vec<(usize, &[u8])> = vec![];
        for (place, element) in self.schema.iter().enumerate() {
            if element.children > self.schema.len() - place - 1 {
                return Err("a group of columns has more columns than the schema".into());
            }
            let path = || open.iter().skip(1).map(|(_, name)| *name).chain([element.name]);
            if element.children == 0
                && let Some(physical) = element.physical
            {
                leaves.push(Leaf { physical, path: path().collect() });
            }
            if let Some((left, _)) = open.last_mut() {
                *left -= 1;
            }
            open.push((element.children, element.name));
            if open.len() > MAX_DEPTH {
                return Err(format!("its columns are nested more than {MAX_DEPTH} deep"));
            }
            while open.pop_if(|(left, _)| *left == 0).is_some() {}
        }
        Ok(leaves)
    }

    /// Returns an error if the schema contradicts the column chunks.
    fn check_schema(&self) -> Result<(), String> {
        let leaves = self.leaves()?;
        for chunks in &self.chunks {
            if chunks.len() != leaves.len() {
                let (got, expected) = (chunks.len(), leaves.len());
                return Err(format!("a row group has {got} columns, its schema {expected}"));
            }
            for (chunk, leaf) in chunks.iter().zip(&leaves) {
                if chunk.physical != Some(leaf.physical) || chunk.path != leaf.path {
                    let name = String::from_utf8_lossy(&leaf.path.join(&b'.')).into_owned();
                    return Err(format!("column `{name}` differs from the schema"));
                }
            }
        }
        Ok(())
    }
}

impl<'a> Element<'a> {
    fn read(input: &mut Compact<'a>) -> Result<Self, String> {
        let mut element = Self::default();
        input.fields(|input, id, kind| {
            match (id, kind) {
                (1, Kind::I32) => element.physical = Some(input.integer()?),
                (4, Kind::Binary) => element.name = input.binary()?,
                (5, Kind::I32) => {
                    let children = usize::try_from(input.integer()?);
                    element.children = children.map_err(|_| "a negative number of columns")?;
                }
                _ => input.skip(kind, 0)?,
            }
            Ok(())
        })?;
        Ok(element)
    }
}

fn read_row_group<'a>(input: &mut Compact<'a>) -> Result<Vec<Chunk<'a>>, String> {
    let mut chunks: Vec<Chunk<'a>> = vec![];
    input.fields(|input, id, kind| match (id, kind) {
        (1, Kind::List) => input.structs(|input| {
            let mut chunk = Chunk { column: chunks.len(), ..Chunk::default() };
            input.fields(|input, id, kind| match (id, kind) {
                (3, Kind::Struct) => chunk.read(input),
                _ => input.skip(kind, 0),
            })?;
            chunks.push(chunk);
            Ok(())
        }),
        _ => input.skip(kind, 0),
    })?;
    Ok(chunks)
}

impl<'a> Chunk<'a> {
    fn read(&mut self, input: &mut Compact<'a>) -> Result<(), String> {
        input.fields(|input, id, kind| {
            match (id, kind) {
                (1, Kind::I32) => self.physical = Some(input.integer()?),
                (3, Kind::List) => {
                    let (kind, count) = input.list()?;
                    for _ in 0..count {
                        match kind {
                            Kind::Binary => self.path.push(input.binary()?),
                            _ => return Err("the path of a column is not text".into()),
                        }
                    }
                }
                (4, Kind::I32) => self.codec = input.integer()?,
                (7, Kind::I64) => self.compressed = input.integer()?,
                (9, Kind::I64) => self.data_page = input.integer()?,
                (11, Kind::I64) => self.dictionary_page = Some(input.integer()?),
                _ => input.skip(kind, 0)?,
            }
            Ok(())
        })
    }
}

/// Types of Thrift's compact protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its value, in a struct, is its type.
    Boolean,
    I8,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List,
    Map,
    Struct,
    Uuid,
}

impl Kind {
    fn new(code: u8) -> Result<Self, String> {
        Ok(match code {
            1 | 2 => Self::Boolean,
            3 => Self::I8,
            4 => Self::I16,
            5 => Self::I32,
            6 => Self::I64,
            7 => Self::Double,
            8 => Self::Binary,
            // Lists and sets.
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return Err(format!("type {code} in its metadata")),
        })
    }
}

/// A reader of Thrift's compact protocol.
struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Compact<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or("its metadata end too early")?;
        self.at += count;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    /// LEB128: seven bits per byte, the lowest first.
    fn varint(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number of its metadata is too long".into())
    }

    /// A signed integer, whose sign is its lowest bit.
    fn integer(&mut self) -> Result<i64, String> {
        let number = self.varint()?;
        Ok((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    fn binary(&mut self) -> Result<&'a [u8], String> {
        let length = self.varint()?;
        self.take(usize::try_from(length).map_err(|error| error.to_string())?)
    }

    /// The type and the number of the items of a list.
    fn list(&mut self) -> Result<(Kind, u64), String> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        // An item takes a byte at least.
        if count > (self.bytes.len() - self.at) as u64 {
            return Err("a list of its metadata is too long".into());
        }
        Ok((Kind::new(head & 15)?, count))
    }

    /// Calls `each` for the items of a list of structs.
    fn structs(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let (kind, count) = self.list()?;
        if kind != Kind::Struct && count > 0 {
            return Err("a list of its metadata has the wrong type".into());
        }
        (0..count).try_for_each(|_| each(self))
    }

    /// Calls `each` with the number and the type of the fields of a struct; it must read or skip
    /// the value.
    fn fields(
        &mut self,
        mut each: impl FnMut(&mut Self, i64, Kind) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.integer()?,
                more => id.saturating_add(more.into()),
            };
            each(self, id, Kind::new(head & 15)?)?;
        }
    }

    /// Skips the value of a field.
    fn skip(&mut self, kind: Kind, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("its metadata are nested too deep".into());
        }
        match kind {
            Kind::Boolean => {}
            Kind::I8 => drop(self.byte()?),
            Kind::I16 | Kind::I32 | Kind::I64 => drop(self.varint()?),
            Kind::Double => drop(self.take(8)?),
            Kind::Uuid => drop(self.take(16)?),
            Kind::Binary => drop(self.binary()?),
            Kind::Struct => self.fields(|input, _, kind| input.skip(kind, depth + 1))?,
            Kind::List => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    self.skip_item(kind, depth)?;
                }
            }
            Kind::Map => {
                let count = self.varint()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    let (key, value) = (Kind::new(kinds >> 4)?, Kind::new(kinds & 15)?);
                    for _ in 0..count {
                        self.skip_item(key, depth)?;
                        self.skip_item(value, depth)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Skips an item of a list or map, in which a boolean takes a byte.
    fn skip_item(&mut self, kind: Kind, depth: usize) -> Result<(), String> {
        match kind {
            Kind::Boolean => self.byte().map(drop),
            kind => self.skip(kind, depth + 1),
        }
    }
}
