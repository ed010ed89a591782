"""Makes golden files with scikit-learn 1.9.1.

    python make_scikit_learn.py kmeans FOLDER_WITH_THE_PAPERS_DATA_SETS > kmeans_real.json
    python make_scikit_learn.py gp > gaussian_process.json
    python make_scikit_learn.py neighborhoods > neighborhoods.json

kmeans: the inertia on real data, ten starts each. The data sets that come with scikit-learn are written
into the file; the paper's are not part of this repository, so only their inertias are.

gp: predictions, log marginal likelihood and its gradient for given hyperparameters. Columns and targets
are standardized, with weights where there are any.

neighborhoods: FOMA and CEMS from their equations, with numpy only, and the intrinsic dimension by two
nearest neighbors.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import sklearn
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel
from sklearn.preprocessing import StandardScaler

BUNDLED = {"iris": datasets.load_iris, "wine": datasets.load_wine, "diabetes": datasets.load_diabetes}
FILES = {
    "airfoil": "airfoil/airfoil_self_noise.dat",
    "no2": "no2/no2.csv",
    "yacht": "yacht/yacht_hydrodynamics.data",
    "boston": "boston/housing.data",
    "california": "california/cal_housing.data",
}


def numbers(path):
    """The rows of a file that are all numbers, separated by commas or blanks."""
    rows = []
    for line in path.read_text().splitlines():
        fields = [field for field in re.split(r"[,\s]+", line.strip()) if field]
        try:
            rows.append([float(field) for field in fields])
        except ValueError:
            continue
    return np.array([row for row in rows if row])


def inertias(x):
    out = []
    for scale in ["raw", "standardised"]:
        z = StandardScaler().fit_transform(x) if scale == "standardised" else x
        for k in [2, 4, 8, 16, 32]:
            fit = KMeans(k, n_init=10, random_state=0).fit(z)
            out.append({"scale": scale, "k": k, "inertia": float(fit.inertia_)})
    return out


def array(values):
    return {"shape": list(values.shape), "data": [float(v) for v in values.ravel()]}


def kmeans():
    cases = []
    for name, load in BUNDLED.items():
        x = load().data
        cases.append({"name": name, "X": array(x), "fits": inertias(x)})
    for name, file in FILES.items():
        x = numbers(Path(sys.argv[2]) / file)
        cases.append({"name": name, "file": file, "rows": len(x), "fits": inertias(x)})
    return cases


def process(seed, rows, columns, lengths, *, signal, linear, noise, weighted):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    x = (x - x.mean(0)) / x.std(0)
    new = 2 * rng.standard_normal((20, columns))
    weights = rng.uniform(0.2, 3, rows) if weighted else np.ones(rows)
    weights /= weights.mean()
    y = np.sin(2 * x[:, 0]) + x[:, 1] + 0.3 * rng.standard_normal(rows) / np.sqrt(weights)
    y -= np.average(y, weights=weights)
    y /= np.sqrt(np.average(y * y, weights=weights))
    kernel = ConstantKernel(signal) * Matern(lengths, nu=2.5)
    kernel += ConstantKernel(linear) * DotProduct(sigma_0=1, sigma_0_bounds="fixed")
    if weighted:
        regressor = GaussianProcessRegressor(kernel, alpha=noise / weights, optimizer=None).fit(x, y)
    else:
        kernel += WhiteKernel(noise)
        regressor = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(x, y)
    mean, std = regressor.predict(new, return_std=True)
    likelihood, gradient = regressor.log_marginal_likelihood(regressor.kernel_.theta, eval_gradient=True)
    return {
        "x": array(x),
        "y": array(y[:, None]),
        "weights": array(weights) if weighted else None,
        "new": array(new),
        "hyperparameters": [signal, *np.atleast_1d(lengths).tolist(), linear, noise],
        "mean": array(mean),
        "std": array(np.sqrt(std**2 + noise) if weighted else std),
        "likelihood": float(likelihood),
        # Of weighted rows, without the last hyperparameter: there it is not part of the kernel.
        "gradient": array(gradient),
    }


def gp():
    lengths = np.array([0.7, 3.0, 25.0])
    return [
        process(0, 40, 3, lengths, signal=1.3, linear=0.2, noise=0.1, weighted=False),
        process(1, 60, 5, 1.8, signal=0.6, linear=0.01, noise=0.03, weighted=False),
        process(2, 50, 3, lengths, signal=2.0, linear=0.5, noise=0.2, weighted=True),
        process(3, 30, 3, 4 * lengths, signal=20.0, linear=2.0, noise=1e-4, weighted=False),
    ]


def units(z, scale):
    return z.std(0) if scale == "standard" else np.ones(z.shape[1])


def intrinsic_dimension(z):
    distances = np.sort(np.linalg.norm(z[:, None] - z[None], axis=2), axis=1)
    ratio = np.sort(distances[:, 2] / distances[:, 1])
    count = len(ratio)
    used = min(count * 9 // 10, count - 2)
    x, y = np.log(ratio[:used]), -np.log(1 - np.arange(1, used + 1) / count)
    return float(x @ y / (x @ x))


def foma(z, scale, rho):
    """U_k U_k'Z without centering, or of rows centered at their mean."""
    scaled = z / units(z, scale)
    center = scaled.mean(0) if scale == "standard" else 0 * scaled[0]
    u, s, _ = np.linalg.svd(scaled - center, full_matrices=False)
    kept = int((np.cumsum(s) / s.sum() <= rho).sum())
    inside = u[:, :kept] @ u[:, :kept].T @ z
    mean = z.mean(0) if scale == "standard" else 0 * z[0]
    return {"scale": scale, "rho": rho, "kept": kept, "span": array(inside), "with_mean": array(inside + mean)}


