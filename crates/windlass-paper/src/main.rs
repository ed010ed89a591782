//! The command `windlass-paper`.

mod commands;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use windlass_cli::terminal;

/// Faster than the system allocator, which returns the pages of each freed block to the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Datasets and experiments of the paper Anchor Data Augmentation (NeurIPS 2023)
#[derive(Debug, Parser)]
#[command(
    name = "windlass-paper",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
#[command(after_help = "Exit codes: 0 success, 1 invalid input, 2 system error, 130 interrupted.")]
struct WindlassPaper {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Data(commands::data::DataArgs),
    Reproduce(commands::reproduce::ReproduceArgs),
}

fn main() -> ExitCode {
    let parsed = match WindlassPaper::try_parse() {
        Ok(parsed) => parsed,
        Err(error) => {
            // `--help` and `--version` exit with 0; a closed pipe is ignored.
            let code = u8::from(error.use_stderr());
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let done = match parsed.command {
        Command::Data(args) => commands::data::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
    };
    ExitCode::from(done.unwrap_or_else(|error| terminal::report(&error)))
}
