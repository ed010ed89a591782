"""Errors on rare and on all rows after emphasis of rare targets, for `cargo xtask bench rare errors`.

Every cell is a table and a random split with 200 training rows; the other rows, at most 1,500, are tested. Rare are the
high targets by the box plot of the whole table. What is in the results file already is not computed again. `page`
writes the section from that file.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).parents[3] / "windlass-model/benches"))
from models import MOST_TESTED, tables  # noqa: E402

ROWS = 200
MODELS = {"network": [], "boosted trees": ["--model", "boosting"]}
# The rows that are added, and options of `train`.
METHODS = {
    "plain": (None, []),
    "duplicates": ("duplicates", []),
    "SMOTER": ("smoter", []),
    "SMOGN": ("smogn", []),
    "ADA of rare rows": ("ada", []),
    "C-Mixup of rare rows": ("c-mixup", []),
    "density weights": (None, ["--density-weights"]),
    "average of plain and density weights": (None, ["--density-average"]),
}
# The 97.5 % quantile of Student's t for 1, 2, … degrees of freedom.
QUANTILES = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]


def relevance(y: np.ndarray) -> str:
    """Return control points: 0 at the median, 1 at the largest value below the upper fence."""
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75])
    top = y[y <= high + 1.5 * (high - low)].max()
    return f"y,phi,slope\n{float(middle)!r},0,0\n{float(top)!r},1,0\n"


def duplicated(train: pd.DataFrame, target: str, phi: Path) -> pd.DataFrame:
    """Return the rows with copies of rare ones, as many as make them as many as the others."""
    (_, (middle, *_), (top, *_)) = [line.split(",") for line in phi.read_text().splitlines()]
    t = np.clip((train[target] - float(middle)) / (float(top) - float(middle)), 0, 1)
    rare = train[3 * t**2 - 2 * t**3 >= 0.8]
    copies = max(1, round((len(train) - len(rare)) / max(len(rare), 1) - 1))
    return pd.concat([train, *[rare] * copies])


def measure(binary: str, data: Path, results: Path, splits: int) -> None:
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    done = {(one["table"], one["split"], one["model"], one["method"]) for one in known}

    def run(*arguments: object) -> str:
        words = [binary, *map(str, arguments)]
        made = subprocess.run(words, capture_output=True, text=True, check=False)
        if made.returncode:
            raise RuntimeError(f"{words}: {made.stderr}")
        return made.stdout

    for split in range(splits):
        for name, (frame, target) in tables(data).items():
            frame = frame[np.isfinite(frame[target])]
            if len(frame) < 1.5 * ROWS:
                continue
            order = np.random.default_rng([split, ROWS]).permutation(len(frame))
            train, test = frame.iloc[order[:ROWS]], frame.iloc[order[ROWS : ROWS + MOST_TESTED]]
            with tempfile.TemporaryDirectory() as folder:
                paths = {name: Path(folder) / name for name in ("a.csv", "b.csv", "more.csv", "phi.csv", "m")}
                train.to_csv(paths["a.csv"], index=False)
                test.to_csv(paths["b.csv"], index=False)
                paths["phi.csv"].write_text(relevance(frame[target].to_numpy(float)))
                for method, (added, options) in METHODS.items():
                    if all((name, split, model, method) in done for model in MODELS):
                        continue
                    source = paths["a.csv"]
                    if added == "duplicates":
                        source = paths["more.csv"]
                        duplicated(train, target, paths["phi.csv"]).to_csv(source, index=False)
                    elif added is not None:
                        source = paths["more.csv"]
                        run(
                            "augment", paths["a.csv"], "-t", target, "--method", added, "--rare", paths["phi.csv"],
                            "--seed", split, "--force", "-q", "-o", source,
                        )  # fmt: skip
                    for model, words in MODELS.items():
                        if (name, split, model, method) in done:
                            continue
                        # The same preprocessing and validation for all: the last epoch, no early choice.
                        valid = ["--valid", "none"] if model == "network" else []
                        run(
                            "train", source, "-t", target, "--seed", split, "-q", "--force", "-o", paths["m"],
                            *words, *valid, *options,
                        )  # fmt: skip
                        said = json.loads(
                            run("predict", paths["m"], paths["b.csv"], "--metrics", "--json", "--rare", paths["phi.csv"])
                        )
                        line = {
                            "table": name, "split": split, "model": model, "method": method,
                            "deviation": float(test[target].std()), "rmse": said["rmse"], "bias": said["bias"],
                            "rare_rows": said["rare"]["rows"], "rare_rmse": said["rare"]["rmse"],
                            "rare_bias": said["rare"]["bias"], "sera": said["rare"]["sera"],
                        }  # fmt: skip
                        with results.open("a") as file:
                            file.write(json.dumps(line) + "\n")


def page(results: Path) -> str:
    """Return the section as Markdown."""
    lines = pd.DataFrame([json.loads(line) for line in results.read_text().splitlines()])
    splits = lines["split"].nunique()
    out = [f"{lines['table'].nunique()} tables, {splits} splits.\n"]
    for model in MODELS:
        own = lines[lines["model"] == model]
        plain = own[own["method"] == "plain"].set_index(["table", "split"])
        out.append(f"### {model.capitalize()}\n")
        out.append("| method | RMSE of rare rows | SERA | RMSE of all rows | bias of rare rows | bias of all rows |")
        out.append("| :-- | --: | --: | --: | --: | --: |")
        for method in METHODS:
            one = own[own["method"] == method].set_index(["table", "split"])
            joined = one.join(plain, rsuffix="_plain", how="inner")

            def change(column: str, joined: pd.DataFrame = joined) -> str:
                ratios = np.log(joined[column] / joined[column + "_plain"])
                means = ratios.groupby("table").mean()
                if method == "plain":
                    return ""
                half = QUANTILES[len(means) - 2] * means.std(ddof=1) / math.sqrt(len(means))
                ends = [100 * math.expm1(means.mean() + sign * half) for sign in (-1, 1)]
                return f"{100 * math.expm1(means.mean()):+.1f} ({ends[0]:+.1f} … {ends[1]:+.1f}) %"

            def bias(column: str, joined: pd.DataFrame = joined) -> str:
                return f"{(joined[column] / joined['deviation']).groupby('table').mean().mean():+.3f}"

            cells = [change("rare_rmse"), change("sera"), change("rmse"), bias("rare_bias"), bias("bias")]
            out.append(f"| {method} | " + " | ".join(cells) + " |")
        out.append("")
    return "\n".join(out).replace("-", "−").replace("−−:", "--:").replace(":−−", ":--").replace("C−Mixup", "C-Mixup")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["run", "page"])
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--binary")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    given = parser.parse_args()
    if given.action == "run":
        measure(given.binary, given.data, given.results, given.splits)
    else:
        print(page(given.results))


if __name__ == "__main__":
    main()
