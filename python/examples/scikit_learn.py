"""Augmentation inside scikit-learn: a pipeline, a grid search, and imbalanced-learn's pipeline."""

from pathlib import Path

import pandas as pd
from imblearn.pipeline import make_pipeline as make_resampling_pipeline
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from windlass import ADA, AugmentedRegressor, CMixup

CARS = Path(__file__).resolve().parents[2] / "examples/auto_mpg.csv"


def main() -> None:
    cars = pd.read_csv(CARS).dropna().head(120)
    X = cars[["displacement", "horsepower", "weight", "acceleration"]].to_numpy()
    y = cars["mpg"].to_numpy()

    # Rows are made inside fit, from the training rows of every fold; nothing else changes.
    network = MLPRegressor(hidden_layer_sizes=(32,), max_iter=150, random_state=0)
    model = make_pipeline(StandardScaler(), AugmentedRegressor(network, ADA(copies=10)))
    score = cross_val_score(model, X, y, scoring="neg_root_mean_squared_error", cv=3).mean()
    print(f"RMSE of a network with ADA: {-score:.2f}")

    # The method and its settings are parameters like any other.
    grid = {
        "augmentedregressor__augmenter": [ADA(copies=5), CMixup(copies=5)],
        "augmentedregressor__augmenter__copies": [1, 5],
    }
    search = GridSearchCV(model, grid, scoring="neg_root_mean_squared_error", cv=3).fit(X, y)
    print("best:", search.best_params_["augmentedregressor__augmenter"])

    # Augmenters are samplers of imbalanced-learn too.
    sampler = make_resampling_pipeline(StandardScaler(), ADA(copies=10), network)
    score = cross_val_score(sampler, X, y, scoring="neg_root_mean_squared_error", cv=3).mean()
    print(f"the same in imbalanced-learn's pipeline: {-score:.2f}")


if __name__ == "__main__":
    main()
