//! `data`: public and synthetic datasets.

mod get;
mod make;
mod show;

use clap::{Args, Subcommand};
use windlass_paper::Result;

use windlass_cli::terminal;

/// List, download and generate the datasets of the experiments
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Datasets are searched in WINDLASS_DATA and in windlass/data in the user's cache, and downloaded to
the first of these.

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
