"""Estimators obey scikit-learn's laws, and anchor regression equals what others compute."""

import pickle
import time
import warnings

import numpy as np
import pytest
from common import golden, reliability, rows
from sklearn import set_config
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LassoCV, LinearRegression, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from windlass import ADA, AnchorRegressor, AugmentedRegressor, CMixup, InputError, Regressor
from windlass._augmenters import METHODS

AUGMENTERS = [*METHODS.values()]
ESTIMATORS = [
    AugmentedRegressor(Ridge(), ADA(copies=2)),
    AugmentedRegressor(RandomForestRegressor(n_estimators=5, random_state=0), CMixup()),
    AnchorRegressor(gamma=2.0),
    AnchorRegressor(gamma=0.5, alpha=1.0),
    Regressor(hidden=(16,), epochs=20),
    Regressor(hidden=(16,), epochs=60, augment=ADA(), committee=2),
    *(Regressor(model=model) for model in ("ridge", "gp", "forest", "extra-trees", "boosting", "auto")),
]


def test_estimators_and_augmenters_pass_the_checks_of_scikit_learn(capsys):
    start, rows = time.monotonic(), []
    for estimator in [*ESTIMATORS, *(augmenter() for augmenter in AUGMENTERS)]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = check_estimator(estimator, on_fail=None)
        failed = [one for one in results if one["status"] not in ("passed", "skipped")]
        assert not failed, [(estimator, one["check_name"], one["exception"]) for one in failed]
        passed = {one["check_name"] for one in results if one["status"] == "passed"}
        count = sum(one["status"] == "passed" for one in results)
        rows.append([f"check_estimator({' '.join(str(estimator).split())}): passed", count])
        assert count > 40, estimator
        if estimator in ESTIMATORS:
            assert "check_sample_weight_equivalence_on_dense_data" in passed
    rows.append(["check_estimator: failed", 0])
    reliability("estimators", "Checks of scikit-learn", rows, time.monotonic() - start)
    with capsys.disabled():
        print(f"\nchecks of scikit-learn: {rows}", end="")


def test_repeated_rows_and_weights_are_the_same_in_tables():
    pandas = pytest.importorskip("pandas")
    x, y = rows(40)
    table = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(site=["n", "s"] * 20)
    counts = np.arange(40) % 3
    order = np.random.default_rng(0).permutation(40)
    for model in (Regressor(epochs=5), Regressor(model="forest"), Regressor(epochs=5, augment=ADA())):
        repeated = clone(model).fit(table.loc[np.repeat(np.arange(40), counts)], np.repeat(y, counts))
        weighted = clone(model).fit(table.loc[order], y[order], sample_weight=counts[order])
        assert repeated.predict(table).tolist() == weighted.predict(table).tolist()


# What assumes that a target has classes: our targets are numbers.
CLASSES = {
    "check_target_type": "expects that numbers are refused as labels",
    "check_samplers_one_label": "expects that a constant target is refused: it has one class",
    "check_samplers_fit": "expects sampling_strategy_, the number of rows to add to each class",
    "check_samplers_multiclass_ova": "expects that one-hot targets are rounded to classes",
}


def test_augmenters_pass_the_sampler_checks_of_imbalanced_learn():
    checks = pytest.importorskip("imblearn.utils.estimator_checks")
    start, rows = time.monotonic(), []
    for augmenter in AUGMENTERS:
        sampler, passed = augmenter(), set()
        for check in {*checks._yield_sampler_checks(sampler), checks.check_samplers_nan}:
            name = check.__name__
            if name in CLASSES:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(augmenter.__name__, sampler)
            passed.add(name)
        assert passed.isdisjoint(CLASSES) and len(passed) >= 11
        for name in ("list", "sample_indices", "nan", "pandas", "pandas_sparse", "preserve_dtype"):
            assert f"check_samplers_{name}" in passed
        assert "check_sampler_get_feature_names_out" in passed
        rows.append([f"sampler checks of {augmenter.__name__}: passed", len(passed)])
    rows += [[f"left out, {name}: {reason}", len(AUGMENTERS)] for name, reason in CLASSES.items()]
    reliability("samplers", "Sampler checks of imbalanced-learn", rows, time.monotonic() - start)


def test_missing_values_of_arrays_stay_missing():
    x, y = rows()
    x[::7, 1] = np.nan
    for method in METHODS.values():
        made_x, made_y = method(copies=2).fit_resample(x, y)
        source = method(copies=2)
        again = source.fit_resample(x.tolist(), y)[0]
        assert isinstance(again, list) and np.array_equal(again, made_x, equal_nan=True)
        rows_of = source.sample_indices_
        assert len(rows_of) == len(made_x) == len(made_y)
        assert np.isnan(made_x[:80]).sum() == np.isnan(x).sum()
        assert np.isnan(made_x[80:, 1])[np.isnan(x[rows_of[80:], 1])].all()
        assert np.isfinite(made_x[:, [0, 2]]).all() and np.isfinite(made_y).all()
    with pytest.raises(InputError, match="must be finite, got NaN"):
        ADA().fit(x, y)


