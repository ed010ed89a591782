"""The command line's half of `cargo xtask bench`: `windlass augment` compared with Polars and pandas.

    python tables.py --windlass BINARY --data FOLDER --out JSONFILE

Every measured thing is a child process; its CPU time, wall time and peak memory come from the system.
The peers are this same file, called with `--peer NAME INPUT OUTPUT`; the data, with `--make FOLDER`.
"""

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

# Polars, pandas and pyarrow are imported where they are used, never by the process that measures: a
# child's peak memory starts at that of the process that started it.

FEATURES = [f"x{i}" for i in range(1, 16)]
MOVED = [*FEATURES, "y"]  # the columns that augmentation moves
SITES = 20
COPIES = 4
SEED = 7
CHUNK = 262_144  # rows that are made at once, and rows of a row group


# --- data


def chunk(index, rows):
    """Chunk `index` of a table: tables of all sizes share their whole chunks."""
    import numpy as np
    import pyarrow as pa

    generator = np.random.default_rng([SEED, index])
    # Sites differ in their means, and y follows the features: something to group by and to cluster.
    site = generator.integers(0, SITES, rows)
    x = generator.normal(size=(rows, len(FEATURES))) + np.outer(site, np.linspace(-0.1, 0.1, len(FEATURES)))
    y = x @ np.linspace(1.0, 2.0, len(FEATURES)) + 0.5 * generator.normal(size=rows)
    columns = dict(zip(FEATURES, np.ascontiguousarray(x.T)))
    return pa.table({**columns, "y": y, "site": site.astype(np.int64)})


def chunks(rows):
    for index, start in enumerate(range(0, rows, CHUNK)):
        yield chunk(index, min(CHUNK, rows - start))


def write_parquet(path, rows):
    import pyarrow.parquet as pq

    schema = chunk(0, 1).schema
    # Only `site` repeats its values; a dictionary of random decimals would be given up half-way.
    with pq.ParquetWriter(path, schema, compression="snappy", use_dictionary=["site"]) as writer:
        for table in chunks(rows):
            writer.write_table(table, row_group_size=CHUNK)


def write_csv(path, rows):
    import polars as pl

    with path.open("wb") as file:
        for index, table in enumerate(chunks(rows)):
            # Polars writes the shortest decimal that reads back as the same number.
            pl.from_arrow(table).write_csv(file, include_header=index == 0)


def make(folder, scale):
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in [
        ("rows_1e6.parquet", 1_000_000),
        ("big.parquet", 5_000_000),
        ("rows_2e7.parquet", 20_000_000),
        ("table.csv", 1_000_000),
    ]:
        path = folder / name
        if path.exists():
            continue
        log(f"making {name}")
        unfinished = folder / f"unfinished_{name}"  # so that a name always means a whole file
        write = write_csv if path.suffix == ".csv" else write_parquet
        write(unfinished, int(rows * scale))
        unfinished.rename(path)


# --- peers


def scales():
    """1 / sqrt(gamma) of every copy, gamma uniform on [1/2, 2]."""
    generator = random.Random(SEED)
    return [generator.uniform(0.5, 2.0) ** -0.5 for _ in range(COPIES)]


def polars_copies(table, means):
    """The rows of a lazy table, then those of its copies.

    mean + (x - mean) s is taken as x s + mean (1 - s): the second term has one value a site, and is
    looked up by the site's number. That is the fastest of what was tried. CPU seconds (peak MiB) on 1e6
    rows, Parquet to Parquet, medians of 7 rounds; * took over 1 GiB on 5e6 rows, where this took 387 MiB:

        2.06 (310)   this
        2.07 (477)*  the same, with the number found by `replace_strict`
        2.13 (495)*  the same, with the number found by `search_sorted`
        2.29 (609)*  `mean().over("site")`
        2.39 (653)*  `group_by` and `join` in one plan
        2.39 (340)   the same as this, with the number found by a join
        2.66 (455)   `map_batches` with NumPy
        2.89 (392)   a join of every copy with means collected first
        3.99 (342)   a chain of `when` for every column
        4.56 (1212)  a `replace_strict` for every column
        1.74 (318)   for comparison: the table five times, unchanged

    The table read into memory first: 9 % less CPU on 1e6 rows, 12 % more on 5e6, with over 1 GiB. Statistics
    off, other sizes of chunks and row groups, other ways to read in parallel: no more than runs differ
    among themselves, about 10 %.
    """
    import polars as pl

    means = means.sort("site")
    # What makes the lookup fair: the sites are numbered from 0. Any other key needs a slower way.
    assert means["site"].to_list() == list(range(len(means)))
    frames = [table]
    for s in scales():
        moved = [pl.col(c) * s + pl.lit(means[c] * (1 - s)).gather(pl.col("site")) for c in MOVED]
        frames.append(table.select(*moved, "site"))
    return pl.concat(frames)


def polars_parquet(source, output):
    import polars as pl

    table = pl.scan_parquet(source)
    means = table.group_by("site").agg(pl.col(MOVED).mean()).collect(engine="streaming")
    polars_copies(table, means).sink_parquet(output, compression="snappy", engine="streaming")


def polars_csv(source, output):
    """Reads once: parsing costs more than keeping the table.

    CPU seconds (peak MiB) on 1e6 rows, medians of 2 to 4 rounds; 0.5 s are within the noise:

         6.96 (488)  this
         6.81 (468)  `write_csv` for each copy in turn
         7.50 (769)  `write_csv` of all copies at once
         8.39 (624)  `scan_csv`, `group_by` and `join` in one plan
         9.93 (767)  `mean().over("site")` and `write_csv`
        10.35 (410)  `scan_csv` with this lookup, which parses six times
    """
    import polars as pl

    table = pl.read_csv(source)
    means = table.group_by("site").agg(pl.col(MOVED).mean())
    polars_copies(table.lazy(), means).sink_csv(output, engine="streaming")


