"""The peers' half of `cargo xtask bench`: the same works on the same data, as one JSON object a line.

    python peers.py WORK FOLDER

FOLDER holds what `side_by_side data FOLDER` wrote.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.neighbors import KernelDensity


def timed(work, repeats):
    """The best wall and CPU time of some repeats, after one that does not count."""
    work()
    wall, cpu = [], []
    for _ in range(repeats):
        start = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
    return min(wall), min(cpu)


def report(work, times, **more):
    print(json.dumps({"work": work, "wall": times[0], "cpu": times[1], **more}), flush=True)


def dense_ada(x, y, a, gamma, scalar_last):
    """ADA as its equation is written, with the n x n projection.

    Read from left to right, (sqrt(gamma) - 1) P X scales the whole projection first; `scalar_last`
    multiplies P X instead, which is faster.
    """
    projection = a @ np.linalg.pinv(a.T @ a) @ a.T
    excess = np.sqrt(gamma) - 1
    normalizer = 1 + excess * projection.sum(axis=1, keepdims=True)

    def transform(rows):
        mean = rows.mean(axis=0)
        centered = rows - mean
        moved = excess * (projection @ centered) if scalar_last else excess * projection @ centered
        return mean + (centered + moved) / normalizer

    return transform(x), transform(y)


def ada_batch(folder):
    rows = np.fromfile(folder / "batch.f64").reshape(-1, 8)
    for n in [64, 256, 1024, 4096]:
        x = rows[:n].copy()
        y = x[:, :1].copy()
        a = np.eye(10)[np.arange(n) % 10]
        inner = max(1, 2048 // n)
        for work, scalar_last in [("ada_batch", False), ("ada_batch_scalar_last", True)]:
            wall, cpu = timed(lambda: [dense_ada(x, y, a, 2.0, scalar_last) for _ in range(inner)], 5)
            report(f"{work}_{n}", (wall / inner, cpu / inner))


def kmeans(work, rows, k, starts):
    for seed in range(5):
        model = KMeans(k, n_init=starts, random_state=seed)
        times = timed(lambda: model.fit(rows), 1)
        report(work, times, inertia=float(model.inertia_), iterations=int(model.n_iter_))


def c_mixup(folder):
    """A kernel density around every target gives its row of the n x n matrix; then partners are drawn."""
    y = np.fromfile(folder / "c_mixup.f64").reshape(-1, 1)
    generator = np.random.default_rng(0)
    start = time.perf_counter(), time.process_time()
    cumulative = []
    for i in range(len(y)):
        density = KernelDensity(kernel="gaussian", bandwidth=0.1).fit(y[i : i + 1])
        weights = np.exp(density.score_samples(y))
        cumulative.append(np.cumsum(weights / weights.sum()))
    for i in np.arange(100_000) % len(y):
        np.searchsorted(cumulative[i], generator.random())
    report("c_mixup", (time.perf_counter() - start[0], time.process_time() - start[1]))


def trees(work, threads, rows):
    model = {"forest": RandomForestRegressor, "extra_trees": ExtraTreesRegressor}[work]
    fit = lambda: model(100, n_jobs=threads, random_state=0).fit(rows[:, :-1], rows[:, -1])
    report(f"{work}_{threads}", timed(fit, 5))


def main():
    work, folder = sys.argv[1], Path(sys.argv[2])
    if work == "ada_batch":
        ada_batch(folder)
    elif work in ("kmeans_8", "kmeans_32"):
        kmeans(work, np.fromfile(folder / "kmeans.f64").reshape(-1, 16), int(work[7:]), 1)
    elif work == "kmeans_airfoil" and (folder / "airfoil.f64").is_file():
        kmeans(work, np.fromfile(folder / "airfoil.f64").reshape(-1, 6), 8, 10)
    elif work in ("forest_1", "forest_2", "extra_trees_1", "extra_trees_2"):
        trees(work[:-2], int(work[-1]), np.fromfile(folder / "trees.f64").reshape(-1, 21))
    elif work == "c_mixup":
        c_mixup(folder)


main()
