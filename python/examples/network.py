"""A network on the fast engine, with augmentation inside its loop; its file is the command's too."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from windlass import ADA, Regressor

CARS = Path(__file__).resolve().parents[2] / "examples/auto_mpg.csv"


def main(folder: Path = Path()) -> None:
    cars = pd.read_csv(CARS)
    X, y = cars.drop(columns=["mpg", "name"]), cars["mpg"]
    train_X, test_X, train_y, test_y = train_test_split(X, y, test_size=0.3, random_state=0)
    for name, augment in [("no augmentation", None), ("ADA", ADA(clusters=8))]:
        # Text is encoded and gaps are filled by the model itself.
        model = Regressor(hidden=(64, 64), augment=augment, committee=5).fit(train_X, train_y)
        mean, spread = model.predict(test_X, return_std=True)
        rmse = np.sqrt(np.mean((mean - test_y) ** 2))
        print(f"{name}: RMSE {rmse:.2f}, members differ by {spread.mean():.2f}")
    model.save(folder / "cars.windlass")
    same = Regressor.load(folder / "cars.windlass").predict(test_X)
    print("the file predicts the same:", bool((same == mean).all()))


if __name__ == "__main__":
    main()
