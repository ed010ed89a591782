"""Threads, forks, pickles, leaks, any input: the same bits or a refusal, never a fault."""

import copy
import gc
import multiprocessing
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import polars as pl
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from common import rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone

from windlass import (
    ADA,
    SMOGN,
    SMOTER,
    CEMS,
    FOMA,
    CMixup,
    InputError,
    InputTypeError,
    LocalMixup,
    Mixup,
    Noise,
    augment,
)

X, Y = rows(200, 4)
LABELS = np.arange(200) % 3
WEIGHTS = np.linspace(0, 2, 200)
METHODS = {
    "ada": ADA(clusters=5),
    "labels": ADA(anchors=LABELS, per="row"),
    "bins": ADA(anchors="bins:x1", within=LABELS),
    "matrix": ADA(anchors=X[:, :2] + 3, gamma=2.0),
    "mixup": Mixup(beta=0.5, per="row"),
    "c-mixup": CMixup(),
    "local-mixup": LocalMixup(epsilon=3.0),
    "noise": Noise(feature_noise=0.1),
    "rare": ADA(clusters=5, rare="high"),
    "smoter": SMOTER(),
    "smogn": SMOGN(rare=[(0, 0), (1, 1)]),
    "foma": FOMA(0.8),
    "cems": CEMS(neighborhood="row"),
}
each_method = pytest.mark.parametrize("name", METHODS)


def bits(*arrays):
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def batch_of(method, step=3):
    idx = np.array([7, 3, 150, 42, 9])
    return bits(*method.batch(X[idx], Y[idx], idx, step=step))


# Pickles and copies


# Real-valued anchors take no weights.
WEIGHTED = [(name, WEIGHTS) for name in METHODS if name != "matrix"]


@pytest.mark.parametrize(("name", "weights"), [*((name, None) for name in METHODS), *WEIGHTED])
def test_a_pickle_makes_the_same_rows(name, weights):
    made = clone(METHODS[name])
    made.fit_resample(X, Y, sample_weight=weights)
    ways = [pickle.loads(pickle.dumps(made, protocol)) for protocol in range(2, 6)]
    for again in [*ways, copy.copy(made), copy.deepcopy(made)]:
        assert batch_of(again) == batch_of(made)
        assert repr(again) == repr(made) and again.n_features_in_ == 4
        for key, values in made.provenance_.items():
            assert bits(again.provenance_[key]) == bits(values)
        assert hasattr(again, "groups_") == (name in ("ada", "labels", "bins", "rare"))
        assert bits(getattr(again, "groups_", 0)) == bits(getattr(made, "groups_", 0))
        # Fitted once more, it is what it was.
        assert bits(*again.fit_resample(X, Y, sample_weight=weights)) == bits(
            *made.fit_resample(X, Y, sample_weight=weights)
        )
    assert not hasattr(clone(made), "n_features_in_")


def test_a_pickle_of_what_was_fitted_on_a_table():
    made = ADA(clusters=3)
    made.fit_resample(pd.DataFrame(X, columns=list("abcd")), Y)
    again = pickle.loads(pickle.dumps(made))
    assert bits(again.groups_, again.sample_indices_) == bits(made.groups_, made.sample_indices_)
    assert list(again.feature_names_in_) == list("abcd")


def test_groups_are_kept_and_rows_are_not():
    wide = np.tile(X, (1, 50))
    assert len(pickle.dumps(ADA(clusters=3).fit(wide, Y))) < wide.nbytes / 50


def test_other_processes_make_the_same_rows():
    def work(method):
        return batch_of(method), bits(*clone(method).fit_resample(X, Y))

    fitted = [clone(method).fit(X, Y) for method in METHODS.values()]
    alone = [work(method) for method in fitted]
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(work)(method) for method in fitted) == alone


# Threads and forks

