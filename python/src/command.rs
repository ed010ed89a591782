//! The command `windlass`, run inside the interpreter's process.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with the arguments after its name, and returns its exit code.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| windlass_cli::run(arguments))
}
