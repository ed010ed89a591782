"""The package as a whole: what it needs, what it exports, and that its defaults are the core's."""

import inspect
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from common import ROOT, windlass

import windlass as package
from windlass import _windlass as core
from windlass._augmenters import METHODS

ALONE = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(f"no {{name}} here")

sys.meta_path.insert(0, Nothing())
"""


def run(code, blocked=("sklearn", "torch", "pandas", "polars", "pyarrow", "scipy", "joblib")):
    """Run code in a Python in which libraries are missing."""
    code = ALONE.format(blocked=set(blocked)) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_numpy_is_all_that_it_needs():
    said = run(
        """
        import numpy as np, pickle, copy
        import windlass
        from windlass import *
        X = np.random.default_rng(0).normal(size=(30, 2)); y = X[:, 0]
        ada = ADA(clusters=3, copies=2)
        print(ada, ADA(), CMixup(1.0))
        assert ada.get_params()["clusters"] == 3
        assert ada.set_params(alpha=3.0).alpha == 3.0
        X2, y2 = ada.fit_resample(X, y)
        assert X2.shape == (90, 2)
        again = pickle.loads(pickle.dumps(ada))
        assert (again.batch(X[:4], y[:4], [0, 1, 2, 3], step=1)[0]
                == ada.batch(X[:4], y[:4], [0, 1, 2, 3], step=1)[0]).all()
        for name in ("AugmentedRegressor", "AnchorRegressor", "Regressor"):
            try:
                getattr(windlass, name)
            except ImportError as error:
                print(error)
        try:
            windlass.torch
        except ImportError as error:
            print(error)
        """
    )
    lines = said.splitlines()
    assert lines[0] == "ADA(clusters=3, copies=2) ADA() CMixup(bandwidth=1.0)"
    assert "AugmentedRegressor needs scikit-learn 1.6 or newer, which is not installed" in said
    assert "hint: pip install torch" in said


def test_importing_it_loads_nothing_else():
    code = "import sys, windlass; print(sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    for library in ("sklearn", "torch", "pandas", "polars", "pyarrow", "matplotlib"):
        assert f"'{library}'" not in loaded


def test_everything_it_exports_is_there_and_explained():
    names = [name for name in package.__all__ if name != "__version__"]
    for name in names:
        thing = getattr(package, name)
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for member, value in inspect.getmembers(thing, inspect.isfunction):
                own = value.__module__.startswith("windlass") and not member.startswith("_")
                assert not own or inspect.getdoc(value), f"{name}.{member}"
    assert set(names) <= set(dir(package))
    with pytest.raises(AttributeError):
        package.nothing  # noqa: B018


def test_defaults_are_those_of_the_core():
    usual = core.defaults()
    methods = {name: method().get_params() for name, method in METHODS.items()}
    others = {"none", "augment", "regressor", "distill", "anchor", "compare"}
    assert set(methods) == set(usual) - others
    shown = " ".join(windlass("augment", "--help").split())
    for name, params in methods.items():
        for option, value in usual[name].items():
            assert params[option] == value, (name, option)
            if value is not None:
                text = f"{value:g}" if isinstance(value, float) else value
                flag = option.replace("_", "-")
                found = re.search(rf"--{flag} <.*?\[default: ([^\];]*)", shown)
                assert found is not None and found[1] == text, (name, option, found)
    network = package.Regressor().get_params()
    assert {k: network[k] for k in usual["regressor"]} == usual["regressor"]
    said = windlass("train", "--help")
    for option, value in {"epochs": 200, "batch": 16, "lr": 0.002, "hidden": "128,128"}.items():
        assert f"[default: {value}]" in said, option
        shown = ",".join(map(str, network[option])) if option == "hidden" else network[option]
        assert str(shown) == str(value)


def test_errors_are_pythons_own_too():
    assert issubclass(package.InputError, ValueError)
    assert issubclass(package.InputTypeError, TypeError)
    with pytest.raises(ValueError, match=r"x must be finite, got NaN in row 2, column 1"):
        package.ADA().fit(np.array([[0, 0], [1, 1], [2, np.nan]]), [1.0, 2.0, 3.0])


def test_versions_agree():
    assert f'version = "{package.__version__}"' in (ROOT / "Cargo.toml").read_text()
    assert windlass("--version").split()[-1] == package.__version__


@pytest.mark.parametrize(
    "example", sorted((ROOT / "python/examples").glob("*.py")), ids=lambda path: path.stem
)
def test_examples_run(example, tmp_path):
    if "torch" in example.read_text():
        pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, example], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
