"""Anchor regression: least squares that is robust to shifts between sites."""

from __future__ import annotations

from typing import Any

import numpy as np

from windlass import AnchorRegressor


def rows(shift: float, seed: int) -> tuple[Any, Any, Any]:
    """Six sites with a hidden cause of both x and y, which differs from site to site."""
    rng = np.random.default_rng(seed)
    site = rng.integers(6, size=600)
    hidden = shift * np.linspace(-1, 1, 6)[site] + rng.normal(size=600)
    x = np.column_stack([hidden + rng.normal(size=600), rng.normal(size=600)])
    return x, x @ [1.0, 0.5] + 2.0 * hidden + rng.normal(size=600), site


def main() -> None:
    x, y, site = rows(shift=1.0, seed=0)
    far_x, far_y, _ = rows(shift=5.0, seed=1)
    model = AnchorRegressor(gamma=1.0).fit(x, y, anchors=site)
    path = model.path([0.0, 1.0, 5.0, 25.0])
    print("gamma  coefficients   RMSE here  with shifts five times as large")
    for gamma, coef, intercept in zip(path.gammas, path.coef, path.intercept):
        here = np.sqrt(np.mean((y - x @ coef - intercept) ** 2))
        far = np.sqrt(np.mean((far_y - far_x @ coef - intercept) ** 2))
        print(f"{gamma:5.0f}  {coef[0]:5.2f} {coef[1]:5.2f}  {here:9.2f}  {far:6.2f}")


if __name__ == "__main__":
    main()