def test_only_training_rows_are_augmented():
    x, y = rows()
    seen = []

    class Recorder(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(len(X))
            return super().fit(X, y, sample_weight)

        def predict(self, X):
            seen.append(len(X))
            return super().predict(X)

    AugmentedRegressor(Recorder(), ADA(copies=3)).fit(x, y).predict(x)
    assert seen == [4 * len(x), len(x)]


def test_augmented_regressor_learns_what_the_augmenter_makes():
    x, y = rows()
    ada = ADA(clusters=5, copies=4, random_state=3)
    model = AugmentedRegressor(Ridge(), ada).fit(x, y)
    alone = Ridge().fit(*clone(ada).fit_resample(x, y))
    assert model.estimator_.coef_.tolist() == alone.coef_.tolist()
    assert not hasattr(ada, "seed_"), "the augmenter itself is not fitted"


def test_targets_that_are_whole_are_not_rounded():
    pandas = pytest.importorskip("pandas")
    x, y = rows()
    table = pandas.DataFrame(x, columns=["a", "b", "c"])
    whole = pandas.DataFrame({"y": np.round(10 * y).astype(int)})
    fits = [
        AugmentedRegressor(LinearRegression(), ADA(copies=2)).fit(table, target).predict(table)
        for target in (whole, whole["y"].astype(float))
    ]
    np.testing.assert_allclose(np.ravel(fits[0]), fits[1])


def test_weights_of_synthetic_rows_are_those_of_their_sources():
    x, y = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(x))
    seen = {}

    class Recorder(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            seen["weights"] = sample_weight
            return super().fit(X, y, sample_weight)

    AugmentedRegressor(Recorder(), ADA(copies=2)).fit(x, y, sample_weight=weights)
    # Weighted rows are ordered by their values.
    order = np.lexsort(np.column_stack([x, y]).T[::-1])
    assert seen["weights"].tolist() == np.tile(weights[order], 3).tolist()


def test_it_works_where_regressors_do():
    x, y = rows()
    model = AugmentedRegressor(Ridge(), ADA(copies=2))
    pipeline = make_pipeline(StandardScaler(), model)
    assert cross_val_score(pipeline, x, y).min() > 0.9
    search = GridSearchCV(
        pipeline,
        {
            "augmentedregressor__augmenter": [ADA(copies=1), CMixup(copies=1)],
            "augmentedregressor__estimator__alpha": [0.1, 100.0],
        },
    ).fit(x, y)
    assert search.best_params_["augmentedregressor__estimator__alpha"] == 0.1
    target = TransformedTargetRegressor(model, transformer=StandardScaler())
    assert target.fit(x, 1000 * y).score(x, 1000 * y) > 0.9
    # Whether to augment at all is a question for a grid, too.
    either = {"augmentedregressor__augmenter": ["mixup", None]}
    assert GridSearchCV(pipeline, either).fit(x, y).best_params_.keys() == either.keys()
    plain = AugmentedRegressor(Ridge(), None).fit(x, y)
    assert plain.estimator_.coef_.tolist() == Ridge().fit(x, y).coef_.tolist()
    both = np.column_stack([y, -y])
    assert AugmentedRegressor(LinearRegression()).fit(x, both).predict(x).shape == both.shape
    again = pickle.loads(pickle.dumps(model.fit(x, y)))
    assert (again.predict(x) == model.predict(x)).all()


def test_tables_keep_their_columns_inside():
    pandas = pytest.importorskip("pandas")
    x, y = rows()
    table = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(site=["n", "s"] * 40)
    encoder = make_pipeline(
        _columns(), GradientBoostingRegressor(n_estimators=10, random_state=0)
    )
    model = AugmentedRegressor(encoder, ADA(anchors="site", copies=2)).fit(table, y)
    assert list(model.feature_names_in_) == ["a", "b", "c", "site"]
    assert model.predict(table).shape == y.shape
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["b", "a", "c", "site"]])


def _columns():
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    return make_column_transformer((OneHotEncoder(), ["site"]), remainder="passthrough")


@pytest.mark.parametrize("case", golden("anchor_regression.json"), ids=lambda case: case["name"])
def test_anchor_regression_equals_the_golden_file(case):
    x, y = case["X"], case["y"]
    anchors = case["A"]
    if case["anchor_kind"] == "one_hot":
        anchors = anchors.argmax(axis=1)
    for output in case["outputs"]:
        model = AnchorRegressor(gamma=output["gamma"]).fit(x, y, anchors=anchors)
        wanted = np.asarray(output["coef_centred_anchor"]).reshape(np.shape(model.coef_))
        np.testing.assert_allclose(model.coef_, wanted, rtol=1e-7, atol=1e-9)
        wanted = np.asarray(output["intercept_centred_anchor"]).reshape(-1)
        np.testing.assert_allclose(np.ravel(model.intercept_), wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0, 10.0, 100.0])
