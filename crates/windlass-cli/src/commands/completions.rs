//! `completions`: what a shell needs to complete commands and options.

use std::path::PathBuf;

use clap::Args;
use windlass_table::Error as TableError;

use crate::{Result, command_line, terminal};

/// Print completions for a shell, or write them to a folder
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass completions bash ~/.local/share/bash-completion/completions
  windlass completions fish > ~/.config/fish/completions/windlass.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
    /// A folder for the file that the shell expects
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
