"""The network from Python is the command's: the same bits, the same files."""

import csv
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from common import CARS, rows, windlass, write_csv
from sklearn.base import clone

import windlass as package
from windlass import ADA, CMixup, InputError, InputTypeError, Mixup, Regressor


def test_the_same_bits_as_the_command(tmp_path):
    x, y = rows(60, 3)
    table = write_csv(tmp_path / "rows.csv", x, y)
    theirs, ours = tmp_path / "theirs.windlass", tmp_path / "ours.windlass"
    words = "--hidden 16,8 --epochs 12 --augment ada --clusters 4 --manifold 1 --seed 5 --quiet"
    windlass("train", table, "--target", "y", *words.split(), "--output", theirs)
    model = Regressor((16, 8), epochs=12, augment=ADA(clusters=4), layer=1, random_state=5)
    model.fit(x, y).save(ours)
    assert ours.read_bytes() == theirs.read_bytes()

    # Each reads the other's file, and predicts the same.
    said = windlass("predict", ours, table, "--output", "-", "--format", "csv")
    column = [float(row["prediction"]) for row in csv.DictReader(io.StringIO(said))]
    assert column == model.predict(x).tolist()
    assert Regressor.load(theirs).predict(x).tolist() == column


@pytest.mark.parametrize("augment", [None, "mixup", ADA(), CMixup(beta=0.5), Mixup(per="row")])
@pytest.mark.parametrize("committee", [None, 3])
def test_files_and_pickles_predict_the_same(augment, committee, tmp_path):
    x, y = rows()
    model = Regressor((8,), epochs=5, augment=augment, committee=committee).fit(x, y)
    wanted = model.predict(x)
    model.save(tmp_path / "model.windlass")
    assert (Regressor.load(tmp_path / "model.windlass").predict(x) == wanted).all()
    assert (pickle.loads(pickle.dumps(model)).predict(x) == wanted).all()
    assert (clone(model).fit(x, y).predict(x) == wanted).all()
    assert len(model.history_) == (committee or 1) and len(model.history_[0]) == 5


def test_gaussian_processes_are_those_of_the_command(tmp_path):
    pandas = pytest.importorskip("pandas")
    cars = pandas.read_csv(CARS).drop(columns=["name"])
    table = tmp_path / "cars.csv"
    cars.to_csv(table, index=False)
    windlass("train", table, "--target", "mpg", "--model", "gp", "--output", tmp_path / "m", "--quiet")
    features, target = cars.drop(columns=["mpg"]), cars["mpg"]
    model = Regressor(model="gp").fit(features, target)
    assert model.score(features, target) > 0.9
    assert (Regressor.load(tmp_path / "m").predict(features) == model.predict(features)).all()
    assert model.history_ == []
    # Weights count, targets may be several, and a split says which rows estimate the error.
    weights = np.where(cars["origin"] == "USA", 1.0, 1e-6)
    weighted = Regressor(model="gp", split="group:origin").fit(features, target, sample_weight=weights)
    assert weighted.card_["valid"]["rmse"] > model.card_["train"]["rmse"]
    both = Regressor(model="gp").fit(features, cars[["mpg", "weight"]]).predict(features)
    assert both.shape == (len(cars), 2)
    for changed in ({"hidden": (8,)}, {"epochs": 3}, {"augment": ADA()}, {"committee": 3}):
        with pytest.raises(InputError, match=f"{next(iter(changed))} does not apply to model='gp'"):
            Regressor(model="gp", **changed).fit(features, target)
    with pytest.raises(InputError, match="model must be mlp, auto, "):
        Regressor(model="svm").fit(features, target)


def test_tables_with_text_and_gaps():
    pandas = pytest.importorskip("pandas")
    cars = pandas.read_csv(CARS)
    features = cars.drop(columns=["mpg", "name"])
    model = Regressor((32,), epochs=30, augment=ADA(anchors="origin")).fit(features, cars["mpg"])
    assert model.score(features, cars["mpg"]) > 0.7
    assert model.card_["recipe"]["columns"]["target"] == ["mpg"]
    named = [one["name"] for one in model.card_["members"][0]["preparation"]["inputs"]]
    assert "horsepower" in named and "origin" not in named, "anchors are no feature"
    polars = pytest.importorskip("polars")
    same = Regressor((32,), epochs=30, augment=ADA(anchors="origin"))
    same.fit(polars.from_pandas(features), cars["mpg"].to_numpy())
    assert np.allclose(same.predict(polars.from_pandas(features)), model.predict(features))


