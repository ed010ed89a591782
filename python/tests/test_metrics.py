"""Metrics and weights for rare targets are those of the core."""

import numpy as np
import pytest
from common import windlass, write_csv
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from windlass import InputError, Regressor, compare, relevance
from windlass.metrics import density_weights, errors_by_range, sera, sera_scorer


def skewed(n=150, seed=0):
    x = np.random.default_rng(seed).uniform(0, 3, size=(n, 2))
    return x, np.exp(x[:, 0]) + x[:, 1]


def test_sera_is_the_area_under_the_curve():
    x, y = skewed()
    predicted = Ridge().fit(x, y).predict(x)
    phi = relevance(y, rare="high")
    steps = (np.arange(20_000) + 0.5) / 20_000
    errors = (y - predicted) ** 2
    order = np.argsort(phi)
    below = np.searchsorted(phi[order], steps, side="left")
    tail = np.concatenate([np.cumsum(errors[order][::-1])[::-1], [0.0]])
    area = tail[below].mean()
    assert sera(y, predicted, rare="high") == pytest.approx(area, rel=1e-3)
    assert sera(y, predicted, relevance=phi) == sera(y, predicted, rare="high")
    assert sera(y[:, None], predicted[:, None]) == sera(y, predicted)


def test_scorer_fits_model_selection():
    x, y = skewed()
    scores = cross_val_score(Ridge(), x, y, scoring=sera_scorer("high"), cv=3)
    assert scores.shape == (3,) and (scores < 0).all()


def test_ranges_partition_the_rows():
    x, y = skewed()
    predicted = np.full_like(y, y.mean())
    ranges = errors_by_range(y, predicted)
    assert [one["rows"] for one in ranges] == [30] * 5
    squares = sum(one["rows"] * one["rmse"] ** 2 for one in ranges) / len(y)
    assert squares == pytest.approx(np.mean((y - predicted) ** 2))
    assert ranges[0]["bias"] > 0 > ranges[-1]["bias"]
    with pytest.raises(InputError, match="ranges must be in"):
        errors_by_range(y, predicted, 0)


def test_density_weights_against_a_plain_kernel_density():
    _, y = skewed()
    sd, (low, high) = y.std(), np.quantile(y, [0.25, 0.75])
    h = 0.9 * min(sd, (high - low) / 1.34) * len(y) ** -0.2
    p = np.exp(-0.5 * ((y[:, None] - y) / h) ** 2).sum(1)
    p = (p - p.min()) / (p.max() - p.min())
    expected = np.maximum(1 - 0.7 * p, 1e-6)
    got = density_weights(y, 0.7)
    np.testing.assert_allclose(got, expected / expected.mean(), rtol=0.02)
    assert got.mean() == pytest.approx(1.0)
    for bad in ([1.0, 1.0], [1.0, np.nan], [[1.0, 2.0], [3.0, 4.0]]):
        with pytest.raises(InputError):
            density_weights(bad)


def test_regressor_is_the_command(tmp_path):
    x, y = skewed(60)
    table = write_csv(tmp_path / "rows.csv", x, y)
    model = tmp_path / "model"
    windlass("train", table, "--target", "y", "--hidden", "8", "--epochs", "10", "--quiet",
             "--density-average=0.5", "--output", model)
    ours = Regressor(hidden=(8,), epochs=10, density_average=0.5).fit(x, y)
    np.testing.assert_array_equal(ours.predict(x), Regressor.load(model).predict(x))
    both = Regressor(density_weights=1.0, density_average=1.0)
    with pytest.raises(InputError, match="exclude each other"):
        both.fit(x, y)
    with pytest.raises(InputError, match="AugmentedRegressor"):
        Regressor(augment="smoter").fit(x, y)


def test_comparison_reports_rare_rows():
    x, y = skewed(80)
    found = compare(x, y, Ridge(), ["none", "smoter"], cv=3, repeats=1, rare="high")
    for line in found.lines:
        assert {"bias", "rare_rmse", "rare_bias", "sera"} <= line.keys()
        assert len(line["fifths"]) == 5
    assert found.lines[1]["rare_low"] <= found.lines[1]["rare_difference"]
    assert any("bias over all rows" in remark for remark in found.remarks)
    assert "rare_rmse" not in compare(x, y, Ridge(), ["ada"], cv=3, repeats=1).lines[0]