BIG_X, BIG_Y = rows(6000, 4)
BIG_TABLE = pa.table({f"x{place}": BIG_X[:, place] for place in range(4)} | {"y": BIG_Y})
WIDE_Y = BIG_X.reshape(40, 600)
ANCHORS = BIG_X[:, :3] + 5
WORK = {
    "ada": lambda: bits(*ADA(clusters=4, copies=2).fit_resample(BIG_X, BIG_Y)),
    "labels": lambda: bits(*ADA(anchors=np.arange(6000) % 7).fit_resample(BIG_X, BIG_Y)),
    "matrix": lambda: bits(*ADA(anchors=ANCHORS, gamma=2.0).fit_resample(BIG_X, BIG_Y)),
    "c-mixup": lambda: bits(*CMixup().fit_resample(BIG_X, BIG_Y)),
    "local-mixup": lambda: bits(*LocalMixup(epsilon=2.0).fit_resample(BIG_X, BIG_Y)),
    "foma": lambda: bits(*FOMA(copies=2).fit_resample(BIG_X, BIG_Y)),
    "cems": lambda: bits(*CEMS(neighborhood_size=8).fit_resample(BIG_X, BIG_Y)),
    "long batch": lambda: batch_of_all(CMixup(), BIG_X, BIG_Y),
    "wide batch": lambda: batch_of_all(Mixup(), X[:40], WIDE_Y),
    "pickle": lambda: bits(copy.deepcopy(ADA(anchors=ANCHORS).fit(BIG_X, BIG_Y)).seed_),
    "table": lambda: bits(*augment(BIG_TABLE, "y", clusters=4).columns),
    "pairs of a table": lambda: bits(*augment(BIG_TABLE, "y", method="c-mixup").columns),
}


def batch_of_all(method, x, y):
    return bits(*method.fit(x, y).batch(x, y, np.arange(len(x)), step=1))


def test_four_threads_make_the_same_rows_as_one():
    alone = {name: work() for name, work in WORK.items()}
    shared = CMixup().fit(BIG_X, BIG_Y)
    batches = [bits(*shared.batch(BIG_X, BIG_Y, np.arange(6000), step=step)) for step in range(8)]
    together = threading.Barrier(4)

    def work(number):
        together.wait()
        names = [*WORK][number:] + [*WORK][:number]
        made = {name: WORK[name]() for name in names}
        steps = [bits(*shared.batch(BIG_X, BIG_Y, np.arange(6000), step=step)) for step in range(8)]
        return made == alone and steps == batches

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [True] * 4


def child(name, queue):
    queue.put(WORK[name]())


def in_a_fork(name):
    """What a process that was forked makes; nothing if it hangs."""
    fork = multiprocessing.get_context("fork")
    queue = fork.SimpleQueue()
    process = fork.Process(target=child, args=(name, queue), daemon=True)
    process.start()
    made = queue.get() if queue._reader.poll(30) else None
    process.join(5)
    process.kill()
    return made


can_fork = "fork" in multiprocessing.get_all_start_methods()
forks = pytest.mark.skipif(not can_fork, reason="there is no fork here")
# Python warns of threads that a fork leaves behind, which is what is tested.
quiet = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@forks
@quiet
@pytest.mark.parametrize("name", WORK)
def test_a_fork_after_heavy_use_does_not_hang(name):
    for work in WORK.values():
        work()
    assert in_a_fork(name) == WORK[name]()


@forks
@quiet
def test_a_fork_in_the_middle_of_work_does_not_hang():
    done = threading.Event()

    def work():
        while not done.is_set():
            WORK["ada"]()
            WORK["table"]()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert all(in_a_fork("ada") is not None for _ in range(5))
    finally:
        done.set()
        for thread in threads:
            thread.join()


# Leaks


def refused(work):
    def call():
        with pytest.raises((InputError, InputTypeError)):
            work()

    return call


