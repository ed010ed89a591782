"""Numbers that others certify: least squares of the NIST Statistical Reference Datasets, and exported
models in the reference implementation of ONNX."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import time
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from common import CARS, reliability

from windlass import AnchorRegressor

NIST = json.loads(Path(__file__).with_name("nist.json").read_text())
# Certified digits that double precision allows: powers of x that are rounded to 53 bits have a
# solution that equals the certified one in 7.6 digits.
DIGITS = {"longley": 12.0, "filip": 7.0}


def dataset(name):
    """Features, target, and the certified coefficients, the intercept first."""
    rows = np.array(NIST[name]["rows"])
    x, y = rows[:, 1:], rows[:, 0]
    if name == "filip":
        x = x ** np.arange(1, 11)
    return x, y, [Fraction(value) for value in NIST[name]["coefficients"]]


def digits(got, wanted):
    """Correct digits of the worst of several numbers: −log₁₀ of the relative error, at most 15."""
    errors = [abs(Fraction(float(a)) / Fraction(b) - 1) for a, b in zip(got, wanted)]
    return min(15.0, -np.log10(max(float(max(errors)), 1e-15)))


def exact_ridge(x, y, penalty):
    """The coefficients of ridge regression in rational arithmetic, the intercept first."""
    x = [[Fraction(value) for value in row] for row in x.tolist()]
    y = [Fraction(value) for value in y.tolist()]
    means = [sum(column) / len(y) for column in zip(*x)]
    rows = [[value - mean for value, mean in zip(row, means)] for row in x]
    mean = sum(y) / len(y)
    count = len(means)
    system = [
        [sum(row[i] * row[j] for row in rows) + (penalty if i == j else 0) for j in range(count)]
        + [sum(row[i] * (value - mean) for row, value in zip(rows, y))]
        for i in range(count)
    ]
    for pivot in range(count):
        system[pivot] = [value / system[pivot][pivot] for value in system[pivot]]
        for line in range(count):
            if line != pivot:
                factor = system[line][pivot]
                system[line] = [a - factor * b for a, b in zip(system[line], system[pivot])]
    coefficients = [line[-1] for line in system]
    return [mean - sum(a * b for a, b in zip(means, coefficients)), *coefficients]


def coefficients(model):
    return [model.intercept_, *model.coef_]


def command(folder, *words):
    windlass = os.environ.get("WINDLASS")
    if windlass is None:
        pytest.skip("WINDLASS does not name the command: cargo xtask test sets it")
    done = subprocess.run([windlass, *map(str, words)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_numbers(tmp_path, capsys):
    start = time.monotonic()
    rows = [*certified_digits(tmp_path), *exported_models(tmp_path)]
    reliability("numbers", "Certified numbers and ONNX", rows, time.monotonic() - start)
    with capsys.disabled():
        print("\n" + "\n".join(f"{what}: {number}" for what, number in rows), end="")


def certified_digits(folder):
    """Correct digits of least squares by every door."""
    for name, required in DIGITS.items():
        x, y, certified = dataset(name)
        site = np.arange(len(y)) % 4
        anchors = np.random.default_rng(0).normal(size=(len(y), 2))
        names = [f"x{column}" for column in range(x.shape[1])]
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*names, "y", "site"])
            writer.writerows([*map(repr, map(float, line)), f"s{group}"] for *line, group in zip(*x.T, y, site))
        # Least squares, with and without the command.
        found = {
            "γ = 1 with groups": coefficients(AnchorRegressor(1.0).fit(x, y, anchors=site)),
            "γ = 1 with real-valued anchors": coefficients(AnchorRegressor(1.0).fit(x, y, anchors=anchors)),
        }
        words = ["--target", "y", "--anchors", "column:site", "--anchor-gamma", "1", "--json"]
        path = json.loads(command(folder, "regress", f"{name}.csv", *words))["rows"][0]
        found["γ = 1 by windlass regress"] = [path["intercept"], *path["coefficients"]]
        scores = {what: digits(got, certified) for what, got in found.items()}
        words = ["--target", "y", "--exclude", "site", "--model", "ridge", "--penalty", "0"]
        command(folder, "train", f"{name}.csv", *words, "--output", name)
        command(folder, "predict", name, f"{name}.csv", "--output", f"{name}-predicted.csv")
        with (folder / f"{name}-predicted.csv").open() as file:
            predicted = [float(row["prediction"]) for row in csv.DictReader(file)]
        rest = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(y.tolist(), predicted))
        scores["residual sum of squares of ridge with penalty 0"] = digits(
            [rest], [NIST[name]["residual_sum_of_squares"]]
        )
        for what, score in scores.items():
            assert score >= required, (name, what, score)
            yield [f"NIST {name.capitalize()}, {what}: certified digits", round(score, 1)]
        penalized = coefficients(AnchorRegressor(1.0, alpha=1.0).fit(x, y, anchors=site))
        score = digits(penalized, exact_ridge(x, y, 1))
        assert score >= required, (name, "ridge", score)
        yield [f"NIST {name.capitalize()}, ridge with penalty 1: digits of exact arithmetic", round(score, 1)]


# Every kind of model that is exported, on a table with categories, missing values and dates.
MODELS = [
    "--model ridge",
    "--model anchor --anchors column:origin --anchor-gamma 3",
    "--epochs 10",
    "--epochs 10 --hidden 7,5 --activation tanh --scale minmax --target weight,mpg",
    "--epochs 5 --hidden 9 --activation sigmoid",
    "--epochs 5 --model fcn3",
    "--epochs 10 --committee 3 --augment ada",
    "--model forest --trees 20",
    "--model forest --trees 10 --target weight,mpg",
    "--model extra-trees --trees 20",
    "--model boosting --trees 40",
    "--model gp",
    "--model gp --target weight,mpg --target-scale none --scale minmax",
    "--auto",
    "--auto --distill",
]
EXTREME = [0.0, 1.0, -1.0, np.nan, 1e-300, 1e20, 3.4e38, -3.5e38, 1e300, -1e300, np.inf, -np.inf]


def reference(model):
    """The reference evaluator, whose trees ignore thresholds and weights of 64 bits as published."""
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.ops.aionnxml.op_tree_ensemble_regressor import TreeEnsembleRegressor as Published

    class TreeEnsembleRegressor(Published):
        op_domain = "ai.onnx.ml"

        def _run(self, x, **given):
            for name in ("base_values", "nodes_values", "target_weights"):
                if given[f"{name}_as_tensor"] is not None:
                    given[name] = np.asarray(given[f"{name}_as_tensor"])
            return super()._run(x, **given)

    return ReferenceEvaluator(model, new_ops=[TreeEnsembleRegressor])


def extreme_rows(session):
    """A usual row, and rows with extreme values in all columns or in one; unknown levels and known."""
    notes = session.get_modelmeta().custom_metadata_map
    width, levels = len(json.loads(notes["continuous"])), len(json.loads(notes["categories"]))
    rows = [np.full(width, 200.0)]
    for value in EXTREME:
        rows.append(np.full(width, value))
        for column in range(width):
            rows.append(rows[0].copy())
            rows[-1][column] = value
    known = np.zeros((len(rows), levels), np.float32)
    for row in range(len(rows)):
        if levels and row % 3:
            known[row, row % levels] = 1.0
    given = {"continuous": np.array(rows), "categories": known}
    return {item.name: given[item.name] for item in session.get_inputs()}


def exported_models(folder):
    """Exported models pass the checks of ONNX, and both runtimes compute the same."""
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    lines = CARS.read_text().splitlines()
    (folder / "cars.csv").write_text("\n".join([lines[0], *lines[1::3]]) + "\n")
    predictions = 0
    for place, settings in enumerate(MODELS):
        target = [] if "--target " in settings else ["--target", "mpg"]
        command(folder, "train", "cars.csv", *target, *settings.split(), "--quiet", "--output", f"m{place}")
        command(folder, "export", f"m{place}", f"m{place}.onnx")
        model = onnx.load(folder / f"m{place}.onnx")
        onnx.checker.check_model(model, full_check=True)
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        assert len(inferred.graph.output) == len(model.graph.output)
        session = onnxruntime.InferenceSession(folder / f"m{place}.onnx")
        evaluator = reference(model)
        given = extreme_rows(session)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            theirs = evaluator.run(None, given)
            none = {name: values[:0] for name, values in given.items()}
            empty = [*evaluator.run(None, none), *session.run(None, none)]
        ours = session.run(None, given)
        for a, b in zip(ours, theirs):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * np.nanmax(np.abs(a[:1])), err_msg=settings)
            assert np.isfinite(a[:1]).all(), settings
            predictions += len(a)
        assert all(len(values) == 0 for values in empty), settings
    yield ["exported models that pass the full check and strict shape inference of ONNX", len(MODELS)]
    yield ["rows, extreme ones among them, that onnxruntime and the reference predict alike", predictions]
