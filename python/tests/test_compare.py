"""Comparisons from Python are the command's: the same splits, statistics and verdict."""

import json
import pickle
import warnings

import numpy as np
import pytest
from common import rows, windlass
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from windlass import ADA, CMixup, InputError, InputTypeError, Mixup, Noise, compare


def test_the_same_splits_and_numbers_as_the_command(tmp_path):
    """Ridge of the command and of scikit-learn are the same model, so their errors must agree."""
    x, y = rows(60, 3, seed=4)
    lines = ["a,b,c,y"] + [",".join(repr(float(v)) for v in (*r, t)) for r, t in zip(x, y)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    words = "--models mlp,ridge --methods none --folds 4 --repeats 2 --epochs 1 --seed 9 --quiet"
    out = tmp_path / "out"
    windlass("compare", tmp_path / "rows.csv", "--target", "y", *words.split(), "--output", out)
    theirs = {
        (run["repeat"], run["fold"]): run["metrics"]["rmse"]
        for run in json.loads((out / "results.json").read_text())["runs"]
        if run["model"] == "ridge"
    }
    scaled = make_pipeline(StandardScaler(), _scaled_ridge())
    found = compare(x, y, scaled, ["none", "ada"], cv=4, repeats=2, random_state=9)
    ours = {
        (run["repeat"], run["fold"]): run["metrics"]["rmse"]
        for run in json.loads(found.to_json())["runs"]
        if run["method"] == "none"
    }
    assert ours.keys() == theirs.keys()
    for key, rmse in theirs.items():
        np.testing.assert_allclose(ours[key], rmse, rtol=1e-9)


def _scaled_ridge():
    from sklearn.compose import TransformedTargetRegressor

    return TransformedTargetRegressor(Ridge(alpha=1.0), transformer=StandardScaler())


@pytest.fixture(scope="module")
def found():
    x, y = rows(60, 3, seed=1)
    methods = ["erm", "placebo", "ada", Noise(0.5, 0.5, copies=2), CMixup(copies=2)]
    model = GradientBoostingRegressor(n_estimators=20, subsample=0.7)
    return compare(x, y, estimator=model, methods=methods, cv=4, repeats=2)


def test_every_method_runs_on_every_split(found):
    names = [line["method"] for line in found.lines]
    assert names == ["no augmentation", "placebo", "ada", "noise", "c-mixup", "predict the mean"]
    assert {line["splits"] for line in found.lines} == {8}
    assert found.lines[0]["difference"] is None and found.lines[0]["finding"] == "reference"
    assert found.lines[1]["finding"] == "chance" and found.lines[1]["difference"] != 0
    for line in found.lines[1:]:
        assert line["low"] <= line["difference"] <= line["high"]
        assert len(line["differences"]) == 8
    assert found.helps == any(line["finding"] == "better" for line in found.lines[2:5])


def test_verdicts_follow_from_intervals(found):
    for line in found.lines[2:]:
        better, worse = line["high"] < 0, line["low"] > 0
        assert (line["finding"] == "better", line["finding"] == "worse") == (better, worse)
    assert "0.000" not in repr(found)


def test_it_says_what_to_do_now():
    x, y = rows(40, 2)
    found = compare(x, y, LinearRegression(), [Noise(target_noise=9.0, copies=3)], cv=3, repeats=2)
    assert found.lines[1]["finding"] == "worse"
    assert found.next == "Next step: train without augmentation:\n  LinearRegression().fit(X, y)"
    assert found.next in repr(found)


def test_it_says_so(found, tmp_path):
    text = repr(found)
    assert text.startswith(found.verdict) and "c-mixup" in text and "95 % interval" in text
    page = found._repr_html_()
    assert page.count("<tr") == 7 and found.verdict.replace("'", "&#x27;") in page
    frame = found.frame
    assert list(frame["method"]) == [line["method"] for line in found.lines]
    assert frame["rmse"].tolist() == [line["rmse"] for line in found.lines]
    found.report(tmp_path / "report.html", table="<rows>")
    found.report(tmp_path / "report.html", table="<rows>")
    (tmp_path / "mine.html").write_text("<p>mine</p>")
    with pytest.raises(InputError, match="is not a report that Windlass wrote"):
        found.report(tmp_path / "mine.html")
    found.report(tmp_path / "mine.html", force=True)
    report = (tmp_path / "report.html").read_text()
    assert "Does augmentation help on &lt;rows&gt;?" in report
    assert "GradientBoostingRegressor" in report and "the network" not in report
    runs = json.loads(found.to_json())["runs"]
    assert len(runs) == 40


def test_it_draws(found):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "c-mixup",
        "noise",
        "ada",
        "placebo",
    ]
    axes.figure.canvas.draw()


