"""The same bits on Spark, whatever the partitions, and as the command makes them."""

from __future__ import annotations

import os
import pathlib
import signal
import time
from typing import Any

import pyarrow
import pytest
from conftest import (
    check_partners,
    command,
    listening_elsewhere,
    rows_of,
    table,
    verify,
    write,
    written,
)

import windlass
import windlass.spark

CLUSTER = os.environ.get("WINDLASS_SPARK", "").startswith("local-cluster")

# A method, further settings, and what the command calls them.
CASES: list[tuple[Any, dict[str, Any], str]] = [
    (windlass.ADA(clusters=8, copies=2, random_state=7), {}, "--clusters 8 --copies 2 --seed 7"),
    (
        windlass.ADA(clusters=3, within="site", per="row", random_state=1),
        {"weight": "w", "clip": "observed", "integers": "float"},
        "--clusters 3 --within site --per row --seed 1 --weight w --clip observed --integers float",
    ),
    (
        windlass.ADA(anchors="column:month", originals=False),
        {"categorical": ["count"], "exclude": ["good"]},
        "--anchors column:month --no-originals --categorical count --exclude good",
    ),
    (windlass.ADA(anchors="bins:a", clusters=4), {}, "--anchors bins:a --clusters 4"),
    (windlass.Mixup(per="row"), {}, "--method mixup --per row"),
    (windlass.CMixup(bandwidth=0.5), {}, "--method c-mixup --bandwidth 0.5"),
    (windlass.LocalMixup(epsilon=1.0), {}, "--method local-mixup --epsilon 1.0"),
    (windlass.Noise(feature_noise=0.1), {}, "--method noise --feature-noise 0.1"),
]
SMALL = CASES if CLUSTER else CASES[:2]


def collected(df: Any) -> pyarrow.Table:
    """Give the rows of a DataFrame."""
    return df.toArrow()


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("case", range(len(SMALL)))
def test_the_same_bits_as_the_command(
    spark: Any, tmp_path: pathlib.Path, case: int, equal: bool
) -> None:
    """Whatever the partitions, and with rows that hold the same."""
    plan, settings, words = SMALL[case]
    key = None if equal else "id"
    path = write(tmp_path, table(equal=equal))
    by = "content" if key is None else f"column:{key}"
    expected = command(path, f"-t y --provenance --rows-by {by} {words}")
    df = spark.read.parquet(path)
    for parts in (1, 4, 7) if CLUSTER else (3,):
        spread = df.repartition(parts)
        out = windlass.spark.augment(spread, plan, "y", key=key, provenance=True, **settings)
        assert rows_of(collected(out)) == expected, (parts, words)
    # Written by the workers, which the command can verify without further words.
    folder = tmp_path / "written"
    rows = windlass.spark.write_parquet(
        df.repartition(4), plan, folder, "y", key=key, provenance=True, **settings
    )
    assert (rows, rows_of(written(folder))) == (len(expected), expected)
    assert verify(str(folder), path).endswith(f"{rows} rows, all match\n")


def test_it_listens_on_loopback_only(spark: Any) -> None:
    """While executors are at work."""
    assert spark.range(10).mapInArrow(lambda batches: batches, "id bigint").count() == 10
    assert listening_elsewhere() == []


def test_many_parts_are_merged_by_workers(spark: Any, tmp_path: pathlib.Path) -> None:
    """What is found in more partitions than the driver merges."""
    path = write(tmp_path, table())
    df = spark.read.parquet(path)
    plan = windlass.ADA(clusters=8, random_state=7)
    few = windlass.spark.fit(df, plan, "y", key="id")
    many = windlass.spark.fit(df.repartition(40), plan, "y", key="id")
    assert many.to_bytes() == few.to_bytes()


def test_what_was_fitted_is_a_file(spark: Any, tmp_path: pathlib.Path) -> None:
    """The command reads it, and verifies with it what Spark wrote."""
    path = write(tmp_path, table())
    df = spark.read.parquet(path)
    plan = windlass.ADA(clusters=8, copies=3, random_state=7)
    fitted = windlass.spark.fit(df, plan, "y", key="id", provenance=True)
    saved = str(tmp_path / "anchors.json")
    fitted.save(saved)
    words = "-t y --clusters 8 --copies 3 --seed 7 --rows-by column:id --provenance"
    expected = command(path, f"{words} --save-fitted {tmp_path / 'own.json'}")
    assert pathlib.Path(saved).read_text() == (tmp_path / "own.json").read_text()
    # What is never missing needs no place for it; of another table nothing is known.
    made = windlass.spark.augment(df, plan, "y", key="id", provenance=True)
    assert [made.schema[name].nullable for name in ("a", "c", "y")] == [False, True, False]
    assert rows_of(collected(made)) == expected
    again = windlass.FittedTable.load(saved)
    out = windlass.spark.augment(df, again)
    assert out.schema["a"].nullable
    assert rows_of(collected(out)) == expected
    out.write.parquet(str(tmp_path / "out"))
    said = verify(str(tmp_path / "out"), path, saved)
    assert said.endswith("4800 rows, all match\n")
    with pytest.raises(windlass.InputTypeError, match="already has its (settings|parameters)"):
        windlass.spark.augment(df, again, "y")


