"""Errors of models on small samples of nine tables, for `cargo xtask bench models`.

Every cell is a table, a number of training rows and a random split; the other rows, at most 1,500, are tested. One line
of JSON per cell and model goes to the results file, and what is there already is not computed again. `page` writes the
page from that file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

MOST_TESTED = 1500
SIZES = [50, 100, 200, 400]
LEVEL = 0.9
EARLIER = "auto of 0.1.0"
AUTOGLUON = "AutoGluon (60 s)"


def tables(data: Path) -> dict[str, tuple[pd.DataFrame, str]]:
    """Read the nine tables; each with the name of its target."""

    def numbered(frame: pd.DataFrame, target: int) -> tuple[pd.DataFrame, str]:
        frame.columns = [f"c{place}" for place in range(frame.shape[1])]
        return frame, f"c{target}"

    air = pd.read_csv(data / "airfoil/airfoil_self_noise.dat", sep="\t", header=None)
    no2 = pd.read_csv(data / "no2/no2.csv")
    crime = pd.read_csv(data / "crime/communities.data", header=None, na_values="?")
    skill = pd.read_csv(data / "skillcraft/SkillCraft1_Dataset.csv", na_values="?")
    skill = skill.drop(columns=["GameID", "LeagueIndex"])
    california = pd.read_csv(data / "california/cal_housing.data", header=None)
    boston = pd.read_csv(data / "boston/housing.data", sep=r"\s+", header=None)
    mpg = pd.read_csv(
        data / "auto_mpg/auto-mpg.data", sep=r"\s+", header=None, na_values="?"
    )
    concrete = pd.read_excel(data / "concrete/Concrete_Data.xls", engine="xlrd")
    yacht = pd.read_csv(data / "yacht/yacht_hydrodynamics.data", sep=r"\s+", header=None)
    return {
        "airfoil": numbered(air, 5),
        "auto_mpg": numbered(mpg.iloc[:, :8], 0),
        "boston": numbered(boston, 13),
        "california": numbered(california, 8),
        "concrete": numbered(concrete, 8),
        "crime": numbered(crime.iloc[:, 5:], 122),
        "no2": (no2, no2.columns[0]),
        "skillcraft": (skill, "ActionLatency"),
        "yacht": numbered(yacht.dropna(axis=1), 6),
    }


def rmse(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.sqrt(np.mean((truth - predicted) ** 2)))


class Windlass:
    """A model of the command, trained and applied through files."""

    def __init__(self, binary: str, options: list[str], intervals: bool = True) -> None:
        self.binary, self.options, self.intervals = binary, options, intervals

    def __call__(
        self, train: pd.DataFrame, test: pd.DataFrame, target: str, seed: int
    ) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            files = {name: os.path.join(folder, name) for name in ("a.csv", "b.csv", "p.csv", "m")}
            train.to_csv(files["a.csv"], index=False)
            test.to_csv(files["b.csv"], index=False)
            started, cpu = time.time(), os.times()
            said = self.run(
                "train", files["a.csv"], "-t", target, "-o", files["m"], "--json",
                "--seed", str(seed), *self.options,
            )  # fmt: skip
            used = os.times()
            result = {
                "seconds": time.time() - started,
                "cpu": used.children_user - cpu.children_user,
                "bytes": os.path.getsize(files["m"]),
            }
            valid = json.loads(said).get("valid") if self.intervals else None
            interval = ["--interval", str(LEVEL)] if valid else []
            self.run("predict", files["m"], files["b.csv"], "-o", files["p.csv"], "-q", *interval)
            made = pd.read_csv(files["p.csv"])
            truth = made[target].to_numpy(float)
            result["rmse"] = rmse(truth, made["prediction"].to_numpy())
            if valid:
                low, high = made["prediction_low"], made["prediction_high"]
                result["expected"] = valid["rmse"]
                result["covered"] = float(np.mean((truth >= low) & (truth <= high)))
                result["width"] = float(np.mean(high - low))
            return result

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.binary, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout


class Peer:
    """A model of another package, after the usual preprocessing."""

    def __init__(self, make) -> None:
        self.make = make

    def __call__(
        self, train: pd.DataFrame, test: pd.DataFrame, target: str, seed: int
    ) -> dict[str, float]:
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline

        def split(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
            return frame.drop(columns=target).to_numpy(float), frame[target].to_numpy(float)

        (x, y), (x_test, y_test) = split(train), split(test)
        model = make_pipeline(SimpleImputer(), self.make(seed, x.shape[1]))
        started, cpu = time.time(), time.process_time()
        model.fit(x, y)
        result = {"seconds": time.time() - started, "cpu": time.process_time() - cpu}
        return {**result, "rmse": rmse(y_test, np.asarray(model.predict(x_test)))}


def autogluon(
    train: pd.DataFrame, test: pd.DataFrame, target: str, seed: int
) -> dict[str, float]:
    """AutoGluon with 60 seconds."""
    from autogluon.tabular import TabularPredictor

    with tempfile.TemporaryDirectory() as folder:
        started = time.time()
        predictor = TabularPredictor(label=target, path=folder, verbosity=0)
        predictor.fit(train, time_limit=60)
        seconds = time.time() - started
        predicted = predictor.predict(test.drop(columns=target)).to_numpy()
    return {"seconds": seconds, "cpu": math.nan, "rmse": rmse(test[target].to_numpy(float), predicted)}


def gaussian_process(seed: int, width: int):
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scale = np.ones(width) if width <= 30 else 1.0
    kernel = kernels.ConstantKernel() * kernels.Matern(scale, (1e-2, 1e3), nu=2.5)
    kernel += kernels.WhiteKernel(0.1, (1e-6, 1e1))
    model = GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=1, random_state=seed
    )
    return make_pipeline(StandardScaler(), model)


def peers() -> dict[str, object]:
    from sklearn.ensemble import (
        ExtraTreesRegressor,
        HistGradientBoostingRegressor,
        RandomForestRegressor,
    )

    def catboost(seed: int, _: int):
        from catboost import CatBoostRegressor

        return CatBoostRegressor(
            random_seed=seed, verbose=False, thread_count=2, allow_writing_files=False
        )

    def lightgbm(seed: int, _: int):
        from lightgbm import LGBMRegressor

        return LGBMRegressor(random_state=seed, n_jobs=2, verbose=-1)

    return {
        "scikit-learn: Gaussian process": Peer(gaussian_process),
        "scikit-learn: random forest": Peer(
            lambda seed, _: RandomForestRegressor(200, random_state=seed, n_jobs=2)
        ),
        "scikit-learn: extra trees": Peer(
            lambda seed, _: ExtraTreesRegressor(200, random_state=seed, n_jobs=2)
        ),
        "scikit-learn: histogram boosting": Peer(
            lambda seed, _: HistGradientBoostingRegressor(random_state=seed)
        ),
        "CatBoost": Peer(catboost),
        "LightGBM": Peer(lightgbm),
        AUTOGLUON: autogluon,
    }


def models(binary: str, earlier: str) -> dict[str, object]:
    own = {
        "auto": ["--auto"],
        "network": [],
        "committee": ["--committee", "5"],
        "ridge": ["--model", "ridge", "--split", "rows"],
        "gp": ["--model", "gp", "--split", "rows"],
        "forest": ["--model", "forest", "--split", "rows"],
        "extra-trees": ["--model", "extra-trees", "--split", "rows"],
        "boosting": ["--model", "boosting", "--split", "rows"],
    }
    found = {name: Windlass(binary, options) for name, options in own.items()} | peers()
    return found | ({EARLIER: Windlass(earlier, ["--auto"], intervals=False)} if earlier else {})


def run(arguments: argparse.Namespace) -> None:
    done = set()
    store = Path(arguments.results)
    if store.exists():
        for line in store.read_text().splitlines():
            cell = json.loads(line)
            done.add((cell["model"], cell["table"], cell["rows"], cell["split"]))
    known = models(arguments.binary, arguments.earlier)
    chosen = arguments.models.split(",") if arguments.models else list(known)
    # The slowest come last, on fewer splits.
    slow = {AUTOGLUON: ([100, 200], 3), EARLIER: (arguments.sizes, 2)}
    fast = [model for model in chosen if model not in slow]
    rounds = [(fast, arguments.sizes, arguments.splits)]
    rounds += [
        ([model], sizes, min(arguments.splits, splits))
        for model, (sizes, splits) in slow.items()
        if model in chosen
    ]
    read = tables(Path(arguments.data))
    for split, rows, name, model in (
        (split, rows, name, model)
        for models, sizes, splits in rounds
        for split in range(splits)
        for rows in sizes
        for name in read
        for model in models
    ):
        frame, target = read[name]
        if (
            len(frame) < 1.5 * rows
            or (arguments.tables and name not in arguments.tables)
            or (model, name, rows, split) in done
        ):
            continue
        order = np.random.default_rng([split, rows]).permutation(len(frame))
        train = frame.iloc[order[:rows]]
        test = frame.iloc[order[rows : rows + MOST_TESTED]]
        try:
            result = known[model](train, test, target, split)
        except (RuntimeError, ImportError) as error:
            print(f"{model}, {name}: {error}", file=sys.stderr)
            continue
        cell = {"model": model, "table": name, "rows": rows, "split": split}
        with store.open("a") as file:
            file.write(json.dumps({**cell, **result}) + "\n")


def goals(cells: pd.DataFrame, auto: pd.DataFrame) -> list[str]:
    """What `--auto` should reach against models of other packages, and what it does."""
    rivals = cells[cells.model.isin(list(peers()))].set_index(["table", "rows", "split"])
    both = rivals.join(auto[["rmse"]], rsuffix="_auto", how="inner")
    both["d"] = 100 * np.log(both.rmse_auto / both.rmse)
    each = both.groupby(["model", "rows", "table"]).d.agg(["mean", "std", "count"])
    half = student_t.ppf(0.975, (each["count"] - 1).clip(lower=1)) * each["std"] / np.sqrt(each["count"])
    means = each["mean"].groupby(["model", "rows"]).mean()

    def named(chosen: pd.DataFrame | pd.Series, value) -> str:
        return "; ".join(f"{', '.join(map(str, key))}: {value(item):+.1f}" for key, item in chosen.items()) or "none"

    earlier = cells[cells.model == EARLIER].set_index(["table", "rows", "split"])
    old = auto.join(earlier[["rmse"]], rsuffix="_old", how="inner")
    gain = 100 * np.log(old.rmse / old.rmse_old).groupby(["table", "rows"]).mean().mean()
    behind = means[means > -3]
    above = each["mean"][each["mean"] > 5]
    sure = each["mean"][each["mean"] - half > 5]
    return [
        "",
        "`--auto` against models of other packages, 100·ln of the ratio of its RMSE to theirs: below 0 `--auto` is better.",
        "",
        "| goal | measured | exceptions |",
        "| :-- | --: | :-- |",
        f"| at most −3 against each at each size, mean over tables | {len(means) - len(behind)} of {len(means)} | {named(behind, float)} |",
        f"| no cell whose 95 % interval lies above +5 | {len(sure)} of {len(each)} | {named(sure, float)} |",
        f"| at most three cell means above +5 | {len(above)} | {named(above, float)} |",
        *([f"| at most −4 against `--auto` of 0.1.0, mean over cells | {gain:+.1f} | |"] if len(old) else []),
        "",
    ]


def complete(cells: pd.DataFrame, model: str) -> int:
    """The number of splits in which a model has every table at each of its sizes."""
    own = cells[cells.model == model]
    wanted = cells[cells.rows.isin(own.rows)].groupby(["table", "rows"]).ngroups
    return int((own.groupby("split").size() == wanted).sum())


def page(arguments: argparse.Namespace) -> None:
    cells = pd.DataFrame(map(json.loads, Path(arguments.results).read_text().splitlines()))
    auto = cells[cells.model == "auto"].set_index(["table", "rows", "split"])
    sizes = sorted(cells.rows.unique())
    out = ["100·ln of the ratio of the RMSE to that of `--auto`, the mean over tables with its 95 % interval; above 0",
           "`--auto` is better. *Splits* is the number of splits of which all cells are measured.", ""]
    out += ["| | " + " | ".join(f"{rows} rows" for rows in sizes) + " | wins of `--auto` | worst cell | CPU s | kB | splits |",
            "| :-- |" + " --: |" * (len(sizes) + 5)]
    for model in dict.fromkeys(cells.model[cells.model != "auto"]):
        own = cells[cells.model == model].set_index(["table", "rows", "split"])
        both = own.join(auto, rsuffix="_auto", how="inner")
        both["d"] = 100 * np.log(both.rmse / both.rmse_auto)
        means = both.groupby(["rows", "table"]).d.mean()
        line = [model]
        for rows in sizes:
            if rows not in means.index.get_level_values(0):
                line.append("–")
                continue
            d = means.loc[rows]
            half = 0.0
            if len(d) > 1:
                half = student_t.ppf(0.975, len(d) - 1) * d.std() / math.sqrt(len(d))
            line.append(f"{d.mean():+.1f} ± {half:.1f}")
        worst = means.idxmin()
        size = f"{own.bytes.median() / 1000:.0f}" if "bytes" in own and own.bytes.notna().any() else "–"
        line += [f"{int((means > 0).sum())} of {len(means)}",
                 f"{worst[1]}, {worst[0]} rows: {means.min():+.1f}",
                 f"{own.cpu.median():.1f}" if own.cpu.notna().any() else "–", size, str(complete(cells, model))]
        out.append("| " + " | ".join(line) + " |")
    own = cells[cells.model == "auto"]
    out += ["", f"`--auto` itself: {own.cpu.median():.1f} CPU s, {own.bytes.median() / 1000:.0f} kB, "
            f"{complete(cells, 'auto')} splits."]
    out += goals(cells, auto)
    if "covered" in auto:
        out += ["", f"Intervals of {LEVEL:.0%} of `--auto`: share of test rows inside, and expected against true error.", "",
                "| table | inside, % | width / RMSE | true / expected error |", "| :-- | --: | --: | --: |"]
        for table, own in auto.groupby(level=0):
            ratio = math.exp(np.log(own.rmse / own.expected).mean())
            out.append(f"| {table} | {100 * own.covered.mean():.1f} | {(own.width / own.rmse).mean():.2f} | {ratio:.3f} |")
        ratio = math.exp(np.log(auto.rmse / auto.expected).mean())
        by_table = auto.groupby(level=0).covered.mean()
        out.append(f"| **mean** | {100 * by_table.mean():.1f} | {(auto.width / auto.rmse).mean():.2f} | {ratio:.3f} |")
    print("\n".join(out))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--results", required=True)
    parser.add_argument("--binary", default="windlass")
    parser.add_argument("--data", default=os.environ.get("WINDLASS_DATA", "."))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sizes", type=lambda text: [int(one) for one in text.split(",")], default=SIZES)
    parser.add_argument("--models", default="")
    parser.add_argument("--tables", default="")
    parser.add_argument("--earlier", default="", help="the command of 0.1.0")
    given = parser.parse_args()
    {"run": run, "page": page}[given.what](given)