def pandas_csv(source, output):
    """As one would write it.

    In single runs writing copy by copy took 3 % less CPU, and the pyarrow reader 7 % more.
    """
    import pandas as pd

    table = pd.read_csv(source)
    mean = table.groupby("site")[MOVED].transform("mean")
    frames = [table]
    for s in scales():
        moved = mean + (table[MOVED] - mean) * s
        frames.append(moved.assign(site=table["site"]))
    pd.concat(frames, ignore_index=True).to_csv(output, index=False)


PEERS = {"polars-parquet": polars_parquet, "polars-csv": polars_csv, "pandas-csv": pandas_csv}


# --- measuring


def log(line):
    print(line, file=sys.stderr, flush=True)


def measure(command, output):
    """Runs a command that writes `output`, and removes what it wrote."""
    os.sync()  # what an earlier run left to write shall not slow this one
    start = time.perf_counter()
    process = subprocess.Popen([*map(str, command), str(output)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed with {process.returncode}: {' '.join(process.args)}")
    run = {
        "cpu": usage.ru_utime + usage.ru_stime,
        "user": usage.ru_utime,
        "wall": wall,
        "rss_mib": usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10),
        "out_bytes": output.stat().st_size,
    }
    output.unlink()
    return run


def show(run):
    times = f"CPU {run['cpu']:.3f} s, wall {run['wall']:.3f} s"
    return f"{times}, peak {run['rss_mib']:.0f} MiB, output {run['out_bytes'] / 2**20:.1f} MiB"


def turns(windlass, data, example):
    """Groups of (work, side, rounds, command, ending of the output); the members of a group take turns."""

    def ours(source, *options):
        return [windlass, "augment", source, *options, "--quiet", "--force", "--output"]

    def peer(name, source):
        return [sys.executable, __file__, "--peer", name, source]

    big, table = data / "big.parquet", data / "table.csv"
    common = ["--target", "y", "--copies", COPIES, "--seed", SEED, "--anchors"]
    kmeans = ["kmeans", "--clusters", 10]
    yield [
        ("parquet_groups", "ours", 3, ours(big, *common, "column:site"), ".parquet"),
        ("parquet_groups", "polars", 3, peer("polars-parquet", big), ".parquet"),
        ("parquet_kmeans", "ours", 3, ours(big, *common, *kmeans), ".parquet"),
    ]
    yield [
        ("csv", "ours", 3, ours(table, *common, "column:site"), ".csv"),
        ("csv", "polars", 3, peer("polars-csv", table), ".csv"),
        ("csv", "pandas", 1, peer("pandas-csv", table), ".csv"),  # takes minutes
    ]
    limited = ["--target", "y", "--anchors", *kmeans, "--copies", 1, "--memory", "512MiB"]
    for rows, name in [("1e6", "rows_1e6"), ("5e6", "big"), ("2e7", "rows_2e7")]:
        command = ours(data / f"{name}.parquet", *limited)
        yield [(f"memory_{rows}", "ours", 1, command, ".parquet")]
    yield [("small", "ours", 20, ours(example, "--target", "mpg"), ".csv")]


def measure_all(windlass, data, example):
    works = {}
    with tempfile.TemporaryDirectory(dir=data) as folder:
        for group in turns(windlass, data, example):
            for turn in range(max(rounds for _, _, rounds, _, _ in group)):
                for work, side, rounds, command, ending in group:
                    if turn < rounds:
                        run = measure(command, Path(folder, f"out{ending}"))
                        log(f"{work}, {side}, {turn + 1} of {rounds}: {show(run)}")
                        works.setdefault(work, {}).setdefault(side, []).append(run)
    return works


def main():
    example = Path(__file__).resolve().parents[3] / "examples/auto_mpg.csv"
    parser = argparse.ArgumentParser(description="windlass augment compared with Polars and pandas")
    parser.add_argument("--windlass", type=Path, help="the release binary")
    parser.add_argument("--data", type=Path, help="folder for the tables, made once, and the outputs")
    parser.add_argument("--out", type=Path, help="JSON file for the measurements")
    parser.add_argument("--example", type=Path, default=example, help="table of the small work")
    # For tests of this script: a share of all rows. And the two calls to itself.
    parser.add_argument("--scale", type=float, default=1.0, help=argparse.SUPPRESS)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()

    if arguments.peer:
        name, source, output = arguments.peer
        return PEERS[name](source, output)
    if arguments.make:
        return make(arguments.make, arguments.scale)
    if not (arguments.windlass and arguments.data and arguments.out):
        parser.error("--windlass, --data and --out are needed")

    data = arguments.data
    if arguments.scale != 1.0:
        data = data / f"scale_{arguments.scale}"  # never taken for the full tables
    options = ["--make", data, "--scale", arguments.scale]
    subprocess.run([sys.executable, __file__, *map(str, options)], check=True)

    works = measure_all(arguments.windlass, data, arguments.example)
    for work, sides in works.items():
        for side, runs in sides.items():
            medians = {field: statistics.median(run[field] for run in runs) for field in runs[0]}
            log(f"median of {work}, {side}: {show(medians)}")
    packages = ["polars", "pandas", "numpy", "pyarrow"]
    versions = {"python": platform.python_version(), **{name: version(name) for name in packages}}
    arguments.out.write_text(json.dumps({"versions": versions, "works": works}, indent=1) + "\n")


if __name__ == "__main__":
    main()
