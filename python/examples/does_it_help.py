"""Does augmentation help on this table, with this model? A verdict, a picture and a report."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import pandas as pd
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from windlass import ADA, Augmenter, CMixup, compare

CARS = Path(__file__).resolve().parents[2] / "examples/auto_mpg.csv"


def main(folder: Path = Path()) -> None:
    cars = pd.read_csv(CARS).dropna()
    X = cars[["displacement", "horsepower", "weight", "acceleration"]]
    model = make_pipeline(StandardScaler(), KNeighborsRegressor(5))
    methods: dict[str, str | Augmenter] = {
        "ada": ADA(copies=4),
        "ada, close": ADA(alpha=1.2, copies=4),
        "c-mixup": CMixup(copies=4),
        "mixup": "mixup",
    }
    found = compare(X, cars["mpg"], model, methods, cv=5, repeats=3)
    print(found)
    found.plot().figure.savefig(folder / "compare.png", dpi=120)
    found.report(folder / "report.html", table="cars")


if __name__ == "__main__":
    main()
