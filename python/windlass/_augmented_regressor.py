"""Augmentation inside ``fit`` of any scikit-learn regressor."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from ._augmenters import Augmenter, named
from ._base import has_names, needs

try:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
    from sklearn.utils import get_tags
    from sklearn.utils.validation import (
        _check_sample_weight,
        check_is_fitted,
        column_or_1d,
        has_fit_parameter,
        validate_data,
    )
except ImportError as error:
    raise needs("scikit-learn 1.6 or newer", "AugmentedRegressor", "scikit-learn") from error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self


def _holds_out_rows(estimator: Any, rows: int) -> str | None:
    """Describe the part of an estimator that holds out training rows, or return None."""
    params = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    for part in [estimator, *(value for value in params.values() if hasattr(value, "fit"))]:
        own = part.get_params(deep=False) if hasattr(part, "get_params") else {}
        name = type(part).__name__
        if "cv" in own or name.endswith("CV"):
            return name
        early = own.get("early_stopping")
        # "auto" of histogram boosting stops early with more than 10,000 rows.
        if early is True or (early == "auto" and rows > 10_000):
            return f"{name} with early stopping"
    return None


class AugmentedRegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Meta-estimator that augments the training rows in ``fit``.

    Synthetic rows are generated only from the rows passed to ``fit``, so cross-validation of
    this estimator does not leak held-out rows. Predictions are those of the regressor.

    Parameters
    ----------
    estimator : regressor
        Regressor to train on original and synthetic rows. It is cloned.
    augmenter : Augmenter, str or None, default "ada"
        Augmentation method or its name. It is cloned. ``None`` is no augmentation, which a
        grid search can include.

    Attributes
    ----------
    estimator_ : regressor
        The fitted regressor.
    augmenter_ : Augmenter or None
        The fitted augmenter. Mixup methods keep the training rows. Rows of an array that have
        weights or are repeated are augmented once, in an order of their values.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` has names.

    Warns
    -----
    UserWarning
        If the regressor holds out rows inside ``fit`` (``RidgeCV``, ``GridSearchCV``,
        ``early_stopping=True``): its training rows then include synthetic rows derived from
        the held-out rows, so its validation error is too low. Put the search around this
        estimator, or use :class:`Regressor`, which validates on original rows.

    See Also
    --------
    compare : Test whether augmentation helps a regressor.
    Regressor : Networks with augmentation inside the training loop.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> from windlass import ADA, AugmentedRegressor
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> y = X @ [1.0, -2.0, 0.5]
    >>> model = AugmentedRegressor(Ridge(), ADA(copies=10))
    >>> search = GridSearchCV(model, {"augmenter__alpha": [1.5, 2.0], "estimator__alpha": [1, 10]})
    >>> search.fit(X, y).best_params_["estimator__alpha"]
    1
    """

    def __init__(self, estimator: Any, augmenter: Augmenter | str | None = "ada") -> None:
        self.estimator = estimator
        self.augmenter = augmenter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.target_tags.multi_output = inner.target_tags.multi_output
        tags.target_tags.single_output = inner.target_tags.single_output
        tags.regressor_tags.poor_score = inner.regressor_tags.poor_score
        tags.non_deterministic = inner.non_deterministic
        tags.input_tags.sparse = False
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        anchors: Any = None,
    ) -> Self:
        """Augment the training rows, and fit the regressor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or DataFrame
            Training features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights for the augmenter and the regressor. Synthetic rows have the weight of
            their source row.
        anchors : optional
            Anchors of these rows, for :class:`ADA`.

        Returns
        -------
        self : AugmentedRegressor
            The fitted estimator.
        """
        several = get_tags(self.estimator).target_tags.multi_output
        if has_names(X):
            validate_data(self, X, skip_check_array=True)
        else:
            X, y = validate_data(
                self,
                X,
                y,
                dtype=[np.float64, np.float32],
                multi_output=True,
                y_numeric=True,
            )
        if not several and np.ndim(y) == 2:
            y = column_or_1d(y, warn=True)
        # Synthetic targets are not integers, even if the original targets are.
        y = np.asarray(_arrays.to_numpy(y, "y"), dtype=np.float64)
        checked: np.ndarray[Any, Any] | None = None
        if sample_weight is not None:
            checked = _check_sample_weight(sample_weight, X)
        # What is random per row must not depend on how often a row is repeated.
        weighs = has_fit_parameter(self.estimator, "sample_weight")
        if not has_names(X) and self.augmenter is not None and anchors is None and weighs:
            of_distinct = _arrays.distinct(X, y, checked)
            if of_distinct is not None:
                rows, checked = of_distinct
                X, y = X[rows], y[rows]
        weights = {} if checked is None else {"sample_weight": checked}
        self.augmenter_: Augmenter | None = None
        if self.augmenter is not None:
            by_name = isinstance(self.augmenter, str)
            augmenter = named(self.augmenter) if by_name else clone(self.augmenter)
            X, y = augmenter.fit_resample(X, y, sample_weight=checked, anchors=anchors)
            if (part := _holds_out_rows(self.estimator, len(y))) is not None:
                warnings.warn(
                    f"{part} holds out rows, but trains on synthetic rows derived from them, so its "
                    "validation error is too low; put the search around AugmentedRegressor, or turn "
                    "it off",
                    stacklevel=2,
                )
            if checked is not None:
                weights["sample_weight"] = checked[augmenter.sample_indices_]
            self.augmenter_ = augmenter
        self.estimator_ = clone(self.estimator).fit(X, y, **weights)
        return self

    def predict(self, X: Any) -> Any:
        """Predict with the fitted regressor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or DataFrame
            Features.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        """
        check_is_fitted(self)
        if has_names(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self.estimator_.predict(X)
