//! The command `windlass`.

use std::process::ExitCode;

/// Blocks of rows come and go; the system's allocator gives their pages back each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(windlass_cli::run(std::env::args_os().skip(1).collect()))
}
