"""Tables of pandas, polars, pyarrow: what is not moved survives, and bits are the command's."""

import datetime as dt
import decimal
import hashlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from common import CARS, rows, windlass

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
    similarity,
)

N = 60
X, Y = rows(N)
RNG = np.random.default_rng(1)
WORDS = np.array(["ape", "bee", "cat"])[RNG.integers(3, size=N)]
COUNTS = RNG.permutation(N) * 5
HOLES = np.arange(N) % 7 == 3


def holed(values, nothing=None):
    return [nothing if hole else value for hole, value in zip(HOLES, values)]


def same(left, right):
    """Whether two arrays of floats are the same to the bit."""
    return np.asarray(left, dtype=float).tobytes() == np.asarray(right, dtype=float).tobytes()


def plain(**columns):
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y, **columns})


METHODS = {
    "ada": ({"clusters": 5, "alpha": 3.0}, ["--clusters", 5, "--alpha", 3]),
    "ada per row": (
        {"gamma": "grid:6", "per": "row", "cluster_scale": "raw", "cluster_on": "x"},
        ["--gamma", "grid:6", "--per", "row", "--cluster-scale", "raw", "--cluster-on", "x"],
    ),
    "ada bins": (
        {"anchors": "quantiles:x1", "clusters": 4, "gamma": [0.5, 2.0]},
        ["--anchors", "quantiles:x1", "--clusters", 4, "--gamma", "list:0.5,2"],
    ),
    "mixup": ({"beta": 0.5}, ["--beta", 0.5]),
    "c-mixup": ({"bandwidth": "0.5sd", "per": "row"}, ["--bandwidth", "0.5sd", "--per", "row"]),
    "local-mixup": ({"epsilon": 2.5}, ["--epsilon", 2.5]),
    "foma": ({"rho": 0.7, "variant": "published"}, ["--rho", 0.7, "--variant", "published"]),
    "cems": ({"sigma": 0.3, "dimension": 2}, ["--sigma", 0.3, "--dimension", 2]),
    "noise": ({"target_noise": 0.3}, ["--target-noise", 0.3]),
    "ada rare": ({"rare": "low", "clusters": 4}, ["--rare", "low", "--clusters", 4]),
    "local-mixup rare": ({"rare": "high"}, ["--rare", "high"]),
    "smoter": ({"neighbors": 4}, ["--neighbors", 4]),
    "smogn rare": ({"rare": "density"}, ["--rare", "density"]),
}
CLASSES = {
    "ada": ADA,
    "mixup": Mixup,
    "c-mixup": CMixup,
    "local-mixup": LocalMixup,
    "noise": Noise,
    "foma": FOMA,
    "cems": CEMS,
    "smoter": SMOTER,
    "smogn": SMOGN,
}


# The same bits


def digest(*columns):
    return hashlib.sha256(b"".join(np.ascontiguousarray(c, dtype="<f8").tobytes() for c in columns))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_the_command_tables_and_arrays_make_the_same_bits(name, ending, tmp_path):
    import pyarrow.parquet

    method, (options, words) = name.partition(" ")[0], METHODS[name]
    x, y = rows(500, 4, seed=3)
    table = pa.table({f"x{place}": x[:, place] for place in range(4)} | {"y": y})
    if ending == "parquet":
        pa.parquet.write_table(table, tmp_path / "in.parquet")
    else:
        with pa.ipc.new_file(tmp_path / "in.arrow", table.schema) as file:
            file.write_table(table, max_chunksize=70)
    words = ["--target", "y", "--method", method, "--copies", 3, "--seed", 7, *words]
    windlass("augment", tmp_path / f"in.{ending}", *words, "--output", tmp_path / "out.arrow")
    with pa.memory_map(str(tmp_path / "out.arrow")) as file:
        command = pa.ipc.open_file(file).read_all()
        from_command = digest(*command.columns)
    made = augment(table, "y", method=method, copies=3, random_state=7, **options)
    from_table = digest(*made.columns)
    x2, y2 = CLASSES[method](copies=3, random_state=7, **options).fit_resample(x, y)
    assert command.num_rows == len(x2) > 500
    assert from_command.hexdigest() == from_table.hexdigest() == digest(*x2.T, y2).hexdigest()


