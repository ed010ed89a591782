"""Augmentation inside ``fit`` of any scikit-learn regressor."""

from __future__ import annotations

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
        validate_data,
    )
except ImportError as error:
    raise needs("scikit-learn 1.6 or newer", "AugmentedRegressor", "scikit-learn") from error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self


class AugmentedRegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that learns from more rows than it is given.

    Rows are made when it is fitted, from the rows that it is fitted on; predictions are
    those of the regressor. In a cross-validation nothing of the held-out rows is seen.

    Parameters
    ----------
    estimator : regressor
        What learns from the rows. It is cloned.
    augmenter : Augmenter, str or None, default "ada"
        What makes more of them, or its name; it is cloned. None for no augmentation, so that a
        grid search can ask whether it helps.

    Attributes
    ----------
    estimator_ : regressor
        The fitted regressor.
    augmenter_ : Augmenter or None
        The fitted augmenter. A mixup keeps the training rows, which partners are drawn from.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, where they have any.

    Notes
    -----
    A regressor that holds out rows by itself (``early_stopping=True``) holds out relatives of
    the rows that it learns from, and stops too late. Switch that off, or use
    :class:`Regressor`, which augments inside its loop and validates on rows of the table.

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
        """Make more rows, and fit the regressor on all of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or DataFrame
            Training features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            How much rows count, for the augmenter and for the regressor; synthetic rows have the
            weight of their source.
        anchors : optional
            Anchors of these rows, for :class:`ADA`.

        Returns
        -------
        self
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
        # A synthetic target is a number between others, also where those are whole.
        y = np.asarray(_arrays.to_numpy(y, "y"), dtype=np.float64)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.augmenter_: Augmenter | None = None
        if self.augmenter is not None:
            by_name = isinstance(self.augmenter, str)
            augmenter = named(self.augmenter) if by_name else clone(self.augmenter)
            X, y = augmenter.fit_resample(X, y, sample_weight=sample_weight, anchors=anchors)
            if sample_weight is not None:
                weights["sample_weight"] = np.asarray(sample_weight)[augmenter.sample_indices_]
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
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        check_is_fitted(self)
        if has_names(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self.estimator_.predict(X)