def test_bad_values_name_column_and_key(spark: Any, tmp_path: pathlib.Path) -> None:
    """What the driver shows says what to mend."""
    data = table(60).to_pydict()
    data["y"][41] = float("nan")
    df = spark.createDataFrame(pyarrow.table(data)).repartition(3)
    with pytest.raises(Exception, match=r"target `y` is missing in row id=290"):
        windlass.spark.fit(df, windlass.ADA(), "y", key="id")
    # A bad value that was not there when it was fitted.
    fitted = windlass.spark.fit(df.where("id <> 290"), windlass.ADA(), "y", key="id")
    with pytest.raises(Exception, match=r"target `y` is missing in row id=290"):
        windlass.spark.augment(df, fitted).collect()
    with pytest.raises(Exception, match=r"target `y` is missing in row id=290"):
        windlass.spark.write_parquet(df, fitted, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(windlass.InputTypeError, match="`site` of target is not numeric"):
        windlass.spark.fit(df, windlass.ADA(), "site", key="id")
    with pytest.raises(windlass.InputError, match="two rows have the key"):
        windlass.spark.fit(df, windlass.ADA(per="row"), "w", key="month")
    with pytest.raises(windlass.InputError, match="differ from the fitted columns"):
        windlass.spark.augment(df.drop("a"), fitted)


def test_a_folder_that_is_there_is_left_alone(spark: Any, tmp_path: pathlib.Path) -> None:
    """And what names no place to write to is refused before anything is done."""
    df = spark.createDataFrame(table(60))
    (tmp_path / "kept").write_text("old")
    for path in (tmp_path, f"file://{tmp_path}", tmp_path / "kept"):
        with pytest.raises(windlass.InputError, match="already exists"):
            windlass.spark.write_parquet(df, "ada", path, "y", key="id")
    for path in ("nowhere://a/b", "/"):
        with pytest.raises(windlass.InputError, match="cannot write to|already exists"):
            windlass.spark.write_parquet(df, "ada", path, "y", key="id")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    # A file system that is local, and one that is not, as far as anyone can tell.
    for name, kind in (("local", "file"), ("remote", "fsspec+file")):
        path = f"{kind}://{tmp_path}/{name}"
        assert windlass.spark.write_parquet(df, "ada", path, "y", key="id") == 120
        assert written(tmp_path / name).num_rows == 120


def test_methods_that_need_all_rows_refuse_many(spark: Any) -> None:
    """And say what to do."""
    df = spark.createDataFrame(table(300))
    with pytest.raises(windlass.InputError, match="hint: raise memory, or use ada"):
        windlass.spark.fit(df, windlass.CMixup(), "y", key="id", memory=10_000)


@pytest.mark.skipif(not CLUSTER, reason="executors are processes of their own with --cluster")
def test_an_executor_that_is_killed_is_no_loss(spark: Any, tmp_path: pathlib.Path) -> None:
    """Nothing is lost, and nothing comes twice."""
    path = write(tmp_path, table(6000))
    words = "-t y --provenance --rows-by column:id --clusters 8 --copies 4"
    expected = command(path, words)
    df = spark.read.parquet(path).repartition(8)
    plan = windlass.ADA(clusters=8, copies=4)
    out = windlass.spark.augment(df, plan, "y", key="id", provenance=True)
    rows = out.mapInArrow(killing(tmp_path / "first"), out.schema)
    assert rows_of(collected(rows)) == expected
    assert (tmp_path / "first").exists()
    # While files are written: what was begun is not in the folder.
    fitted = windlass.spark.fit(df, plan, "y", key="id", provenance=True)
    rows = df.mapInArrow(killing(tmp_path / "second"), df.schema)
    assert windlass.spark.write_parquet(rows, fitted, tmp_path / "written") == len(expected)
    assert (tmp_path / "second").exists()
    assert rows_of(written(tmp_path / "written")) == expected


def killing(mark: pathlib.Path) -> Any:
    """Pass batches on, and kill the executor of the first task after its first."""

    def executor() -> int:
        """Find the executor that a worker belongs to: the first parent that is Java."""
        pid = os.getpid()
        while pid > 1:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
            if "(java)" in stat:
                return pid
            pid = int(stat.rpartition(")")[2].split()[1])
        raise RuntimeError("no Java above this process")

    def passed_on(batches: Any) -> Any:
        for batch in batches:
            yield batch
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(executor(), signal.SIGKILL)
            time.sleep(60)

    return passed_on


def test_local_mixup_of_a_large_table_stays_within_partitions(
    spark: Any, tmp_path: pathlib.Path
) -> None:
    """And says so; what columns are is found in the whole table."""
    from pyspark.sql import functions

    df = spark.createDataFrame(table(300)).repartition(3, "id")
    plan = windlass.LocalMixup(epsilon=300.0, random_state=2)
    with pytest.warns(UserWarning, match="finds partners within partitions only"):
        out = windlass.spark.augment(df, plan, "y", key="id", provenance=True, memory=50_000)
    place = df.select("id", functions.spark_partition_id().alias("place")).collect()
    places = {row["id"]: row["place"] for row in place}
    check_partners(collected(out), places)
    with pytest.warns(UserWarning, match="finds partners within partitions only"):
        windlass.spark.write_parquet(
            df, plan, tmp_path / "out", "y", key="id", provenance=True, memory=50_000
        )
    check_partners(written(tmp_path / "out"), places)