@pytest.mark.parametrize("name", METHODS)
def test_tables_and_arrays_make_the_same_bits(name):
    method, (options, _) = name.partition(" ")[0], METHODS[name]
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(y=Y)
    table = augment(frame, "y", method=method, copies=3, random_state=7, **options)
    on_arrays = CLASSES[method](copies=3, random_state=7, **options)
    on_table = CLASSES[method](copies=3, random_state=7, **options)
    x2, y2 = on_arrays.fit_resample(X, Y)
    x3, y3 = on_table.fit_resample(frame.drop(columns="y"), frame["y"])
    assert same(table.to_numpy(), np.column_stack([x2, y2]))
    assert same(x3, x2) and same(y3, y2)
    assert set(on_table.provenance_) == set(on_arrays.provenance_)
    for key, values in on_arrays.provenance_.items():
        assert np.array_equal(on_table.provenance_[key], values, equal_nan=values.dtype.kind == "f")
    if method == "ada":
        assert (on_table.groups_ == on_arrays.groups_).all()


def test_cars_are_those_of_the_command(tmp_path):
    options = ["--target", "mpg", "--copies", 5, "--provenance", "--anchors", "column:origin"]
    # Text has decimals, a table in memory has none.
    windlass("augment", CARS, *options, "--decimals", "full", "--output", tmp_path / "out.csv")
    cars = pl.read_csv(CARS, infer_schema_length=None)
    made = augment(cars, "mpg", copies=5, provenance=True, anchors="origin")
    assert made.equals(pl.read_csv(tmp_path / "out.csv", infer_schema_length=None), null_equal=True)


@pytest.mark.parametrize("chunks", [1, 7, 59])
def test_chunks_do_not_matter(chunks):
    table = pa.table(plain(word=WORDS))
    parts = [table.slice(first, chunks) for first in range(0, N, chunks)]
    made = augment(pa.concat_tables(parts), "y", copies=2)
    assert made.combine_chunks().equals(augment(table, "y", copies=2).combine_chunks())


