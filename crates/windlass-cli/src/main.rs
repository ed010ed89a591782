//! The command `windlass`.

mod commands;
mod options;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Blocks of rows come and go; the system's allocator gives their pages back each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// More training rows out of few: data augmentation for regression
#[derive(Debug, Parser)]
#[command(
    name = "windlass",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
#[command(
    after_help = "Exit codes: 0 done, 1 the input was refused, 2 a fault, 3 compare found no help, 130 interrupted."
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
    Reproduce(commands::reproduce::ReproduceArgs),
    Train(Box<commands::train::TrainArgs>),
    Predict(commands::predict::PredictArgs),
    Regress(Box<commands::regress::RegressArgs>),
    Export(commands::export::ExportArgs),
    Data(commands::data::DataArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
}

fn main() -> ExitCode {
    let windlass = match Windlass::try_parse() {
        Ok(windlass) => windlass,
        Err(error) => {
            // Help and version are no refusals; a closed pipe is no fault.
            let code = u8::from(error.use_stderr());
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let done = match windlass.command {
        Command::Augment(args) => commands::augment::run(&args),
        Command::Inspect(args) => commands::inspect::run(&args).map_err(Into::into),
        Command::Verify(args) => commands::verify::run(&args).map_err(Into::into),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Train(args) => commands::train::run(&args).map_err(Into::into),
        Command::Predict(args) => commands::predict::run(&args).map_err(Into::into),
        Command::Regress(args) => commands::regress::run(&args).map_err(Into::into),
        Command::Export(args) => commands::export::run(&args).map_err(Into::into),
        Command::Data(args) => commands::data::run(&args),
        Command::Completions(args) => commands::completions::run(&args).map_err(Into::into),
        Command::Man(args) => commands::man::run(&args).map_err(Into::into),
    };
    match done {
        Ok(code) => code,
        Err(error) => terminal::report(&error),
    }
}