SMALL_X, SMALL_Y = rows(12, 2)
SMALL = pa.table({"a": SMALL_X[:, 0], "word": ["u", "v", "w"] * 4, "y": SMALL_Y})
LARGE = pd.DataFrame(X, columns=list("abcd")).assign(word="u", y=Y)
POLARS = pl.DataFrame(LARGE)
FITTED = CMixup().fit(SMALL_X, SMALL_Y)
CALLS = {
    "batch": (10_000, lambda: FITTED.batch(SMALL_X[:8], SMALL_Y[:8], range(8), step=1)),
    "resample": (10_000, lambda: Mixup().fit_resample(SMALL_X, SMALL_Y)),
    "refused array": (10_000, refused(lambda: Mixup().fit(SMALL_X * np.nan, SMALL_Y))),
    "pyarrow": (10_000, lambda: augment(SMALL, "y", method="mixup")),
    "provenance": (1_000, lambda: provenance(ADA(anchors=LABELS))),
    "pickle": (1_000, lambda: pickle.loads(pickle.dumps(FITTED))),
    "pandas": (300, lambda: augment(LARGE, "y", provenance=True)),
    "polars": (300, lambda: augment(POLARS, "y", provenance=True)),
    "beside": (300, lambda: ADA(anchors=LABELS).fit_resample(LARGE, Y)),
    "refused table": (1_000, refused(lambda: augment(SMALL, "word"))),
}


def provenance(method):
    method.fit_resample(X, Y)
    return method.provenance_, method.groups_


@pytest.mark.parametrize("name", CALLS)
def test_nothing_leaks(name):
    calls, call = CALLS[name]
    process = psutil.Process()

    def grown(times):
        gc.collect()
        before = process.memory_info().rss
        for _ in range(times):
            call()
        gc.collect()
        return process.memory_info().rss - before

    grown(200)
    # A hundred bytes of every small call, or half of the rows of a large one, would be more.
    assert grown(calls) < 2**20
    assert process.num_threads() < 64


# Anything

NUMBERS = st.one_of(
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, 1, 1e-16, 1e16, 1e300, np.nan, np.inf, "auto", "0.25sd", None, True, []]),
)
ANY_METHOD = st.one_of(
    st.builds(ADA, clusters=NUMBERS),
    st.builds(ADA, gamma=NUMBERS | st.lists(NUMBERS, max_size=3), per=st.just("row")),
    st.builds(ADA, alpha=NUMBERS, gamma=st.sampled_from(["grid:4", "log-uniform", "gamma:2,1"])),
    st.builds(ADA, anchors=st.text(max_size=8) | st.lists(NUMBERS, max_size=6)),
    st.builds(ADA, anchors=hnp.arrays(float, hnp.array_shapes(max_dims=3)), gamma=st.floats()),
    st.builds(ADA, within=st.lists(NUMBERS, max_size=6)),
    st.builds(Mixup, beta=NUMBERS),
    st.builds(CMixup, bandwidth=NUMBERS),
    st.builds(LocalMixup, epsilon=NUMBERS),
    st.builds(Noise, target_noise=NUMBERS, feature_noise=NUMBERS),
    st.builds(FOMA, rho=NUMBERS, neighborhood_size=NUMBERS),
    st.builds(CEMS, sigma=NUMBERS, dimension=NUMBERS),
    st.builds(Noise, noise_units=st.sampled_from(["sd", "absolute"]) | st.text(max_size=4)),
)
ANY_ARRAY = st.one_of(
    hnp.arrays(
        st.sampled_from(["f2", "f4", "f8", "g", "i1", "u8", "?", ">f8", "O", "c8", "M8[s]", "U2"]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6),
        elements=None,
        fill=st.nothing(),
    ),
    hnp.arrays(float, (6, 2), elements=st.floats(-8e276, 8e276)),
    hnp.arrays(np.float32, (6, 2), elements=st.floats(width=32, allow_nan=False)),
)
ANY = settings(
    derandomize=True, deadline=None, max_examples=200, suppress_health_check=list(HealthCheck)
)


@ANY
@given(method=ANY_METHOD, x=ANY_ARRAY, y=ANY_ARRAY, step=NUMBERS)
@pytest.mark.filterwarnings("error")
def test_arrays_of_any_kind_are_augmented_or_refused(method, x, y, step):
    try:
        x2, y2 = method.fit_resample(x, y)
        xb, yb = method.batch(x, y, np.arange(len(x)), step=step)
    except (InputError, InputTypeError) as error:
        assert str(error)
        return
    for made, given_one in ((x2, x), (y2, y)):
        assert made.shape[1:] == given_one.shape[1:] and np.isfinite(made.astype(float)).all()
    assert np.isfinite(xb).all() and np.isfinite(yb).all()


