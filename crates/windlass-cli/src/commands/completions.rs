//! `completions`: what a shell needs to complete commands and options.

use crate::{Result, Windlass, terminal};
use clap::{Args, CommandFactory};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass completions bash > ~/.local/share/bash-completion/completions/windlass
  windlass completions fish > ~/.config/fish/completions/windlass.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<u8> {
    let mut text = vec![];
    clap_complete::generate(args.shell, &mut Windlass::command(), "windlass", &mut text);
    terminal::print(&String::from_utf8_lossy(&text))?;
    Ok(0)
}
