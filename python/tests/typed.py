"""What users write, for the type checker: it is never run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import windlass
from windlass import ADA, AnchorRegressor, AugmentedRegressor, CMixup, Comparison, compare


def augmenters(X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    ada = ADA(clusters=8, alpha=2.0, copies=10, random_state=0)
    X2, y2 = ada.fit_resample(X, y)
    assert_type(ada.fit(X, y), ADA)
    xb, yb = ada.batch(X[:4], y[:4], [0, 1, 2, 3], step=0)
    groups: NDArray[np.int64] = ada.groups_
    source: NDArray[np.int64] = ada.provenance_["source"]
    assert_type(ada.draw_gamma(3), Any)
    CMixup(bandwidth="0.5sd", copies=2).fit_resample(X2, y2)
    ADA("many", copies="ten")  # type: ignore[arg-type]
    ADA(anchor=3)  # type: ignore[call-arg]
    print(xb, yb, groups, source)


def models(X: NDArray[np.float64], y: NDArray[np.float64], estimator: Any) -> None:
    model = AugmentedRegressor(estimator, ADA(copies=10)).fit(X, y)
    robust = AnchorRegressor(gamma=5.0).fit(X, y, anchors=[0, 1])
    strengths: NDArray[Any] = robust.path([0.0, 1.0]).gammas
    network = windlass.Regressor(hidden=(32,), augment=ADA(), epochs=5).fit(X, y)
    assert_type(network, windlass.Regressor)
    assert_type(network.distill(X, y, steps=10), windlass.Regressor)
    network.save("model.windlass")
    print(model.predict(X), strengths, windlass.Regressor.load("model.windlass").predict(X))


def comparisons(X: NDArray[np.float64], y: NDArray[np.float64], estimator: Any) -> None:
    report = compare(X, y, estimator=estimator, methods=["none", "ada", CMixup()], cv=5, repeats=3)
    assert_type(report, Comparison)
    assert_type(report.helps, bool)
    report.report("report.html")


def tables(data: Any) -> Any:
    return windlass.augment(data, target="mpg", copies=5, provenance=True, alpha=3.0)
