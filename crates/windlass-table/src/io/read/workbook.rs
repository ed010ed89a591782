//! Cells of `.xlsx` and `.ods` files, as text.
//!
//! Both are zip archives of XML, which is read event by event. Files are not trusted: no size that
//! they claim is allocated, and cells, shared strings and XML count against the memory limit.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};

use arrow_array::types::Date32Type;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use zip::ZipArchive;

use super::file::{FileCursor, Input};
use super::sheet_name::SheetName;
use crate::io::format::{Compression, Format};
use crate::{Error, Result};

/// The cells of a row that are not empty: column, from 0, and text.
pub(super) type Cells = Vec<(usize, String)>;

/// The rows of a sheet that are not empty.
pub(super) struct Sheet {
    pub(super) name: String,
    pub(super) rows: Vec<Cells>,
    /// The names of the other sheets.
    pub(super) others: Vec<String>,
}

/// Maximum number of columns, that of Excel.
const MAX_COLUMNS: usize = 1 << 14;

type Archive = ZipArchive<BufReader<FileCursor>>;
type XmlResult<T> = Result<T, Failure>;

/// Why a workbook cannot be read.
enum Failure {
    Damaged(String),
    TooLarge,
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// Reads a sheet; by default the first that has cells.
pub(super) fn read(
    input: &Input,
    format: Format,
    wanted: Option<&SheetName>,
    memory: u64,
) -> Result<Sheet> {
    let path = &input.path;
    match input.first_bytes(Compression::None)?[..] {
        [] => return Err(Error::EmptyFile { path: path.clone() }),
        // A compound file: the format of encrypted workbooks, and of those before 2007.
        [0xd0, 0xcf, 0x11, 0xe0, ..] => return Err(Error::Encrypted { path: path.clone() }),
        _ => {}
    }
    let failed = |failure| match failure {
        Failure::Damaged(why) => Error::damaged(path)(why),
        Failure::TooLarge => {
            let needs = memory.saturating_mul(2);
            Error::NeedsMemory { what: "a spreadsheet", needs, memory }
        }
    };
    let mut archive =
        ZipArchive::new(BufReader::new(input.cursor()?)).map_err(|error| failed(error.into()))?;
    let is_ods = format == Format::Ods || archive.index_for_name("content.xml").is_some();
    let budget = Budget { left: memory / 2, xml: memory.saturating_mul(16) };
    let sheets = if is_ods { read_ods } else { read_xlsx };
    let (names, chosen) = sheets(&mut archive, wanted, budget).map_err(failed)?;
    let Some((place, rows)) = chosen else {
        let sheet = wanted.map_or("with cells".into(), |wanted| format!("{wanted}"));
        return Err(Error::NoSheet { path: path.clone(), sheet, sheets: names });
    };
    let mut others = names;
    let name = others.remove(place);
    if rows.is_empty() {
        return Err(Error::NoSheet {
            path: path.clone(),
            sheet: "with cells".into(),
            sheets: others,
        });
    }
    Ok(Sheet { name, rows, others })
}

/// The names of all sheets, and the rows of the chosen one with its place.
type Chosen = (Vec<String>, Option<(usize, Vec<Cells>)>);

/// The remaining limits of memory and XML.
struct Budget {
    left: u64,
    xml: u64,
}

impl Budget {
    fn spend(&mut self, bytes: usize) -> XmlResult<()> {
        self.left = self.left.checked_sub(bytes as u64).ok_or(Failure::TooLarge)?;
        Ok(())
    }
}

/// Bounds the length of an event, which is held in memory.
struct EventReader<R> {
    inner: R,
    length: usize,
}

impl<R: BufRead> Read for EventReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }
}

impl<R: BufRead> BufRead for EventReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        const MOST: usize = 16 << 20;
        if self.length > MOST {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "more than 16 MiB without a tag",
            ));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.length += count;
        self.inner.consume(count);
    }
}