def test_a_planted_gain_is_found_and_a_planted_loss_too():
    """The nearest of noisy targets is a bad guess: rows in between, from similar ones, mend it."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(600, 1))
    y = x[:, 0] + rng.normal(size=600)
    # Toward the mean of many similar rows noise averages out.
    calm = ADA(clusters=12, cluster_on="x", gamma=25.0, copies=3, originals=False)
    wild = Noise(target_noise=3.0, copies=3)
    model = KNeighborsRegressor(n_neighbors=1)
    found = compare(x, y, model, {"calm": calm, "wild": wild}, cv=5, repeats=3)
    lines = {line["method"]: line for line in found.lines}
    assert lines["calm"]["finding"] == "better" and found.helps
    assert lines["calm"]["difference"] < -10
    assert found.verdict.startswith("calm is better than no augmentation: RMSE")
    assert found.next is not None and "AugmentedRegressor(KNeighborsRegressor(n_neighbors=1), ADA(" in found.next
    far = compare(x, y, model, [Noise(target_noise=3.0, copies=3, originals=False)], cv=5, repeats=3)
    assert far.lines[1]["finding"] == "worse" and not far.helps
    assert far.verdict.startswith("No augmentation is better. The best, noise, is worse: RMSE")


def test_it_depends_on_the_seed_and_on_nothing_else():
    x, y = rows(40, 2)
    model = GradientBoostingRegressor(n_estimators=5, max_features=1)
    once = compare(x, y, model, ["ada"], cv=3, repeats=1)
    again = compare(x, y, model, ["ada"], cv=3, repeats=1, n_jobs=2)
    other = compare(x, y, model, ["ada"], cv=3, repeats=1, random_state=1)

    def errors(found):
        return [line["rmse"] for line in found.lines]

    assert errors(once) == errors(again) != errors(other)


def test_tables_groups_and_sizes():
    pandas = pytest.importorskip("pandas")
    x, y = rows(60, 2)
    site = np.repeat(["a", "b", "c", "d", "e", "f"], 10)
    found = compare(x, y, LinearRegression(), ["mixup"], groups=site, cv=3, repeats=1)
    runs = json.loads(found.to_json())["runs"]
    assert {run["metrics"]["rows"] for run in runs} == {20}, "whole sites are held out"
    table = pandas.DataFrame(x, columns=["u", "v"]).assign(site=site)
    by_site = compare(table, y, LinearRegression(), ["ada"], split="domain:site")
    assert by_site.lines[0]["splits"] == 6 and "worst" in by_site.lines[0]
    curve = compare(x, y, LinearRegression(), ["ada"], cv=3, repeats=1, sizes=[None, 10, 20])
    assert [line["rows"] for line in curve.lines] == [10] * 3 + [20] * 3 + [None] * 3
    assert any(line.startswith("method") and "rows" in line for line in repr(curve).splitlines())
    assert any(remark.startswith("More rows: from 20 to all") for remark in curve.remarks)


def test_later_rows_are_predicted_from_earlier_ones():
    pandas = pytest.importorskip("pandas")
    x, y = rows(80, 2)
    table = pandas.DataFrame(x, columns=["u", "v"])
    table["day"] = pandas.date_range("2024-01-01", periods=80)
    with pytest.warns(UserWarning, match='use split="time:day"'):
        compare(table[["u", "v", "day"]].assign(day=table.day.astype(str)), y, _Columns(), ["ada"], cv=2, repeats=1)
    found = compare(table, y, LinearRegression(), ["ada"], split="time:day", cv=4)
    runs = json.loads(found.to_json())["runs"]
    # Blocks of the later half, once.
    assert [run["train_rows"] for run in runs[::2]] == [40, 50, 60, 70]
    assert {run["metrics"]["rows"] for run in runs} == {10}
    assert any(remark.startswith("Drift: ") for remark in found.remarks)
    # Times that are numbers are a feature.
    seen = []
    numbered = table.assign(day=np.arange(80.0))
    compare(numbered, y, _Columns(seen), ["ada"], split="time:day", cv=2)
    assert set(seen) == {("u", "v", "day")}


class _Columns(LinearRegression):
    """Learns from numbers, and tells the columns that it was given."""

    def __init__(self, seen=None):
        super().__init__()
        self.seen = seen

    def __sklearn_clone__(self):
        return _Columns(self.seen)

    def fit(self, X, y):
        if self.seen is not None:
            self.seen.append(tuple(X.columns))
        return super().fit(X[["u", "v"]], y)

    def predict(self, X):
        return super().predict(X[["u", "v"]])


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"methods": ["best"]}, InputError, "unknown method 'best': methods are none, placebo, ada"),
        ({"methods": ["none"]}, InputError, "only one candidate"),
        ({"methods": ["erm", "none", "ada"]}, InputError, "no augmentation is named twice"),
        ({"methods": ["ada-manifold"]}, InputError, "hidden layer"),
        ({"methods": ["placebo"]}, InputError, "LinearRegression has no random_state"),
        ({"methods": [ADA(anchors=[0, 1])]}, InputError, "splits have fewer"),
        ({"cv": 1}, InputError, r"cv must be in \[2, inf\), got 1"),
        ({"cv": 41}, InputError, "cannot form 41 folds from 40"),
        ({"cv": object()}, InputTypeError, "cv must be a number of folds"),
        ({"repeats": 0}, InputError, "repeats must be in"),
        ({"split": "site"}, InputError, "split: expected rows"),
        ({"sizes": [3]}, InputError, "cannot train on 3 rows"),
        ({"sizes": 20}, InputTypeError, "sizes must be a list"),
        ({"repeats": 2.5}, InputTypeError, "repeats must be an integer"),
        ({"y": np.zeros(40)}, InputError, "is 0 in all"),
        ({"y": np.full(40, np.nan)}, InputError, "target `y` is missing"),
    ],
)
def test_refusals(change, error, says):
    x, y = rows(40, 2)
    arguments = {"X": x, "y": y, "estimator": LinearRegression(), "methods": ["ada"], **change}
    with pytest.raises(error, match=says):
        compare(**arguments)


def test_methods_by_label_may_repeat():
    x, y = rows(40, 2)
    found = compare(x, y, LinearRegression(), [Mixup(0.5), Mixup(2.0)], cv=3, repeats=1)
    assert [line["method"] for line in found.lines] == ["no augmentation", "mixup", "mixup_", "predict the mean"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_column_of_a_split_is_no_feature(library):
    module = pytest.importorskip(library)
    x, y = rows(60, 2)
    columns = {"u": x[:, 0], "v": x[:, 1], "patient": np.repeat(np.arange(30) * 1.0, 2)}
    table = (module.table if library == "pyarrow" else module.DataFrame)(columns)
    seen = set()

    class Recorder(LinearRegression):
        def fit(self, X, y):
            seen.add(np.shape(np.asarray(X))[1])
            return super().fit(np.asarray(X), y)

        def predict(self, X):
            return super().predict(np.asarray(X))

    found = compare(table, y, Recorder(), ["ada"], split="group:patient", cv=3, repeats=1)
    assert seen == {2}
    runs = json.loads(found.to_json())["runs"]
    assert all(run["metrics"]["rows"] % 2 == 0 for run in runs), "patients stay together"


def test_a_pickle_still_answers(found, tmp_path):
    again = pickle.loads(pickle.dumps(found))
    assert repr(again) == repr(found) and again.to_json() == found.to_json()
    for one, name in ((found, "first"), (again, "second")):
        one.report(tmp_path / name, table="a & b")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert repr(pickle.loads(pickle.dumps(again))) == repr(found)


# Rows from elsewhere


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "pyarrow"])
def test_rows_from_elsewhere_are_trained_on_only(library):
    x, y = rows(50, 2, seed=3)
    more_x, more_y = rows(150, 2, seed=8)
    seen = []

    class Recorder(LinearRegression):
        def fit(self, X, y):
            seen.append(len(X))
            return super().fit(np.asarray(X), y)

        def predict(self, X):
            assert len(X) in (12, 13), "test rows are those of the table"
            return super().predict(np.asarray(X))

    data, added = x, (more_x, more_y)
    if library != "numpy":
        module = pytest.importorskip(library)
        make = module.table if library == "pyarrow" else module.DataFrame
        data = make({"u": x[:, 0], "v": x[:, 1]})
        added = make({"v": more_x[:, 1], "u": more_x[:, 0], "y": more_y, "note": more_y})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(data, y, Recorder(), ["none"], rows={"sim": added}, cv=4, repeats=1)
    assert [line["method"] for line in found.lines] == ["no augmentation", "sim", "predict the mean"]
    assert set(seen) <= {37, 38, 187, 188} and max(seen) > 180
    assert found.rows[0]["rows"] == 150 and not found.rows[0]["leaks"]
    assert found.lines[1]["difference"] < 0.0, "the same line, from four times as many rows"
    assert any(remark.startswith("Rows of sim: 150") for remark in found.remarks)


def test_rows_that_leak_have_no_verdict_and_relatives_are_left_out():
    pandas = pytest.importorskip("pandas")
    x, y = rows(60, 3, seed=5)
    model = KNeighborsRegressor(1)
    near = (x + 1e-5, y + 1e-5)
    found = compare(x, y, model, rows={"near": near, "same": (x, y)}, methods=["none"], cv=4)
    lines = {line["method"]: line for line in found.lines}
    # Neighbors of test rows look perfect.
    assert lines["near"]["finding"] == "no verdict" and lines["near"]["difference"] < -90
    # Copies are left out where they would tell the answer.
    assert found.rows[1]["copies"] == 60 and not found.rows[1]["leaks"]
    assert abs(lines["same"]["difference"]) < 1e-9
    assert not found.helps and any("No verdict on near" in remark for remark in found.remarks)
    # With sources nothing leaks.
    table = pandas.DataFrame(x, columns=["a", "b", "c"])
    more = pandas.DataFrame(x + 1e-5, columns=["a", "b", "c"])
    more = more.assign(y=y + 1e-5, windlass_source=np.arange(60))
    found = compare(table, y, model, rows={"near": more}, methods=["none"], cv=4)
    line = found.lines[1]
    assert line["finding"] != "no verdict" and abs(line["difference"]) < 1.0
    assert found.rows[0]["with_source"] == 60
    assert "near" in bytes(found._page("t")).decode()


@pytest.mark.parametrize(
    ("added", "error", "says"),
    [
        ({"sim": (np.zeros((3, 5)), np.zeros(3))}, InputError, "must have 2 features"),
        ({"sim": np.zeros((3, 3))}, InputTypeError, "a pair of features and targets"),
        ({"ada": (np.zeros((3, 2)), np.zeros(3))}, InputError, "name of a method or model"),
        ({"sim": (np.zeros((3, 2)), np.full(3, np.nan))}, InputError, "is missing in row"),
    ],
)
def test_refused_rows(added, error, says):
    x, y = rows(40, 2)
    with pytest.raises(error, match=says):
        compare(x, y, LinearRegression(), ["none"], rows=added)
