"""Makes golden files with scikit-learn 1.9.1.

    python make_scikit_learn.py kmeans FOLDER_WITH_THE_PAPERS_DATA_SETS > kmeans_real.json
    python make_scikit_learn.py gp > gaussian_process.json

kmeans: the inertia on real data, ten starts each. The data sets that come with scikit-learn are written
into the file; the paper's are not part of this repository, so only their inertias are.

gp: predictions, log marginal likelihood and its gradient for given hyperparameters. Columns and targets
are standardized, with weights where there are any.
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


cases = {"kmeans": kmeans, "gp": gp}[sys.argv[1]]()
json.dump({"scikit-learn": sklearn.__version__, "cases": cases}, sys.stdout, separators=(",", ":"))
