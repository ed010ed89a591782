"""Engines that are started for the tests, on loopback alone, and stopped after them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

COMMAND = os.environ.get("WINDLASS", "windlass")


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Any:
    """Spark with two executors in processes of their own; in the default tests, in this one."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_LOCAL_HOSTNAME"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(os.environ.get("WINDLASS_SPARK", "local[2]"))
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.executorEnv.PYSPARK_PYTHON": sys.executable,
        # An executor that is lost comes again, and its tasks are done again.
        "spark.task.maxFailures": "4",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def ray() -> Any:
    """Ray with two workers."""
    # Without "clusters" a node's address is loopback, whatever the system; Ray reads it when it is imported.
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    module = pytest.importorskip("ray")
    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    module.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=512 << 20,
        log_to_driver=False,
        configure_logging=False,
    )
    yield module
    module.shutdown()


def listening_elsewhere() -> list[str]:
    """Find what this process and its descendants listen on, other than loopback."""
    parents: dict[int, int] = {}
    sockets: dict[int, set[str]] = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            links = [os.readlink(link) for link in (folder / "fd").iterdir()]
        except OSError:
            continue  # It has ended.
        sockets[int(folder.name)] = {link[8:-1] for link in links if link.startswith("socket:[")}

    def ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and ours(parents[pid]))

    own = set().union(*(inodes for pid, inodes in sockets.items() if ours(pid)))
    loopback = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
    found = []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            listens = words[3] == "0A"
            if listens and words[9] in own and not words[1].startswith(loopback):
                found.append(words[1])
    return found


def table(rows: int = 1200, *, equal: bool = False) -> pyarrow.Table:
    """Make a table of every kind of column; with ``equal``, without a key, every row thrice."""
    rng = np.random.default_rng(5)
    own = rows // 3 if equal else rows
    x = rng.normal(size=(own, 3))
    weight = rng.integers(1, 5, own)
    missing = rng.random(own) < 0.1
    columns = {
        "id": pyarrow.array(np.arange(own) * 7 + 3),
        "a": pyarrow.array(x[:, 0]),
        "b": pyarrow.array(x[:, 1].astype(np.float32)),
        "c": pyarrow.array(x[:, 2], mask=missing),
        "count": pyarrow.array(rng.integers(0, 1000, own).astype(np.int32)),
        "month": pyarrow.array(rng.integers(1, 13, own)),
        "site": pyarrow.array(np.array(["u", "v", "w"])[rng.integers(0, 3, own)]),
        "good": pyarrow.array(rng.random(own) < 0.5),
        "when": pyarrow.array(np.arange(own).astype("datetime64[D]")),
        "w": pyarrow.array(weight.astype(float)),
        "y": pyarrow.array(x @ [1.0, 2.0, -1.0] + rng.normal(size=own) * 0.1),
    }
    made = pyarrow.table(columns)
    if equal:
        made = pyarrow.concat_tables([made.drop_columns(["id", "when"])] * 3)
    return made


def write(folder: pathlib.Path, data: pyarrow.Table) -> str:
    """Write a table to a file."""
    path = str(folder / "table.parquet")
    pyarrow.parquet.write_table(data, path, row_group_size=100)
    return path


def command(path: str, words: str) -> list[tuple[Any, ...]]:
    """Augment with the command; the rows, sorted."""
    out = path.replace("table.parquet", "command.parquet")
    subprocess.run([COMMAND, "augment", path, *words.split(), "-o", out, "--quiet"], check=True)
    return rows_of(pyarrow.parquet.read_table(out))


def rows_of(data: pyarrow.Table) -> list[tuple[Any, ...]]:
    """Give the rows of a table, every bit of them, sorted."""
    columns = []
    for column in data.columns:
        values = column.to_pylist()
        if pyarrow.types.is_floating(column.type):
            values = [None if value is None else float(value).hex() for value in values]
        columns.append([str(value) for value in values])
    return sorted(zip(*columns))


def check_partners(made: pyarrow.Table, places: dict[int, int]) -> None:
    """Check that partners, of which there are some, stand in the same place as their rows."""
    sources, partners = (made[f"windlass_{name}"].to_pylist() for name in ("source", "partner"))
    pairs = [pair for pair in zip(sources, partners) if pair[1] is not None]
    assert made.num_rows - len(pairs) == len(places)
    assert len(pairs) > 30
    assert all(places[source] == places[partner] for source, partner in pairs)


def verify(out: str, path: str, fitted: str | None = None) -> str:
    """Verify with the command."""
    words = [COMMAND, "verify", out, "--against", path]
    words += [] if fitted is None else ["--fitted", fitted]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def written(folder: pathlib.Path) -> pyarrow.Table:
    """Read a folder that was written, in which there is nothing but the table."""
    names = sorted(path.name for path in folder.iterdir())
    assert names[0] == "_SUCCESS"
    assert all(name.startswith("part-") and name.endswith(".parquet") for name in names[1:])
    staging = [path.name for path in folder.parent.iterdir() if path.name.startswith(".")]
    assert staging == []
    return pyarrow.parquet.read_table(folder)
