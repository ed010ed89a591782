"""Makes auto_mpg.csv from the cars table inside the Python package vega_datasets 0.9.

    pip install vega_datasets==0.9.0
    python make_auto_mpg.py
"""

import csv
import json
from importlib.metadata import version
from pathlib import Path

from vega_datasets import data

# Our column, and what the package calls it.
COLUMNS = {
    "mpg": "Miles_per_Gallon",
    "cylinders": "Cylinders",
    "displacement": "Displacement",
    "horsepower": "Horsepower",
    "weight": "Weight_in_lbs",
    "acceleration": "Acceleration",
    "model_year": "Year",
    "origin": "Origin",
    "name": "Name",
}


def main():
    assert version("vega_datasets").startswith("0.9"), "another release may hold other rows"
    # The raw JSON rather than `data.cars()`: pandas would turn whole numbers into decimals wherever
    # a column has a missing value.
    cars = json.loads(Path(data.cars.filepath).read_text(encoding="utf-8"))
    cars = [car for car in cars if car["Miles_per_Gallon"] is not None]

    # In a column with any decimal number every number gets a decimal, so that its type is plain to
    # see; a missing value becomes an empty field.
    columns = []
    for source in COLUMNS.values():
        values = [car[source] for car in cars]
        if any(isinstance(value, float) for value in values):
            values = [value if value is None else float(value) for value in values]
        columns.append(values)

    path = Path(__file__).with_name("auto_mpg.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(zip(*columns))


main()