def normals(seed, stream, step, row, count):
    """What `Seed(seed).at(stream, step, row).normal()` gives."""
    bits = np.random.Philox(key=stream << 64 | seed, counter=(step << 128 | row << 64) - 1).random_raw(2 * count)
    first = ((bits[::2] >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52
    second = (bits[1::2] >> np.uint64(11)).astype(float) * 2.0**-53
    return np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)


def basis(rows):
    _, _, vt = np.linalg.svd(rows, full_matrices=False)
    largest = np.abs(vt).argmax(1)
    return (vt * np.sign(vt[np.arange(len(vt)), largest])[:, None]).T


def design(u):
    d = u.shape[1]
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    return np.column_stack([u] + [u[:, i] * u[:, j] * (0.5 if i == j else 1) for i, j in pairs])


def quadratic(psi, normal, penalty, d):
    """Gradient and Hessian of every normal coordinate by ridge regression."""
    b = np.linalg.solve(psi.T @ psi + penalty * np.eye(psi.shape[1]), psi.T @ normal)
    hessian = np.zeros((normal.shape[1], d, d))
    for k, (i, j) in enumerate((i, j) for i in range(d) for j in range(i, d)):
        hessian[:, i, j] = hessian[:, j, i] = b[d + k]
    return b[:d].T, hessian


def cems(z, scale, size, d, sigma, seed, step):
    """All rows as one neighborhood, or (size) a neighborhood for each row."""
    unit = units(z, scale)
    scaled = z / unit
    models = []
    if size is None:
        directions = basis(scaled - scaled.mean(0))
        for i, row in enumerate(scaled):
            u = (np.delete(scaled, i, 0) - row) @ directions
            models.append((directions, design(u[:, :d]), u[:, d:]))
        penalties = [np.mean([np.linalg.norm(psi) for _, psi, _ in models])] * len(z)
    else:
        for row in scaled:
            near = np.argsort(np.linalg.norm(scaled - row, axis=1))[1 : size + 1]
            directions = basis(scaled[near] - row)
            u = (scaled[near] - row) @ directions
            models.append((directions, design(u[:, :d]), u[:, d:]))
        penalties = [np.linalg.norm(psi) for _, psi, _ in models]
    out = []
    for i, ((directions, psi, normal), penalty) in enumerate(zip(models, penalties)):
        gradient, hessian = quadratic(psi, normal, penalty, d)
        nu = sigma * normals(seed, 5, step, i, d)
        local = np.concatenate([nu, gradient @ nu + 0.5 * np.einsum("i,kij,j->k", nu, hessian, nu)])
        out.append(z[i] + directions @ local * unit)
    return {"scale": scale, "size": size, "d": d, "sigma": sigma, "seed": seed, "step": step, "z": array(np.array(out))}


def neighborhoods():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((24, 3)) * [1, 20, 0.3] + [0, 50, -1]
    y = np.sin(x[:, :1]) * 3 + x[:, 1:2] / 10 + x[:, 2:] ** 2
    z = np.column_stack([x, y])
    case = {
        "x": array(x),
        "y": array(y),
        "dimension": {scale: intrinsic_dimension(z / units(z, scale)) for scale in ["raw", "standard"]},
        "foma": [foma(z, scale, rho) for scale in ["raw", "standard"] for rho in [0.6, 0.9, 0.99]],
        "cems": [
            cems(z, scale, size, d, 0.2, 5, 3)
            for scale in ["raw", "standard"]
            for size, d in [(None, 2), (None, 3), (10, 2), (5, 3)]
        ],
    }
    return [case]


cases = {"kmeans": kmeans, "gp": gp, "neighborhoods": neighborhoods}[sys.argv[1]]()
json.dump({"scikit-learn": sklearn.__version__, "cases": cases}, sys.stdout, separators=(",", ":"))
