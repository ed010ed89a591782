"""Tables of pandas, polars and pyarrow: the same kind out as in, text and gaps kept."""

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa

import windlass

CARS = Path(__file__).resolve().parents[2] / "examples/auto_mpg.csv"


def main() -> None:
    cars = pd.read_csv(CARS, dtype={"origin": "category"}, index_col="name")
    more = windlass.augment(cars, target="mpg", copies=5, provenance=True)
    print(f"pandas: {len(cars)} rows, then {len(more)}; origin is {more['origin'].dtype}")
    shown = ["mpg", "weight", "origin", "windlass_source", "windlass_gamma"]
    print(more[shown].iloc[[0, 398]].to_string())

    more = windlass.augment(pl.read_csv(CARS), target="mpg", method="c-mixup", copies=2)
    print(f"polars: {more.shape}, {more['horsepower'].null_count()} of horsepower missing")

    table = pa.Table.from_pandas(cars)
    more = windlass.augment(table, target="mpg", anchors="origin", originals=False)
    print(f"pyarrow: {more.num_rows} rows; the schema is the same: {more.schema == table.schema}")


if __name__ == "__main__":
    main()