/// Calls `each` with every event of a file of the archive. Empty elements start and end.
fn for_each_event(
    archive: &mut Archive,
    name: &str,
    budget: &mut Budget,
    mut each: impl FnMut(&Event<'_>, &mut Budget) -> XmlResult<()>,
) -> XmlResult<()> {
    let file = archive.by_name(name)?;
    let inner = BufReader::new(file.take(budget.xml));
    let mut reader = Reader::from_reader(EventReader { inner, length: 0 });
    reader.config_mut().expand_empty_elements = true;
    reader.config_mut().check_end_names = false;
    let mut buffer = vec![];
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer)?;
        if matches!(event, Event::Eof) {
            break;
        }
        each(&event, budget)?;
        reader.get_mut().length = 0;
    }
    let rest = reader.into_inner().inner.into_inner();
    if rest.limit() == 0 {
        return Err(Failure::TooLarge);
    }
    budget.xml = rest.limit();
    Ok(())
}

fn attribute(element: &BytesStart<'_>, name: &str) -> XmlResult<Option<String>> {
    match element.try_get_attribute(name)? {
        Some(attribute) => {
            Ok(Some(attribute.normalized_value(XmlVersion::Implicit1_0)?.into_owned()))
        }
        None => Ok(None),
    }
}

/// Appends the text of an event.
fn append_text(event: &Event<'_>, text: &mut String) -> XmlResult<()> {
    match event {
        Event::Text(part) => text.push_str(&part.xml10_content()),
        Event::CData(part) => text.push_str(&part.xml10_content()),
        Event::GeneralRef(part) => {
            if let Some(character) = part.resolve_char_ref()? {
                text.push(character);
            } else {
                let known = quick_xml::escape::resolve_predefined_entity(part);
                text.push_str(known.unwrap_or_default());
            }
        }
        _ => {}
    }
    Ok(())
}

/// A number as text: integers without decimals.
fn number_text(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        format!("{number:.0}")
    } else {
        zmij::Buffer::new().format(number).to_owned()
    }
}

