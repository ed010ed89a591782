"""Anchor regression, as an estimator of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
    """Anchor regression along γ.

    Attributes
    ----------
    gammas : ndarray of shape (n_gammas,)
        The strengths.
    coef : ndarray of shape (n_gammas, n_features) or (n_gammas, n_outputs, n_features)
        The coefficients of each.
    intercept : ndarray of shape (n_gammas,) or (n_gammas, n_outputs)
        The intercepts.
    within : ndarray of shape (n_gammas,)
        The mean squared error that anchors do not explain.
    between : ndarray of shape (n_gammas,)
        The mean squared error along the anchors.
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
    """Least squares that is robust to shifts along anchors.

    It minimises ``‖(I − Π)(y − Xb)‖² + gamma·‖Π(y − Xb)‖² + alpha·‖b‖²``, where Π projects
    onto the centered anchors. ``gamma=0`` partials the anchors out, ``gamma=1`` is ordinary
    least squares, and a large gamma comes close to two-stage least squares.

    Parameters
    ----------
    gamma : float, default 1.0
        How strong shifts along the anchors are expected to be.
    alpha : float, default 0.0
        A penalty on the coefficients, as of ``Ridge``.
    clusters : int or "auto", default "auto"
        Groups of similar rows, where :meth:`fit` is given no anchors.
    random_state : int, Generator or None, default 0
        The seed of these groups.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        The coefficients.
    intercept_ : float or ndarray of shape (n_outputs,)
        The intercept.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, where they have any.

    Notes
    -----
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
            Labels of groups, or real-valued anchors; groups of similar rows if not given.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        self
        """
        X, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        y = np.asarray(y, dtype=np.float64)
        weights: np.ndarray[Any, Any] | None = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if anchors is None:
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
        """Fit the same rows for several strengths; it needs them no more.

        Parameters
        ----------
        gammas : sequence of float, optional
            The strengths; those of the command ``windlass regress`` if not given.

        Returns
        -------
        Path
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
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        made = predict_linear(X, coef, np.asarray(intercept, dtype=np.float64))
        return made[:, 0] if self._flat else made
