"""Runs the command and the Python package on fixed inputs and prints a hash of every result.

Only numbers count: cells of tables, predictions, and the numbers in JSON in their order. Prose, key names, versions
and times do not, so the hashes stay the same when texts and names change. Called by `cargo xtask outputs`.
"""

import argparse
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

TABLE = pathlib.Path("examples/auto_mpg.csv").resolve()
METHODS = ["ada", "noise", "mixup", "local-mixup", "c-mixup", "foma", "cems"]
# A short training: what is compared is the arithmetic, not the model.
SHORT = ["--epochs", "5"]
# JSON values that differ from run to run.
TIMES = {"seconds", "time", "wall", "cpu"}


class Digest:
    """A hash of numbers and texts in their order."""

    def __init__(self):
        self.hash = hashlib.sha256()

    def add(self, value):
        if value is None:
            self.hash.update(b"n")
        elif isinstance(value, bool):
            self.hash.update(b"t" if value else b"f")
        elif isinstance(value, (int, float)):
            # An integer and a float of the same value are the same number.
            self.hash.update(b"d" + struct.pack("<d", float(value)))
        else:
            self.hash.update(b"s" + str(value).encode() + b"\0")

    def hex(self):
        return self.hash.hexdigest()[:16]


def hash_table(table):
    digest = Digest()
    for column in table.columns:
        for value in column.to_pylist():
            digest.add(value)
    return digest.hex()


