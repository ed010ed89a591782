"""An exported model, run by onnxruntime, says what `windlass predict` says."""

import csv
import datetime
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

WINDLASS = os.environ["WINDLASS"]
CARS = Path(__file__).resolve().parents[4] / "examples/auto_mpg.csv"
# A level that was never seen, and numbers that are missing.
NEW = """mpg,cylinders,displacement,horsepower,weight,acceleration,model_year,origin,name
18.0,8,307.0,130,3504,12.0,1970-01-01,USA,chevrolet
,12,,,,,1971-01-01,Mars,rover
31.0,4,79.0,,1950,19.0,1974-01-01,Japan,datsun
"""


def windlass(*words, cwd):
    subprocess.run([WINDLASS, *words], cwd=cwd, check=True)


def value(row, name):
    """A number of a row, or a calendar feature of its date."""
    column, _, part = name.partition(": ")
    if not row[column]:
        return np.nan
    if not part:
        return float(row[name])
    date = datetime.date.fromisoformat(row[column])
    return {"days": date.toordinal() - 719163, "year": date.year}[part]


def inputs(session, rows):
    """What the graph takes, from the rows of a table and the names in its metadata."""
    notes = session.get_modelmeta().custom_metadata_map
    continuous, categories = json.loads(notes["continuous"]), json.loads(notes["categories"])
    number = [[value(row, name) for name in continuous] for row in rows]
    level = [[float((row[name] or None) == level) for name, level in categories] for row in rows]
    given = {"continuous": np.array(number, np.float64), "categories": np.array(level, np.float32)}
    return {item.name: given[item.name] for item in session.get_inputs()}


@pytest.mark.parametrize(
    "settings",
    [
        "--epochs 20",
        "--epochs 20 --committee 3 --augment ada --manifold 1",
        "--epochs 20 --hidden 7,5 --activation tanh --scale minmax --target weight,mpg",
        "--epochs 5 --model fcn3 --features weight,acceleration --target-scale none",
        "--epochs 5 --hidden 9 --activation sigmoid",
        "--model ridge --penalty 0.5",
        "--model anchor --anchors column:origin --anchor-gamma 3",
        "--model forest --trees 30",
        "--model forest --trees 10 --target weight,mpg",
        "--model gp",
        "--model gp --target weight,mpg --target-scale none --scale minmax",
        "--model extra-trees --trees 30",
        "--model extra-trees --trees 10 --target weight,mpg",
        "--model boosting --trees 100",
        "--model boosting --trees 30 --target weight,mpg",
        "--model gp --split rows --target weight,mpg",
        "--model boosting --trees 30 --split rows",
        "--auto",
        "--auto --compact",
    ],
)
@pytest.mark.parametrize("table", ["cars", "new"])
def test_onnxruntime_agrees_with_predict(tmp_path, settings, table):
    target = [] if "--target " in settings else ["--target", "mpg"]
    windlass("train", CARS, *target, *settings.split(), "--quiet", "-o", "m", cwd=tmp_path)
    held_out = any(word in settings for word in ("--committee", "--auto", "--split"))
    interval = ["--interval", "80%"] if held_out else []
    windlass("export", "m", "m.onnx", *interval, cwd=tmp_path)
    text = CARS.read_text() if table == "cars" else NEW
    (tmp_path / "table.csv").write_text(text)
    windlass("predict", "m", "table.csv", *interval, "-o", "out.csv", "--quiet", cwd=tmp_path)

    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    rows = list(csv.DictReader(text.splitlines()))
    names = [item.name for item in session.get_outputs()]
    made = dict(zip(names, session.run(None, inputs(session, rows))))
    out = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    targets = json.loads(session.get_modelmeta().custom_metadata_map["targets"])
    for name, values in made.items():
        columns = [name] if len(targets) == 1 else [f"{name}_{target}" for target in targets]
        expected = np.array([[float(row[column]) for column in columns] for row in out])
        scale = np.abs(expected).max()
        np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5 * scale)
    averaged = "--committee" in settings or "--auto" in settings
    assert ("prediction_sd" in made) == averaged
    assert ("prediction_low" in made) == ("prediction_high" in made) == held_out
