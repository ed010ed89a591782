//! `studio`: the local web page.

use std::path::PathBuf;

use clap::Args;

use crate::Result;
#[cfg(feature = "studio")]
use crate::terminal;

/// Open a local web page: look at a table, augment it, compare and train models
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass studio
  windlass studio cars.csv
  windlass studio cars.csv --port 8080 --no-open")]
#[command(after_long_help = "\
The page is served on 127.0.0.1 only, at an address with a random token. Nothing is sent to other
machines, and the page loads nothing from them. Uploaded tables and results are in a temporary
folder, which is removed in the end: download what you want to keep. Ctrl-C ends it.")]
pub(crate) struct StudioArgs {
    /// Table to open; others can be opened in the page
    table: Option<PathBuf>,
    /// Port of the page [default: any that is free]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Print the address without opening a browser
    #[arg(long)]
    no_open: bool,
}

#[cfg(feature = "studio")]
pub(crate) fn run(args: &StudioArgs) -> Result<u8> {
    terminal::heed_ctrl_c();
    let options = windlass_studio::Options {
        table: args.table.clone(),
        port: args.port.unwrap_or(0),
        ..windlass_studio::Options::default()
    };
    // From here on, Ctrl-C removes the temporary folder.
    terminal::begin_writing();
    let studio = windlass_studio::Studio::start(&options)?;
    terminal::print(&format!("{}\n", studio.address()))?;
    terminal::say("Windlass Studio is at this address; Ctrl-C ends it");
    if !args.no_open {
        open_browser(&studio.address());
    }
    studio.wait(terminal::interrupted);
    Ok(0)
}

#[cfg(not(feature = "studio"))]
pub(crate) fn run(args: &StudioArgs) -> Result<u8> {
    let StudioArgs { table: _, port: _, no_open: _ } = args;
    Err(crate::Error::NoStudio)
}

/// Opens the user's browser; if there is none, the address is on the terminal.
#[cfg(feature = "studio")]
fn open_browser(address: &str) {
    use std::process::{Command, Stdio};
    let words: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        &["rundll32", "url.dll,FileProtocolHandler"]
    } else {
        &["xdg-open"]
    };
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(address);
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut browser) = command.spawn() {
        std::thread::spawn(move || browser.wait());
    }
}
