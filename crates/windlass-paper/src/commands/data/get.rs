//! `data get`: download datasets.

use std::path::PathBuf;

use clap::Args;
use windlass_paper::data::{self, DataSet, Error, Fetch, FetchOutcome};
use windlass_paper::{Error as Refusal, Result};

use windlass_cli::terminal;

/// Download missing datasets
#[derive(Debug, Args)]
#[command(after_help = "\
Files appear under their names after their checksums are verified. A partial download stays in a
.part file, and the next run resumes it.

Examples:
  windlass-paper data get airfoil
  windlass-paper data get all --folder data
  windlass-paper data get crime --from https://mirror.example.org/windlass")]
pub(crate) struct GetArgs {
    /// Names from `windlass-paper data list`, or `all`
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Address of a mirror with the same file paths
    #[arg(long, value_name = "URL")]
    from: Option<String>,
    /// Folder for the files [default: `WINDLASS_DATA`, or the user's cache]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &GetArgs) -> Result<u8> {
    let mut sets: Vec<&DataSet> = vec![];
    for name in &args.names {
        match name.as_str() {
            "all" => sets.extend(data::all().iter().filter(|set| !set.is_unavailable())),
            name => sets.push(data::named(name)?),
        }
    }
    let (folder, searched) = match &args.folder {
        Some(folder) => (folder.clone(), vec![]),
        None => (data::download_dir().ok_or(Error::NoCache)?, data::search_dirs()),
    };
    let fetch = Fetch::new(folder, searched, args.from.as_deref())?;
    let mut code = 0;
    for set in sets {
        // Continue with the other datasets.
        if let Err(error) = get(args, &fetch, set) {
            code = terminal::report(&error);
        }
    }
    Ok(code)
}

fn get(args: &GetArgs, fetch: &Fetch, set: &DataSet) -> Result<()> {
    set.check_available()?;
    for file in set.files {
        let bar = terminal::bytes(args.quiet, file.path);
        let outcome = fetch.file(set, file, &|so_far, all| {
            if let Some(all) = all {
                bar.set_length(all);
            }
            let begins = bar.position() == 0;
            bar.set_position(so_far);
            if begins {
                // Bytes of a resumed download took no time.
                bar.reset_eta();
            }
        });
        bar.finish_and_clear();
        let said = match outcome.map_err(Refusal::from)? {
            FetchOutcome::Present(path) => format!("`{}` already exists", path.display()),
            FetchOutcome::Fetched { path, from } => {
                format!("`{}` fetched from {from}", path.display())
            }
        };
        if !args.quiet {
            terminal::say(&format!("{}: {said}", set.name));
        }
    }
    Ok(())
}
