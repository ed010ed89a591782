"""Augmenters on arrays: estimators that keep to scikit-learn's rules and to the equations."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from common import golden, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.validation import check_is_fitted

from windlass import (
    ADA,
    CEMS,
    FOMA,
    SMOGN,
    SMOTER,
    CMixup,
    InputError,
    InputTypeError,
    LocalMixup,
    Mixup,
    Noise,
    augment,
    relevance,
)

METHODS = [
    ADA(clusters=4, alpha=3.0, copies=3, random_state=5),
    ADA(anchors="quantiles:x1", clusters=3, gamma="log-uniform", per="row", copies=3),
    Mixup(beta=0.7, copies=3, random_state=5),
    Mixup(per="row", copies=3),
    CMixup(bandwidth="0.5sd", copies=3, random_state=5),
    LocalMixup(epsilon=2.0, copies=3, random_state=5),
    Noise(target_noise=0.2, feature_noise=0.3, copies=3, random_state=5),
    Noise(noise_units="absolute", copies=3),
    ADA(clusters=4, rare="high", copies=3),
    CMixup(rare="density", copies=3),
    SMOTER(copies=3, random_state=5),
    SMOGN(neighbors=3, perturbation=0.1, copies=3),
    FOMA(0.8, neighborhood_size=20, copies=3, random_state=5),
    FOMA("dimension", variant="published", neighborhood="near", svd_scale="raw", copies=3),
    CEMS(0.2, copies=3, random_state=5),
    CEMS(dimension=2, neighborhood="nearest", neighborhood_size=12, copies=3),
]
# Methods that need no rare target.
PLAIN = [method for method in METHODS if method.rare is None]
each_method = pytest.mark.parametrize("method", METHODS, ids=repr)
QUICK = settings(derandomize=True, deadline=None, max_examples=100)
X, Y = rows()
LABELS = np.arange(len(X)) % 5


def same(left, right):
    """Whether two arrays are the same to the bit."""
    alike = left.dtype == right.dtype and left.shape == right.shape
    return alike and left.tobytes() == right.tobytes()


# Estimators


@each_method
def test_parameters_come_back(method):
    params = method.get_params()
    assert type(method)(**params).get_params() == params
    assert clone(method).get_params() == params
    assert eval(repr(method)).get_params() == params
    assert clone(method).set_params(copies=7).get_params() == {**params, "copies": 7}
    with pytest.raises(ValueError, match="Invalid parameter 'copys'"):
        clone(method).set_params(copys=7)


@each_method
def test_a_fit_leaves_the_parameters_alone_and_says_what_it_saw(method):
    made = clone(method)
    assert made.fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y) is made
    check_is_fitted(made)
    assert made.get_params() == method.get_params()
    assert made.n_features_in_ == 3
    assert list(made.feature_names_in_) == ["a", "b", "c"]
    assert not hasattr(made.fit(X, Y), "feature_names_in_")


def test_a_fit_that_is_refused_changes_nothing():
    ada = ADA(clusters=3).fit(X, Y)
    before = ada.batch(X[:9], Y[:9], range(9), step=1)
    with pytest.raises(InputError):
        ada.fit(X[:, :1] * np.nan, Y)
    assert ada.n_features_in_ == 3
    assert same(ada.batch(X[:9], Y[:9], range(9), step=1)[0], before[0])


@each_method
def test_what_is_not_there_yet_is_not_there(method):
    made = clone(method)
    for name in ("provenance_", "sample_indices_", "groups_", "n_features_in_"):
        assert not hasattr(made, name)
    with pytest.raises(InputError, match="not fitted yet\nhint: call fit first"):
        made.batch(X, Y, range(len(X)), step=0)


def test_the_seed_is_random_state():
    first, _ = ADA(random_state=7).fit_resample(X, Y)
    assert same(first, ADA(random_state=np.int32(7)).fit_resample(X, Y)[0])
    assert not same(first, ADA(random_state=8).fit_resample(X, Y)[0])
    for state in (np.random.default_rng(0), np.random.RandomState(0), None):
        ada = ADA(random_state=state)
        made = [(ada.fit_resample(X, Y)[0], ada.seed_) for _ in range(2)]
        assert not same(made[0][0], made[1][0])
        assert same(ADA(random_state=made[1][1]).fit_resample(X, Y)[0], made[1][0])
    generators = [ADA(random_state=np.random.default_rng(3)).fit(X, Y).seed_ for _ in range(2)]
    assert generators[0] == generators[1]


# Rows


@each_method
def test_originals_come_first_then_copy_after_copy(method):
    made = clone(method)
    x2, y2 = made.fit_resample(X, Y)
    assert same(x2[: len(X)], X) and same(y2[: len(Y)], Y)
    only = clone(method).set_params(originals=False)
    assert same(only.fit_resample(X, Y)[0], x2[len(X) :])
    assert same(only.fit_resample(X, Y)[1], y2[len(X) :])
    assert len(only.sample_indices_) == len(only.provenance_["copy"]) == len(x2) - len(X)
    fewer = clone(method).set_params(copies=2)
    x1, _ = fewer.fit_resample(X, Y)
    assert same(x1, x2[: len(x1)])
    assert (fewer.provenance_["copy"] == made.provenance_["copy"][: len(x1)]).all()


@each_method
def test_every_row_can_be_explained(method):
    made = clone(method)
    x2, y2 = made.fit_resample(X, Y)
    said, old, new = made.provenance_, np.column_stack([X, Y]), np.column_stack([x2, y2])
    source, synthetic = said["source"], said["synthetic"]
    assert (made.sample_indices_ == source).all()
    assert (synthetic == (said["copy"] > 0)).all() and synthetic.sum() == len(x2) - len(X)
    if isinstance(method, ADA):
        group, gamma = made.groups_, said["gamma"]
        assert (said["group"] == group[source]).all()
        means = np.array([old[group == each].mean(axis=0) for each in range(group.max() + 1)])
        mean = means[group[source]]
        want = mean + (old[source] - mean) / np.sqrt(gamma)[:, None]
        strengths = gamma[synthetic].reshape(3, -1)
        assert (strengths.min() < 1 < strengths.max()) and np.isnan(gamma[~synthetic]).all()
        assert (np.ptp(strengths, axis=1) > 0).all() == (method.per != "copy")
    elif isinstance(method, Noise):
        assert set(said) == {"synthetic", "source", "copy"}
        moved = (new - old[source])[synthetic]
        unit = old.std(axis=0) if method.noise_units == "sd" else np.ones(4)
        level = np.array([method.feature_noise] * 3 + [method.target_noise])
        assert np.allclose(moved.std(axis=0) / unit, level, rtol=0.2)
        return
    elif isinstance(method, (FOMA, CEMS)):
        # The rest is the copy: made again, it is the same.
        assert set(said) - {"lambda"} == {"synthetic", "source", "copy"}
        assert ("lambda" in said) == isinstance(method, FOMA)
        again = clone(method).fit_resample(X, Y)
        assert same(again[0], x2) and same(again[1], y2)
        assert (y2[synthetic] == Y[source[synthetic]]).all() == ("variant='pub" in repr(method))
        assert not np.isclose(x2[synthetic], X[source[synthetic]]).all(axis=1).any()
        return
    else:
        share, partner = said["lambda"][:, None], said["partner"]
        want = share * old[source] + (1 - share) * old[partner]
        assert (partner[~synthetic] == -1).all()
        if isinstance(method, SMOGN):
            noisy = synthetic & (partner == -1)
            assert 0 < noisy.sum() < synthetic.sum() and np.isnan(share[noisy]).all()
            moved = (new - old[source])[noisy] / old.std(axis=0)
            assert (moved != 0).all() and moved.std() < 0.15
            synthetic = synthetic & ~noisy
    assert np.allclose(new[synthetic], want[synthetic], rtol=1e-12, atol=1e-12)
    if method.rare is not None:
        rare = np.flatnonzero(relevance(Y, method.rare) >= 0.8)
        assert (source[said["synthetic"]].reshape(3, -1) == rare).all()


@each_method
def test_a_copy_is_the_batch_of_all_rows(method):
    made = clone(method).set_params(originals=False, copies=2)
    if isinstance(made, FOMA) or made.get_params().get("neighborhood") == "nearest":
        pytest.skip("a copy has many neighborhoods, and a batch is one")
    if "per" in made.get_params():
        # By default a copy has a strength for each row, and a batch one for all.
        made.set_params(per="row")
    x2, y2 = made.fit_resample(X, Y)
    rare = np.ones(len(X), bool) if made.rare is None else relevance(Y, made.rare) >= 0.8
    kept = [rare & (made.draw(step=s).get("weight", np.ones(len(X))) > 0) for s in (0, 1)]
    sides = [made.batch(X, Y, np.arange(len(X)), step=step) for step in (0, 1)]
    assert same(np.concatenate([x[k] for (x, _), k in zip(sides, kept)]), x2)
    assert same(np.concatenate([y[k] for (_, y), k in zip(sides, kept)]), y2)


@each_method
def test_a_batch_depends_on_its_step_and_its_rows(method):
    made = clone(method).fit(X, Y)
    idx = np.argsort(Y)[[1, 70, -2, 5]]
    first = made.batch(X[idx], Y[idx], idx, step=4)
    assert first[0].shape == (4, 3) and first[1].shape == (4,)
    assert same(made.batch(X[idx], Y[idx], idx.tolist(), step=4)[0], first[0])
    if not isinstance(method, Noise):
        assert not same(made.batch(X[idx], Y[idx], idx, step=5)[0], first[0])
    keeps = getattr(method, "variant", "paper") != "paper"
    assert same(made.batch(X[idx], Y[idx], idx, step=5)[1], first[1]) == keeps
    assert (made.draw(idx, step=4)["source"] == idx).all()


def test_a_batch_takes_the_means_of_its_own_rows():
    ada = ADA(anchors=LABELS, gamma=4.0).fit(X, Y)
    idx = np.array([0, 5, 10, 1])
    made, _ = ada.batch(X[idx], Y[idx], idx, step=0)
    together = X[[0, 5, 10]]
    assert np.allclose(made[:3], (together + together.mean(axis=0)) / 2)
    assert np.allclose(made[3], X[1])
    assert ada.draw_gamma(0) == 4.0


def test_gamma_is_of_the_step_or_of_the_row():
    shared, own = ADA(clusters=3).fit(X, Y), ADA(clusters=3, per="row").fit(X, Y)
    assert shared.draw_gamma(2) == shared.draw([9], step=2)["gamma"][0] != shared.draw_gamma(3)
    assert len(set(own.draw_gamma(2, [4, 5, 6]))) == 3


@pytest.mark.parametrize("method", [ADA(), Mixup(), CMixup(), LocalMixup()])
def test_a_copy_has_a_strength_for_each_row_and_a_batch_one_for_all(method):
    strength = "gamma" if isinstance(method, ADA) else "lambda"
    made = clone(method).set_params(originals=False)
    made.fit_resample(X, Y)
    of_copy, of_batch = made.provenance_[strength], made.draw(range(20), step=3)[strength]
    assert len(set(of_copy)) == len(of_copy) > 10 and len(set(of_batch)) == 1
    made.set_params(per="copy").fit_resample(X, Y)
    assert len(set(made.provenance_[strength])) == 1
    assert ADA.published(4, 2.0).per == "copy"


def test_foma_is_a_low_rank_map_of_a_batch():
    made = FOMA(0.7, svd_scale="raw").fit(X, Y)
    idx = np.arange(30)
    xb, yb = made.batch(X[idx], Y[idx], idx, step=3)
    lam = made.draw(idx, step=3)["lambda"][0]
    old = np.column_stack([X[idx], Y[idx]])
    u, s, vt = np.linalg.svd(old, full_matrices=False)
    s = np.where(np.cumsum(s) / s.sum() > 0.7, lam * s, s)
    assert np.allclose(np.column_stack([xb, yb]), u * s @ vt, rtol=1e-10)
    same_scale = FOMA(0.7).fit_resample(X * [2.0**-20, 1.0, 2.0**20], Y)[0] / [2.0**-20, 1, 2.0**20]
    assert np.allclose(same_scale, FOMA(0.7).fit_resample(X, Y)[0])


def test_cems_has_steps_of_its_size():
    made = [CEMS(sigma, originals=False).fit_resample(X, Y) for sigma in (0.0, 0.01, 0.02)]
    assert same(made[0][0], X) and same(made[0][1], Y)
    steps = [(x - X) / X.std(axis=0) for x, _ in made]
    assert np.allclose(2 * steps[1], steps[2], atol=1e-3)
    assert 0.003 < np.abs(steps[1]).mean() < 0.03


def test_epsilon_is_found_in_standardized_rows():
    far, near = LocalMixup(originals=False), LocalMixup(originals=False)
    made, _ = near.fit_resample(X, Y)
    scaled, _ = far.fit_resample(X * [2.0**-20, 1.0, 2.0**20], Y)
    assert (near.sample_indices_ == far.sample_indices_).all()
    assert 0.1 * len(X) < len(made) < 0.5 * len(X)
    wide, _ = LocalMixup("100sd", originals=False).fit_resample(X, Y)
    assert len(wide) == len(X)


def test_weights_count_in_the_means():
    weights = np.linspace(0, 3, len(X))
    ada = ADA(anchors=LABELS, gamma=4.0, originals=False)
    x2, _ = ada.fit_resample(X, Y, sample_weight=pd.Series(weights, index=range(7, 87)))
    for group in range(5):
        rows_of = LABELS == group
        mean = np.average(X[rows_of], axis=0, weights=weights[rows_of])
        assert np.allclose(x2[rows_of], (X[rows_of] + mean) / 2, rtol=1e-12)


def test_features_may_have_any_shape():
    images = X.reshape(20, 4, 3)
    flat = ADA(anchors=LABELS[:20], copies=2)
    x2, y2 = clone(flat).fit_resample(images, Y.reshape(20, 4))
    assert x2.shape == (60, 4, 3) and y2.shape == (60, 4)
    assert same(x2.reshape(60, 12), flat.fit_resample(images.reshape(20, 12), Y.reshape(20, 4))[0])


# Anchors

WORDS = np.array(["north", "south", "east", "west", "far away"])[LABELS]


@pytest.mark.parametrize(
    "anchors",
    [
        LABELS.tolist(),
        LABELS.astype(np.uint8),
        LABELS * 1.0,
        WORDS,
        list(WORDS),
        WORDS.astype(object),
        np.array([3, "4", 2.5, None, True], dtype=object)[LABELS],
        pd.Series(WORDS, dtype="category"),
        pd.Series(LABELS, dtype="Int64").replace(3, pd.NA),
        pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(LABELS, "D")),
        pl.Series(WORDS),
        pl.Series(WORDS, dtype=pl.Categorical),
        pa.array(WORDS),
        pa.array(WORDS).dictionary_encode(),
        pa.chunked_array([WORDS[:30], WORDS[30:]]),
    ],
    ids=lambda anchors: f"{type(anchors).__module__}.{type(anchors).__name__}",
)
def test_labels_may_be_anything_that_tells_groups_apart(anchors):
    ada = ADA(anchors=anchors, gamma=4.0)
    x2, _ = ada.fit_resample(X, Y)
    assert len(set(zip(ada.groups_, LABELS))) == len(set(ada.groups_)) == 5
    assert same(x2, ADA(anchors=LABELS, gamma=4.0).fit_resample(X, Y)[0])
    assert same(x2, ADA(gamma=4.0).fit_resample(X, Y, anchors=anchors)[0])


def test_labels_that_are_missing_are_one_more_group():
    mixed = np.array([None, "a", np.nan, pd.NA, 3], dtype=object)
    for labels in ([1.0, np.nan, np.nan, np.nan, 2.0], mixed, pd.Series(mixed, dtype=object)):
        groups = ADA(anchors=labels).fit(X[:5], Y[:5]).groups_
        assert sorted(np.bincount(groups)) == [1, 1, 3]


def test_a_matrix_of_groups_is_the_groups():
    one_hot = np.eye(5)[LABELS]
    by_labels = ADA(anchors=LABELS, copies=2).fit_resample(X, Y)
    for kind in (np.asarray, pd.DataFrame, pl.DataFrame, list, np.ndarray.tolist):
        matrix = kind(one_hot)
        ada = ADA(anchors=matrix, copies=2)
        assert np.allclose(ada.fit_resample(X, Y)[0], by_labels[0], rtol=1e-12, atol=1e-12)
        assert not hasattr(ada, "groups_") and "gamma" in ada.provenance_


def test_columns_of_arrays_have_names():
    ada = ADA(anchors="quantiles:x2", clusters=4).fit(X, Y)
    assert np.bincount(ada.groups_).tolist() == [20, 20, 20, 20]
    assert (np.diff(ada.groups_[np.argsort(X[:, 2])]) >= 0).all()
    assert (np.diff(ADA(anchors="bins:y", clusters=4).fit(X, Y).groups_[np.argsort(Y)]) >= 0).all()


def test_no_group_crosses_levels():
    levels = pd.Series(["a", "b"] * 40)
    ada = ADA(clusters=4, within=levels).fit(X, Y)
    assert not set(ada.groups_[levels == "a"]) & set(ada.groups_[levels == "b"])
    assert len(set(ada.groups_)) == 8


# Dtypes and layouts

DTYPES = [*"efdg", *"bhilq", *"BHILQ", "?", ">f8", ">f4", ">i4", ">u2"]
LAYOUTS = {
    "C": lambda a: np.array(a, order="C"),
    "F": lambda a: np.array(a, order="F"),
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: np.array(a[::-1, ::-1])[::-1, ::-1],
    "wide": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
}


@QUICK
@given(data=st.data(), dtype=st.sampled_from(DTYPES), layout=st.sampled_from(sorted(LAYOUTS)))
def test_dtypes_come_back_and_layouts_do_not_matter(data, dtype, layout):
    shape = (data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4)))
    dtype = np.dtype(dtype)
    floats = dtype.kind == "f"
    bounds = {"min_value": -60000, "max_value": 60000, "allow_nan": False, "allow_infinity": False}
    elements = hnp.from_dtype(dtype, **bounds) if floats else None
    x = data.draw(hnp.arrays(dtype, shape, elements=elements))
    target = data.draw(hnp.arrays(np.float64, shape[0], elements=st.floats(-9, 9)))
    given_x = LAYOUTS[layout](x)
    given_x.flags.writeable = False
    before = given_x.tobytes()
    ada = ADA(clusters=1, gamma=[4.0, 0.25], copies=2)
    x2, y2 = ada.fit_resample(given_x, target)
    assert x2.dtype == dtype and x2.shape == (3 * shape[0], shape[1]) and y2.shape == x2.shape[:1]
    assert given_x.tobytes() == before == x2[: shape[0]].tobytes()
    assert same(ada.fit_resample(x.copy(), target)[0], x2)
    want, _ = ada.fit_resample(x.astype(np.float64), target)
    if dtype.kind == "b":
        assert (x2 == (want >= 0.5)).all()
    elif floats:
        ends = np.finfo(dtype)
        assert np.allclose(x2, np.clip(want, ends.min, ends.max).astype(dtype), rtol=4 * ends.eps)
    else:
        ends = np.iinfo(dtype)
        slack = np.abs(want) * 2.0**-52 + 0.5
        assert (np.abs(x2.astype(float) - np.clip(want, ends.min, ends.max)) <= slack).all()


@QUICK
@given(
    n=st.integers(1, 30),
    outputs=st.sampled_from([(), (1,), (2,)]),
    dtype=st.sampled_from(["float32", "float64", "int64", "uint8"]),
    method=st.sampled_from(PLAIN),
)
def test_targets_keep_their_shape_and_dtype(n, outputs, dtype, method):
    y = (np.arange(n * max(1, *outputs, 1)).reshape(n, *outputs) % 7).astype(dtype)
    x = X[:n].astype(np.float32)
    made = clone(method)
    if "clusters" in made.get_params():
        made.set_params(clusters="auto")
    x2, y2 = made.fit_resample(x, y)
    assert x2.dtype == np.float32 and y2.dtype == dtype and len(x2) == len(y2)
    assert y2.shape[1:] == outputs and (y2[:n] == y).all() and (x2[:n] == x).all()


@each_method
def test_narrow_floats_are_the_wide_ones_rounded(method):
    x, y = X.astype(np.float32), Y.astype(np.float32)
    wide = clone(method).fit_resample(x.astype(np.float64), y.astype(np.float64))
    mixed = clone(method).fit_resample(x, y.astype(np.float64))
    assert same(mixed[0], wide[0].astype(np.float32)) and same(mixed[1], wide[1])
    # Where all is narrow, so is the arithmetic.
    narrow = clone(method).fit_resample(x, y)
    assert np.allclose(narrow[0], wide[0], rtol=1e-5, atol=1e-6) and narrow[0].dtype == np.float32


def test_numbers_beyond_a_dtype_keep_to_its_ends():
    # Ten times as far from the mean.
    away = ADA(anchors=np.zeros(4, int), gamma=0.01, originals=False)
    ends = {"int8": (-128, 127), "uint64": (0, 2**64 - 1), "float16": (-65504, 65504)}
    for dtype, (low, high) in ends.items():
        x = np.array([[low], [high], [0], [1]], dtype=dtype)
        assert away.fit_resample(x, np.zeros(4))[0][:2, 0].tolist() == [low, high]


def test_large_integers_stay_exact_as_originals():
    x = np.array([[2**62 + 1], [2**62 + 3], [5]], dtype=np.int64)
    assert (Mixup().fit_resample(x, x[:, 0])[1][:3] == x[:, 0]).all()


def test_lists_stay_lists():
    x, y = [[1, 2], [3, 4], [5, 9]], (1.0, 2.0, 4.0)
    x2, y2 = Mixup(copies=4).fit_resample(x, y)
    wanted = Mixup(copies=4).fit_resample(np.array(x), np.array(y))
    assert x2 == wanted[0].tolist() and y2 == wanted[1].tolist()
    assert {type(value) for row in x2 for value in row} == {int}


FRAME = pd.DataFrame({"u": Y.astype(np.float32), "v": np.arange(80)}).rename("r{}".format)
TARGETS = {
    "series": FRAME["u"],
    "whole": FRAME["v"].astype("Int64"),
    "arrow": FRAME["v"].astype("int16[pyarrow]"),
    "frame": FRAME,
    "one column": FRAME[["v"]],
    "polars": pl.Series("v", FRAME["v"].to_numpy(), dtype=pl.UInt8),
    "polars frame": pl.DataFrame(FRAME),
    "pyarrow": pa.array(FRAME["v"].to_numpy(), pa.int32()),
    "chunked": pa.chunked_array([Y[:50], Y[50:]]),
    "decimals": pa.array(FRAME["v"].to_numpy()).cast(pa.decimal128(20, 1)),
    "polars decimals": pl.Series("v", FRAME["v"].to_numpy()).cast(pl.Decimal(20, 1)),
    "table": pa.table({"u": FRAME["u"].to_numpy(), "v": FRAME["v"].to_numpy()}),
}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("as_table", [False, True])
def test_targets_come_back_in_their_container(kind, as_table):
    y = TARGETS[kind]
    x = pd.DataFrame(X, columns=list("abc")) if as_table else X
    mixup = Mixup(copies=2)
    x2, y2 = mixup.fit_resample(x, y)
    assert type(x2) is type(x) and type(y2) is type(y) and len(x2) == len(y2) == 240
    for name in ("dtype", "dtypes", "schema", "type", "name"):
        assert np.all(getattr(y2, name, None) == getattr(y, name, None))
    if isinstance(y, (pd.Series, pd.DataFrame)):
        assert (y2.index == y.index.take(mixup.sample_indices_)).all()
    start = y2[:80] if kind != "table" else y2.slice(0, 80)
    assert np.array_equal(np.asarray(start), np.asarray(y))
    values = np.asarray(y, dtype=float).reshape(80, -1)
    plain = np.asarray(Mixup(copies=2).fit_resample(X, values)[1])
    assert np.allclose(np.asarray(y2, dtype=float).reshape(240, -1), plain, atol=0.5 + 1e-9)


# What is refused


def holding(value, dtype=object):
    out = X.astype(dtype)
    out[3, 1] = value
    return out


ARRAYS = {
    "one dimension": (X[:, 0], Y, InputError, r"Expected 2D array, got 1D.*\nhint: .*reshape\(-1"),
    "no rows": (X[:0], Y[:0], InputError, "x has no rows"),
    "no columns": (X[:, :0], Y, InputError, r"X has 0 feature\(s\)"),
    "no targets": (X, np.zeros((80, 0)), InputError, "y has no columns"),
    "one target": (X, 3.0, InputError, "y must have one target per row"),
    "lengths": (X, Y[:7], InputError, "x and y must have the same number of rows, got 80 and 7"),
    "NaN": (holding(np.nan, float), Y, InputError, "x must be finite, got NaN in row 3, column 1"),
    "inf": (holding(-np.inf, float), Y, InputError, "must be finite, got -inf in row 3, column 1"),
    "huge": (holding(1e300, float), Y, InputError, "must be below .* 1e300 in row 3, column 1"),
    "NaN target": (X, np.where(Y == Y[9], np.nan, Y), InputError, "y .* NaN in row 9, column 0"),
    "masked": (np.ma.masked_equal(X, X[3, 1]), Y, InputError, "NaN in row 3, column 1"),
    "complex": (X + 0j, Y, InputError, "Complex data not supported: X has dtype complex128"),
    "text": (X.astype(str), Y, InputTypeError, "X must be numeric, got <U32\nhint: "),
    "dates": (X.astype("M8[s]"), Y, InputTypeError, "X must be numeric, got datetime64"),
    "nothing": (None, Y, InputTypeError, "X must be numeric, got None of type NoneType: .*\nhint: "),
    "ragged": ([[1.0, 2.0], [3.0]], [1, 2], InputError, "X is not an array: .*inhomogeneous"),
    "word": (holding("q"), Y, InputTypeError, "'q' of type str in row 3, column 1\nhint: "),
    "None": (holding(None), Y, InputTypeError, "None of type NoneType in row 3, column 1"),
    "NA": (holding(pd.NA), Y, InputTypeError, "<NA> of type NAType in row 3, column 1"),
    "imaginary": (holding(np.complex64(1j)), Y, InputTypeError, "complex64 in row 3, column 1"),
    "endless": (holding(10**400), Y, InputError, "x must be finite, got inf in row 3, column 1"),
    "lazy": (pl.LazyFrame({"a": [1.0]}), Y, InputTypeError, r"LazyFrame.*\nhint: X.collect\(\)"),
}


@pytest.mark.parametrize("case", ARRAYS)
@pytest.mark.parametrize("verb", ["fit", "fit_resample"])
def test_arrays_that_are_no_rows_are_refused(case, verb):
    x, y, error, says = ARRAYS[case]
    if case in ("NaN", "masked") and verb == "fit_resample":
        assert np.isnan(ADA().fit_resample(x, y)[0]).sum() == 2
        return
    with pytest.raises(error, match=f"(?s){says}"):
        getattr(ADA(), verb)(x, y)


def test_sparse_matrices_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(InputTypeError, match=r"sparse.*\nhint: X.toarray\(\)"):
        ADA().fit(sparse.csr_matrix(X), Y)


@pytest.mark.parametrize(
    ("method", "says"),
    [
        (ADA(clusters=0), "clusters: expected a positive integer or `auto`"),
        (ADA(clusters=2.5), "clusters: expected a positive integer or `auto`"),
        (ADA(clusters=81), "cannot form 81 clusters from 80 rows\nhint: use clusters auto"),
        (ADA(alpha=1), r"alpha must be in \(1, 1e16\], got 1"),
        (ADA(alpha="2"), "alpha must be a number, got '2' of type str"),
        (ADA(alpha=3.0, gamma=2.0), "alpha does not apply to this distribution of γ\nhint: omit it"),
        (ADA(gamma="often"), "gamma: expected uniform, grid"),
        (ADA(gamma=[1.0, -1.0]), "gamma must be in .* got -1"),
        (ADA(cluster_on="z"), "cluster_on: `z` is not one of x, y, xy"),
        (ADA(within="site"), "within names a column, but arrays have no column names\nhint: "),
        (ADA(within=[1, 2]), "the levels and x must have the same number of rows, got 2 and 80"),
        (ADA(anchors="site"), "in arrays columns have no names: give an array of labels"),
        (ADA(anchors="bins:x7"), "column 7 does not exist: x has 3 columns"),
        (ADA(anchors=[1, 2]), "the groups and x must have the same number of rows, got 2 and 80"),
        (ADA(anchors=Y), r"fractions.*\nhint: for real-valued anchors pass a matrix"),
        (ADA(anchors=X[:, :2] * np.nan), "the anchor matrix must be finite, got NaN in row 0"),
        (ADA(anchors=np.zeros((80, 2, 2))), "anchors must have one label per row, got shape"),
        (ADA(anchors=LABELS, clusters=3), "clusters does not apply to these anchors\nhint: "),
        (ADA(anchors=np.eye(80), cluster_on="x"), "on does not apply to anchors other than kmeans\nhint: "),
        (ADA(copies=0), r"copies must be in \[1, .*got 0"),
        (ADA(copies=1.5), "copies must be an integer, got 1.5 of type float"),
        (ADA(copies=True), "copies must be an integer, got True of type bool"),
        (ADA(copies=2**62), "do not fit in memory\nhint: choose fewer copies"),
        (ADA(random_state=-1), "random_state must be in"),
        (ADA(random_state="a"), "random_state must be an integer, a Generator or None, got 'a'"),
        (Mixup(beta=0), r"beta must be in \(0, inf\), got 0"),
        (CMixup(bandwidth="wide"), "bandwidth: expected a number, or standard deviations such as 0.25sd"),
        (LocalMixup("far"), "epsilon: expected `auto`, a number, or standard deviations such as 1.5sd"),
        (Noise(target_noise=-1), r"target_noise must be in \[0, inf\), got -1"),
        (ADA(copies="many"), "copies must be an integer or \"auto\", got 'many'"),
        (ADA(rare="hihg"), "rare: `hihg` is neither one of high, low, both, density nor a file\nhint"),
        (ADA(rare=3.5), r"rare must be one of high.*control points \(y, phi\), got 3.5 of type float"),
        (Mixup(rare=[(1.0, 0.0)]), r"the number of control points must be in \[2, inf\), got 1"),
        (Mixup(rare=[(1, 0), (2, 1, 0, 5)]), "a control point is .* got"),
        (Mixup(rare=[(1, 0), (0, 1)]), "control point 1 of the relevance: y must increase"),
        (Mixup(rare=[(1e9, 0), (2e9, 1)]), "no row has a rare target: their relevance is below 0.8"),
        (SMOTER(neighbors=0), r"neighbors must be in \[1, 1000\], got 0"),
        (SMOTER(neighbors=1.5), "neighbors: `1.5` is not a whole number"),
        (SMOTER(neighbors="5"), "neighbors must be a number, got '5' of type str"),
        (SMOGN(perturbation=-1), r"perturbation must be in \[0, inf\), got -1"),
    ],
    ids=repr,
)
def test_settings_out_of_range_are_refused(method, says):
    with pytest.raises((InputError, InputTypeError), match=f"(?s){says}"):
        method.fit_resample(X, Y)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1, 2], "the weights and x must have the same number of rows, got 2 and 80"),
        (np.ones((80, 1)), r"one weight per row, got shape \(80, 1\)"),
        (2.0, r"one weight per row, got shape \(\)"),
        (np.arange(80) - 1.0, r"the weight of row 0 must be in \[0, 2\^50\], got -1"),
        (np.zeros(80), "all row weights are zero"),
        (["a"] * 80, "sample_weight must be numeric, got <U1"),
    ],
    ids=["few", "matrix", "one", "negative", "none", "text"],
)
def test_weights_that_are_none_are_refused(weights, says):
    with pytest.raises((InputError, InputTypeError), match=says):
        ADA().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("idx", "step", "says"),
    [
        ([80], 0, "row 80 does not exist: there are 80 rows"),
        ([-1], 0, "row -1 does not exist"),
        ([0.5], 0, "idx must be an array of integers, got float64"),
        ([True], 0, "idx must be an array of integers, got bool"),
        ([10**30], 0, "idx must be an array of integers, got object"),
        ([[0]], 0, r"idx must have one row index per row, got shape \(1, 1\)"),
        ([0, 1], 0, "x and idx must have the same number of rows, got 1 and 2"),
        ([0], -1, "step must be in .* got -1"),
        ([0], 0.5, "step must be an integer, got 0.5 of type float"),
    ],
)
def test_batches_of_other_rows_are_refused(idx, step, says):
    for method in (ADA(), Mixup()):
        with pytest.raises((InputError, InputTypeError), match=says):
            method.fit(X, Y).batch(X[:1], Y[:1], idx, step=step)


def test_more_is_refused_of_a_batch():
    ada, mixup = ADA().fit(X, Y), Mixup().fit(X, Y)
    with pytest.raises(InputError, match="the batch has no rows"):
        ada.batch(X[:0], Y[:0], [], step=0)
    with pytest.raises(InputError, match="x must have 3 columns, got 2"):
        mixup.batch(X[:1, :2], Y[:1], [0], step=0)
    with pytest.raises(InputError, match="x must be finite, got NaN in row 0, column 0"):
        ada.batch(X[:1] * np.nan, Y[:1], [0], step=0)
    with pytest.raises(InputError, match="anchors do not apply to mixup\nhint: omit them"):
        Mixup().fit(X, Y, anchors=LABELS)


# Numbers that others found


@pytest.mark.parametrize("case", golden("ada_transform.json"), ids=lambda case: case["name"])
def test_the_published_transform(case):
    anchors = case["labels"] if case["anchor_kind"] == "one_hot" else case["A"]
    x, y = case["X"], case["y"]
    size = max(1.0, np.abs(x).max(), np.abs(y).max())
    for output in case["outputs"]:
        ada = ADA(anchors=np.asarray(anchors), gamma=output["gamma"], originals=False)
        x2, y2 = ada.fit_resample(x, y)
        want = output.get("y_til_column_mean", output["y_til"])
        assert x2.shape == x.shape
        assert np.allclose(x2, output["X_til"], rtol=0, atol=1e-9 * size)
        assert np.allclose(y2.reshape(want.shape), want, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize(
    "case",
    [case for case in golden("published.json", "gammas") if case["a"] > 1],
    ids=lambda case: f"{case['a']}, {case['n']}",
)
def test_the_published_grid(case):
    gamma = f"published-grid:{case['n']}"
    ada = ADA.published(2, case["a"], gamma=gamma, per="row", copies=40)
    ada.fit_resample(X, Y)
    assert ada.cluster_scale == "raw"
    assert set(ada.provenance_["gamma"][len(X) :]) == set(np.asarray(case["gammas"]).tolist())


@pytest.mark.parametrize(
    "case", golden("published.json", "cmixup_rates"), ids=lambda case: case["name"]
)
def test_partners_are_drawn_at_the_published_rates(case):
    y, rates = case["y"], case["rates"]
    mixup = CMixup(bandwidth=case["bandwidth"]).fit(y, y)
    steps = 1000
    drawn = np.stack([mixup.draw(step=step)["partner"] for step in range(steps)])
    counts = np.stack([np.bincount(drawn[:, row], minlength=len(y)) for row in range(len(y))])
    # Five deviations of a binomial, and one count for what is hardly ever drawn.
    slack = 5 * np.sqrt(steps * rates * (1 - rates)) + 1
    assert (np.abs(counts - steps * rates) <= slack).all()


# Inside pipelines


def test_a_pipeline_of_imblearn_augments_what_it_fits_only():
    imblearn = pytest.importorskip("imblearn.pipeline")
    pipeline = imblearn.Pipeline([("ada", ADA(clusters=4, copies=5)), ("ridge", Ridge())])
    x2, y2 = ADA(clusters=4, copies=5).fit_resample(X, Y)
    assert np.allclose(pipeline.fit(X, Y).predict(X), Ridge().fit(x2, y2).predict(X))
    assert len(pipeline.predict(X)) == len(X)
    assert cross_val_score(pipeline, X, Y, cv=4).min() > 0.9
    search = GridSearchCV(pipeline, {"ada__alpha": [1.5, 3.0], "ridge__alpha": [0.1, 1000.0]}, cv=3)
    assert search.fit(X, Y).best_params_["ridge__alpha"] == 0.1


@each_method
def test_every_method_works_in_a_pipeline_of_tables(method):
    imblearn = pytest.importorskip("imblearn.pipeline")
    if getattr(method, "anchors", "").startswith("quantiles"):
        method = clone(method).set_params(anchors="quantiles:b")
    pipeline = imblearn.Pipeline([("more", method), ("ridge", Ridge())])
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = pipeline.fit(table, pd.Series(Y, name="y"))
    assert list(fitted["ridge"].feature_names_in_) == ["a", "b", "c"]
    # The published code of FOMA moves features without their targets.
    published = getattr(method, "variant", "paper") == "published"
    assert fitted.score(table, Y) > (0.8 if published else 0.9)


# Rare targets


def test_relevance_is_that_of_the_golden_numbers():
    for case in golden("rare_targets.json"):
        if "relevance" in case:
            points = [tuple(v for v in point if v is not None) for point in case.get("points", [])]
            phi = relevance(case["y"], rare=points or case["relevance"])
            assert np.allclose(phi, case["phi"], rtol=0, atol=1e-14)


def test_points_of_a_file_are_the_points(tmp_path):
    (tmp_path / "phi.csv").write_text("y,phi,slope\n-1,1,0\n0,0,\n2,0.9,0.1\n")
    points = [(-1, 1, 0), (0, 0), (2, 0.9, 0.1)]
    for path in (tmp_path / "phi.csv", str(tmp_path / "phi.csv")):
        assert same(relevance(Y, path), relevance(Y, points))
    assert same(relevance(pd.Series(Y)), relevance(Y.tolist(), rare="both"))
    with pytest.raises(InputError, match="y must have one dimension"):
        relevance(X)
    with pytest.raises(InputError, match="the target is constant"):
        relevance([3.0, 3.0, 3.0])


@pytest.mark.parametrize("method", [ADA, Mixup, CMixup, Noise, SMOTER, SMOGN])
def test_copies_are_balanced_unless_a_number_is_given(method):
    y = np.exp(Y / Y.std())
    made = method(rare="high")
    x2, y2 = made.fit_resample(X, y)
    rare = (relevance(y, "high") >= 0.8).sum()
    copies = (len(x2) - len(X)) / rare
    assert copies == max(1, round((len(X) - rare) / rare) - 1) > 1
    assert (relevance(y, "high")[made.sample_indices_[len(X) :]] >= 0.8).all()
    assert len(method(rare="high", copies=1).fit_resample(X, y)[0]) == len(X) + rare
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    x3, y3 = method(rare="high").fit_resample(table, y)
    assert same(x3.to_numpy(), x2) and same(np.asarray(y3), y2)
    made = augment(table.assign(y=y), "y", method=method._method, rare="high")
    assert len(made) == len(x2)
    if method not in (SMOTER, SMOGN):
        assert len(method().fit_resample(X, y)[0]) == 2 * len(X)


def test_methods_of_rare_targets_are_compared():
    from windlass import compare

    methods = {"more": SMOTER(rare="high"), "ada": ADA(rare="high"), "one": "smogn"}
    found = compare(X, Y, Ridge(), methods, cv=3, repeats=1)
    assert "more" in repr(found) and "one" in repr(found)


def test_a_pipeline_of_imblearn_routes_weights_and_anchors():
    imblearn = pytest.importorskip("imblearn.pipeline")
    weights = 1.0 + np.arange(len(X)) % 3
    labels = np.arange(len(X)) % 5
    with sklearn.config_context(enable_metadata_routing=True):
        ada = ADA(copies=2).set_fit_resample_request(sample_weight=True, anchors="groups")
        knn = KNeighborsRegressor(1).set_score_request(sample_weight=True)
        pipeline = imblearn.Pipeline([("ada", ada), ("knn", knn)])
        # The estimator after it does not get weights: they are those of the rows before it.
        fitted = pipeline.fit(X, Y, sample_weight=weights, groups=labels)
        wanted = ADA(copies=2).fit_resample(X, Y, sample_weight=weights, anchors=labels)
        assert (fitted["knn"]._fit_X == wanted[0]).all()
        assert not (wanted[0] == ADA(copies=2).fit_resample(X, Y, anchors=labels)[0]).all()
        # A sampler at the end, and a copy of the request.
        made = imblearn.Pipeline([("ada", clone(ada))])
        made = made.fit_resample(X, Y, sample_weight=weights, groups=labels)
        assert all((a == b).all() for a, b in zip(made, wanted))
        # Splits of cross-validation pass the rows' own weights and labels.
        scores = cross_validate(
            pipeline, X, Y, cv=3, params={"sample_weight": weights, "groups": labels}
        )
        assert scores["test_score"].min() > 0.5
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            imblearn.Pipeline([("ada", ADA()), ("ridge", Ridge())]).fit(X, Y, sample_weight=weights)
        with pytest.raises(TypeError, match="Unexpected args"):
            Mixup().set_fit_resample_request(weights=True)
    with pytest.raises(RuntimeError, match="metadata routing is enabled"):
        ADA().set_fit_resample_request(sample_weight=True)


@each_method
def test_every_method_takes_routed_weights(method):
    imblearn = pytest.importorskip("imblearn.pipeline")
    weights = 1.0 + np.arange(len(X)) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        more = clone(method).set_fit_resample_request(sample_weight=True)
        ridge = Ridge().set_fit_request(sample_weight=False)
        pipeline = imblearn.Pipeline([("more", more), ("ridge", ridge)])
        fitted = pipeline.fit(X, Y, sample_weight=weights)
        wanted = Ridge().fit(*clone(method).fit_resample(X, Y, sample_weight=weights))
        assert fitted["ridge"].coef_.tolist() == wanted.coef_.tolist()


# What stands in packed records, and names of columns in fit


def test_fields_of_packed_records_are_read_as_they_are():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 3))
    y = y[:, 0]
    record = np.zeros(60, dtype=[("pad", "i1"), ("a", "f8"), ("row", "i8"), ("w", "f8")])
    record["a"], record["row"], record["w"] = y, np.arange(60), 1.0 + np.arange(60) % 3
    assert not record["a"].flags.aligned
    packed = ADA(4).fit_resample(x, record["a"], sample_weight=record["w"])
    plain = ADA(4).fit_resample(x, y, sample_weight=record["w"].copy())
    assert all((a == b).all() for a, b in zip(packed, plain))
    ada = ADA(anchors=record["row"] % 5).fit(x, y)
    idx = record["row"][:9]
    made = ada.batch(x[:9], record["a"][:9], idx, step=1)
    wanted = ada.batch(x[:9], y[:9], np.arange(9), step=1)
    assert all((a == b).all() for a, b in zip(made, wanted))


@pytest.mark.parametrize("clusters", ["auto", 3])
@pytest.mark.parametrize("anchors", ["kmeans", "bins:y"])
def test_within_finds_the_same_groups_in_arrays_and_tables(clusters, anchors):
    pandas = pytest.importorskip("pandas")
    x, y = np.random.default_rng(1).normal(size=(2, 120, 2))
    y = pandas.Series(y[:, 0], name="y")
    site = np.repeat(["a", "b", "c"], 40)
    of_array = ADA(clusters, anchors=anchors, within=site)
    of_table = ADA(clusters, anchors=anchors, within=site)
    x2, y2 = of_array.fit_resample(x, y.to_numpy())
    table, y3 = of_table.fit_resample(pandas.DataFrame(x, columns=["u", "v"]), y)
    assert (table.to_numpy() == x2).all() and (y3.to_numpy() == y2).all()
    assert len(set(of_array.groups_)) == len(set(of_table.groups_))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_anchors_are_named_in_fit_too(library):
    x, y = np.random.default_rng(2).normal(size=(2, 60, 2))
    site = np.arange(60) % 3
    columns = {"u": x[:, 0], "v": x[:, 1], "site": site}
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    named = ADA(anchors="site").fit(make(columns), y[:, 0])
    given = ADA(anchors=site).fit(x, y[:, 0])
    assert (named.groups_ == given.groups_).all() and named.n_features_in_ == 2
    of_bins = ADA(4, anchors="bins:v").fit(make({"u": x[:, 0], "v": x[:, 1]}), y[:, 0])
    assert (of_bins.groups_ == ADA(4, anchors="bins:x1").fit(x, y[:, 0]).groups_).all()


def test_a_matrix_of_anchors_goes_with_tables_of_numbers():
    pandas = pytest.importorskip("pandas")
    x, y = np.random.default_rng(3).normal(size=(2, 40, 2))
    matrix = np.column_stack([np.ones(40), x[:, 0]])
    table = pandas.DataFrame(x, columns=["u", "v"], index=range(100, 140))
    made, _ = ADA(anchors=matrix).fit_resample(table, y[:, 0])
    wanted, _ = ADA(anchors=matrix).fit_resample(x, y[:, 0])
    assert (made.to_numpy() == wanted).all() and list(made.columns) == ["u", "v"]
    assert made.index.tolist() == [*range(100, 140)] * 2
    with pytest.raises(InputTypeError, match="X must be numeric"):
        ADA(anchors=matrix).fit_resample(table.assign(word="a"), y[:, 0])
