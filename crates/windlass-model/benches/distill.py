"""Students of distillation on small samples of nine tables, for `cargo xtask bench distill`.

Cells are those of `models.py`: a table, a number of training rows and a random split. In each cell, teacher and students
are trained and applied by the command; configurations differ from the default student in one factor. One line of JSON
per cell and configuration goes to the results file, and what is there already is not computed again: a run can be
interrupted. Configurations have stages; stage `i` at the `j`-th size in split `k` is computed in round `i + j + 3k`, all
tables of a size together: what matters most and costs least comes first.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
from models import MOST_TESTED, SIZES, rmse, tables
from scipy.stats import t as student_t

TUNED, COMMITTEE, TEACHER = "tuned network", "committee of 5", "teacher, --auto"
DEFAULT = "Mixup (default)"
COPIES = "relabeled copies"
IN_SAMPLE = "relabeled copies, in-sample labels"
OWN_LABELS = "own labels"
# The grid of the tuned network: units and weight decay.
GRID = [(units, decay) for units in ("64,64", "128,128") for decay in (0.05, 0.5, 2.0)]
NEIGHBORS, BOX = "MUNGE", "uniform box"


def standardized(frame: pd.DataFrame) -> np.ndarray:
    scale = frame.std(ddof=0).replace(0.0, 1.0).fillna(1.0)
    return ((frame - frame.mean()) / scale).fillna(0.0).to_numpy()


def like(values: np.ndarray, frame: pd.DataFrame) -> pd.DataFrame:
    """Values as a table, rounded in the columns that hold whole numbers."""
    made = pd.DataFrame(values, columns=frame.columns)
    for column in frame:
        present = frame[column].dropna()
        if len(present) and (present == present.round()).all():
            made[column] = made[column].round()
    return made


def munge(frame: pd.DataFrame, copies: int, rng: np.random.Generator) -> pd.DataFrame:
    """MUNGE (Bucilă, Caruana, Niculescu-Mizil 2006): each value is, with probability 1/2, drawn around that of the
    nearest other row, with their distance as the standard deviation.
    """
    z, values = standardized(frame), frame.to_numpy(float)
    distances = ((z[:, None, :] - z[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    neighbors = values[distances.argmin(axis=1)]
    made = []
    for _ in range(copies):
        drawn = rng.normal(neighbors, np.nan_to_num(np.abs(values - neighbors)))
        made.append(np.where(rng.random(values.shape) < 0.5, drawn, values))
    return like(np.concatenate(made), frame)


def uniform_box(frame: pd.DataFrame, copies: int, rng: np.random.Generator) -> pd.DataFrame:
    low, high = frame.min().to_numpy(float), frame.max().to_numpy(float)
    return like(rng.uniform(low, high, (copies * len(frame), frame.shape[1])), frame)


NUMBER, STEPS, BATCH = "40", 6000, 32
# Configurations in stages, the most important first: the options of `windlass distill`.
STAGES: list[dict[str, list[str]]] = [
    {TUNED: [], COMMITTEE: [], TEACHER: []},
    {
        DEFAULT: [],
        COPIES: ["--copies", "0"],
        IN_SAMPLE: ["--copies", "0", "--in-sample-labels"],
        OWN_LABELS: [],
        "feature noise": ["--method", "noise"],
        "ADA, α = 2": ["--method", "ada", "--alpha", "2"],
        BOX: [BOX, NUMBER],
    },
    {
        "C-Mixup": ["--method", "c-mixup"],
        "Local-Mixup": ["--method", "local-mixup"],
        NEIGHBORS: [NEIGHBORS, NUMBER],
        "ADA, α = 5": ["--method", "ada", "--alpha", "5"],
        "ADA, α = 10": ["--method", "ada", "--alpha", "10"],
        "in-sample labels": ["--in-sample-labels"],
    },
    {
        "5 copies": ["--copies", "5"],
        "20 copies": ["--copies", "20"],
        "100 copies": ["--copies", "100"],
        "hidden 32,32": ["--hidden", "32,32"],
        "hidden 128,128": ["--hidden", "128,128"],
        "hidden 64": ["--hidden", "64"],
        "boosting": ["--student", "boosting"],
    },
    {
        "ADA, 4 groups": ["--method", "ada", "--clusters", "4"],
        "ADA, 8 groups": ["--method", "ada", "--clusters", "8"],
        "ADA, 16 groups": ["--method", "ada", "--clusters", "16"],
        "2,000 steps": ["--steps", "2000"],
        "20,000 steps": ["--steps", "20000"],
    },
]
# Sources of the student's rows, which are compared with relabeled copies.
CARRIERS = [
    DEFAULT, "C-Mixup", "Local-Mixup", "feature noise", "ADA, α = 2", "ADA, α = 5", "ADA, α = 10", "ADA, 4 groups",
    "ADA, 8 groups", "ADA, 16 groups", NEIGHBORS, BOX,
]  # fmt: skip
# What differs from the default student in one factor.
FACTORS = {
    "labels": ["in-sample labels"],
    "copies": ["5 copies", "20 copies", "100 copies"],
    "student": ["hidden 64", "hidden 32,32", "hidden 128,128", "boosting"],
    "steps": ["2,000 steps", "20,000 steps"],
}


class Cell:
    """Training and test rows in a folder, with the files of their models."""

    def __init__(self, arguments, folder: Path, table: str, rows: int, split: int, data) -> None:
        self.binary, self.folder, self.split = arguments.binary, folder, split
        frame, self.target = data
        order = np.random.default_rng([split, rows]).permutation(len(frame))
        self.train = frame.iloc[order[:rows]]
        self.test = frame.iloc[order[rows : rows + MOST_TESTED]]
        self.train.to_csv(self.path("train.csv"), index=False)
        self.test.to_csv(self.path("test.csv"), index=False)
        self.teacher = Path(arguments.teachers) / f"{table}-{rows}-{split}.windlass"

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def command(self, *words: str) -> str:
        done = subprocess.run([self.binary, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def fit(self, *options: str, model: str) -> dict:
        words = ["train", self.path("train.csv"), "-t", self.target, "-o", model, "--json", "--force"]
        return json.loads(self.command(*words, "--seed", str(self.split), *options))

    def error(self, model: str) -> float:
        self.command("predict", model, self.path("test.csv"), "-o", self.path("out.csv"), "-q", "--force")
        made = pd.read_csv(self.path("out.csv"))
        return rmse(made[self.target].to_numpy(float), made["prediction"].to_numpy())

    def tuned(self) -> str:
        """The network of the grid with the least out-of-fold error, on all rows for the mean number of epochs."""
        best = None
        for units, decay in GRID:
            options = ["--hidden", units, "--weight-decay", str(decay)]
            said = self.fit(*options, "--committee", "5", model=self.path("grid"))
            epochs = max(1, round(np.mean([kept for kept, _ in said["epochs"]])))
            if best is None or said["valid"]["rmse"] < best[0]:
                best = (said["valid"]["rmse"], [*options, "--valid", "none", "--epochs", str(epochs)])
        self.fit(*best[1], model=self.path("tuned"))
        return self.path("tuned")

    def student(self, options: list[str]) -> tuple[str, dict]:
        words = list(options)
        if words and words[0] in (NEIGHBORS, BOX):
            carrier, copies, *words = words
            rng = np.random.default_rng([self.split, len(self.train)])
            make = {NEIGHBORS: munge, BOX: uniform_box}[carrier]
            made = make(self.train.drop(columns=self.target), int(copies), rng)
            made.to_csv(self.path("unlabeled.csv"), index=False)
            words += ["--copies", "0", "--unlabeled", self.path("unlabeled.csv")]
        if options:
            words.append("--no-expected-error")
        files = [str(self.teacher), self.path("train.csv"), "-o", self.path("student")]
        said = self.command("distill", *files, "--json", "--force", "--seed", str(self.split), *words)
        return self.path("student"), json.loads(said)

    def measure(self, name: str, options: list[str]) -> dict:
        started, before, said = time.time(), os.times(), {}
        if name == TUNED:
            model = self.tuned()
        elif name == COMMITTEE:
            model = self.path("committee")
            self.fit("--committee", "5", model=model)
        elif name == OWN_LABELS:
            model = self.path("own")
            epochs = math.ceil(STEPS / math.ceil(len(self.train) / BATCH))
            self.fit(
                "--hidden", "64,64", "--batch", str(BATCH), "--lr", "0.01", "--schedule", "cosine",
                "--weight-decay", "0.01", "--valid", "none", "--epochs", str(epochs), model=model,
            )  # fmt: skip
        else:
            if not self.teacher.exists():
                self.fit("--auto", model=str(self.teacher))
                started, before = (time.time(), os.times()) if name != TEACHER else (started, before)
            model, said = (str(self.teacher), {}) if name == TEACHER else self.student(options)
        result = {"seconds": time.time() - started, "cpu": os.times().children_user - before.children_user}
        result |= {"bytes": os.path.getsize(model), "rmse": self.error(model)}
        return result | measured(said)


def measured(said: dict) -> dict:
    """The numbers of the summary of `windlass distill` that the page shows."""
    if not said:
        return {}
    found = {"microseconds": said["student"]["microseconds"], "teacher_microseconds": said["teacher"]["microseconds"]}
    if said["student"]["expected"]:
        found["expected"] = said["student"]["expected"]["rmse"]
    return found


def run(arguments: argparse.Namespace) -> None:
    store, done = Path(arguments.results), set()
    if store.exists():
        for line in store.read_text().splitlines():
            cell = json.loads(line)
            done.add((cell["config"], cell["table"], cell["rows"], cell["split"]))
    Path(arguments.teachers).mkdir(parents=True, exist_ok=True)
    data = tables(Path(arguments.data))
    last = len(STAGES) - 1
    rounds = [
        (stage + place + 3 * split, stage, rows, split)
        for split in range(arguments.splits)
        for stage in range(len(STAGES))
        for place, rows in enumerate(arguments.sizes)
    ]
    for _, stage, rows, split in sorted(rounds):
        for table, (frame, target) in data.items():
            configs = STAGES[stage]
            todo = [name for name in configs if (name, table, rows, split) not in done]
            if not todo or len(frame) < 1.5 * rows:
                continue
            with tempfile.TemporaryDirectory() as folder:
                cell = Cell(arguments, Path(folder), table, rows, split, (frame, target))
                for name in todo:
                    try:
                        result = cell.measure(name, configs[name])
                    except RuntimeError as error:
                        print(f"{name}, {table}, {rows} rows: {error}", file=sys.stderr)
                        continue
                    place = {"config": name, "table": table, "rows": rows, "split": split}
                    with store.open("a") as file:
                        file.write(json.dumps({**place, **result}) + "\n")
                if stage == last:
                    cell.teacher.unlink(missing_ok=True)


def over_tables(differences: pd.Series) -> tuple[float, float, float]:
    """Mean of differences by table, half of its 95 % interval, and the p-value of no difference."""
    count = len(differences)
    if count < 2:
        return float(differences.mean()), math.nan, math.nan
    mean, error = float(differences.mean()), float(differences.std()) / math.sqrt(count)
    half = float(student_t.ppf(0.975, count - 1)) * error
    p = 2 * float(student_t.sf(abs(mean) / error, count - 1)) if error > 0 else float(mean == 0)
    return mean, half, p


def holm(values: dict[str, float]) -> dict[str, float]:
    adjusted, largest = {}, 0.0
    for rank, (name, p) in enumerate(sorted(values.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(values) - rank) * p))
        adjusted[name] = largest
    return adjusted


def signed(mean: float, half: float) -> str:
    if math.isnan(mean):
        return "–"
    return f"{mean:+.1f}" if math.isnan(half) else f"{mean:+.1f} ± {half:.1f}"


def listed(names: list[str]) -> str:
    return "; ".join(names) if names else "none"


class Results:
    """All cells, as 100·ln RMSE by configuration."""

    def __init__(self, path: Path) -> None:
        self.cells = pd.DataFrame(map(json.loads, path.read_text().splitlines()))
        index = ["table", "rows", "split"]
        self.errors = 100 * np.log(self.cells.pivot_table("rmse", index, "config"))

    def has(self, *names: str) -> bool:
        return all(name in self.errors for name in names)

    def complete(self) -> pd.Series:
        """For each configuration, its number of complete splits."""
        own = self.cells.groupby(["config", "split"]).size()
        whole = self.cells.groupby(["table", "rows"]).ngroups
        return (own == whole).groupby(level="config").sum()

    def difference(self, name: str, to: str) -> pd.Series:
        return (self.errors[name] - self.errors[to]).dropna()

    def by_table(self, name: str, to: str, rows: int | None = None) -> pd.Series:
        """Means over splits, then over sizes."""
        found = self.difference(name, to)
        if rows is not None:
            found = found[found.index.get_level_values("rows") == rows]
        return found.groupby(level=["table", "rows"]).mean().groupby(level="table").mean()

    def splits(self, name: str) -> int:
        return int(self.complete().get(name, 0))

    def median(self, name: str, column: str) -> float:
        own = self.cells[self.cells.config == name]
        return float(own[column].median()) if column in own else math.nan


def main_table(results: Results, names: list[str]) -> list[str]:
    sizes = sorted(results.cells.rows.unique())
    out = [
        "| | " + " | ".join(f"{rows} rows" for rows in sizes) + " | better on | to the teacher | kB | µs per row | s | splits |",
        "| :-- |" + " --: |" * (len(sizes) + 6),
    ]
    for name in names:
        if not results.has(name):
            continue
        line, better, cells = [name], 0, 0
        for rows in sizes:
            means = results.by_table(name, TUNED, rows)
            line.append(signed(*over_tables(means)[:2]) if len(means) else "–")
            better, cells = better + int((means < 0).sum()), cells + len(means)
        line.append(f"{better} of {cells}")
        line.append(f"{results.difference(name, TEACHER).median():+.1f}")
        line.append(f"{results.median(name, 'bytes') / 1000:.0f}")
        time = results.median(name, "microseconds")
        if name == TEACHER:
            time = results.median(DEFAULT, "teacher_microseconds")
        line.append("–" if math.isnan(time) else f"{time:.0f}")
        line += [f"{results.median(name, 'cpu'):.1f}", str(results.splits(name))]
        out.append("| " + " | ".join(line) + " |")
    return out


def carriers(results: Results, baseline: str) -> list[str]:
    """Carriers of labels to a baseline without synthetic rows, and a verdict in words."""
    tables_there = results.cells.table.nunique()
    if not results.has(baseline):
        return [f"Not measured yet: {baseline}."]
    measured = [name for name in CARRIERS if results.has(name)]
    found = {name: results.by_table(name, baseline) for name in measured}
    partial = [name for name, means in found.items() if len(means) < tables_there]
    found = {name: means for name, means in found.items() if len(means) == tables_there}
    adjusted = holm({name: over_tables(means)[2] for name, means in found.items()})
    sizes = sorted(results.cells.rows.unique())
    out = ["| | all sizes | " + " | ".join(f"{rows} rows" for rows in sizes) + " | better on | p (Holm) |",
           "| :-- |" + " --: |" * (len(sizes) + 3)]
    verdicts: dict[str, list[str]] = {"better": [], "no better": [], "worse": []}
    for name, means in found.items():
        mean, half, _ = over_tables(means)
        each = [signed(*over_tables(results.by_table(name, baseline, rows))[:2]) for rows in sizes]
        out.append(f"| {name} | {signed(mean, half)} | {' | '.join(each)} | {int((means < 0).sum())} of {len(means)} | {adjusted[name]:.3f} |")
        clear = adjusted[name] < 0.05
        verdicts["better" if clear and mean < 0 else "worse" if clear else "no better"].append(name)
    out += ["", f"* Better than {baseline} (Holm-adjusted p < 0.05): {listed(verdicts['better'])}.",
            f"* Not shown to be better: {listed(verdicts['no better'])}.",
            f"* Worse: {listed(verdicts['worse'])}."]
    if partial:
        out.append(f"* Not measured on all tables yet: {listed(partial)}.")
    return out


def factors(results: Results) -> list[str]:
    out = ["| factor | | to the default | better on | kB | s |", "| :-- | :-- | --: | --: | --: | --: |"]
    for factor, names in FACTORS.items():
        for name in names:
            if not results.has(name) or not len(results.by_table(name, DEFAULT)):
                continue
            means = results.by_table(name, DEFAULT)
            if len(means) < results.cells.table.nunique():
                continue
            out.append(
                f"| {factor} | {name} | {signed(*over_tables(means)[:2])} | {int((means < 0).sum())} of {len(means)} "
                f"| {results.median(name, 'bytes') / 1000:.0f} | {results.median(name, 'cpu'):.1f} |"
            )
    return out


def goals(results: Results) -> list[str]:
    """What the default student should reach, and whether it does."""
    if not results.has(DEFAULT, TUNED, TEACHER):
        return ["The default student, its teacher and the tuned network are not measured yet."]
    out = ["| goal | measured | reached |", "| :-- | :-- | :-- |"]

    def goal(text: str, measured: str, reached: bool) -> None:
        out.append(f"| {text} | {measured} | {'yes' if reached else 'no'} |")

    for rows, most in ((50, -8.0), (100, -8.0), (200, -5.0)):
        means = results.by_table(DEFAULT, TUNED, rows)
        mean, half, _ = over_tables(means)
        whole = len(results.by_table(TEACHER, TUNED, rows))
        if len(means) < whole:
            measured = f"{signed(mean, half)} on {len(means)} of {whole} tables" if len(means) else "–"
            out.append(f"| to the tuned network at {rows} rows: at most {most:+.0f} | {measured} | not yet known |")
            continue
        goal(f"to the tuned network at {rows} rows: at most {most:+.0f}", signed(mean, half), mean <= most)
    worse = []
    for (table, rows), own in results.difference(DEFAULT, TUNED).groupby(level=["table", "rows"]):
        if len(own) > 2 and over_tables(own)[0] - over_tables(own)[1] > 0:
            worse.append(f"{table} at {rows} rows ({own.mean():+.1f})")
    few = results.splits(DEFAULT) < 3
    text = "significantly worse than the tuned network on no table"
    if few:
        out.append(f"| {text} | too few splits | not yet known |")
    else:
        goal(text, listed(worse), not worse)
    to_teacher = results.difference(DEFAULT, TEACHER)
    goal("to the teacher, median over cells: at most +2", f"{to_teacher.median():+.1f}", to_teacher.median() <= 2)
    own = results.cells[results.cells.config == DEFAULT]
    ratio = float((own.teacher_microseconds / own.microseconds).median())
    goal("prediction at least 50 times faster than the teacher's (median)", f"{ratio:.0f} times", ratio >= 50)
    goal("at most 100 kB", f"{own.bytes.max() / 1000:.0f} kB at most", own.bytes.max() <= 100_000)
    far = to_teacher.groupby(level="table").mean().sort_values(ascending=False)
    out += ["", "Distance to the teacher by table: " + ", ".join(f"{name} {value:+.1f}" for name, value in far.items()) + "."]
    known = own.dropna(subset=["expected"])
    by_table = np.log(known.rmse / known.expected).groupby(known.table).mean()
    mean, half, _ = over_tables(100 * by_table)
    out.append(f"True error of the student to its expected error, 100·ln of the ratio: {signed(mean, half)}.")
    return out


def state(results: Results, names: list[str]) -> str:
    """How much of the study is there."""
    text = "Splits that are complete, with all tables at all sizes, are in the last column of the large table; "
    text += f"{results.cells.groupby(['table', 'rows', 'split']).ngroups} cells (table, size, split) have results."
    partial = [name for name in names if results.has(name) and not results.splits(name)]
    absent = [name for name in names if not results.has(name)]
    if partial:
        text += f" Not complete, means of the cells that are there: {listed(partial)}."
    if absent:
        text += f" Not measured yet: {listed(absent)}."
    return textwrap.fill(text, 118, break_on_hyphens=False)


def page(arguments: argparse.Namespace) -> None:
    results = Results(Path(arguments.results))
    names = [name for stage in STAGES for name in stage]
    print("\n".join([
        "# Distillation on small tables", "",
        "Made by `cargo xtask bench distill`; the script, with its seeds, is `crates/windlass-model/benches/distill.py`.",
        f"{arguments.made_on}." if arguments.made_on else "", "",
        "Nine public tables; 50, 100, 200 and 400 random training rows, other rows (at most 1,500) are tested; a table with",
        "fewer than 1.5 times the rows has no cell at that size. The teacher is `windlass train --auto`; students are those",
        "of `windlass distill`, which differ from the default in what their name says. The tuned network is the best of",
        "six (64-64 or 128-128 units, weight decay 0.05, 0.5 or 2) by 5-fold out-of-fold error, trained on all rows for the",
        "mean of the best epochs. *Own labels* is the default student's network, optimizer and steps on the training rows",
        "with the table's targets: no teacher and no synthetic rows. *Relabeled copies* has the teacher's labels, as many",
        "steps, and no synthetic rows. MUNGE and uniform box are generated by the script and passed as unlabeled rows.",
        "",
        "The defaults (Mixup, 40 copies, 6,000 steps, the learning rate) were chosen by test errors of two splits of these",
        "tables, so the rows of the default are optimistic. The baseline with in-sample labels was added after the first",
        "results. Take p values as exploratory as long as fewer than ten splits are complete.",
        "", state(results, names), "",
        "## To reach", "", *goals(results), "",
        "## Students, committees and teachers", "",
        "100·ln of the ratio of the RMSE to that of the tuned network, the mean over tables with its 95 % interval;",
        "below 0 is better than the tuned network. *Better on* counts tables at sizes; *to the teacher* is the median over",
        "cells; kB, µs and CPU seconds to train are medians, those of students without the teacher's.", "",
        *main_table(results, names), "",
        "## Which rows carry the teacher's labels", "",
        f"Students on {NUMBER} synthetic rows per training row, to the student on the training rows alone, with as many",
        "steps: 100·ln of the ratio of the RMSE, the mean over tables. First to copies with the teacher's out-of-fold",
        "predictions as labels, as all students have them:", "",
        *carriers(results, COPIES), "",
        "Then to copies with its in-sample predictions:", "",
        *carriers(results, IN_SAMPLE), "",
        "## One factor at a time", "", *factors(results),
    ]))  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--results", required=True)
    parser.add_argument("--teachers", default="teachers")
    parser.add_argument("--binary", default="windlass")
    parser.add_argument("--data", default=os.environ.get("WINDLASS_DATA", "."))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sizes", type=lambda text: [int(one) for one in text.split(",")], default=SIZES)
    parser.add_argument("--made-on", default="")
    given = parser.parse_args()
    {"run": run, "page": page}[given.what](given)
