"""What several tests need."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
CARS = ROOT / "examples/auto_mpg.csv"


def golden(name, topic=None):
    """The cases of a golden file of the Rust crate, or of a topic in it, its arrays as arrays."""

    def array(item):
        if set(item) == {"shape", "data"}:
            return np.array(item["data"], dtype=float).reshape(item["shape"])
        return item

    path = ROOT / "crates/windlass/tests/golden" / name
    content = json.loads(path.read_text(), object_hook=array)
    return (content if topic is None else content[topic])["cases"]


def windlass(*words):
    """Run the command, and give what it prints."""
    command = os.environ.get("WINDLASS")
    if command is None:
        pytest.skip("WINDLASS names no command to compare with")
    done = subprocess.run([command, *map(str, words)], capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


def rows(n=80, d=3, seed=0):
    """Features, and a target that is a line and some noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, x @ np.linspace(1, -2, d) + 0.1 * rng.normal(size=n)


def write_csv(path, x, y):
    """Write features x0, x1, … and the target y with all their digits; return the path."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{column}" for column in range(x.shape[1])), "y"])
        writer.writerows([[repr(float(v)) for v in (*row, t)] for row, t in zip(x, y)])
    return path


def third_party(name):
    """A file or folder of the test files of other projects; skips if they are absent."""
    folder = os.environ.get("WINDLASS_THIRD_PARTY")
    if folder is None or not (Path(folder) / name).exists():
        pytest.skip("WINDLASS_THIRD_PARTY does not name the test files of other projects")
    return Path(folder) / name


def reliability(name, title, rows, seconds):
    """Write the figures of a suite for docs/results/reliability.md, if they are wanted."""
    folder = os.environ.get("WINDLASS_RELIABILITY")
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        rows = [*rows, ["seconds", round(seconds)]]
        text = json.dumps({"title": title, "rows": rows}, indent=1, ensure_ascii=False)
        (Path(folder) / f"{name}.json").write_text(text + "\n")
