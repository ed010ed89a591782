//! `data`: public data sets, and some that are made up.

mod get;
mod make;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use windlass_lab::Result;

use crate::terminal;

/// List, fetch and make the data sets of the experiments
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Data sets are looked for in the folder that WINDLASS_DATA names, in ../shared/data, and in
windlass/data in the user's cache; they are fetched to the first of these that is not ../shared/data.

Examples:
  windlass data list
  windlass data get airfoil no2
  windlass data make cosine --output cosine.csv")]
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

pub(crate) fn run(args: &DataArgs) -> Result<ExitCode> {
    terminal::heed_ctrl_c();
    match &args.what {
        What::List(args) => show::list(args),
        What::Info(args) => show::info(args),
        What::Path(args) => show::path(args),
        What::Get(args) => get::run(args),
        What::Make(args) => make::run(args),
    }
}
