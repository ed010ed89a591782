"""Augmentation on Spark and Ray compared with plain expressions of Spark and the command; see xtask/src/bench_cluster.rs.

Every side is a process of its own with all that it starts. CPU time and memory are those of its processes, read
from /proc while they live: executors and workers (of Spark, Java and Python), the driver, and the rest.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
from typing import Any

COPIES, SEED, GROUPS = 4, 7, 10
TICK = os.sysconf("SC_CLK_TCK")


def make(path: pathlib.Path, rows: int) -> None:
    """Write a table of 16 features, a group and a target, in files of a million rows at most."""
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    if path.exists():
        return
    part = path.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for number, first in enumerate(range(0, rows, 1_000_000)):
        rng = np.random.default_rng([SEED, number])
        count = min(1_000_000, rows - first)
        x = rng.normal(size=(count, 16))
        columns = {f"x{j}": x[:, j] for j in range(16)}
        columns["y"] = x @ rng.normal(size=16) + rng.normal(size=count)
        columns["g"] = rng.integers(0, GROUPS, count)
        columns["id"] = np.arange(first, first + count)
        pyarrow.parquet.write_table(pyarrow.table(columns), part / f"{number}.parquet")
    part.rename(path)


class Meter:
    """CPU time and peak memory of this process and its descendants, by what they are."""

    def __init__(self) -> None:
        # Of every process: what it is, its CPU seconds, and its peak memory, in all and without what is shared.
        self.seen: dict[int, tuple[str, float, int, int]] = {}
        self.stopped = False
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self) -> None:
        while not self.stopped:
            self.look()
            time.sleep(0.2)

    def look(self) -> None:
        """Read what every process has used so far."""
        parents: dict[int, int] = {}
        stats: dict[int, tuple[str, float]] = {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                text = pathlib.Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            rest = text.rpartition(")")[2].split()
            parents[int(entry)] = int(rest[1])
            used = (int(rest[11]) + int(rest[12])) / TICK
            stats[int(entry)] = (text[text.index("(") + 1 : text.rindex(")")], used)
        for pid, (name, used) in stats.items():
            above, ours = pid, False
            while above in parents and not ours:
                ours = above == os.getpid()
                above = parents[above]
            if not ours:
                continue
            try:
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            sizes = {row.split(":")[0]: row.split()[1] for row in status.splitlines() if "kB" in row}
            before = self.seen.get(pid, ("", 0.0, 0, 0))[3]
            peak, own = int(sizes.get("VmHWM", 0)), int(sizes.get("RssAnon", 0))
            self.seen[pid] = (kind(pid, name, line), used, peak, max(own, before))

    def used(self) -> dict[str, float]:
        """Give CPU seconds so far, by kind of process."""
        self.look()
        kinds: dict[str, float] = {}
        for name, used, *_ in list(self.seen.values()):
            kinds[name] = kinds.get(name, 0.0) + used
        return kinds

    def end(self) -> dict[str, dict[str, float]]:
        """Give CPU seconds and the largest peak memory of every kind of process."""
        self.look()
        self.stopped = True
        kinds: dict[str, dict[str, float]] = {}
        for name, used, peak, own in self.seen.values():
            entry = kinds.setdefault(
                name, {"cpu": 0.0, "rss_mib": 0.0, "own_mib": 0.0, "processes": 0}
            )
            entry["cpu"] += used
            entry["rss_mib"] = max(entry["rss_mib"], peak / 1024)
            entry["own_mib"] = max(entry["own_mib"], own / 1024)
            entry["processes"] += 1
        return kinds


def kind(pid: int, name: str, line: str) -> str:
    """Say what a process is."""
    if pid == os.getpid():
        return "driver, Python"
    if "pyspark.daemon" in line or "pyspark/daemon" in line:
        return "executor, Python"
    if "CoarseGrainedExecutorBackend" in line:
        return "executor, Java"
    if name == "java":
        return "driver, Java"
    if line.startswith("ray::"):
        return "worker"
    return "rest"


def spark_session(memory: str) -> Any:
    os.environ["SPARK_LOCAL_IP"] = os.environ["SPARK_LOCAL_HOSTNAME"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local-cluster[2,1,{memory}]")
    for key, value in {
        "spark.executor.memory": f"{memory}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        # What docs/guides/clusters.md advises, for all sides alike.
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.executor.extraJavaOptions": "-Darrow.enable_unsafe_memory_access=true "
        "-Darrow.enable_null_check_for_get=false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.executorEnv.PYSPARK_PYTHON": sys.executable,
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # What it takes to start the executors and their Pythons is not of the rows.
    session.range(0, 1000, 1, 2).mapInArrow(lambda batches: batches, "id bigint").collect()
    return session


def plan() -> Any:
    import windlass

    return windlass.ADA(anchors="column:g", alpha=2.0, copies=COPIES, random_state=SEED)


def ours_on_spark(table: str, out: str, meter: Meter) -> dict[str, Any]:
    import windlass.spark

    session = spark_session("1024")
    begun = meter.used()
    df = session.read.parquet(table)
    made = windlass.spark.augment(df, plan(), "y", key="id", provenance=True)
    between = meter.used()
    made.write.parquet(out)
    return {"begun": begun, "fitted": between, "made": meter.used()}


def written_on_spark(table: str, out: str, meter: Meter) -> dict[str, Any]:
    """The same, with files written by the workers."""
    import windlass.spark

    session = spark_session("1024")
    begun = meter.used()
    df = session.read.parquet(table)
    windlass.spark.write_parquet(df, plan(), out, "y", key="id", provenance=True)
    return {"begun": begun, "made": meter.used()}


def plain_on_spark(table: str, out: str, meter: Meter) -> dict[str, Any]:
    """The same job in expressions: group means, joined; a copy for every γ."""
    from pyspark.sql import functions as F

    session = spark_session("1024")
    begun = meter.used()
    df = session.read.parquet(table)
    moved = [name for name in df.columns if name not in ("g", "id")]
    means = df.groupBy("g").agg(*[F.avg(name).alias(f"mean_{name}") for name in moved])
    gammas = enumerate([1.3600, 1.6119, 0.7312, 1.0417], start=1)
    values = ", ".join(["(0, NULL)", *(f"({copy}, {gamma}D)" for copy, gamma in gammas)])
    copies = session.sql(f"SELECT * FROM VALUES {values} AS t(windlass_copy, windlass_gamma)")
    joined = df.join(F.broadcast(means), "g").crossJoin(F.broadcast(copies))

    def value(name: str) -> Any:
        mean = F.col(f"mean_{name}")
        made = mean + (F.col(name) - mean) / F.sqrt("windlass_gamma")
        return F.when(F.col("windlass_copy") == 0, F.col(name)).otherwise(made).alias(name)

    columns = [value(name) if name in moved else F.col(name) for name in df.columns]
    joined.select(
        *columns,
        (F.col("windlass_copy") > 0).alias("windlass_synthetic"),
        F.col("id").alias("windlass_source"),
        "windlass_copy",
        F.col("g").alias("windlass_group"),
        "windlass_gamma",
    ).write.parquet(out)
    return {"begun": begun, "made": meter.used()}


def ray_data(table: str) -> Any:
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # It listens on loopback only.
    import ray
    import ray.data

    logging.getLogger("ray").setLevel(logging.WARNING)
    ray.data.DataContext.get_current().enable_progress_bars = False
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=2 << 30,
        log_to_driver=False,
    )
    return ray.data.read_parquet(table)


def ours_on_ray(table: str, out: str, meter: Meter) -> dict[str, Any]:
    data = ray_data(table)
    import windlass.ray

    windlass.ray.augment(data, plan(), "y", key="id", provenance=True).write_parquet(out)
    return {"made": meter.used()}


def written_on_ray(table: str, out: str, meter: Meter) -> dict[str, Any]:
    """The same, with files written by our core."""
    data = ray_data(table)
    import windlass.ray

    windlass.ray.write_parquet(data, plan(), out, "y", key="id", provenance=True)
    return {"made": meter.used()}


SIDES = {
    "spark": ours_on_spark,
    "spark-written": written_on_spark,
    "plain": plain_on_spark,
    "ray": ours_on_ray,
    "ray-written": written_on_ray,
}


def command(windlass: str, table: str, out: str) -> dict[str, Any]:
    words = [windlass, "augment", table, "-t", "y", "--anchors", "column:g", "--copies", str(COPIES)]
    words += ["--seed", str(SEED), "--rows-by", "column:id", "--provenance", "--quiet", "--force", "-o", out]
    started = time.perf_counter()
    child = subprocess.Popen(words)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit("the command failed")
    cpu, wall = used.ru_utime + used.ru_stime, time.perf_counter() - started
    return {"wall": wall, "kinds": {"command": {"cpu": cpu, "rss_mib": used.ru_maxrss / 1024}}}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--windlass", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--rounds", type=int, default=3, help="of the most rows")
    parser.add_argument("--sides", nargs="+", default=["command", *SIDES])
    parser.add_argument("--side")
    parser.add_argument("--table")
    args = parser.parse_args()
    if args.side:
        meter = Meter()
        started = time.perf_counter()
        marks = SIDES[args.side](args.table, str(args.out), meter)
        wall = time.perf_counter() - started
        result = {"wall": wall, "kinds": meter.end(), "marks": marks}
        print(json.dumps(result), flush=True)
        os._exit(0)  # What the engine started ends with its parent.
    import pyspark
    import ray

    measured: dict[str, Any] = {
        "versions": {"pyspark": pyspark.__version__, "ray": ray.__version__},
        "works": {},
    }
    for rows in args.rows:
        table = args.data / f"table-{rows}"
        make(table, rows)
        rounds = args.rounds if rows == max(args.rows) else 1
        for side in args.sides * rounds:
            out = args.data / "out"
            shutil.rmtree(out, ignore_errors=True)
            pathlib.Path(f"{out}.parquet").unlink(missing_ok=True)
            print(f"{side}, {rows} rows", file=sys.stderr, flush=True)
            if side == "command":
                result = command(args.windlass, str(table), f"{out}.parquet")
            else:
                words = [sys.executable, __file__, "--windlass", args.windlass, "--data"]
                words += [str(args.data), "--out", str(out), "--side", side, "--table", str(table)]
                said = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
                result = json.loads(said.strip().splitlines()[-1])
            measured["works"].setdefault(str(rows), {}).setdefault(side, []).append(result)
    args.out.write_text(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