/// The date or time for a number of days since 1970.
fn date_text(days: f64) -> Option<String> {
    const DAY: f64 = 86_400_000.0;
    #[expect(clippy::cast_possible_truncation, reason = "checked")]
    let millis = Some((days * DAY).round()).filter(|millis| millis.abs() < 2.6e14)? as i64;
    let (day, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    let date = Date32Type::to_naive_date_opt(i32::try_from(day).ok()?)?;
    let (seconds, millis) = (rest / 1000, rest % 1000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    Some(match rest {
        0 => date.to_string(),
        _ => format!("{date}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}"),
    })
}

// Excel.

/// Workbook, styles and shared strings.
struct Xlsx {
    sheets: Vec<(String, String)>,
    strings: Vec<String>,
    /// Whether cells of a style are dates.
    dates: Vec<bool>,
    epoch: f64,
}

/// Relations by their id: type and target.
type Relations = HashMap<String, (String, String)>;

fn relations(archive: &mut Archive, part: &str, budget: &mut Budget) -> XmlResult<Relations> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let slash = if folder.is_empty() { "" } else { "/" };
    let file = format!("{folder}{slash}_rels/{name}.rels");
    let mut found = Relations::new();
    for_each_event(archive, &file, budget, |event, budget| {
        if let Event::Start(element) = event
            && element.local_name().as_ref() == "Relationship"
        {
            let of = |name| Ok::<_, Failure>(attribute(element, name)?.unwrap_or_default());
            let (id, kind, target) = (of("Id")?, of("Type")?, of("Target")?);
            let target = match target.strip_prefix('/') {
                Some(absolute) => absolute.to_owned(),
                None => join(folder, &target),
            };
            budget.spend(64 + id.len() + kind.len() + target.len())?;
            found.insert(id, (kind, target));
        }
        Ok(())
    })?;
    Ok(found)
}

/// A path relative to a folder, without `..`.
fn join(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

impl Xlsx {
    fn open(archive: &mut Archive, budget: &mut Budget) -> XmlResult<Self> {
        let package = relations(archive, "", budget)?;
        let main = package.into_values().find(|(kind, _)| kind.ends_with("/officeDocument"));
        let main = main.map_or("xl/workbook.xml".to_owned(), |(_, target)| target);
        let parts = relations(archive, &main, budget)?;
        let part = |suffix: &str| {
            parts.values().find(|(kind, _)| kind.ends_with(suffix)).map(|(_, target)| target)
        };
        // 1970-01-01 in days since the epoch of the workbook.
        let (mut sheets, mut epoch) = (vec![], 25_569.0);
        for_each_event(archive, &main, budget, |event, budget| {
            let Event::Start(element) = event else { return Ok(()) };
            match element.local_name().as_ref() {
                "workbookPr" => {
                    let flag = attribute(element, "date1904")?;
                    if matches!(flag.as_deref(), Some("1" | "true")) {
                        epoch = 24_107.0;
                    }
                }
                "sheet" => {
                    let name = attribute(element, "name")?.unwrap_or_default();
                    let id = element
                        .attributes()
                        .with_checks(false)
                        .flatten()
                        .find(|attribute| attribute.key.local_name().as_ref() == "id");
                    let id =
                        id.map(|id| id.normalized_value(XmlVersion::Implicit1_0)).transpose()?;
                    let target = id.and_then(|id| parts.get(&*id));
                    if let Some((kind, target)) = target
                        && kind.ends_with("/worksheet")
                    {
                        budget.spend(64 + name.len() + target.len())?;
                        sheets.push((name, target.clone()));
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        let strings = match part("/sharedStrings") {
            Some(name) => shared_strings(archive, name, budget)?,
            None => vec![],
        };
        let dates = match part("/styles") {
            Some(name) => date_styles(archive, name, budget)?,
            None => vec![],
        };
        Ok(Self { sheets, strings, dates, epoch })
    }

    fn rows(
        &self,
        archive: &mut Archive,
        part: &str,
        budget: &mut Budget,
    ) -> XmlResult<Vec<Cells>> {
        let (mut rows, mut cells) = (Vec::<Cells>::new(), Cells::new());
        let (mut column, mut kind, mut style) = (0, String::new(), 0);
        let (mut text, mut in_value, mut phonetic) = (String::new(), false, false);
        for_each_event(archive, part, budget, |event, budget| {
            match event {
                Event::Start(element) => match element.local_name().as_ref() {
                    "row" => (cells, column) = (Cells::new(), 0),
                    "c" => {
                        if let Some(name) = attribute(element, "r")? {
                            column = column_index(&name).ok_or_else(|| bad(&name))?;
                        }
                        kind = attribute(element, "t")?.unwrap_or_default();
                        style = attribute(element, "s")?.and_then(|s| s.parse().ok()).unwrap_or(0);
                        text.clear();
                    }
                    "v" | "t" => in_value = true,
                    "rPh" => phonetic = true,
                    _ => {}
                },
                Event::End(element) => match element.local_name().as_ref() {
                    "v" | "t" => in_value = false,
                    "rPh" => phonetic = false,
                    "c" => {
                        if let Some(value) = self.value(&text, &kind, style)? {
                            if column >= MAX_COLUMNS {
                                return Err(bad("too many columns"));
                            }
                            budget.spend(size_of::<(usize, String)>() + value.len())?;
                            cells.push((column, value));
                        }
                        column += 1;
                    }
                    "row" => push_row(&mut rows, std::mem::take(&mut cells), budget)?,
                    _ => {}
                },
                event if in_value && !phonetic => append_text(event, &mut text)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// The text of a cell; nothing if it is empty or an error.
    fn value(&self, text: &str, kind: &str, style: usize) -> XmlResult<Option<String>> {
        Ok(match kind {
            "e" => None,
            "s" => {
                let index: usize = text.trim().parse().map_err(|_| bad(text))?;
                Some(self.strings.get(index).ok_or_else(|| bad(text))?.clone())
            }
            "b" => Some((text.trim() == "1").to_string()),
            "str" | "inlineStr" => Some(text.to_owned()),
            "d" => Some(text.trim().trim_end_matches("T00:00:00").to_owned()),
            _ if text.trim().is_empty() => None,
            _ => {
                let number: f64 = text.trim().parse().map_err(|_| bad(text))?;
                let is_date = self.dates.get(style).is_some_and(|&date| date);
                // Excel has a February 29, 1900.
                let shift = if self.epoch == 25_569.0 && number < 60.0 { 1.0 } else { 0.0 };
                let date = is_date.then(|| date_text(number - self.epoch + shift)).flatten();
                Some(date.unwrap_or_else(|| number_text(number)))
            }
        }
        .filter(|text| !text.is_empty()))
    }
}

fn bad(text: &str) -> Failure {
    let text: String = text.chars().take(40).collect();
    Failure::Damaged(format!("`{text}` in a cell"))
}

/// Adds a row with its cells in order, unless it is empty.
fn push_row(rows: &mut Vec<Cells>, mut cells: Cells, budget: &mut Budget) -> XmlResult<()> {
    if cells.is_empty() {
        return Ok(());
    }
    budget.spend(size_of::<Cells>())?;
    cells.sort_by_key(|(column, _)| *column);
    cells.dedup_by_key(|(column, _)| *column);
    rows.push(cells);
    Ok(())
}

/// The column of a reference such as `AB12`, from 0.
fn column_index(reference: &str) -> Option<usize> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic);
    let index = letters.fold(0_usize, |index, letter| {
        let digit = usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        index.saturating_mul(26).saturating_add(digit)
    });
    index.checked_sub(1).filter(|&index| index < MAX_COLUMNS)
}

fn shared_strings(
    archive: &mut Archive,
    part: &str,
    budget: &mut Budget,
) -> XmlResult<Vec<String>> {
    let (mut strings, mut text) = (vec![], String::new());
    let (mut in_text, mut phonetic) = (false, false);
    for_each_event(archive, part, budget, |event, budget| {
        match event {
            Event::Start(element) => match element.local_name().as_ref() {
                "si" => text.clear(),
                "t" => in_text = true,
                "rPh" => phonetic = true,
                _ => {}
            },
            Event::End(element) => match element.local_name().as_ref() {
                "si" => {
                    budget.spend(size_of::<String>() + text.len())?;
                    strings.push(std::mem::take(&mut text));
                }
                "t" => in_text = false,
                "rPh" => phonetic = false,
                _ => {}
            },
            event if in_text && !phonetic => append_text(event, &mut text)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(strings)
}

/// Which styles of cells show dates.
fn date_styles(archive: &mut Archive, part: &str, budget: &mut Budget) -> XmlResult<Vec<bool>> {
    let (mut formats, mut styles) = (HashMap::<u32, bool>::new(), vec![]);
    let mut in_cells = false;
    for_each_event(archive, part, budget, |event, budget| {
        match event {
            Event::Start(element) => {
                let id = || -> XmlResult<u32> {
                    let id = attribute(element, "numFmtId")?;
                    Ok(id.and_then(|id| id.parse().ok()).unwrap_or(0))
                };
                match element.local_name().as_ref() {
                    "numFmt" => {
                        let code = attribute(element, "formatCode")?.unwrap_or_default();
                        budget.spend(16)?;
                        formats.insert(id()?, is_date_format(&code));
                    }
                    "cellXfs" => in_cells = true,
                    "xf" if in_cells => {
                        budget.spend(1)?;
                        let id = id()?;
                        let usual = matches!(id, 14..=17 | 22 | 27..=31 | 36 | 50..=58);
                        styles.push(formats.get(&id).copied().unwrap_or(usual));
                    }
                    _ => {}
                }
            }
            Event::End(element) if element.local_name().as_ref() == "cellXfs" => in_cells = false,
            _ => {}
        }
        Ok(())
    })?;
    Ok(styles)
}

/// Whether a format of numbers shows a date, and not only a time or a duration.
fn is_date_format(code: &str) -> bool {
    let mut letters = String::new();
    let mut characters = code.split(';').next().unwrap_or_default().chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => drop(characters.by_ref().find(|&c| c == '"')),
            '[' => drop(characters.by_ref().find(|&c| c == ']')),
            '\\' | '_' | '*' => drop(characters.next()),
            _ => letters.push(character.to_ascii_lowercase()),
        }
    }
    let has = |letter: char| letters.contains(letter);
    letters != "general" && (has('y') || has('d') || has('m') && !has('h') && !has('s'))
}

fn read_xlsx(
    archive: &mut Archive,
    wanted: Option<&SheetName>,
    mut budget: Budget,
) -> XmlResult<Chosen> {
    let workbook = Xlsx::open(archive, &mut budget)?;
    let names: Vec<String> = workbook.sheets.iter().map(|(name, _)| name.clone()).collect();
    let places = match wanted {
        Some(wanted) => wanted.find(&names).map_or(0..0, |place| place..place + 1),
        None => 0..names.len(),
    };
    for place in places {
        let rows = workbook.rows(archive, &workbook.sheets[place].1, &mut budget)?;
        if !rows.is_empty() || wanted.is_some() {
            return Ok((names, Some((place, rows))));
        }
    }
    Ok((names, None))
}

// OpenDocument.

/// The value of a cell, by its attributes.
#[derive(Default)]
enum OdsValue {
    /// That of its text.
    #[default]
    Text,
    Value(String),
    Missing,
}

/// The sheet that is being read.
#[derive(Default)]
struct OdsReader {
    names: Vec<String>,
    chosen: Option<(usize, Vec<Cells>)>,
    rows: Vec<Cells>,
    row_repeats: u64,
    cells: Cells,
    column: usize,
    repeats: usize,
    value: OdsValue,
    text: String,
    paragraphs: usize,
    in_row: bool,
    in_cell: bool,
    in_paragraph: bool,
    annotations: usize,
}

impl OdsReader {
    fn start(&mut self, element: &BytesStart<'_>) -> XmlResult<()> {
        match element.name().as_ref() {
            "table:table" => {
                self.names.push(attribute(element, "table:name")?.unwrap_or_default());
                self.rows.clear();
            }
            "table:table-row" => {
                let repeats = attribute(element, "table:number-rows-repeated")?;
                self.row_repeats = repeats.and_then(|n| n.parse().ok()).unwrap_or(1);
                (self.in_row, self.column) = (true, 0);
                self.cells.clear();
            }
            "table:table-cell" | "table:covered-table-cell" if self.in_row => {
                let repeats = attribute(element, "table:number-columns-repeated")?;
                self.repeats = repeats.and_then(|n| n.parse().ok()).unwrap_or(1);
                self.value = cell_value(element)?;
                (self.in_cell, self.paragraphs) = (true, 0);
                self.text.clear();
            }
            "office:annotation" => self.annotations += 1,
            "text:p" if self.in_cell && self.annotations == 0 => {
                if self.paragraphs > 0 {
                    self.text.push('\n');
                }
                self.paragraphs += 1;
                self.in_paragraph = true;
            }
            "text:s" if self.in_paragraph => {
                let count = attribute(element, "text:c")?.and_then(|n| n.parse().ok());
                self.text.extend(std::iter::repeat_n(' ', count.unwrap_or(1).min(1024)));
            }
            "text:tab" if self.in_paragraph => self.text.push('\t'),
            "text:line-break" if self.in_paragraph => self.text.push('\n'),
            _ => {}
        }
        Ok(())
    }

    fn end(
        &mut self,
        name: &str,
        wanted: Option<&SheetName>,
        budget: &mut Budget,
    ) -> XmlResult<()> {
        match name {
            "table:table-cell" | "table:covered-table-cell" if self.in_cell => {
                self.in_cell = false;
                let text = std::mem::take(&mut self.text);
                let value = match std::mem::take(&mut self.value) {
                    OdsValue::Text => text,
                    OdsValue::Value(value) => value,
                    OdsValue::Missing => String::new(),
                };
                if !value.is_empty() {
                    for column in self.column..self.column.saturating_add(self.repeats) {
                        if column >= MAX_COLUMNS {
                            return Err(bad("too many columns"));
                        }
                        budget.spend(size_of::<(usize, String)>() + value.len())?;
                        self.cells.push((column, value.clone()));
                    }
                }
                self.column = self.column.saturating_add(self.repeats);
            }
            "table:table-row" => {
                self.in_row = false;
                let cells = std::mem::take(&mut self.cells);
                let bytes = cells.iter().map(|(_, text)| 32 + text.len()).sum();
                for _ in 1..if cells.is_empty() { 1 } else { self.row_repeats } {
                    budget.spend(bytes)?;
                    push_row(&mut self.rows, cells.clone(), budget)?;
                }
                if self.row_repeats > 0 {
                    push_row(&mut self.rows, cells, budget)?;
                }
            }
            "table:table" => {
                let (place, rows) = (self.names.len().saturating_sub(1), &mut self.rows);
                if wanted.is_some() || self.chosen.is_none() && !rows.is_empty() {
                    // A wanted sheet is found by name or number when all names are known.
                    let is_wanted =
                        wanted.is_none_or(|wanted| wanted.find(&self.names) == Some(place));
                    if is_wanted {
                        self.chosen = Some((place, std::mem::take(rows)));
                    }
                }
                let freed: usize = rows.iter().flatten().map(|(_, text)| 32 + text.len()).sum();
                budget.left = budget.left.saturating_add(freed as u64);
                rows.clear();
            }
            "office:annotation" => self.annotations = self.annotations.saturating_sub(1),
            "text:p" => self.in_paragraph = false,
            _ => {}
        }
        Ok(())
    }
}

fn cell_value(element: &BytesStart<'_>) -> XmlResult<OdsValue> {
    if attribute(element, "calcext:value-type")?.as_deref() == Some("error") {
        return Ok(OdsValue::Missing);
    }
    let of = |name| attribute(element, name);
    let kind = of("office:value-type")?;
    Ok(match kind.as_deref() {
        Some("float" | "percentage" | "currency") => {
            let text = of("office:value")?.unwrap_or_default();
            OdsValue::Value(number_text(text.parse().map_err(|_| bad(&text))?))
        }
        Some("date") => {
            let date = of("office:date-value")?.unwrap_or_default();
            OdsValue::Value(date.trim_end_matches("T00:00:00").to_owned())
        }
        Some("time") => {
            let time = of("office:time-value")?.unwrap_or_default();
            OdsValue::Value(duration_days(&time).map_or(time, number_text))
        }
        Some("boolean") => of("office:boolean-value")?.map_or(OdsValue::Text, OdsValue::Value),
        Some("string") => of("office:string-value")?.map_or(OdsValue::Text, OdsValue::Value),
        _ => OdsValue::Text,
    })
}

/// The days of a duration such as `PT12H30M00S`.
fn duration_days(text: &str) -> Option<f64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1.0, text),
        None => (1.0, text),
    };
    let (days, time) = text.strip_prefix('P')?.split_once('T')?;
    let mut seconds = match days {
        "" => 0.0,
        days => 86_400.0 * days.strip_suffix('D')?.parse::<f64>().ok()?,
    };
    let mut number = String::new();
    for character in time.chars() {
        let unit = match character {
            'H' => 3600.0,
            'M' => 60.0,
            'S' => 1.0,
            digit => {
                number.push(digit);
                continue;
            }
        };
        seconds += unit * number.parse::<f64>().ok()?;
        number.clear();
    }
    Some(sign * seconds / 86_400.0)
}

fn read_ods(
    archive: &mut Archive,
    wanted: Option<&SheetName>,
    mut budget: Budget,
) -> XmlResult<Chosen> {
    let mut reader = OdsReader::default();
    for_each_event(archive, "content.xml", &mut budget, |event, budget| match event {
        Event::Start(element) => reader.start(element),
        Event::End(element) => reader.end(element.name().as_ref(), wanted, budget),
        event if reader.in_paragraph && reader.annotations == 0 => {
            append_text(event, &mut reader.text)
        }
        _ => Ok(()),
    })?;
    Ok((reader.names, reader.chosen))
}

#[cfg(test)]
mod tests {
    use super::{column_index, date_text, duration_days, is_date_format, join, number_text};

    #[test]
    fn cells_are_spelled_like_csv() {
        assert_eq!([number_text(3.0), number_text(-0.5)], ["3", "-0.5"]);
        assert_eq!(date_text(45_351.0 - 25_569.0).as_deref(), Some("2024-02-29"));
        let noon = date_text(45_351.5 - 25_569.0);
        assert_eq!(noon.as_deref(), Some("2024-02-29T12:00:00.000"));
        assert_eq!(date_text(f64::INFINITY), None);
        assert_eq!(duration_days("PT36H00M00S"), Some(1.5));
        assert_eq!(column_index("AB12"), Some(27));
        assert_eq!((column_index("12"), column_index("ZZZZZZZZZZZZZZZZ1")), (None, None));
        assert_eq!(join("xl", "../xl/./worksheets/a.xml"), "xl/worksheets/a.xml");
        for (code, expected) in [
            ("yyyy-mm-dd", true),
            ("d/m/yy h:mm", true),
            ("mmm", true),
            ("General", false),
            ("0.00\" days\"", false),
            ("[Red]0.0", false),
            ("[h]:mm:ss", false),
            ("h:mm", false),
            ("#,##0\\d", false),
        ] {
            assert_eq!(is_date_format(code), expected, "{code}");
        }
    }
}
