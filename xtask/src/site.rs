//! `cargo xtask site`: the documentation site, built from `docs/` by `MkDocs`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bench::{target_folder, windlass_command};
use crate::python::{Installed, docs_environment, install};

const PYTEST: [&str; 5] = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider"];

/// Builds the site; `accept` first updates the outputs in pages and notebooks.
pub(crate) fn run(accept: bool) -> Result<()> {
    let windlass = windlass_command()?;
    if accept {
        let installed = install(false)?;
        let mut pages = installed.command();
        pages.args(PYTEST).arg("python/tests/test_docs.py").env("WINDLASS", &windlass);
        for mut tests in [pages, notebooks(&installed)?] {
            ensure!(tests.env("WINDLASS_BLESS", "1").status()?.success(), "an example failed");
        }
    }
    build(&windlass)
}

/// Builds the site. Broken links, and pages that the navigation does not list, are errors.
pub(crate) fn build(windlass: &Path) -> Result<()> {
    let folder = target_folder()?.join("site");
    let mut mkdocs = Command::new(docs_environment()?);
    mkdocs.args(["-m", "mkdocs", "--quiet", "build", "--strict", "--site-dir"]).arg(&folder);
    mkdocs.env("WINDLASS", windlass).env("PYTHONDONTWRITEBYTECODE", "1");
    // A notice about the end of life of the theme, in May 2027 (docs/decisions.md).
    mkdocs.env("NO_MKDOCS_2_WARNING", "1");
    ensure!(mkdocs.status().context("cannot start MkDocs")?.success(), "the site was not built");
    eprintln!("wrote {}", folder.join("index.html").display());
    Ok(())
}

/// Runs the notebooks, and compares their outputs.
pub(crate) fn notebooks(installed: &Installed) -> Result<Command> {
    let mut tests = installed.for_notebooks()?.command();
    tests.args(PYTEST).arg("python/tests/test_notebooks.py");
    Ok(tests)
}