def test_anchor_regression_equals_ivmodels(gamma):
    AnchorRegression = pytest.importorskip("ivmodels.models").AnchorRegression
    rng = np.random.default_rng(5)
    anchors = rng.normal(size=(200, 2))
    hidden = rng.normal(size=200)
    x = anchors @ rng.normal(size=(2, 3)) + hidden[:, None] + rng.normal(size=(200, 3))
    y = x @ [1.0, -1.0, 0.5] + 2 * hidden + 3.0
    ours = AnchorRegressor(gamma).fit(x, y, anchors=anchors)
    theirs = AnchorRegression(gamma=gamma).fit(x, y, Z=anchors)
    np.testing.assert_allclose(ours.coef_, np.ravel(theirs.coef_)[-3:], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.predict(x), np.ravel(theirs.predict(x)), rtol=1e-8, atol=1e-8)


def test_anchor_regression_between_ols_and_ridge():
    x, y = rows()
    site = np.arange(len(x)) % 4
    ols = LinearRegression().fit(x, y)
    np.testing.assert_allclose(AnchorRegressor(1.0).fit(x, y, anchors=site).coef_, ols.coef_)
    ridge = Ridge(alpha=3.0).fit(x, y)
    ours = AnchorRegressor(1.0, alpha=3.0).fit(x, y, anchors=site)
    np.testing.assert_allclose(ours.coef_, ridge.coef_)
    np.testing.assert_allclose(ours.intercept_, ridge.intercept_)
    weights = np.random.default_rng(2).uniform(0, 2, len(x))
    weighted = AnchorRegressor(1.0).fit(x, y, anchors=site, sample_weight=weights)
    np.testing.assert_allclose(weighted.coef_, LinearRegression().fit(x, y, weights).coef_)


def test_the_path_is_many_fits():
    x, y = rows()
    site = np.array(["a", "b", "c", "d"])[np.arange(len(x)) % 4]
    model = AnchorRegressor(7.0).fit(x, y, anchors=site)
    again = pickle.loads(pickle.dumps(model))
    path = again.path([0.0, 1.0, 7.0, 50.0])
    assert path.coef.shape == (4, 3) and path.intercept.shape == (4,)
    assert path.coef[2].tolist() == model.coef_.tolist()
    assert (np.diff(path.between) < 0).all() and (np.diff(path.within) > 0).all()
    assert model.path().gammas.tolist() == [0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0]
    residual = y - again.predict(x)
    total = path.within[2] + path.between[2]
    np.testing.assert_allclose(total, np.mean(residual**2), rtol=1e-9)


def test_anchors_are_routed():
    x, y = rows()
    site = np.arange(len(x)) % 4
    set_config(enable_metadata_routing=True)
    try:
        model = AnchorRegressor(5.0).set_fit_request(anchors=True)
        pipeline = make_pipeline(StandardScaler(), model)
        found = cross_validate(
            pipeline, x, y, params={"anchors": site}, return_estimator=True, cv=4
        )
        assert found["test_score"].min() > 0.9
        inner = found["estimator"][0][-1]
        # It was fitted on the anchors of its training rows, and not on groups that it found.
        kept = np.arange(len(x)) >= len(x) // 4
        scaled = StandardScaler().fit(x[kept]).transform(x[kept])
        alone = AnchorRegressor(5.0).fit(scaled, y[kept], anchors=site[kept])
        np.testing.assert_allclose(inner.coef_, alone.coef_)
    finally:
        set_config(enable_metadata_routing=False)


def test_refusals_are_the_cores():
    x, y = rows()
    with pytest.raises(InputError, match=r"gamma must be in \[0, inf\), got -1"):
        AnchorRegressor(-1.0).fit(x, y, anchors=np.zeros(len(x), int))
    with pytest.raises(InputError, match="must have the same number of rows, got 3 and 80"):
        AnchorRegressor().fit(x, y, anchors=[0, 1, 2])
    with pytest.raises(InputError, match=r"alpha must be in \(1, 1e16\], got 0.5"):
        AugmentedRegressor(Ridge(), ADA(alpha=0.5)).fit(x, y)
    with pytest.raises(InputError, match="cannot form 81 clusters from 80 rows"):
        AugmentedRegressor(Ridge(), ADA(clusters=81)).fit(x, y)


@pytest.mark.parametrize(
    "estimator",
    [
        RidgeCV(),
        GridSearchCV(Ridge(), {"alpha": [1, 10]}, cv=3),
        make_pipeline(StandardScaler(), LassoCV(cv=3)),
        HistGradientBoostingRegressor(early_stopping=True, max_iter=5),
    ],
)
def test_an_estimator_that_holds_out_rows_itself_is_reported(estimator):
    x, y = rows()
    with pytest.warns(UserWarning, match="holds out rows, but trains on synthetic rows"):
        AugmentedRegressor(estimator, ADA(copies=2)).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AugmentedRegressor(estimator, None).fit(x, y)
        AugmentedRegressor(make_pipeline(StandardScaler(), Ridge()), ADA()).fit(x, y)
