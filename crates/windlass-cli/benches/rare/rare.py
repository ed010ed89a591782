"""Time of SMOGN: the command `windlass` and the Python package smogn on the same tables.

    python rare.py --windlass TARGET/release/windlass --data FOLDER

The command reads and writes CSV, the package gets a DataFrame and returns one. Both take turns; the package runs once at
each size, since its time grows with the square of the rows. Prints a Markdown table.
"""

import argparse
import contextlib
import io
import json
import math
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd
import smogn

SIZES = [1_000, 2_000, 4_000]
LARGE = 28_000
FEATURES = 59
ROUNDS = 5


def table(rows):
    """Normal features, and a target with a long upper tail that depends on some of them."""
    rng = np.random.default_rng(rows)
    x = rng.standard_normal((rows, FEATURES))
    y = np.exp(0.6 * x[:, 0] + 0.3 * x[:, 1] * x[:, 2] + 0.2 * rng.standard_normal(rows))
    return pd.DataFrame(x, columns=[f"x{i}" for i in range(FEATURES)]).assign(y=y)


def ours(windlass, folder, rows):
    out = folder / "out.csv"
    words = ["augment", folder / f"{rows}.csv", "--target", "y", "--method", "smogn", "--rare", "high"]
    started = time.perf_counter()
    done = subprocess.run(
        [windlass, *words, "--force", "--json", "--output", out], check=True, capture_output=True
    )
    seconds = time.perf_counter() - started
    summary = json.loads(done.stdout)
    return seconds, summary["rare"]["rows"], summary["synthetic"]


def theirs(rows):
    data = table(rows)
    started = time.perf_counter()
    with contextlib.redirect_stderr(io.StringIO()):
        made = smogn.smoter(data=data, y="y", samp_method="balance", rel_method="auto", rel_xtrm_type="high")
    return time.perf_counter() - started, len(made)


def seconds_of(value):
    return f"{value:.3f} s" if value < 10 else f"{value:,.0f} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--windlass", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    for rows in [*SIZES, LARGE]:
        table(rows).to_csv(options.data / f"{rows}.csv", index=False)
    times, lines, peer = {}, [], {}
    for rows in SIZES:
        runs = [ours(options.windlass, options.data, rows) for _ in range(ROUNDS)]
        peer[rows], made = theirs(rows)
        runs += [ours(options.windlass, options.data, rows) for _ in range(ROUNDS)]
        times[rows] = float(np.median([run[0] for run in runs]))
        _, rare, synthetic = runs[0]
        lines.append((rows, rare, synthetic, made, times[rows], peer[rows], ""))
    growth = math.log2(peer[SIZES[-1]] / peer[SIZES[-2]])
    guess = peer[SIZES[-1]] * (LARGE / SIZES[-1]) ** growth
    runs = [ours(options.windlass, options.data, LARGE) for _ in range(ROUNDS)]
    _, rare, synthetic = runs[0]
    large = float(np.median([run[0] for run in runs]))
    lines.append((LARGE, rare, synthetic, None, large, guess, " (extrapolated)"))
    print("| rows | rare rows | synthetic rows | smogn's output | windlass | smogn | ratio |")
    print("| --: | --: | --: | --: | --: | --: | --: |")
    for rows, rare, synthetic, made, mine, other, note in lines:
        output = "–" if made is None else f"{made:,} rows"
        ratio = f"{other / mine:,.0f}{note}"
        row = f"| {rows:,} | {rare:,} | {synthetic:,} | {output} | {seconds_of(mine)} |"
        print(f"{row} {seconds_of(other)}{note} | {ratio} |")
    hours = guess / 3600
    print(
        f"\nFrom {SIZES[-2]:,} to {SIZES[-1]:,} rows the time of smogn grows with the power {growth:.2f} of the rows; "
        f"the last line extrapolates that, to {hours:.1f} hours, and was not measured."
    )


main()
