"""Anchor regression as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import distinct
from ._augmenters import ADA, _found
from ._base import DEFAULTS, needs
from ._windlass import GAMMAS, Condensed, predict_linear

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as error:
    raise needs("scikit-learn 1.6 or newer", "AnchorRegressor", "scikit-learn") from error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from ._base import RandomStateLike

_REGRESS = DEFAULTS["anchor"]


class Path:
    """Anchor regression for several γ, from :meth:`AnchorRegressor.path`.

    Attributes
    ----------
    gammas : ndarray of shape (n_gammas,)
        Values of γ.
    coef : ndarray of shape (n_gammas, n_features) or (n_gammas, n_outputs, n_features)
        Coefficients for each γ.
    intercept : ndarray of shape (n_gammas,) or (n_gammas, n_outputs)
        Intercepts for each γ.
    within : ndarray of shape (n_gammas,)
        Mean squared residual that the anchors do not explain.
    between : ndarray of shape (n_gammas,)
        Mean squared residual that the anchors explain.

    See Also
    --------
    AnchorRegressor : Anchor regression for one γ.
    """

    def __init__(
        self, gammas: np.ndarray[Any, Any], points: list[dict[str, Any]], flat: bool
    ) -> None:
        self.gammas = gammas
        self.coef = np.array([point["coef"][0] if flat else point["coef"] for point in points])
        self.intercept = np.array(
            [point["intercept"][0] if flat else point["intercept"] for point in points]
        )
        self.within = np.array([point["within"] for point in points])
        self.between = np.array([point["between"] for point in points])

    def __repr__(self) -> str:
        return f"Path(gammas={self.gammas.tolist()})"


class AnchorRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Anchor regression: least squares that is robust to shifts along anchors.

    Minimizes ``‖(I − Π)(y − Xb)‖² + gamma·‖Π(y − Xb)‖² + alpha·‖b‖²``, where Π projects onto
    the centered anchors. ``gamma=0`` partials the anchors out, ``gamma=1`` is ordinary least
    squares, and a large gamma approaches two-stage least squares.

    Parameters
    ----------
    gamma : float, default 1.0
        Weight of the residuals along the anchors; larger values protect against larger shifts.
    alpha : float, default 0.0
        L2 penalty on the coefficients, as in ``Ridge``.
    clusters : int or "auto", default "auto"
        Number of k-means groups, if :meth:`fit` gets no anchors.
    random_state : int, Generator or None, default 0
        Random seed of k-means.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` has names.

    See Also
    --------
    ADA : Data augmentation based on the same idea.

    References
    ----------
    Rothenhäusler, Meinshausen, Bühlmann, Peters, *Anchor regression: heterogeneous data meet
    causality*, 2021, https://doi.org/10.1111/rssb.12398.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [5.0], [7.0]])
    >>> y = np.array([0.0, 1.0, 9.0, 11.0])
    >>> site = ["a", "a", "b", "b"]
    >>> robust = AnchorRegressor(gamma=10.0).fit(X, y, anchors=site)
    >>> plain = AnchorRegressor(gamma=1.0).fit(X, y, anchors=site)
    >>> bool(robust.coef_[0] > plain.coef_[0])
    True
    >>> path = robust.path([0.0, 1.0, 10.0])
    >>> bool((np.diff(path.between) < 0).all())
    True
    """

    def __init__(
        self,
        gamma: float = _REGRESS["gamma"],
        alpha: float = _REGRESS["alpha"],
        *,
        clusters: int | str = DEFAULTS["ada"]["clusters"],
        random_state: RandomStateLike = DEFAULTS["augment"]["random_state"],
    ) -> None:
        self.gamma = gamma
        self.alpha = alpha
        self.clusters = clusters
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        anchors: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets.
        anchors : array-like of shape (n_samples,) or (n_samples, n_anchor_columns), optional
            Group labels or real-valued anchors; by default k-means groups.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        self : AnchorRegressor
            The fitted estimator.
        """
        X, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        y = np.asarray(y, dtype=np.float64)
        weights: np.ndarray[Any, Any] | None = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if anchors is None:
            # The number of groups depends on the number of rows, and k-means on their order.
            if (of_distinct := distinct(X, y, weights)) is not None:
                rows, weights = of_distinct
                X, y = X[rows], y[rows]
            groups = ADA(clusters=self.clusters, random_state=self.random_state)
            found = groups.fit(X, y, sample_weight=weights).groups_
        else:
            found = _found(anchors)
        self._condensed = Condensed(X, y, found, weights=weights)
        self._flat = y.ndim == 1
        point = self._condensed.fit(float(self.gamma), float(self.alpha))
        self.coef_ = point["coef"][0] if self._flat else point["coef"]
        self.intercept_ = float(point["intercept"][0]) if self._flat else point["intercept"]
        return self

    def path(self, gammas: Sequence[float] | None = None) -> Path:
        """Fit the training rows of :meth:`fit` for several γ, without reading them again.

        Parameters
        ----------
        gammas : sequence of float, optional
            Values of γ; by default those of the command ``windlass regress``.

        Returns
        -------
        path : Path
            Coefficients and errors for each γ.
        """
        check_is_fitted(self)
        strengths = np.atleast_1d(np.asarray(GAMMAS if gammas is None else gammas, dtype=float))
        points = [self._condensed.fit(float(gamma), float(self.alpha)) for gamma in strengths]
        return Path(strengths, points, self._flat)

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        made = predict_linear(X, coef, np.asarray(intercept, dtype=np.float64))
        return made[:, 0] if self._flat else made
