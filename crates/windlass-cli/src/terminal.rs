//! Messages, progress bars, colors and Ctrl-C, for the commands of this crate and of `windlass-paper`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use windlass_table::{Error, Result, RowProgress};
use windlass_train::Epoch;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static WRITING: AtomicBool = AtomicBool::new(false);
static QUIET: AtomicBool = AtomicBool::new(false);
static ARGUMENTS: Mutex<Vec<OsString>> = Mutex::new(vec![]);

/// An error as a command reports it.
pub trait Refusal: Display {
    /// The next step for the user.
    fn hint(&self) -> Option<String>;

    /// The exit code; `Err` to print nothing, after a closed pipe or Ctrl-C.
    fn exit_code(&self) -> std::result::Result<u8, u8>;
}

/// Prints an error with its hint, and returns the exit code.
pub fn report(error: &impl Refusal) -> u8 {
    let code = match error.exit_code() {
        Ok(code) => code,
        Err(silent) => return silent,
    };
    say_labeled("error:", "1;31", &format!("{error:#}"));
    if let Some(hint) = error.hint() {
        say_labeled("hint:", "1;36", &hint);
    }
    code
}

/// Resets the state of this module for a new command and stores its arguments: in the Python package one process
/// runs several commands, and its own arguments are different.
pub(crate) fn begin(arguments: Vec<OsString>, quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
    INTERRUPTED.store(false, Ordering::Relaxed);
    WRITING.store(false, Ordering::Relaxed);
    *ARGUMENTS.lock().unwrap_or_else(PoisonError::into_inner) = arguments;
}

/// The arguments after the command's name.
pub(crate) fn arguments() -> Vec<OsString> {
    ARGUMENTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Prints a line to standard error; write errors are ignored.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// Prints a line with a label, which is colored on a terminal.
fn say_labeled(label: &str, color: &str, text: &str) {
    let _ = writeln!(io::stderr(), "{} {}", paint(label, color), printable(text));
}

/// Text that is safe to print on a terminal: control characters, and characters that reorder text, are escaped
/// as `\u001b`, which is valid in JSON too.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_shown = |character: char| match character {
        '\n' | '\t' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        other => !other.is_control(),
    };
    if text.chars().all(is_shown) {
        return text.into();
    }
    let mut shown = String::new();
    for character in text.chars() {
        if is_shown(character) {
            shown.push(character);
        } else {
            let _ = write!(shown, "\\u{:04x}", u32::from(character));
        }
    }
    shown.into()
}

/// Prints a note to standard error, unless `--quiet` is set.
pub(crate) fn note(text: impl Display) {
    if !QUIET.load(Ordering::Relaxed) {
        say_labeled("note:", "1;33", &format!("{text:#}"));
    }
}

/// Prints text to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(printable(text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(|source| Error::Io { doing: "write", path: "<stdout>".into(), source })
}

/// Five significant digits.
pub(crate) fn short(value: f64) -> String {
    windlass_plot::format::significant(value, 5)
}

/// Lines with aligned columns: the `right` ones to the right, others to the left. A cell is one line, and a long one
/// does not widen its column.
#[must_use]
pub fn aligned<L: AsRef<[String]>>(lines: &[L], right: Range<usize>) -> String {
    const WIDEST: usize = 100;
    let one_line = |cell: &String| match printable(cell) {
        shown if shown.contains(['\n', '\t']) => {
            shown.replace('\n', "\\u000a").replace('\t', "\\u0009")
        }
        shown => shown.into_owned(),
    };
    let lines: Vec<Vec<String>> =
        lines.iter().map(|line| line.as_ref().iter().map(one_line).collect()).collect();
    let mut widths: Vec<usize> = vec![];
    for line in &lines {
        widths.resize(widths.len().max(line.len()), 0);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(place, (cell, &width))| {
            if right.contains(&place) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}

/// Indented JSON.
#[must_use]
pub fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("numbers, names and lists of them")
}

fn paint(text: &str, color: &str) -> String {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && io::stderr().is_terminal() {
        format!("\x1b[{color}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

/// Whether Ctrl-C was pressed.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// A progress bar on a terminal, with a count, the time left and a message.
#[must_use]
pub fn counted(quiet: bool, all: usize, what: &str) -> ProgressBar {
    let template = format!("{{bar:20}} {{pos}}/{{len}} {what}, {{eta}} left  {{wide_msg}}");
    bar_of(quiet, all as u64, &template)
}

/// A progress bar on a terminal for the bytes of a file.
#[must_use]
pub fn bytes(quiet: bool, file: &'static str) -> ProgressBar {
    let template = "{msg}  {wide_bar} {bytes}/{total_bytes}, {eta} left";
    bar_of(quiet, 0, template).with_message(file)
}

fn bar_of(quiet: bool, all: u64, template: &str) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(all);
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Makes Ctrl-C stop at the next block, so that temporary files are removed; before this call it exits at once.
pub fn begin_writing() {
    WRITING.store(true, Ordering::Relaxed);
}

/// Installs the handler of Ctrl-C, SIGTERM and SIGHUP.
pub fn heed_ctrl_c() {
    // An error means that the handler is installed already.
    let _ = ctrlc::set_handler(|| {
        INTERRUPTED.store(true, Ordering::Relaxed);
        if !WRITING.load(Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// Progress on a terminal; checks for Ctrl-C.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {msg} {human_pos} rows {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar }
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl RowProgress for Progress {
    fn stage(&self, name: &str) {
        self.bar.set_position(0);
        self.bar.set_message(name.to_owned());
    }

    fn advance(&self, rows: u64) -> Result<()> {
        self.bar.inc(rows);
        if interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Progress of the epochs of one or several networks on a terminal; checks for Ctrl-C.
pub(crate) struct Epochs {
    bar: ProgressBar,
    /// The best validation error of each network so far, with its epoch.
    best: Mutex<BTreeMap<usize, (f64, usize)>>,
    runs: usize,
}

impl Epochs {
    pub(crate) fn new(quiet: bool, runs: usize, epochs: usize) -> Self {
        // Saturating: a committee of more networks than rows is an error only later.
        let best = Mutex::new(BTreeMap::new());
        let bar = counted(quiet || epochs == 0, runs.saturating_mul(epochs), "epochs");
        Self { bar, best, runs }
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl windlass_train::EpochProgress for Epochs {
    fn epoch(&self, run: usize, epoch: &Epoch) -> bool {
        self.bar.inc(1);
        if !self.bar.is_hidden() {
            let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
            if let (true, Some(valid)) = (epoch.best, epoch.valid) {
                best.insert(run, (valid, epoch.number));
            }
            let mut text = format!("loss {:.4}", epoch.loss);
            if let Some(valid) = epoch.valid {
                let _ = write!(text, ", validation {valid:.4}");
            }
            if let Some((valid, number)) = best.get(&run) {
                let _ = write!(text, ", best {valid:.4} in epoch {number}");
            }
            if self.runs > 1 {
                text = format!("network {}: {text}", run + 1);
            }
            self.bar.set_message(text);
        }
        !interrupted()
    }
}