@ANY
@given(
    method=ANY_METHOD,
    x=hnp.arrays(float, (30, 2), elements=st.floats(-9, 9)),
    seed=NUMBERS,
    copies=st.integers(1, 3),
)
def test_settings_of_any_kind_are_taken_or_refused(method, x, seed, copies):
    method.set_params(random_state=seed, copies=copies)
    try:
        x2, y2 = method.fit_resample(pd.DataFrame(x), x[:, 0])
    except (InputError, InputTypeError) as error:
        assert str(error)
        return
    assert np.isfinite(x2.to_numpy()).all() and np.isfinite(y2).all()
    assert (x2.to_numpy()[:30] == x).all() and len(x2) <= 30 * (copies + 1)


ARROW = {
    "null": pa.nulls(30),
    "binary": pa.array([b"a", None, b"c"] * 10),
    "binary view": pa.array([b"a", None, b"c"] * 10, pa.binary_view()),
    "text view": pa.array(["a", None, "c"] * 10, pa.string_view()),
    "times far away": pa.array([2**62, None, -(2**62)] * 10, pa.timestamp("s")),
    "unknown zone": pa.array([0, None, 2] * 10, pa.timestamp("ns", "No/Where")),
    "dates far away": pa.array([2**31 - 1, None, -(2**31)] * 10, pa.int32()).cast(pa.date32()),
    "duration": pa.array([1, None, 2] * 10, pa.duration("s")),
    "interval": pa.array([pa.MonthDayNano([1, 2, 3])] * 30),
    "list": pa.array([[1], None, [2, 3]] * 10),
    "list view": pa.array([[1], None, [2, 3]] * 10, pa.list_view(pa.int64())),
    "struct": pa.array([{"q": 1}, None, {"q": 2}] * 10),
    "map": pa.array([[("k", 1)], None, []] * 10, pa.map_(pa.string(), pa.int64())),
    "dictionary": pa.array([5.5, None, 6.5] * 10).dictionary_encode(),
    "decimal": pa.array([10**37, None, -(10**37)] * 10, pa.decimal128(38, 0)),
    "wide decimal": pa.array([10**60, None, -(10**60)] * 10, pa.decimal256(70, 3)),
    "half": pa.array(np.linspace(-65504, 65504, 30).astype(np.float16)),
    "unsigned": pa.array(np.linspace(0, 2**63, 30).astype(np.uint64) * np.uint64(2) - np.uint64(1)),
    "byte": pa.array(np.arange(30, dtype=np.int8) * 4),
    "runs": pa.RunEndEncodedArray.from_arrays([10, 20, 30], [1, 2, 3]),
    "union": pa.UnionArray.from_sparse(pa.array([0] * 30, pa.int8()), [pa.array(range(30))]),
}


@pytest.mark.parametrize("kind", ARROW)
@pytest.mark.parametrize(
    "role",
    [
        {},
        {"anchors": "c"},
        {"anchors": "quantiles:c"},
        {"weight": "c"},
        {"continuous": "c"},
        {"target": "c"},
    ],
    ids=str,
)
def test_columns_of_any_type_are_augmented_or_refused(kind, role):
    table = pa.table({"a": np.arange(30.0), "c": ARROW[kind], "y": np.arange(30.0)})
    for method in ("ada", "mixup")[: 1 if "anchors" in role else 2]:
        try:
            made = augment(table, **{"target": "y", "method": method, "copies": 2, **role})
        except (InputError, InputTypeError) as error:
            assert role, error
            continue
        made.validate(full=True)
        own = table["c"].chunk(0)
        # Runs are read as their values.
        own = pc.run_end_decode(own) if kind == "runs" else own
        assert made.schema.field("c").type == own.type
        assert made["c"].chunk(0).equals(own)
