//! `completions`: completion scripts for shells.

use std::path::PathBuf;

use clap::Args;
use windlass_table::Error as TableError;

use crate::{Result, command_line, terminal};

/// Print a shell completion script, or write it to a folder
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass completions bash ~/.local/share/bash-completion/completions
  windlass completions fish > ~/.config/fish/completions/windlass.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell
    shell: clap_complete::Shell,
    /// Folder in which the shell looks for completions
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<u8> {
    let mut command = command_line();
    if let Some(folder) = &args.folder {
        let written = std::fs::create_dir_all(folder).and_then(|()| {
            clap_complete::generate_to(args.shell, &mut command, "windlass", folder)
        });
        let path = || folder.clone();
        written.map_err(|source| TableError::Io { doing: "write", path: path(), source })?;
    } else {
        let mut text = vec![];
        clap_complete::generate(args.shell, &mut command, "windlass", &mut text);
        terminal::print(&String::from_utf8_lossy(&text))?;
    }
    Ok(0)
}
