//! The command `windlass`, as a library: the binary and the Python package's console script call [`run`].

mod commands;
mod error;
mod options;
pub mod terminal;

pub use commands::plot_format::PlotFormat;
pub use error::{Error, Result};
pub use options::FormatName;

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Data augmentation and model selection for regression on small tables
#[derive(Debug, Parser)]
#[command(name = "windlass", version, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 success, 1 invalid input, 2 system error, 3 no augmentation helps, 130 interrupted."
)]
struct Windlass {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Augment(Box<commands::augment::AugmentArgs>),
    Inspect(Box<commands::inspect::InspectArgs>),
    Verify(commands::verify::VerifyArgs),
    Compare(Box<commands::compare::CompareArgs>),
    Tune(Box<commands::tune::TuneArgs>),
    Train(Box<commands::train::TrainArgs>),
    Distill(Box<commands::distill::DistillArgs>),
    Predict(commands::predict::PredictArgs),
    Regress(Box<commands::regress::RegressArgs>),
    Show(commands::show::ShowArgs),
    Export(commands::export::ExportArgs),
    Studio(commands::studio::StudioArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
}

/// Options that `-h` shows; `--help` shows all of them, and begins with examples.
const COMMON: [&str; 33] = [
    "against",
    "alpha",
    "anchors",
    "augment",
    "auto",
    "categorical",
    "clip",
    "clusters",
    "committee",
    "copies",
    "force",
    "interval",
    "json",
    "method",
    "methods",
    "metrics",
    "model",
    "models",
    "no_open",
    "output",
    "plot",
    "port",
    "provenance",
    "quiet",
    "report",
    "seed",
    "sizes",
    "split",
    "student",
    "target",
    "test",
    "trials",
    "unlabeled",
];

/// Help of shared options in commands that fit models: these write no rows.
const MODEL_HELP: [(&str, &str); 7] = [
    ("features", "Use only these columns as features"),
    ("exclude", "Ignore these columns"),
    ("carry", "Do not use these columns as features; other options may name them"),
    ("continuous", "Treat these columns (0/1 or dates) as numbers"),
    ("weight", "Column of row weights in losses, means and errors"),
    ("format", "Format of stdin, and of files without a known extension"),
    (
        "preset",
        "ada: settings of the published code: k-means on raw [x, y], its grid of γ, one γ per batch",
    ),
];

/// The command line with short and long help.
fn command_line() -> clap::Command {
    let help = |command: clap::Command| {
        let fits_models = matches!(command.get_name(), "compare" | "tune" | "train" | "regress");
        command.mut_args(|arg| {
            let id = arg.get_id().as_str();
            let rare = !COMMON.contains(&id) && !arg.is_positional();
            let help = MODEL_HELP.iter().find(|(name, _)| fits_models && *name == id);
            // Models do not write integers.
            let hidden = arg.is_hide_set() || fits_models && id == "integers";
            let arg = arg.hide_short_help(rare).hide(hidden);
            match help {
                Some((_, help)) => arg.help(*help),
                None => arg,
            }
        })
    };
    Windlass::command().mut_subcommands(help)
}

/// Runs the command with the arguments after its name, and returns its exit code.
#[must_use]
pub fn run(arguments: Vec<OsString>) -> u8 {
    let words = std::iter::once(OsString::from("windlass")).chain(arguments.iter().cloned());
    let matches = command_line().try_get_matches_from(words);
    let quiet =
        matches.as_ref().ok().and_then(ArgMatches::subcommand).is_some_and(|(_, args)| {
            args.try_get_one::<bool>("quiet").ok().flatten() == Some(&true)
        });
    terminal::begin(arguments, quiet);
    let parsed = matches.and_then(|matches| Windlass::from_arg_matches(&matches));
    let windlass = match parsed {
        Ok(windlass) => windlass,
        Err(error) => {
            if let Some(moved) = Moved::of(&terminal::arguments()) {
                return terminal::report(&moved);
            }
            if let Some(replaced) = DomainOption::of(&terminal::arguments()) {
                return terminal::report(&replaced);
            }
            // `--help` and `--version` exit with 0; a closed pipe is ignored.
            let code = u8::from(error.use_stderr());
            let _ = error.print();
            return code;
        }
    };
    let done = match windlass.command {
        Command::Augment(args) => commands::augment::run(&args),
        Command::Inspect(args) => commands::inspect::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Distill(args) => commands::distill::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Regress(args) => commands::regress::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Studio(args) => commands::studio::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => terminal::report(&error),
    }
}

/// A command of 0.1.0 that moved to `windlass-paper`.
struct Moved(&'static str);

impl Moved {
    fn of(arguments: &[OsString]) -> Option<Self> {
        let moved = ["data", "reproduce"].into_iter();
        moved.map(Self).find(|moved| arguments.first().is_some_and(|first| first == moved.0))
    }
}

impl std::fmt::Display for Moved {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`windlass {0}` moved to `windlass-paper {0}`", self.0)
    }
}

impl terminal::Refusal for Moved {
    fn hint(&self) -> Option<String> {
        Some("install it with `cargo install windlass-paper`".to_owned())
    }

    fn exit_code(&self) -> Result<u8, u8> {
        Ok(1)
    }
}

/// The option `--domain` of 0.1.0, with its column.
struct DomainOption(String);

impl DomainOption {
    fn of(arguments: &[OsString]) -> Option<Self> {
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let column = |place: usize| {
            let (option, column) = words[place].split_once('=').unwrap_or((&words[place], ""));
            let next = words.get(place + 1).filter(|_| column.is_empty());
            (option == "--domain").then(|| next.map_or(column, |word| word).to_owned())
        };
        (0..words.len()).find_map(column).map(Self)
    }
}

impl std::fmt::Display for DomainOption {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`--domain {0}` was replaced by `--split domain:{0}`", self.0)
    }
}

impl terminal::Refusal for DomainOption {
    fn hint(&self) -> Option<String> {
        let column = &self.0;
        Some(format!(
            "--split domain:{column} holds out one domain at a time, --split group:{column} several"
        ))
    }

    fn exit_code(&self) -> Result<u8, u8> {
        Ok(1)
    }
}
