//! `reproduce`: the experiments of the paper, from raw data to a page.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::ProgressBar;
use windlass_compare::{Error as CompareError, Key, Run};
use windlass_paper::reproduce::{
    Experiment, ExperimentPart, Reproduction, Scope, check_index, has_index, named, names,
    write_index,
};
use windlass_paper::{DeepProgress, Error, Result};
use windlass_train::Epoch;

use windlass_cli::terminal;

/// Run the experiments of the paper, and compare the results with the published numbers
#[derive(Debug, Args)]
#[command(after_help = "\
Without a name, all experiments are listed. The results of each are a folder with a page
(README.md), plots as SVG and PNG, and a JSON file of all runs. Finished runs are saved; the same
command resumes an interrupted experiment. Parts that take days, or need files that you provide,
run only with --only.

Examples:
  windlass-paper reproduce
  windlass-paper reproduce airfoil --only published
  windlass-paper reproduce airfoil --seeds 0,1,2
  windlass-paper reproduce rcf-mnist --only full --weights resnet18.pth --device cuda
  windlass-paper reproduce all --quick")]
pub(crate) struct ReproduceArgs {
    /// Names of experiments, or `all`
    names: Vec<String>,
    /// Seeds, instead of those of the experiment
    #[arg(long, value_delimiter = ',')]
    seeds: Option<Vec<u64>>,
    /// Few epochs, seeds and rows: a test in minutes, not meaningful results
    #[arg(long)]
    quick: bool,
    /// Only this part of the experiments, such as `published` or `equal`
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Device for deep networks: cpu, wgpu, cuda, or cuda:1 for the second GPU
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// Pretrained weights for image networks: torchvision's ResNet-18, as a safetensors or PyTorch
    /// file
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Folder for the results [default: paper, or paper-quick]
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
}

/// Shows the progress of a part.
struct Runs {
    bar: ProgressBar,
    /// Names of the candidates.
    names: Vec<String>,
}

impl windlass_compare::RunProgress for Runs {
    fn done(&self, _run: &Run, done: usize, all: usize) -> windlass_compare::Result<()> {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        Ok(())
    }

    fn cancelled(&self) -> bool {
        terminal::interrupted()
    }
}

impl DeepProgress for Runs {
    fn epoch(&self, run: Key, epoch: &Epoch, epochs: usize) {
        let name = self.names.get(run.candidate.spec.unwrap_or(0)).map_or("", String::as_str);
        let (seed, number, loss) = (run.repeat, epoch.number, epoch.loss);
        let text = format!("{name}, seed {seed}: epoch {number} of {epochs}, loss {loss:.3e}");
        self.bar.set_message(text);
    }
}

pub(crate) fn run(args: &ReproduceArgs) -> Result<u8> {
    terminal::heed_ctrl_c();
    if args.names.is_empty() {
        return list();
    }
    let everything = args.names.iter().any(|name| name == "all");
    let mut experiments: Vec<Experiment> = vec![];
    let mut missing = vec![];
    if everything {
        for experiment in names().into_iter().map(named) {
            let experiment = experiment?;
            if experiment.can_run() {
                experiments.push(experiment);
            } else {
                missing.push(format!("{}: build with --features deep", experiment.name));
            }
        }
    } else {
        for name in &args.names {
            experiments.push(named(name)?);
        }
    }
    let usual = if args.quick { "paper-quick" } else { "paper" };
    let output = args.output.clone().unwrap_or_else(|| usual.into());
    let device = Some(args.device.clone());
    let (seeds, weights) = (args.seeds.clone(), args.weights.clone());
    let scope = Scope { seeds, quick: args.quick, device, weights };
    let mut reproductions = vec![];
    for experiment in experiments {
        reproductions.push(Reproduction::new(experiment, scope.clone(), &output)?);
    }
    if everything {
        check_index(&output)?;
    }
    let has = |name: &String| {
        let mut parts = reproductions.iter().flat_map(|one| &one.experiment().part);
        parts.any(|part| part.name == *name)
    };
    if let Some(only) = args.only.as_ref().filter(|only| !has(only)) {
        let name = args.names.join(", ");
        return Err(Error::BadExperiment { name, why: format!("unknown part `{only}`") });
    }
    let wanted = |one: &&Reproduction| {
        let parts = &one.experiment().part;
        args.only.as_ref().is_none_or(|only| parts.iter().any(|part| part.name == *only))
    };
    let mut runnable = vec![];
    for reproduction in reproductions.iter().filter(wanted) {
        match reproduction.check(args.only.as_deref()) {
            Ok(()) => runnable.push(reproduction),
            // Of all experiments, those run that can.
            Err(error) if everything => {
                missing.push(format!("{}: {error}", reproduction.experiment().name));
            }
            Err(error) => return Err(error),
        }
    }
    for reproduction in runnable {
        one(args, reproduction)?;
    }
    for experiment in &missing {
        terminal::say(&format!("not run: {experiment}"));
    }
    // A list that is there says of every experiment whether it was run.
    if everything || has_index(&output) {
        let index = write_index(&output)?;
        if !args.quiet {
            terminal::say(&index.display().to_string());
        }
    }
    Ok(0)
}

fn one(args: &ReproduceArgs, reproduction: &Reproduction) -> Result<()> {
    let experiment = reproduction.experiment();
    let started = Instant::now();
    terminal::begin_writing();
    let mut finished = vec![];
    for part in &experiment.part {
        if !part.is_wanted(args.only.as_deref()) {
            finished.extend(reproduction.finished(part)?);
            continue;
        }
        let what = format!("runs of {}, {}", experiment.name, part.name);
        let names = part.config()?.comparison.specs.into_iter().map(|spec| spec.name).collect();
        let watch = Runs { bar: terminal::counted(args.quiet, 0, &what), names };
        let ran = reproduction.run(part, &watch);
        watch.bar.finish_and_clear();
        if matches!(ran, Err(Error::Compare(CompareError::Interrupted))) {
            terminal::say("interrupted; finished runs are saved, and the same command resumes");
        }
        finished.push(ran?);
    }
    let page = reproduction.write(&finished)?;
    if !args.quiet {
        let seconds = started.elapsed().as_secs_f64();
        terminal::say(&format!("{} ({seconds:.1} s)", page.display()));
    }
    Ok(())
}

fn list() -> Result<u8> {
    let mut out = String::new();
    for name in names() {
        let experiment = named(name)?;
        let part = |part: &ExperimentPart| {
            if part.only_when_asked {
                format!("{} (only when asked)", part.name)
            } else {
                part.name.clone()
            }
        };
        let parts: Vec<String> = experiment.part.iter().map(part).collect();
        let mut state = if parts.is_empty() { "pictures".to_owned() } else { parts.join(", ") };
        if !experiment.can_run() {
            state += " (needs deep networks: build with --features deep)";
        }
        let _ = writeln!(out, "{name:<15} {}\n{:15} {state}", experiment.title, "");
    }
    terminal::print(&out)?;
    Ok(0)
}