class Stream:
    """A table of which nothing is known but that it speaks Arrow."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_containers_do_not_matter():
    frame = plain(word=WORDS)
    table = pa.table(frame)
    made = augment(frame, "y", copies=2, provenance=True)
    for given, kind in (
        (table, pa.Table),
        (table.to_batches()[0], pa.Table),
        (table.to_reader(), pa.Table),
        (pl.DataFrame(frame), pl.DataFrame),
        (Stream(table), None),
    ):
        out = augment(given, "y", copies=2, provenance=True)
        assert kind is None or type(out) is kind
        out = pa.table(out)
        assert out.column_names == list(made.columns)
        for name in out.column_names:
            assert out[name].to_pylist() == pa.array(made[name], from_pandas=True).to_pylist()


def test_subclasses_of_a_dataframe_are_dataframes():
    class Mine(pd.DataFrame):
        pass

    assert augment(Mine(plain()), "y").equals(augment(plain(), "y"))


def addresses(table):
    return {b.address for c in table.columns for part in c.chunks for b in part.buffers() if b}


def test_tables_are_not_copied_and_not_changed():
    table = pa.table(plain(word=WORDS, n=COUNTS))
    before = table.to_pydict()
    made = augment(table, "y", copies=2)
    assert addresses(table) <= addresses(made)
    assert table.to_pydict() == before
    frame = plain(word=WORDS)
    kept = frame.copy(deep=True)
    made = augment(frame, "y", copies=1, originals=False)
    made.loc[:, ["a", "word"]] = [0.0, "x"]
    assert frame.equals(kept)


# What survives

PANDAS = {
    "category": pd.Categorical(WORDS, categories=["cat", "bee", "ape", "dog"], ordered=True),
    "category of numbers": pd.Categorical(np.arange(N) % 3),
    "str": pd.array(holed(WORDS), dtype="str"),
    "string": pd.array(holed(WORDS), dtype="string"),
    "object": np.array(holed(WORDS), dtype=object),
    "boolean": pd.array(holed(WORDS == "ape"), dtype="boolean"),
    "bool": WORDS == "ape",
    "zeros and ones": np.arange(N, dtype=np.int8) % 2,
    "Int64 of zeros and ones": pd.array(holed(np.arange(N) // 2 % 2), dtype="Int64"),
    "row counter": np.arange(N) + 1,
    "constant": np.full(N, 2.5),
    "dates": pd.date_range("2020", periods=N, freq="D"),
    "zoned": pd.array(holed(pd.date_range("2020", periods=N, tz="Europe/Zurich"), pd.NaT)),
    "periods": pd.period_range("2020-01", periods=N, freq="M"),
    "durations": pd.array(holed(pd.to_timedelta(np.arange(N), "h"), pd.NaT)),
    "date objects": np.array(holed([dt.date(2020, 1, 1)] * N), dtype=object),
    "intervals": pd.interval_range(0, N),
    "lists": pd.Series(holed([[1, 2]] * N)),
    "arrow text": pd.array(holed(WORDS), dtype=pd.ArrowDtype(pa.large_string())),
    "arrow dates": pd.array(holed([dt.date(2020, 1, 1)] * N), dtype=pd.ArrowDtype(pa.date32())),
    "nothing": np.full(N, None),
}
MOVED = {
    "float64": np.array(holed(X[:, 2], np.nan)),
    "float32": X[:, 2].astype(np.float32),
    "float16": X[:, 2].astype(np.float16),
    "int64": COUNTS,
    "uint16": COUNTS.astype(np.uint16),
    "Int64": pd.array(holed(COUNTS), dtype="Int64"),
    "UInt8": pd.array(holed(COUNTS // 2), dtype="UInt8"),
    "Float32": pd.array(holed(X[:, 2]), dtype="Float32"),
    "int32[pyarrow]": pd.array(holed(COUNTS), dtype="int32[pyarrow]"),
    "double[pyarrow]": pd.array(holed(X[:, 2]), dtype="double[pyarrow]"),
    "decimals": pd.array(
        holed([decimal.Decimal(int(n)) / 4 for n in COUNTS]),
        dtype=pd.ArrowDtype(pa.decimal128(9, 2)),
    ),
    "objects": np.array(holed(COUNTS.tolist()), dtype=object),
}


@pytest.mark.parametrize("kind", PANDAS)
@pytest.mark.parametrize("method", ["ada", "mixup"])
def test_pandas_columns_that_are_not_moved_are_carried(kind, method):
    frame = plain(c=PANDAS[kind])
    made = augment(frame, "y", method=method, copies=2, provenance=True)
    want = frame["c"].take(made["windlass_source"])
    pd.testing.assert_series_equal(made["c"], want)


@pytest.mark.parametrize("kind", MOVED)
@pytest.mark.parametrize("method", ["ada", "mixup", "noise"])
def test_pandas_columns_that_are_moved_keep_their_dtype_and_holes(kind, method):
    frame = plain(c=MOVED[kind])
    options = {"feature_noise": 0.5} if method == "noise" else {}
    method = Noise(copies=2, **options) if method == "noise" else method
    made = augment(frame, "y", method=method, copies=2, provenance=True)
    assert made["c"].dtype == frame["c"].dtype
    pd.testing.assert_series_equal(made["c"][:N], frame["c"])
    source = frame["c"].take(made["windlass_source"])
    assert not (source.isna() & made["c"].notna()).any()
    both = source.notna() & made["c"].notna()
    assert (made["c"][both][N:].astype(float) != source[both][N:].astype(float)).mean() > 0.5
    if method == "ada":
        assert (made["c"].isna() == source.isna()).all()


def test_what_is_mixed_with_something_missing_is_missing():
    made = augment(plain(c=MOVED["float64"]), "y", method="mixup", copies=3, provenance=True)[N:]
    either = HOLES[made["windlass_source"]] | HOLES[made["windlass_partner"].astype(int)]
    assert (made["c"].isna() == either).all()


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(10, 10 + N),
        pd.Index(RNG.permutation(N), name="id"),
        pd.date_range("2020", periods=N, name="day"),
        pd.MultiIndex.from_arrays([WORDS, np.arange(N)], names=["word", None]),
        pd.CategoricalIndex(WORDS),
    ],
    ids=lambda index: type(index).__name__,
)
def test_the_index_is_that_of_the_source(index):
    frame = plain().set_index(index)
    made = augment(frame, "y", copies=2, provenance=True)
    pd.testing.assert_index_equal(made.index, index.take(made["windlass_source"]))
    x2, y2 = ADA(copies=2).fit_resample(frame[["a", "b"]], frame["y"])
    pd.testing.assert_index_equal(x2.index, made.index)
    pd.testing.assert_index_equal(y2.index, made.index)
    assert same(made[["a", "b", "y"]], augment(plain(), "y", copies=2))


@pytest.mark.parametrize(
    "names",
    [
        pd.RangeIndex(3),
        pd.Index([1.5, "b", ("c", 3)]),
        pd.MultiIndex.from_product([["m"], ["a", "b", "y"]], names=["top", None]),
        pd.Index(["a", "b", "y"], name="measure"),
    ],
    ids=["numbers", "mixed", "levels", "named"],
)
def test_names_of_columns_may_be_anything(names):
    frame = plain().set_axis(names, axis=1)
    made = augment(frame, [names[2]])
    pd.testing.assert_index_equal(made.columns, names)
    assert same(made, augment(plain(), "y"))
    x2, _ = ADA().fit_resample(frame.iloc[:, :2], Y)
    pd.testing.assert_index_equal(x2.columns, names[:2])
    shown = augment(frame, [names[2]], provenance=True).columns
    assert list(shown[:4]) == [*names, "windlass_synthetic"]


def test_attributes_of_a_dataframe_stay():
    frame = plain()
    frame.attrs["unit"] = "m"
    assert augment(frame, "y").attrs == {"unit": "m"}


POLARS = {
    "Categorical": pl.Series(holed(WORDS), dtype=pl.Categorical),
    "Enum": pl.Series(holed(WORDS), dtype=pl.Enum(["cat", "ape", "bee", "dog"])),
    "String": pl.Series(holed(WORDS)),
    "Boolean": pl.Series(holed((WORDS == "ape").tolist())),
    "Date": pl.Series(holed([dt.date(2020, 1, day % 28 + 1) for day in range(N)])),
    "Datetime": pl.Series([dt.datetime(2020, 1, 1)] * N, dtype=pl.Datetime("ms", "Asia/Tokyo")),
    "Time": pl.Series(holed([dt.time(1, 2)] * N)),
    "Duration": pl.Series(holed([dt.timedelta(1)] * N)),
    "List": pl.Series(holed([[1, 2]] * N)),
    "Array": pl.Series(holed([[1, 2]] * N), dtype=pl.Array(pl.Int8, 2)),
    "Struct": pl.Series(holed([{"u": 1}] * N)),
    "Binary": pl.Series(holed([b"x"] * N)),
    "Null": pl.Series([None] * N),
    "UInt8": pl.Series(holed((np.arange(N) % 3).tolist()), dtype=pl.UInt8),
}


@pytest.mark.parametrize("kind", POLARS)
def test_polars_columns_that_are_not_moved_are_carried(kind):
    frame = pl.DataFrame(plain()).with_columns(POLARS[kind].alias("c"))
    made = augment(frame, "y", copies=2, provenance=True)
    assert made.schema["c"] == frame.schema["c"]
    assert made["c"].equals(frame["c"][made["windlass_source"]], null_equal=True)


@pytest.mark.parametrize("kind", [pl.Float32, pl.Int16, pl.UInt64, pl.Decimal(9, 2)])
def test_polars_columns_that_are_moved_keep_their_dtype_and_nulls(kind):
    counts = pl.Series(holed(COUNTS.tolist())).cast(kind)
    frame = pl.DataFrame(plain()).with_columns(counts.alias("c"))
    made = augment(frame, "y", copies=2, provenance=True)
    assert made.schema["c"] == frame.schema["c"]
    assert (made["c"].is_null() == frame["c"].is_null()[made["windlass_source"]]).all()
    assert (made["c"][N:] != frame["c"][made["windlass_source"][N:]]).mean() > 0.5


def test_pyarrow_fields_keep_types_and_metadata():
    fields = [
        pa.field("a", pa.float32(), nullable=False, metadata={"unit": "m"}),
        pa.field("word", pa.dictionary(pa.int8(), pa.string())),
        pa.field("view", pa.string_view()),
        pa.field("nested", pa.struct([("u", pa.list_(pa.int8()))])),
        pa.field("y", pa.int16()),
    ]
    columns = [X[:, 0], WORDS, WORDS, [{"u": [1]}] * N, COUNTS]
    arrays = [pa.array(c).cast(f.type) for c, f in zip(columns, fields)]
    table = pa.table(arrays, schema=pa.schema(fields))
    made = augment(table, "y")
    assert made.schema.equals(pa.schema(fields), check_metadata=True)
    made.validate(full=True)


# Roles


def test_integers_are_rounded_or_become_floats():
    for c in (COUNTS, pd.array(COUNTS, dtype="Int64"), pd.array(COUNTS, dtype="int64[pyarrow]")):
        frame = plain(c=c)
        floats = augment(frame, "y", integers="float", originals=False)["c"]
        whole = augment(frame, "y", originals=False)["c"]
        assert floats.dtype.kind == "f" and whole.dtype == frame["c"].dtype
        assert (whole.astype(float) - floats.astype(float)).abs().max() <= 0.5
        assert (floats.astype(float) % 1 != 0).mean() > 0.9


def test_roles_may_be_given():
    few, many = np.arange(N) % 4, np.arange(N) * 2
    frame = plain(few=few, many=many, id=COUNTS)

    def moved(**roles):
        made = augment(frame, "y", provenance=True, originals=False, **roles)
        source = frame.take(made["windlass_source"])
        return {name for name in frame if name in made and (made[name] != source[name]).any()}

    # A column that counts the rows is carried; small moves of integers are rounded away.
    assert moved(integers="float") == {"a", "b", "y", "many", "few"}
    assert moved(carry="few", integers="float") == {"a", "b", "y", "many"}
    assert moved(categorical=["many", "few"]) == {"a", "b", "y"}
    assert moved(continuous=("id",), integers="float") == {"a", "b", "y", "many", "id", "few"}
    assert moved(features=["b"]) == {"b", "y"}
    assert moved(features=pd.Index(["a"]), weight="many") == {"a", "y"}
    assert "id" not in augment(frame, "y", exclude=["id"])
    assert list(augment(frame, ["a", "y"])) == list(frame)


def test_groups_of_a_column_and_within_a_column():
    frame = plain(word=WORDS, half=np.arange(N) < 30)
    by_column = augment(frame, "y", anchors="word", provenance=True)
    assert len(set(zip(by_column["windlass_group"], by_column["word"]))) == 3
    assert by_column.equals(augment(frame, "y", anchors="column:word", provenance=True))
    odd = frame.rename(columns={"word": "my:word"})
    assert same(by_column["a"], augment(odd, "y", anchors="my:word")["a"])
    inside = augment(frame, "y", clusters=3, within="half", provenance=True)
    crossing = inside.groupby("windlass_group")["half"].nunique()
    assert (crossing == 1).all() and len(crossing) == 6


def test_labels_beside_a_table_are_a_column_of_it():
    frame = plain(word=WORDS)
    features = frame[["a", "b"]]
    for kind in (np.asarray, list, pd.Categorical, pd.Series, pl.Series, pa.array):
        labels = kind(WORDS)
        by_labels = ADA(anchors=labels, copies=2)
        x2, y2 = by_labels.fit_resample(features, Y)
        want = augment(frame, "y", anchors="word", copies=2)
        assert same(x2, want[["a", "b"]]) and same(y2, want["y"]) and list(x2) == ["a", "b"]
        assert same(augment(plain(), "y", anchors=labels, copies=2), want.drop(columns="word"))
        assert len(set(zip(by_labels.groups_, WORDS))) == 3
        x2, _ = ADA(within=labels, clusters=2).fit_resample(features, Y)
        assert same(x2, augment(frame, "y", within="word", clusters=2)[["a", "b"]])
    x2, _ = ADA(copies=2).fit_resample(features, Y, anchors=WORDS)
    assert same(x2, want[["a", "b"]])


def test_weights_beside_a_table_are_a_column_of_it():
    weights = np.arange(N) % 5 * 1.0
    x2, y2 = ADA(clusters=3).fit_resample(plain()[["a", "b"]], Y, sample_weight=weights)
    want = augment(plain(w=weights), "y", weight="w", clusters=3)
    assert same(x2, want[["a", "b"]]) and same(y2, want["y"])
    assert same(x2, ADA(clusters=3).fit_resample(X[:, :2], Y, sample_weight=weights)[0])


def test_clip_keeps_values_inside():
    frame = plain()
    wild = augment(frame, "y", gamma=0.1, copies=2)
    tame = augment(frame, "y", gamma=0.1, copies=2, clip="observed")
    assert (wild.max() > frame.max()).all() and (wild.min() < frame.min()).all()
    assert (tame.max() == frame.max()).all() and (tame.min() == frame.min()).all()
    with pytest.raises(InputError, match='clip must be "none" or "observed", got "tight"'):
        augment(frame, "y", clip="tight")
    with pytest.raises(InputTypeError, match="clip must be a string, got True"):
        augment(frame, "y", clip=True)


def test_bounds_clip_what_is_made_and_refuse_what_is_given():
    frame = plain()
    low, high = frame["a"].min() - 0.01, frame["a"].max() + 0.01
    made = augment(frame, "y", gamma=0.1, copies=2, bounds={"a": (low, high), "b": (None, 1e9)})
    assert made["a"].min() == low and made["a"].max() == high
    assert made["b"].min() < frame["b"].min()
    row = int((frame["a"] > 0).to_numpy().argmax())
    says = rf"column `a` is {frame['a'][row]} in row {row + 1}, outside its bounds \.\.0"
    with pytest.raises(InputError, match=says):
        augment(frame, "y", bounds={"a": (None, 0)})
    with pytest.raises(InputError, match="no such column: `c`"):
        augment(frame, "y", bounds={"c": (0, 1)})
    for wrong in [{"a": (1, 0)}, {"a": (None, None)}]:
        with pytest.raises(InputError, match="bounds of `a`"):
            augment(frame, "y", bounds=wrong)
    for wrong in [{"a": 3}, {"a": ("low", 1)}, [1, 2]]:
        with pytest.raises(InputTypeError, match="bounds must be pairs of numbers"):
            augment(frame, "y", bounds=wrong)


def test_rows_without_a_target_are_refused_or_dropped():
    frame = plain(y=holed(Y, np.nan))
    says = "target `y` is missing in rows 4, 11, .*\nhint: drop such rows"
    with pytest.raises(InputError, match=says):
        augment(frame, "y")
    made = augment(frame, "y", drop_missing_target=True, provenance=True, copies=2)
    assert len(made) == 3 * (~HOLES).sum()
    assert not HOLES[made["windlass_source"]].any()
    assert (made.index == made["windlass_source"]).all()


def test_provenance_has_columns_with_fixed_types():
    common = {"windlass_synthetic": "bool", "windlass_source": "int64", "windlass_copy": "int32"}
    of_ada = {"windlass_group": "int32", "windlass_gamma": "float64"}
    of_pairs = {"windlass_partner": "Int64", "windlass_lambda": "float64"}
    gaps = {"ada": 1, "mixup": 2, "noise": 0}
    for method, more in (("ada", of_ada), ("mixup", of_pairs), ("noise", {})):
        for originals in (True, False):
            made = augment(plain(), "y", method=method, originals=originals, provenance=True)
            types = {name: str(dtype) for name, dtype in made.dtypes[3:].items()}
            assert types == {**common, **more}
            missing = made.isna().sum()
            assert missing.sum() == missing[list(more)].sum() == gaps[method] * originals * N
        table = augment(pl.DataFrame(plain()), "y", method=method, provenance=True)
        nulls = {name for name in table.columns if table[name].null_count()}
        assert nulls == set(more) - {"windlass_group"}
        assert all(table[name].null_count() == N for name in nulls)


# Features and targets apart


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_features_come_back_in_their_container(kind):
    x = kind({"a": X[:, 0], "word": WORDS, "n": COUNTS})
    ada = ADA(copies=2)
    x2, y2 = ada.fit_resample(x, Y)
    assert type(x2) is type(x) and type(y2) is np.ndarray and len(x2) == len(y2) == 3 * N
    assert list(ada.feature_names_in_) == ["a", "word", "n"] and ada.n_features_in_ == 3
    assert np.array_equal(np.asarray(x2["word"]), WORDS[ada.sample_indices_])
    assert (y2[:N] == Y).all()


def test_synthetic_rows_alone_are_the_rows_behind_the_originals():
    for y in (COUNTS, pd.Series(COUNTS), pl.DataFrame({"u": COUNTS, "v": Y})):
        both = Mixup(copies=2).fit_resample(plain(), y)
        alone = Mixup(copies=2, originals=False).fit_resample(plain(), y)
        for whole, part in zip(both, alone):
            assert same(whole[N:], part)


def test_names_may_collide_with_the_target():
    frame = plain(sample_weight=X[:, 2], anchors=Y)
    y = pd.Series(Y, name="y")
    x2, y2 = ADA(anchors=WORDS).fit_resample(frame, y, sample_weight=np.ones(N))
    assert list(x2) == list(frame) and same(x2["y"], y2) and y2.name == "y"


def test_columns_that_look_like_provenance_are_carried():
    made = augment(plain(windlass_speed=X[:, 2]), "y")
    assert list(made) == ["a", "b", "y", "windlass_speed"] and len(set(made["windlass_speed"])) == N
    ada = ADA()
    ada.fit_resample(plain(windlass_speed=X[:, 2]), Y)
    assert set(ada.provenance_) == {"synthetic", "source", "copy", "group", "gamma"}
    with pytest.raises(InputError, match="`windlass_source` was written by Windlass, but no column"):
        augment(plain(windlass_source=COUNTS), "y")


def test_an_augmented_table_is_augmented_from_its_originals():
    once = augment(plain(), "y", copies=2, provenance=True)
    again = augment(once, "y", copies=2, provenance=True)
    assert again.reset_index(drop=True).equals(once.reset_index(drop=True))


def test_an_augmenter_brings_its_settings():
    params = {"clusters": 3, "copies": 4, "originals": False, "random_state": 9}
    ada = ADA(**params)
    assert augment(plain(), "y", method=ada).equals(augment(plain(), "y", **params))
    assert len(augment(plain(), "y", method=ada, copies=1, originals=True)) == 2 * N
    assert not hasattr(ada, "seed_")


# What is refused

VALUE, KIND = InputError, InputTypeError


class Silent:
    pass


@pytest.mark.parametrize(
    ("data", "options", "error", "says"),
    [
        (pl.LazyFrame({"y": [1.0]}), {}, KIND, r"is a LazyFrame.*\nhint: data.collect\(\)"),
        (X, {}, KIND, r"data must be a table.*got ndarray\nhint: .*fit_resample\(X, y\)"),
        (Silent(), {}, KIND, "got Silent"),
        (plain()["a"], {}, KIND, "data must be a table.*got Series"),
        (pl.Series(Y), {}, KIND, "data must be a table.*got Series"),
        (pa.chunked_array([Y]), {}, KIND, "data must be a table.*got ChunkedArray"),
        (pd.DataFrame(), {}, VALUE, "no rows|no column `y`"),
        (plain()[:0], {}, VALUE, "the table` has .* no rows\nhint: .*at least one row"),
        (plain()[["y"]], {}, VALUE, "no continuous feature: the table has no column but"),
        (plain(), {"target": "Y"}, VALUE, "no such column: `Y`, named by target\nhint: "),
        (plain(), {"target": []}, VALUE, "target is empty"),
        (plain(), {"target": None}, KIND, "target must be column names, got None"),
        (plain(w=WORDS), {"target": "w"}, KIND, "`w` of target is not numeric.* in row 1"),
        (plain(), {"carry": "a", "features": ["a"]}, VALUE, "`a` is named by both features"),
        (plain(), {"features": 0.1}, KIND, "must be column names, got 0.1.*\nhint: noise"),
        (plain(w=-Y), {"weight": "w"}, VALUE, r"weight column `w` must be in \[0, 2\^50\], .* in rows"),
        (plain(a=np.where(np.arange(N) == 0, np.inf, X[:, 0])), {}, VALUE, "`a` is inf in row 1\nhint: "),
        (plain(), {"integers": "up"}, VALUE, 'integers must be "round" or "float", got "up"'),
        (plain(), {"copies": 0}, VALUE, r"copies must be in \[1, .* got 0"),
        (plain(), {"copies": 2.5}, KIND, "copies must be an integer, got 2.5 of type"),
        (plain(), {"copies": 2**62}, VALUE, "do not fit in memory\nhint: choose fewer copies"),
        (plain(), {"method": "add"}, VALUE, "unknown method 'add': methods are ada"),
        (plain(), {"alhpa": 3}, KIND, "ada has no option 'alhpa': its options are alpha, anchors"),
        (plain(), {"method": ADA(), "alpha": 3.0}, KIND, "alpha: the augmenter already has its"),
        (plain(), {"method": ADA(), "random_state": 3}, KIND, "random_state: the augmenter"),
        (plain(), {"anchors": "site"}, VALUE, "no such column: `site`, named by anchors"),
        (plain(), {"anchors": "a"}, KIND, "`a` of anchors contains floats, .*\nhint: use bins"),
        (plain(), {"anchors": [1, 2]}, VALUE, "anchors must have the same number of rows, got 60 and 2"),
        (plain(), {"anchors": X}, VALUE, "a matrix of anchors .*\nhint: .*X.to_numpy"),
        (plain(), {"within": "a"}, KIND, "`a` of within contains floats, not categories"),
        (plain(), {"method": "mixup", "anchors": WORDS}, KIND, "has no option 'anchors'"),
        (plain(c=[object()] * N), {}, KIND, "(?i)could not convert.*\nhint: convert the column to one"),
        (plain(c=["a", 1] * 30), {}, KIND, "c.*\nhint: convert the column to one type"),
        (plain().set_axis(["a", "a", "y"], axis=1), {}, VALUE, "are named `a`\nhint: rename"),
        (plain().set_axis(["1", 1, "y"], axis=1), {}, VALUE, "two columns are named `1`"),
        (pa.table([X[:, 0], X[:, 1], Y], names=["a", "a", "y"]), {}, VALUE, "are named `a`"),
    ],
)
def test_tables_that_cannot_be_augmented_are_refused(data, options, error, says):
    with pytest.raises(error, match=f"(?s){says}"):
        augment(data, **{"target": "y", **options})


@pytest.mark.parametrize(
    ("x", "y", "options", "error", "says"),
    [
        (plain(), Y[:3], {}, VALUE, "X and y must have the same number of rows, got 60 and 3"),
        (plain(), holed(Y), {}, KIND, "y must be numeric, got None .* in row 3"),
        (plain(), holed(Y, np.nan), {}, VALUE, "target `y_` is missing in rows 4, 11"),
        (plain(), WORDS, {}, KIND, "y must be numeric, got <U3"),
        (plain(), np.zeros((N, 2, 2)), {}, VALUE, "y must have one or two dimensions, got shape"),
        (plain(), np.zeros((N, 0)), {}, VALUE, r"y must have one or two dimensions, got shape \(60, 0\)"),
        (plain(), 3.0, {}, VALUE, r"y must have one or two dimensions, got shape \(\)"),
        (plain(), Y, {"sample_weight": [1.0]}, VALUE, "X and sample_weight must have the same"),
        (plain(), Y, {"anchors": [1.5] * N}, VALUE, "anchors contains fractions, which are not"),
    ],
)
def test_targets_that_do_not_belong_to_a_table_are_refused(x, y, options, error, says):
    with pytest.raises(error, match=f"(?s){says}"):
        ADA().fit_resample(x, y, **options)


# Similarity to real rows


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_synthetic_rows_are_compared_with_real_rows(library, tmp_path):
    table = library({"x": X[:, 0], "count": COUNTS, "word": WORDS, "y": Y})
    made = augment(table, target="y", copies=2, provenance=True)
    page = tmp_path / "page.html"
    found = similarity(table, made, target="y", report=page)
    assert (found["synthetic_rows"], found["real_rows"], found["originals"]) == (2 * N, N, N)
    assert [column["name"] for column in found["columns"]] == ["x", "count", "word", "y"]
    assert found["copies"] == 0 and found["follows_real_rows"]
    assert "not anonymous" in page.read_text()
    again = similarity(table, table)
    assert again["copies"] == N and again["distances"][4] == 0.0
    # New rows of the same distribution are as far away as real rows.
    x, y = rows(N, seed=9)
    new = library({"x": x[:, 0], "count": COUNTS[::-1] + 0.5, "word": WORDS, "y": y})
    assert not similarity(table, new, target="y")["follows_real_rows"]
    with pytest.raises(InputError, match="no column `word`"):
        similarity(table, library({"x": X[:, 0], "count": COUNTS, "y": Y}))
