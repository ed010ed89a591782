"""A picture of what ADA does: cars and the synthetic cars made of them, colored by group."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd

import windlass

CARS = Path(__file__).resolve().parents[2] / "examples/auto_mpg.csv"


def main(folder: Path = Path()) -> None:
    cars = pd.read_csv(CARS)
    more = windlass.augment(cars, target="mpg", copies=3, alpha=4.0, clusters=6, provenance=True)
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    colors = plt.get_cmap("tab10")(more["windlass_group"].to_numpy())
    for synthetic, marker, size, alpha in [(True, "o", 8, 0.35), (False, "x", 14, 0.9)]:
        rows = (more["windlass_synthetic"] == synthetic).to_numpy()
        shown = more[rows]
        axes.scatter(
            shown["weight"], shown["mpg"], s=size, marker=marker, alpha=alpha, c=colors[rows]
        )
    axes.set_xlabel("weight")
    axes.set_ylabel("mpg")
    axes.set_title("crosses: cars; dots: synthetic cars, toward and away from their group's mean")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "rows.png", dpi=120)
    print(f"drew {len(cars)} cars and {len(more) - len(cars)} made of them")


if __name__ == "__main__":
    main()
