//! `data`: public and synthetic data sets.

mod get;
mod make;
mod show;

use clap::{Args, Subcommand};
use windlass_paper::Result;

use windlass_cli::terminal;

/// List, fetch and make the data sets of the experiments
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Data sets are looked for in the folder that WINDLASS_DATA names and in windlass/data in the
user's cache; they are fetched to the first of these.

Examples:
  windlass-paper data list
  windlass-paper data get airfoil no2
  windlass-paper data make cosine --output cosine.csv")]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    List(show::ListArgs),
    Info(show::InfoArgs),
    Path(show::PathArgs),
    Get(get::GetArgs),
    Make(make::MakeArgs),
}

pub(crate) fn run(args: &DataArgs) -> Result<u8> {
    terminal::heed_ctrl_c();
    match &args.what {
        What::List(args) => show::list(args),
        What::Info(args) => show::info(args),
        What::Path(args) => show::path(args),
        What::Get(args) => get::run(args),
        What::Make(args) => make::run(args),
    }
}
