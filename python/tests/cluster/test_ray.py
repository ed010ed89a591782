"""The same bits on Ray, whatever the blocks, and as the command makes them."""

from __future__ import annotations

import os
import pathlib
import signal
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

# A method, further settings, and what the command calls them.
CASES: list[tuple[Any, dict[str, Any], str]] = [
    (windlass.ADA(clusters=8, copies=2, random_state=7), {}, "--clusters 8 --copies 2 --seed 7"),
    (
        windlass.ADA(clusters=3, within="site", per="row", random_state=1),
        {"weight": "w", "clip": "observed"},
        "--clusters 3 --within site --per row --seed 1 --weight w --clip observed",
    ),
    (windlass.CMixup(bandwidth=0.5), {}, "--method c-mixup --bandwidth 0.5"),
]


def collected(dataset: Any) -> pyarrow.Table:
    """Give the rows of a dataset."""
    return pyarrow.concat_tables(
        dataset.iter_batches(batch_format="pyarrow", batch_size=None), promote_options="default"
    )


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_same_bits_as_the_command(
    ray: Any, tmp_path: pathlib.Path, case: int, equal: bool
) -> None:
    """Whatever the blocks, and with rows that hold the same."""
    import windlass.ray

    plan, settings, words = CASES[case]
    key = None if equal else "id"
    path = write(tmp_path, table(equal=equal))
    by = "content" if key is None else f"column:{key}"
    expected = command(path, f"-t y --provenance --rows-by {by} {words}")
    data = ray.data.read_parquet(path)
    for blocks in (1, 4, 7):
        spread = data.repartition(blocks)
        out = windlass.ray.augment(spread, plan, "y", key=key, provenance=True, **settings)
        assert rows_of(collected(out)) == expected, (blocks, words)
    # Written by the workers, which the command can verify without further words.
    folder = tmp_path / "written"
    rows = windlass.ray.write_parquet(
        data.repartition(4), plan, folder, "y", key=key, provenance=True, **settings
    )
    assert (rows, rows_of(written(folder))) == (len(expected), expected)
    assert verify(str(folder), path).endswith(f"{rows} rows, all match\n")
    with pytest.raises(windlass.InputError, match="already exists"):
        windlass.ray.write_parquet(data, plan, folder, "y", key=key)


def test_it_listens_on_loopback_only(ray: Any) -> None:
    """While workers are at work."""
    assert ray.data.range(10).map(lambda row: row).count() == 10
    assert listening_elsewhere() == []


def test_what_was_fitted_is_a_file(ray: Any, tmp_path: pathlib.Path) -> None:
    """The command verifies with it what Ray wrote."""
    import windlass.ray

    path = write(tmp_path, table())
    data = ray.data.read_parquet(path)
    plan = windlass.ADA(clusters=8, copies=3, random_state=7)
    fitted = windlass.ray.fit(data, plan, "y", key="id", provenance=True)
    fitted.save(str(tmp_path / "anchors.json"))
    again = windlass.FittedTable.load(str(tmp_path / "anchors.json"))
    windlass.ray.augment(data, again).write_parquet(str(tmp_path / "out"))
    said = verify(str(tmp_path / "out"), path, str(tmp_path / "anchors.json"))
    assert said.endswith("4800 rows, all match\n")


def test_bad_values_name_column_and_key(ray: Any) -> None:
    """What the driver shows says what to mend."""
    import windlass.ray

    data = table(60).to_pydict()
    data["y"][41] = float("nan")
    bad = ray.data.from_arrow(pyarrow.table(data)).repartition(3)
    with pytest.raises(Exception, match=r"target `y` is missing in row id=290"):
        windlass.ray.fit(bad, windlass.ADA(), "y", key="id")
    # A block in which a column holds something else.
    good = table(60)
    words = good.set_column(1, "a", pyarrow.array(["x"] * 60))
    mixed = ray.data.from_arrow([good, words])
    with pytest.raises(Exception, match=r"[Ff]ield a |column `a`"):
        windlass.ray.fit(mixed, windlass.ADA(), "y", key="id")


def test_a_worker_that_is_killed_is_no_loss(ray: Any, tmp_path: pathlib.Path) -> None:
    """Nothing is lost, and nothing comes twice."""
    import windlass.ray

    path = write(tmp_path, table())
    expected = command(path, "-t y --provenance --rows-by column:id --clusters 8 --copies 3")
    data = ray.data.read_parquet(path).repartition(4)
    plan = windlass.ADA(clusters=8, copies=3)
    out = windlass.ray.augment(data, plan, "y", key="id", provenance=True)
    mark = tmp_path / "killed"

    def once(rows: pyarrow.Table) -> pyarrow.Table:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return rows
        os.kill(os.getpid(), signal.SIGKILL)
        return rows

    rows = out.map_batches(once, batch_format="pyarrow", batch_size=None)
    assert rows_of(collected(rows)) == expected
    assert mark.exists()


def test_local_mixup_of_a_large_table_stays_within_blocks(ray: Any) -> None:
    """And says so."""
    import windlass.ray

    blocks = [table(300).slice(first, 100) for first in (0, 100, 200)]
    places = {id: place for place, block in enumerate(blocks) for id in block["id"].to_pylist()}
    data = ray.data.from_arrow(blocks)
    plan = windlass.LocalMixup(epsilon=300.0, random_state=2)
    with pytest.warns(UserWarning, match="finds partners within partitions only"):
        out = windlass.ray.augment(data, plan, "y", key="id", provenance=True, memory=50_000)
    check_partners(collected(out), places)
