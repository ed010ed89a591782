//! Checks of the files that commands leave when they are killed, and on a full disk.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// Kills of each command.
pub(crate) const KILLS: u32 = 34;
/// A file of the user in every folder that is written to.
const PRECIOUS: &str = "precious.safetensors";

/// A folder with a table, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("windlass-{name}-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        let mut text = String::from("a,b,kind,y\n");
        for row in 0_u32..3000 {
            let (a, b) = (row * 37 % 1009, row * 53 % 997);
            writeln!(text, "{a}.5,{b}.25,k{},{}.75", row % 3, (a + b) % 701)?;
        }
        fs::write(path.join("t.csv"), text)?;
        fs::write(path.join(PRECIOUS), "not ours")?;
        Ok(Self(path))
    }

    /// The files below the folder and their bytes, without temporary files.
    fn files(&self) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
        fn add(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if path.is_dir() {
                    add(&path, files)?;
                } else if !name.starts_with(".windlass-") {
                    files.insert(path.clone(), fs::read(&path)?);
                }
            }
            Ok(())
        }
        let mut files = BTreeMap::new();
        add(&self.0, &mut files)?;
        Ok(files)
    }

    fn start(&self, windlass: &Path, words: &str) -> Result<Child> {
        let mut command = Command::new(windlass);
        command.current_dir(&self.0).args(words.split_whitespace());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().context("cannot start windlass")
    }

    /// Runs a command to its end; returns its duration.
    fn finish(&self, windlass: &Path, words: &str) -> Result<Duration> {
        let started = Instant::now();
        let code = self.start(windlass, words)?.wait()?.code();
        // Exit code 3: no augmentation helps.
        ensure!(matches!(code, Some(0 | 3)), "`windlass {words}` ended with {code:?}");
        Ok(started.elapsed())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Kills `augment`, `train` and `compare` at a hundred moments: each output is complete or absent, other files are
/// unchanged, and the same command succeeds afterwards.
pub(crate) fn kills(windlass: &Path) -> Result<()> {
    const COMPARE: &str = "compare t.csv -t y --hidden 8 --epochs 3 --folds 3 --repeats 2 --methods erm,ada \
                           --models mlp,ridge";
    let folder = Folder::new("kills")?;
    let path = |name: &str| folder.0.join(name);
    for (command, outputs) in [
        (
            "augment t.csv -t y --copies 200 -o out.csv --manifest out.json",
            &["out.csv", "out.json"][..],
        ),
        (
            "train t.csv -t y --hidden 32 --epochs 12 -o m.windlass --checkpoint run.ckpt",
            &["m.windlass"],
        ),
    ] {
        let before = folder.files()?;
        let time = folder.finish(windlass, command)?;
        let whole = folder.files()?;
        for kill in 0..KILLS {
            // Without an output, and with one that is overwritten.
            if kill % 2 == 0 {
                for name in whole.keys().filter(|name| !before.contains_key(*name)) {
                    let _ = fs::remove_file(name);
                }
            }
            let mut child = folder.start(windlass, &format!("{command} --force"))?;
            std::thread::sleep(time * kill / KILLS);
            child.kill()?;
            child.wait()?;
            let after = folder.files()?;
            for (name, bytes) in &before {
                ensure!(after.get(name) == Some(bytes), "{} changed", name.display());
            }
            for name in outputs {
                let name = path(name);
                let is_whole = after.get(&name).is_none_or(|bytes| whole.get(&name) == Some(bytes));
                ensure!(is_whole, "{} is not whole after kill {kill}", name.display());
            }
        }
        // The run is resumed.
        folder.finish(windlass, &format!("{command} --force"))?;
        for name in outputs {
            let (now, then) = (fs::read(path(name))?, whole.get(&path(name)));
            ensure!(Some(&now) == then, "{name} differs after kills");
        }
    }
    fs::create_dir(path("out"))?;
    fs::write(path("out").join(PRECIOUS), "not ours")?;
    let before = folder.files()?;
    let time = folder.finish(windlass, &format!("{COMPARE} -o whole"))?;
    let whole = runs(&path("whole"))?;
    fs::remove_dir_all(path("whole"))?;
    for kill in 0..KILLS {
        let goes_on = path("out/plan.json").exists();
        let option = if goes_on { "--resume" } else { "-o" };
        let mut child = folder.start(windlass, &format!("{COMPARE} {option} out"))?;
        std::thread::sleep(time * (kill % 8) / 8);
        child.kill()?;
        child.wait()?;
        let after = folder.files()?;
        for (name, bytes) in &before {
            ensure!(after.get(name) == Some(bytes), "{} changed", name.display());
        }
        for (name, bytes) in after.iter().filter(|(name, _)| name.ends_with("plan.json")) {
            serde_json::from_slice::<serde_json::Value>(bytes)
                .with_context(|| format!("{} is not whole", name.display()))?;
        }
        if kill % 8 == 7 {
            let option = if path("out/plan.json").exists() { "--resume" } else { "-o" };
            folder.finish(windlass, &format!("{COMPARE} {option} out"))?;
            ensure!(runs(&path("out"))? == whole, "a resumed comparison differs");
            for name in folder.files()?.keys().filter(|name| !before.contains_key(*name)) {
                fs::remove_file(name)?;
            }
            let _ = fs::remove_dir_all(path("out/pictures"));
        }
    }
    Ok(())
}

/// The runs of a finished comparison, without their times.
fn runs(folder: &Path) -> Result<Vec<serde_json::Value>> {
    let text = fs::read(folder.join("results.json")).context("a comparison without results")?;
    let results: serde_json::Value = serde_json::from_slice(&text)?;
    let runs = results.get("runs").and_then(serde_json::Value::as_array);
    let mut runs = runs.context("results without runs")?.clone();
    for run in runs.iter_mut().filter_map(serde_json::Value::as_object_mut) {
        run.remove("seconds");
    }
    Ok(runs)
}

/// Runs commands on a file system of 4 MiB: outputs that do not fit are absent, and other files are unchanged.
/// Returns
/// what was skipped and why, if such a file system cannot be mounted.
pub(crate) fn full_disk(windlass: &Path) -> Result<Option<String>> {
    const SCRIPT: &str = r#"
        mount -t tmpfs -o size=4m none disk || exit 99
        cp t.csv precious.safetensors disk/ && cd disk || exit 98
        mkdir folder && cp precious.safetensors folder/ && echo old > old.csv || exit 98
        refused() {
            expected=$1; shift
            before=$(find . -type f | sort | xargs cksum)
            "$WINDLASS" "$@" --quiet > /dev/null 2> ../said
            code=$?
            after=$(find . -type f | sort | xargs cksum)
            if [ $code -ne "$expected" ] || [ "$before" != "$after" ] || ! grep -q '^hint: ' ../said; then
                echo "windlass $* ended with $code"; cat ../said; echo "$before"; echo; echo "$after"; exit 1
            fi
        }
        refused 2 augment t.csv -t y --copies 100 -o out.csv
        refused 2 augment t.csv -t y --copies 100 -o old.csv --force
        refused 2 augment t.csv -t y --copies 400 -o out.parquet
        cat /dev/zero > filler 2> /dev/null
        compare="--hidden 4 --epochs 1 --folds 2 --repeats 1 --methods erm,ada --models mlp"
        refused 2 train t.csv -t y --hidden 4 --epochs 1 -o m.windlass
        refused 2 train t.csv -t y --hidden 4 --epochs 1 -o m.windlass --checkpoint c.ckpt
        refused 2 compare t.csv -t y $compare -o new
        [ -e new ] && { echo "new is left behind"; exit 1; }
        refused 2 compare t.csv -t y $compare -o folder
        refused 2 tune t.csv -t y --hidden 4 --epochs 1 --folds 2 --trials 2 -o folder
        # Once there is room, the same command works.
        rm filler
        "$WINDLASS" compare t.csv -t y $compare -o new --quiet
        code=$?
        [ $code -eq 0 ] || [ $code -eq 3 ] || { echo "compare ended with $code"; exit 1; }
        cmp precious.safetensors ../precious.safetensors && cmp folder/precious.safetensors ../precious.safetensors
    "#;
    let folder = Folder::new("full-disk")?;
    fs::create_dir(folder.0.join("disk"))?;
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", SCRIPT]);
    command.current_dir(&folder.0).env("WINDLASS", windlass);
    let skipped = |why: &str| {
        Ok(Some(format!("skipped: full disk: a small file system cannot be mounted: {why}")))
    };
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return skipped(&format!("unshare: {error}")),
    };
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(0) => Ok(None),
        Some(99) => skipped(err.trim()),
        // The script did not start.
        _ if err.starts_with("unshare: ") => skipped(err.trim()),
        code => bail!("full disk, {code:?}: {out}{err}"),
    }
}
