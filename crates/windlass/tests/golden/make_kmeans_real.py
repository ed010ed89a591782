"""Makes kmeans_real.json: scikit-learn's inertia on real data, ten starts each.

    python make_kmeans_real.py FOLDER_WITH_THE_PAPERS_DATA_SETS > kmeans_real.json

Needs scikit-learn 1.9.1. The data sets that come with scikit-learn are written into the file; the
paper's are not part of this repository, so only their inertias are.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import sklearn
from sklearn import datasets
from sklearn.cluster import KMeans
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


cases = []
for name, load in BUNDLED.items():
    x = load().data
    array = {"shape": list(x.shape), "data": [float(v) for v in x.ravel()]}
    cases.append({"name": name, "X": array, "fits": inertias(x)})
for name, file in FILES.items():
    x = numbers(Path(sys.argv[1]) / file)
    cases.append({"name": name, "file": file, "rows": len(x), "fits": inertias(x)})
json.dump({"scikit-learn": sklearn.__version__, "cases": cases}, sys.stdout, separators=(",", ":"))
