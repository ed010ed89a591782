//! `data list`, `data info` and `data path`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use windlass_paper::Result;
use windlass_paper::data::{self, DataColumn, DataSet, File};

use windlass_cli::terminal::{self, aligned, to_json};
use windlass_plot::format::size;

/// List all datasets and their locations
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON to stdout
    #[arg(long)]
    json: bool,
}

/// Show the source and the columns of a dataset
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Name from `windlass-paper data list`
    name: String,
    /// Print JSON to stdout
    #[arg(long)]
    json: bool,
}

/// Print the paths of a dataset's files, one per line
#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    /// Name from `windlass-paper data list`
    name: String,
}

/// The description of a dataset.
#[derive(Serialize)]
struct Info {
    name: &'static str,
    state: &'static str,
    paths: Vec<PathBuf>,
    rows: Option<usize>,
    bytes: u64,
    source: &'static str,
    license: &'static str,
    citation: &'static str,
    note: Option<&'static str>,
    target: Option<&'static str>,
    domain: Option<&'static str>,
    missing: Option<&'static str>,
    split: &'static str,
    files: &'static [File],
    columns: Vec<DataColumn>,
}

impl Info {
    fn new(set: &'static DataSet) -> Self {
        let paths = set.paths(&data::search_dirs());
        let state = match (&paths, set.is_unavailable()) {
            (_, true) => "later",
            (Ok(_), _) => "present",
            (Err(_), _) => "absent",
        };
        Self {
            name: set.name,
            state,
            paths: paths.unwrap_or_default(),
            rows: (!set.is_unavailable()).then_some(set.rows),
            bytes: set.files.iter().map(|file| file.bytes).sum(),
            source: set.source,
            license: set.license,
            citation: set.citation,
            note: set.note,
            target: set.target,
            domain: set.domain,
            missing: set.missing,
            split: set.split,
            files: set.files,
            columns: set.columns(),
        }
    }

    fn line(&self) -> [String; 6] {
        let place = match self.paths.first().map(|path| path.display().to_string()) {
            Some(path) if self.paths.len() > 1 => {
                format!("{path} and {} more", self.paths.len() - 1)
            }
            Some(path) => path,
            None => self.state.into(),
        };
        let known = |count: usize| if count == 0 { "-".into() } else { count.to_string() };
        [
            self.name.into(),
            known(self.rows.unwrap_or(0)),
            known(self.columns.len()),
            if self.bytes == 0 { "-".into() } else { size(self.bytes) },
            self.license.into(),
            place,
        ]
    }
}

pub(super) fn list(args: &ListArgs) -> Result<u8> {
    let sets: Vec<Info> = data::all().iter().map(Info::new).collect();
    let text = if args.json {
        to_json(&sets) + "\n"
    } else {
        let header = ["name", "rows", "columns", "size", "license", "where"].map(String::from);
        let mut lines = vec![header];
        lines.extend(sets.iter().map(Info::line));
        aligned(&lines, 0..0)
    };
    terminal::print(&text)?;
    Ok(0)
}

pub(super) fn info(args: &InfoArgs) -> Result<u8> {
    let info = Info::new(data::named(&args.name)?);
    let text = if args.json { to_json(&info) + "\n" } else { in_words(&info) };
    terminal::print(&text)?;
    Ok(0)
}

pub(super) fn path(args: &PathArgs) -> Result<u8> {
    let paths = data::named(&args.name)?.paths(&data::search_dirs())?;
    let lines: Vec<String> = paths.iter().map(|path| format!("{}\n", path.display())).collect();
    terminal::print(&lines.concat())?;
    Ok(0)
}

fn in_words(info: &Info) -> String {
    let rows = info.rows.map(|rows| rows.to_string());
    let known = [
        ("name", Some(info.name)),
        ("note", info.note),
        ("source", Some(info.source)),
        ("license", Some(info.license)),
        ("cite", Some(info.citation)),
        ("rows", rows.as_deref()),
        ("target", info.target),
        ("domain", info.domain),
        ("missing", info.missing),
        ("split", Some(info.split)),
        ("where", Some(info.state)),
    ];
    let known = known.into_iter().filter_map(|(what, value)| Some([what.into(), value?.into()]));
    let mut text = aligned(&known.collect::<Vec<_>>(), 0..0);
    for (place, file) in info.files.iter().enumerate() {
        let _ = writeln!(text, "\nfile {}: {} bytes", file.path, file.bytes);
        let _ = writeln!(text, "  SHA-256 {}", file.sha256);
        if let Some(path) = info.paths.get(place) {
            let _ = writeln!(text, "  is at {}", path.display());
        }
        for address in file.addresses {
            let _ = writeln!(text, "  from {}", address.url);
        }
    }
    if !info.columns.is_empty() {
        let _ = writeln!(text, "\n{} columns", info.columns.len());
        let role = |name| match Some(name) {
            name if name == info.target => "target",
            name if name == info.domain => "domain",
            _ => "",
        };
        let lines = info.columns.iter().map(|column| {
            [format!("  {}", column.name), column.kind.into(), role(column.name).into()]
        });
        text += &aligned(&lines.collect::<Vec<[String; 3]>>(), 0..0);
    }
    text
}