def test_anchors_may_be_labels():
    pandas = pytest.importorskip("pandas")
    x, y = rows()
    site = np.arange(len(x)) % 4
    by_labels = Regressor((8,), epochs=5, augment=ADA(anchors=site)).fit(x, y)
    table = pandas.DataFrame(x, columns=["x0", "x1", "x2"]).assign(site=site)
    by_name = Regressor((8,), epochs=5, augment=ADA(anchors="site")).fit(table, y)
    assert (by_labels.predict(x) == by_name.predict(table)).all()
    assert by_labels.card_["members"][0]["preparation"]["inputs"][-1]["name"] == "x2"


def test_deviations_of_a_committee():
    x, y = rows()
    model = Regressor((8,), epochs=5, committee=4).fit(x, y)
    mean, spread = model.predict(x, return_std=True)
    assert (mean == model.predict(x)).all() and (spread > 0).all()
    with pytest.raises(InputError, match=r"committee=5"):
        Regressor((8,), epochs=1).fit(x, y).predict(x, return_std=True)


def test_weights_and_several_targets():
    x, y = rows()
    both = np.column_stack([y, -3 * y])
    assert Regressor((16,), epochs=40).fit(x, both).predict(x).shape == both.shape
    # Rows that count nothing are not learnt from.
    wild = y.copy()
    wild[:10] = 1e3
    weights = np.ones(len(y))
    weights[:10] = 0.0
    model = Regressor((16,), epochs=40).fit(x, wild, sample_weight=weights)
    assert np.abs(model.predict(x[10:]) - y[10:]).mean() < 1.0


@pytest.mark.parametrize(
    ("params", "error", "says"),
    [
        ({"epochs": 0}, InputError, "epochs"),
        ({"lr": -1.0}, InputError, "rate must be in"),
        ({"activation": "swish"}, InputError, 'activation must be "relu" or'),
        ({"optimizer": "adam", "momentum": 0.5}, InputError, "momentum does not apply to this optimizer"),
        ({"hidden": "wide"}, InputTypeError, "hidden must be a tuple of layer sizes, got 'wide'"),
        ({"augment": ADA(), "layer": 3}, InputError, "layer"),
        ({"layer": 1}, InputError, "need augment"),
        ({"augment": ADA(), "layer": -1}, InputError, "layer must be in"),
        ({"augment": ADA(), "layer": 1.0}, InputTypeError, "layer must be an integer"),
        ({"augment": 3}, InputTypeError, "augment must be an augmenter"),
        ({"batch": 2.5}, InputTypeError, "batch must be an integer"),
        ({"lr": 1e12, "weight_decay": 0.0}, InputError, "diverged"),
        ({"valid": 0.2, "committee": 200}, InputError, "average of 200"),
    ],
)
def test_refusals(params, error, says):
    x, y = rows()
    with pytest.raises(error, match=says):
        Regressor(**{"hidden": (8,), "epochs": 3, **params}).fit(x, y)


