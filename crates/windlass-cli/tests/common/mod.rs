//! A folder in which the command is run on small tables. Tests of `windlass-paper` use it too.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod refusals;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use windlass_table::{ReadOptions, Sink, Table, WriteOptions};

/// The command: that of the package whose tests these are.
const COMMAND: &str = match option_env!("CARGO_BIN_EXE_windlass") {
    Some(path) => path,
    None => match option_env!("CARGO_BIN_EXE_windlass-paper") {
        Some(path) => path,
        None => panic!("cargo sets the path of the package's command"),
    },
};

/// The name of the command.
pub(crate) fn name() -> &'static str {
    Path::new(COMMAND).file_stem().unwrap().to_str().unwrap()
}

/// A folder in which the command is run.
pub(crate) struct TestDir {
    folder: TempDir,
}

/// What a run of the command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl CommandOutput {
    /// The same, if all went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }
}

impl TestDir {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with the table of the example.
    pub(crate) fn with_cars() -> Self {
        let desk = Self::new();
        desk.put("cars.csv", std::fs::read("../../examples/auto_mpg.csv").unwrap());
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    /// Writes a table in another format.
    pub(crate) fn convert(&self, from: &str, to: &str) -> &Self {
        let table = Table::open(&[self.path(from)], &ReadOptions::default()).unwrap();
        let (path, options) = (self.path(to), WriteOptions::default());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut sink = Sink::create(&path, &options, table.schema(), None).unwrap();
        for batch in table.blocks() {
            sink.write(0, &batch.unwrap()).unwrap();
        }
        sink.finish().unwrap();
        self
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.get(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(COMMAND);
        command.current_dir(self.folder.path()).args(split(words)).env_remove("NO_COLOR");
        command
    }

    /// Runs the command with these words.
    pub(crate) fn run(&self, words: &str) -> CommandOutput {
        said(self.command(words).stdin(Stdio::null()))
    }

    /// Runs the command with these words, and some bytes on its standard input.
    pub(crate) fn run_with(&self, words: &str, input: &[u8]) -> CommandOutput {
        self.put(".input", input);
        let file = std::fs::File::open(self.path(".input")).unwrap();
        said(self.command(words).stdin(file))
    }

    /// Runs a line of shell, in which the command has its name.
    pub(crate) fn shell(&self, line: &str) -> CommandOutput {
        let folder = Path::new(COMMAND).parent().unwrap();
        let path = std::env::join_paths(
            std::iter::once(folder.to_owned())
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        let mut command = Command::new("bash");
        command.current_dir(self.folder.path()).args(["-c", line]).env("PATH", path.unwrap());
        said(command.stdin(Stdio::null()))
    }
}

pub(crate) fn said(command: &mut Command) -> CommandOutput {
    let output = command.output().unwrap();
    CommandOutput {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into(),
        err: String::from_utf8_lossy(&output.stderr).into(),
    }
}

/// Words of a command line; single quotes keep spaces.
fn split(words: &str) -> Vec<String> {
    let mut split = vec![];
    for (place, part) in words.split('\'').enumerate() {
        if place % 2 == 1 {
            split.push(part.to_owned());
        } else {
            split.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    split
}