def hash_numbers(value, skip=TIMES):
    digest = Digest()

    def visit(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                if key not in skip:
                    visit(inner)
        elif isinstance(value, list):
            for inner in value:
                visit(inner)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            digest.add(value)

    visit(value)
    return digest.hex()


def hash_arrays(*arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()[:16]


def hash_safetensors(path):
    """The weights: everything behind the header, which holds texts."""
    data = path.read_bytes()
    (header,) = struct.unpack("<Q", data[:8])
    return hashlib.sha256(data[8 + header :]).hexdigest()[:16]


def hash_onnx_predictions(path):
    """What the exported network answers; its file also holds names."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path))
    feed = {}
    for place, entry in enumerate(session.get_inputs()):
        width = entry.shape[1] if len(entry.shape) > 1 and isinstance(entry.shape[1], int) else 1
        shape = (5, width) if len(entry.shape) > 1 else (5,)
        if entry.type == "tensor(string)":
            feed[entry.name] = np.full(shape, "USA", dtype=object)
        else:
            kind = {"tensor(float)": np.float32, "tensor(double)": np.float64}.get(entry.type, np.int64)
            feed[entry.name] = (np.arange(5 * width).reshape(shape) % 7 + place).astype(kind)
    return hash_arrays(*session.run(None, feed))


def command_outputs(windlass, folder):
    """Yields a name and a hash for every result of the command."""

    def run(*arguments, code=(0,)):
        done = subprocess.run([windlass, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
        if done.returncode not in code:
            raise SystemExit(f"`windlass {' '.join(map(str, arguments))}` failed:\n{done.stderr}")
        return done.stdout

    target = ["--target", "mpg"]
    for method in METHODS:
        out = folder / f"{method}.csv"
        extra = ["--epsilon", "500"] if method == "local-mixup" else []
        run("augment", TABLE, *target, "--method", method, "--copies", 2, "--seed", 3, "--output", out, *extra)
        yield f"augment {method} csv", hash_table(pa.csv.read_csv(out))
    for method in ["smoter", "smogn"]:
        out = folder / f"{method}.csv"
        run("augment", TABLE, *target, "--method", method, "--rare", "high", "--seed", 3, "--output", out)
        yield f"augment {method} csv", hash_table(pa.csv.read_csv(out))
    parquet, arrow = folder / "ada.parquet", folder / "ada.arrow"
    options = ["--copies", 3, "--provenance", "--drop-missing-target"]
    run("augment", TABLE, *target, *options, "--output", parquet)
    yield "augment ada parquet", hash_table(pa.parquet.read_table(parquet))
    run("augment", TABLE, *target, *options, "--preset", "published", "--output", arrow)
    yield "augment published arrow", hash_table(pa.ipc.open_file(arrow).read_all())
    bins = folder / "bins.csv"
    manifest = folder / "bins.json"
    run("augment", TABLE, *target, "--anchors", "quantiles:weight", "--within", "origin", "--gamma", "log-uniform",
        "--manifest", manifest, "--output", bins)
    yield "augment quantiles csv", hash_table(pa.csv.read_csv(bins))
    yield "augment manifest", hash_numbers(json.loads(manifest.read_text()))
    fitted = folder / "fitted.json"
    run("augment", TABLE, *target, "--save-fitted", fitted, "--output", folder / "f.csv")
    yield "augment fitted", hash_numbers(json.loads(fitted.read_text()))
    yield "inspect", hash_numbers(json.loads(run("inspect", TABLE, *target, "--json")))
    yield "verify", hash_numbers(json.loads(run("verify", parquet, "--against", TABLE, "--json")))

    def predictions(name, *arguments):
        model, out = folder / f"{name}.windlass", folder / f"{name}-predictions.csv"
        run("train", TABLE, *target, *arguments, "--output", model)
        run("predict", model, TABLE, "--output", out)
        yield f"train {name} weights", hash_safetensors(model)
        yield f"train {name} predictions", hash_table(pa.csv.read_csv(out))

    yield from predictions("network", *SHORT)
    yield from predictions("augmented", *SHORT, "--augment", "ada", "--manifold", 1)
    yield from predictions("committee", "--committee", 3, *SHORT)
    yield from predictions("ridge", "--model", "ridge")
    yield from predictions("forest", "--model", "forest", "--trees", 20)
    yield from predictions("extra-trees", "--model", "extra-trees", "--trees", 20)
    yield from predictions("boosting", "--model", "boosting")
    yield from predictions("gp", "--model", "gp")
    yield from predictions("anchor", "--model", "anchor", "--anchors", "column:origin", "--anchor-gamma", "5")
    yield from predictions("auto", "--auto")
    student, answers = folder / "student.windlass", folder / "student-predictions.csv"
    run("distill", folder / "ridge.windlass", TABLE, "--steps", 200, "--output", student)
    run("predict", student, TABLE, "--output", answers)
    yield "distill predictions", hash_table(pa.csv.read_csv(answers))
    run("export", folder / "committee.windlass", folder / "committee.onnx")
    yield "export", hash_onnx_predictions(folder / "committee.onnx")
    regress = run("regress", TABLE, *target, "--anchors", "column:origin", "--json")
    yield "regress", hash_numbers(json.loads(regress))
    run("compare", TABLE, *target, "--folds", 3, "--repeats", 1, *SHORT, "--models", "mlp,ridge,forest",
        "--output", folder / "compare", code=(0, 3))
    yield "compare", hash_numbers(json.loads((folder / "compare/results.json").read_text()))
    run("tune", TABLE, *target, "--folds", 2, "--trials", 3, *SHORT, "--output", folder / "tune", code=(0, 3))
    yield "tune", hash_numbers(json.loads((folder / "tune/results.json").read_text()))


def python_outputs():
    """Yields a name and a hash for every result of the Python package."""
    import windlass

    random = np.random.default_rng(0)
    x = random.normal(size=(120, 4))
    y = x @ [1.0, -2.0, 0.5, 0.0] + np.sin(x[:, 0]) + 0.1 * random.normal(size=120)
    for name in ["ADA", "Mixup", "CMixup", "Noise"]:
        augmenter = getattr(windlass, name)(copies=2, random_state=1)
        yield f"python {name}", hash_arrays(*augmenter.fit_resample(x, y))
    model = windlass.Regressor(epochs=5, random_state=0).fit(x, y)
    yield "python Regressor", hash_arrays(model.predict(x))
    anchors = (x[:, 0] > 0).astype(int)
    yield "python AnchorRegressor", hash_arrays(windlass.AnchorRegressor(gamma=3.0).fit(x, y, anchors).predict(x))
    from sklearn.linear_model import Ridge

    report = windlass.compare(x, y, estimator=Ridge(), methods=["none", "ada", "mixup"], cv=3, repeats=1, random_state=0)
    yield "python compare", hash_numbers(json.loads(report.to_json()))
    table = windlass.augment(pa.csv.read_csv(TABLE), target="mpg", copies=2, provenance=True)
    yield "python augment", hash_table(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windlass", required=True, type=lambda path: os.path.abspath(path))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, value in command_outputs(arguments.windlass, pathlib.Path(folder)):
            print(f"{value}  {name}", flush=True)
    for name, value in python_outputs():
        print(f"{value}  {name}", flush=True)


if __name__ == "__main__":
    main()