def test_a_file_that_is_no_model(tmp_path):
    path = tmp_path / "model.windlass"
    with pytest.raises(FileNotFoundError):
        Regressor.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="is not a model file"):
        Regressor.load(path)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_ends_training():
    code = (
        "import numpy as np, windlass\n"
        "x = np.random.default_rng(0).normal(size=(2000, 8))\n"
        "print('go', flush=True)\n"
        "windlass.Regressor(epochs=1_000_000).fit(x, x[:, 0])\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell in the background would have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stdout.readline() == "go\n"
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors


def test_the_card_names_this_version():
    x, y = rows()
    model = Regressor((4,), epochs=1).fit(x, y)
    assert model.card_["version"] == package.__version__
    assert json.dumps(model.card_)


def test_a_model_of_the_command_takes_the_table_that_it_was_trained_on(tmp_path):
    pandas = pytest.importorskip("pandas")
    file = tmp_path / "cars.windlass"
    words = "--target mpg --epochs 5 --quiet --output"
    windlass("train", CARS, *words.split(), file)
    said = windlass("predict", file, CARS, "--output", "-", "--format", "csv")
    wanted = [float(row["prediction"]) for row in csv.DictReader(io.StringIO(said))]
    cars = pandas.read_csv(CARS)
    model = Regressor.load(file)
    assert model.predict(cars).tolist() == wanted
    assert model.predict(cars[sorted(cars.columns)].drop(columns="mpg")).tolist() == wanted
    with pytest.raises(InputError, match="has no column `weight`, which the model needs"):
        model.predict(cars.drop(columns="weight"))


def test_columns_may_be_given_roles():
    pandas = pytest.importorskip("pandas")
    cars = pandas.read_csv(CARS)
    X = cars[["weight", "cylinders", "name"]]
    usual = Regressor((4,), epochs=1).fit(X, cars["mpg"])
    assert usual.notes_ == [
        "`name`: omitted, more than 32 different values (name it as categorical to keep it)",
        "1 of 398 rows are copies of others: trained on 397 distinct rows, weighted by their number",
    ]
    asked = Regressor((4,), epochs=1, categorical=["name", "cylinders"])
    asked.fit(X, cars["mpg"])
    kinds = {one["name"]: one["kind"] for one in _inputs(asked)}
    assert kinds == {"weight": "continuous", "cylinders": "categorical", "name": "categorical"}
    assert {one["name"]: one["kind"] for one in _inputs(usual)}["cylinders"] == "continuous"


def _inputs(model):
    return model.card_["members"][0]["preparation"]["inputs"]


def test_arrays_then_tables_go_by_place():
    pandas = pytest.importorskip("pandas")
    x, y = rows()
    model = Regressor((4,), epochs=2).fit(x, y)
    table = pandas.DataFrame(x, columns=["a", "b", "c"])
    with pytest.warns(UserWarning, match="feature names"):
        assert (model.predict(table) == model.predict(x)).all()


def test_validation_rows_are_those_of_the_split(tmp_path):
    pandas = pytest.importorskip("pandas")
    x, y = rows(60, 2)
    table = pandas.DataFrame(x, columns=["u", "v"]).assign(
        site=np.arange(60) % 4, day=pandas.date_range("2024-01-01", periods=60).astype(str)
    )
    quick = {"hidden": (4,), "epochs": 3}
    with pytest.warns(UserWarning, match='rows are split at random; .* use split="time:day"'):
        Regressor(**quick).fit(table, y)
    for split, rows_held_out in [("time:day", 12), ("group:site", 15), ("domain:site", 15)]:
        model = Regressor(**quick, split=split).fit(table, y)
        assert model.card_["valid"]["rows"] == rows_held_out
        # By time, the network is trained on all rows in the end.
        assert model.card_["train"]["rows"] == (60 if split == "time:day" else 45)
        assert model.card_["drift"]["level"] == 0.001
        assert ("site" in model.model_.columns) == (split == "time:day")
    committee = Regressor(**quick, split="time:day", committee=3).fit(table, y)
    assert committee.card_["valid"]["rows"] == 30 and len(committee.card_["members"]) == 3
    # As the command has it.
    table.assign(y=y).to_csv(tmp_path / "t.csv", index=False, float_format="%.17g")
    theirs = tmp_path / "theirs.windlass"
    words = "--target y --hidden 4 --epochs 3 --split time:day --quiet --output"
    windlass("train", tmp_path / "t.csv", *words.split(), theirs)
    ours = Regressor(**quick, split="time:day").fit(table, y)
    assert Regressor.load(theirs).predict(table).tolist() == ours.predict(table).tolist()
    for change, says in [
        ({"split": "day"}, "split: expected rows"),
        ({"split": "time:day", "valid": "none"}, "split does not apply"),
        ({"split": "time:none"}, "no such column: `none`, named by split"),
    ]:
        with pytest.raises(InputError, match=says):
            Regressor(**quick, **change).fit(table, y)


def test_only_models_are_overwritten(tmp_path):
    x = np.random.default_rng(0).normal(size=(40, 2))
    model = Regressor(epochs=2).fit(x, x[:, 0])
    path = tmp_path / "model.windlass"
    model.save(path)
    model.save(path)
    path.write_text("precious")
    with pytest.raises(InputError, match="is not a model that Windlass wrote\nhint: .*force"):
        model.save(path)
    assert path.read_text() == "precious"
    model.save(path, force=True)
    assert Regressor.load(path).predict(x).shape == (40,)


def test_every_model_has_intervals(tmp_path):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(150, 3)), rng.normal(size=150)
    y = x[:, 0] + 0.5 * y
    new = rng.normal(size=(400, 3))
    truth = new[:, 0] + 0.5 * rng.normal(size=400)
    for name in ("auto", "ridge", "gp", "forest", "extra-trees", "boosting"):
        model = Regressor(model=name).fit(x, y)
        predicted, low, high = model.predict(new, interval=0.9)
        assert (low <= predicted).all() and (predicted <= high).all()
        covered = np.mean((low <= truth) & (truth <= high))
        assert 0.8 < covered < 0.98, (name, covered)
        model.save(tmp_path / name)
        again = Regressor.load(tmp_path / name).predict(new, interval=0.9)
        assert all((one == other).all() for one, other in zip(again, (predicted, low, high)))
    with pytest.raises(InputError, match="needs at least 999 held-out rows"):
        model.predict(new, interval=0.999)
    with pytest.raises(InputError, match="without held-out rows"):
        Regressor(model="ridge", valid="none").fit(x, y).predict(new, interval=0.9)
    with pytest.raises(InputError, match="a single model has no standard deviation"):
        model.predict(new, return_std=True)
    auto, spread, low, high = Regressor(model="auto").fit(x, y).predict(
        new, return_std=True, interval=0.8
    )
    assert (spread >= 0).all() and (low < high).all() and auto.shape == (400,)
