//! `man`: the manual pages.

use std::path::PathBuf;

use clap::Args;
use windlass_table::Error as TableError;

use crate::{Result, command_line, terminal};

/// Print the manual page, or write the pages of all commands to a folder
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass man | man -l -
  windlass man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Folder for windlass.1, windlass-augment.1 and so on
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs) -> Result<u8> {
    let command = command_line();
    if let Some(folder) = &args.folder {
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(command, folder));
        let path = || folder.clone();
        written.map_err(|source| TableError::Io { doing: "write", path: path(), source })?;
    } else {
        let mut page = vec![];
        clap_mangen::Man::new(command).render(&mut page).expect("a vector takes all");
        terminal::print(&String::from_utf8_lossy(&page))?;
    }
    Ok(0)
}
