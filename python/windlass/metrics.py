"""Metrics and row weights for rare targets.

``sera`` weights squared errors by the relevance of the target, ``errors_by_range`` divides rows
into ranges of the target, and ``density_weights`` are row weights for any estimator with
``sample_weight``. Judge a model by its error and bias over all rows, too: emphasis alone looks like
skill on rare rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from . import _windlass as core
from ._base import needs
from ._windlass import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["density_weights", "errors_by_range", "sera", "sera_scorer"]


def _column(values: ArrayLike, name: str) -> NDArray[np.float64]:
    array = np.asarray(_arrays.to_numpy(values, name), dtype=np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{name} must have one column, got shape {array.shape}")
    return np.ascontiguousarray(array)


def sera(
    y_true: ArrayLike, y_pred: ArrayLike, *, rare: str = "both", relevance: ArrayLike | None = None
) -> float:
    """Return the squared error-relevance area (SERA).

    The area under the curve of the sum of squared errors over the rows with a relevance of at
    least t, for t from 0 to 1, which is the sum of relevance × squared error.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Targets.
    y_pred : array-like of shape (n_samples,)
        Predictions.
    rare : str, default "both"
        Rare targets: "high", "low" or "both" extremes of a box plot, "density" (targets in sparse
        ranges), or a file with columns y and phi. The relevance is fitted on ``y_true``.
    relevance : array-like of shape (n_samples,), optional
        Relevance of each target, from 0 to 1. Replaces ``rare``; to compare test sets, fit it once
        with :func:`windlass.relevance`.

    Returns
    -------
    area : float
        Smaller is better.

    Examples
    --------
    >>> from windlass.metrics import sera
    >>> sera([1.0, 5.0], [2.0, 3.0], relevance=[0.0, 0.5])
    2.0
    """
    from . import relevance as fitted

    y = _column(y_true, "y_true")
    phi = fitted(y, rare=rare) if relevance is None else relevance
    return core.sera(y, _column(y_pred, "y_pred"), _column(phi, "relevance"))


def sera_scorer(rare: str = "both") -> Any:
    """Return a scikit-learn scorer: the negative :func:`sera`, for ``scoring=``.

    Parameters
    ----------
    rare : str, default "both"
        Rare targets, as in :func:`sera`; the relevance is fitted on the targets of each call.

    Returns
    -------
    scorer : callable

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import cross_val_score
    >>> from windlass.metrics import sera_scorer
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.exp(X[:, 0])
    >>> bool((cross_val_score(Ridge(), X, y, scoring=sera_scorer("high")) < 0).all())
    True
    """
    try:
        from sklearn.metrics import make_scorer
    except ImportError:
        raise needs("scikit-learn", "sera_scorer", "scikit-learn") from None
    return make_scorer(sera, greater_is_better=False, rare=rare)


def errors_by_range(
    y_true: ArrayLike, y_pred: ArrayLike, ranges: int = 5
) -> list[dict[str, Any]]:
    """Return the errors in ranges of the target with about the same number of rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Targets.
    y_pred : array-like of shape (n_samples,)
        Predictions.
    ranges : int, default 5
        Number of ranges; ranges that many rows share are merged.

    Returns
    -------
    errors : list of dict
        For each range ``low``, ``high``, ``rows``, ``rmse``, and ``bias``, the mean of prediction −
        target.

    Examples
    --------
    >>> from windlass.metrics import errors_by_range
    >>> low, high = errors_by_range([1.0, 2.0, 3.0, 9.0], [1.0, 2.0, 4.0, 6.0], 2)
    >>> low["rmse"], high["bias"]
    (0.0, -1.0)
    """
    count = _arrays.whole(ranges, "ranges")
    if count < 1:
        raise InputError(f"ranges must be in [1, inf), got {count}")
    return core.errors_by_range(_column(y_true, "y_true"), _column(y_pred, "y_pred"), count)


def density_weights(y: ArrayLike, alpha: float = 1.0) -> NDArray[np.float64]:
    """Return row weights that are larger where the target is rare (DenseWeight).

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets of the training rows.
    alpha : float, default 1.0
        Strength: 0 for equal weights, 1 for weights near 0 where targets are densest.

    Returns
    -------
    weights : ndarray of shape (n_samples,)
        Weights with mean 1.

    Examples
    --------
    >>> from windlass.metrics import density_weights
    >>> weights = density_weights([1.0, 1.1, 1.2, 5.0])
    >>> int(weights.argmax())
    3
    """
    return core.density_weights(_column(y, "y"), float(alpha))
