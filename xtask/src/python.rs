//! The Python package as a wheel, in an environment with its optional libraries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xxhash_rust::xxh3::xxh3_64;

use crate::bench::{run_command, target_folder};

/// Requirements of the tests, without and with torch.
const REQUIREMENTS: &str = "python/tests/requirements.txt";
const TORCH: &str = "python/tests/requirements-torch.txt";
/// Requirements of the tests on clusters.
const CLUSTER: &str = "python/tests/requirements-cluster.txt";
/// Requirements of the documentation site and the notebooks.
const DOCS: &str = "docs/requirements.txt";

/// An interpreter with the libraries, and the folder of the installed wheel.
pub(crate) struct Installed {
    pub(crate) python: PathBuf,
    pub(crate) site: PathBuf,
}

impl Installed {
    /// A command of its Python with the package on the path.
    pub(crate) fn command(&self) -> Command {
        /// The folder of test files of other projects.
        const THIRD_PARTY: &str = "WINDLASS_THIRD_PARTY";
        let mut command = Command::new(&self.python);
        command.env("PYTHONPATH", &self.site).env("PYTHONDONTWRITEBYTECODE", "1");
        if std::env::var_os(THIRD_PARTY).is_none()
            && let Ok(folder) = std::fs::canonicalize("../shared/third_party")
        {
            command.env(THIRD_PARTY, folder);
        }
        command
    }

    /// The same package in an environment with Spark and Ray.
    pub(crate) fn on_clusters(&self) -> Result<Self> {
        let python = environment(&[CLUSTER], " with Spark and Ray: about 1 GB")?;
        Ok(Self { python, site: self.site.clone() })
    }

    /// The same package in the environment of the documentation, which has Jupyter.
    pub(crate) fn for_notebooks(&self) -> Result<Self> {
        Ok(Self { python: docs_environment()?, site: self.site.clone() })
    }
}

/// The Python of the environment for the documentation site.
pub(crate) fn docs_environment() -> Result<PathBuf> {
    environment(&[DOCS], " for the documentation: about 1 GB")
}

/// The Python of the test environment, with or without torch.
pub(crate) fn environment_of(torch: bool) -> Result<PathBuf> {
    let lists: &[&str] = if torch { &[REQUIREMENTS, TORCH] } else { &[REQUIREMENTS] };
    environment(lists, if torch { " with torch: about 5 GB" } else { "" })
}

/// Builds the wheel and installs it next to an environment, with or without torch.
pub(crate) fn install(torch: bool) -> Result<Installed> {
    let python = environment_of(torch)?;
    let target = target_folder()?;
    let (wheels, site) = (target.join("wheels"), target.join("python-site"));
    for folder in [&wheels, &site] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    let mut maturin = Command::new(&python);
    maturin.args(["-m", "maturin", "build", "--release", "--locked", "--quiet"]);
    // The wheel is not published.
    maturin.args(["--compatibility", "linux", "--manifest-path", "python/Cargo.toml", "--out"]);
    run_command(maturin.arg(&wheels).env("CARGO_TARGET_DIR", &target))?;
    let wheel = fs::read_dir(&wheels)?.next().context("maturin made no wheel")??.path();
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]);
    run_command(pip.arg("--target").arg(&site).arg(&wheel))?;
    Ok(Installed { python, site })
}

/// Creates the environment, once for every list of requirements, outside the clone because torch is large.
fn environment(lists: &[&str], note: &str) -> Result<PathBuf> {
    let mut wanted = String::new();
    for list in lists {
        wanted += &fs::read_to_string(list).with_context(|| format!("cannot read {list}"))?;
    }
    let python3 = if cfg!(windows) { "python" } else { "python3" };
    let version = run_command(Command::new(python3).arg("--version"))?;
    let key = xxh3_64(format!("{version}{wanted}").as_bytes());
    let folder = cache()?.join(format!("python-{key:016x}"));
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let marker = folder.join("complete");
    if marker.exists() {
        return Ok(python);
    }
    eprintln!("making a virtual environment{note}");
    run_command(Command::new(python3).args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    for list in lists {
        pip.args(["--requirement", list]);
    }
    run_command(&mut pip)?;
    fs::write(marker, wanted)?;
    Ok(python)
}

/// Our folder in the user's cache.
pub(crate) fn cache() -> Result<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = given("XDG_CACHE_HOME") {
        return Ok(Path::new(&folder).join("windlass"));
    }
    if let (true, Some(folder)) = (cfg!(windows), given("LOCALAPPDATA")) {
        return Ok(Path::new(&folder).join("windlass"));
    }
    match given("HOME") {
        Some(home) => Ok(Path::new(&home).join(".cache/windlass")),
        None => bail!("no HOME: set XDG_CACHE_HOME to a folder for the virtual environment"),
    }
}
