"""Makes golden_trees.json: predictions of scikit-learn's DecisionTreeRegressor, fitted without randomness.

Values are multiples of 1/64, which scikit-learn's 32-bit features hold exactly. Only settings are kept with which the
tree does not depend on the random order in which scikit-learn tries columns.

    python make_trees.py > golden_trees.json
"""

import json

import numpy as np
import sklearn
from sklearn.tree import DecisionTreeRegressor


def table(seed, rows, columns, targets=1, missing=0.0):
    random = np.random.default_rng(seed)
    x = random.integers(-640, 640, (2 * rows, columns)) / 64
    present = x.copy()
    x[random.random(x.shape) < missing] = np.nan
    y = np.stack([np.sin(present[:, 0] / 3 + k) * 5 + (k + 1) * present[:, -1] for k in range(targets)], 1)
    y += np.where(np.isnan(x[:, :1]), 7, 0) + random.normal(size=y.shape)
    return x, np.round(y * 64) / 64, random.integers(1, 4, rows).astype(float)


def case(name, seed, rows, columns, leaf=1, depth=None, weighted=False, repeat=1, **settings):
    x, y, weights = table(seed, rows, columns, **settings)
    fit, known, new = np.repeat(x[:rows], repeat, 0), np.repeat(y[:rows], repeat, 0), x[rows:]
    weights = weights if weighted else None
    predicted = [
        DecisionTreeRegressor(min_samples_leaf=leaf, max_depth=depth, random_state=state)
        .fit(fit, known, weights)
        .predict(new)
        .reshape(rows, -1)
        for state in range(8)
    ]
    assert all(np.array_equal(predicted[0], other) for other in predicted), name
    plain = lambda rows: [[None if np.isnan(v) else float(v) for v in row] for row in rows]
    return {
        "name": name,
        "leaf": leaf,
        "depth": depth,
        "x": plain(fit),
        "y": plain(known),
        "weights": None if weights is None else weights.tolist(),
        "new": plain(new),
        "predicted": predicted[0].tolist(),
    }


print(
    json.dumps(
        {
            "scikit-learn": sklearn.__version__,
            "cases": [
                case("one column", 0, 40, 1),
                case("leaves of 6", 1, 60, 3, leaf=6),
                case("depth 2", 2, 40, 5, depth=2),
                case("weights", 3, 40, 3, leaf=5, weighted=True),
                case("three targets", 4, 40, 3, leaf=6, targets=3),
                case("missing values", 5, 60, 3, leaf=6, missing=0.2),
                case("duplicates", 6, 20, 3, leaf=8, repeat=2),
            ],
        }
    )
)
