//! The command `windlass`.

use std::process::ExitCode;

/// Faster than the system allocator, which returns the pages of each freed block to the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(windlass_cli::run(std::env::args_os().skip(1).collect()))
}
