"""Distillation of any regressor into a small one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from ._base import DEFAULTS, needs, seed_of
from ._regressor import Regressor, _augmenter
from ._windlass import InputTypeError

try:
    from sklearn.base import clone
    from sklearn.model_selection import KFold, cross_val_predict
except ImportError as error:
    raise needs("scikit-learn 1.6 or newer", "distill", "scikit-learn") from error

if TYPE_CHECKING:
    from ._augmenters import Augmenter
    from ._base import RandomStateLike

_DISTILL = DEFAULTS["distill"]


def distill(
    teacher: Any,
    X: Any,
    y: Any = None,
    *,
    student: Any = None,
    method: Augmenter | str | None = _DISTILL["method"],
    copies: int = _DISTILL["copies"],
    unlabeled: Any = None,
    out_of_fold_labels: bool = _DISTILL["out_of_fold_labels"],
    cv: Any = 5,
    random_state: RandomStateLike = _DISTILL["random_state"],
) -> Any:
    """Distill a fitted regressor, the teacher, into a small one, the student.

    The student is trained on the training rows, on synthetic rows generated from them and on
    unlabeled rows, all with predictions of the teacher as targets. A :class:`Regressor` without
    ``student`` is distilled by :meth:`Regressor.distill`, which also estimates the student's
    error.

    Parameters
    ----------
    teacher : regressor
        A fitted scikit-learn regressor, or anything with ``predict``.
    X : array-like of shape (n_samples, n_features) or DataFrame
        The features that the teacher was trained on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
        The targets that it was trained on, for out-of-fold labels. Without them, or if the
        teacher cannot be cloned, training rows have the teacher's predictions as labels.
    student : regressor, optional
        What is trained; it is cloned. By default a :class:`Regressor` with two hidden layers of
        64 units.
    method : Augmenter, str or None, default "mixup"
        Generator of synthetic rows: ``ADA(...)``, ``"noise"``, …. None for no synthetic rows.
    copies : int, default 40
        Synthetic rows for every training row.
    unlabeled : array-like or DataFrame, optional
        Further rows to label, with the columns of ``X``.
    out_of_fold_labels : bool, default True
        Label training rows by clones of the teacher that were not trained on them, so that the
        student does not learn their noise.
    cv : int or cross-validation splitter, default 5
        The folds of these clones. A :class:`Regressor` without ``student`` has its own.
    random_state : int, Generator or None, default 0
        The seed of synthetic rows, folds and the default student.

    Returns
    -------
    regressor
        The fitted student.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.neural_network import MLPRegressor
    >>> from windlass import distill
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(100, 3))
    >>> y = X[:, 0] - 2 * X[:, 1] ** 2
    >>> forest = RandomForestRegressor(random_state=0).fit(X, y)
    >>> network = MLPRegressor(hidden_layer_sizes=(32, 32), random_state=0)
    >>> student = distill(forest, X, y, student=network, copies=20)
    >>> bool(student.score(X, y) > 0.7)
    True
    """
    if student is None and isinstance(teacher, Regressor) and y is not None:
        return teacher.distill(
            X,
            y,
            method=method,
            copies=copies,
            unlabeled=unlabeled,
            out_of_fold_labels=out_of_fold_labels,
            random_state=random_state,
        )
    if not hasattr(teacher, "predict"):
        raise InputTypeError(f"teacher must have predict, got {type(teacher).__name__}")
    seed = seed_of(random_state)
    rows = [X if _arrays.is_table(X) else _arrays.to_numpy(X, "X")]
    held_out = _out_of_fold(teacher, rows[0], y, cv, seed) if out_of_fold_labels else None
    labels = [_predictions(teacher, rows[0]) if held_out is None else held_out]
    if method is not None and _arrays.whole(copies, "copies") > 0:
        # The method may look at the labels; those that it mixes are not used.
        augmenter = clone(_augmenter(method, "method"))
        augmenter.set_params(copies=copies, originals=False, random_state=seed)
        rows.append(augmenter.fit_resample(rows[0], labels[0])[0])
        labels.append(_predictions(teacher, rows[-1]))
    if unlabeled is not None:
        more = unlabeled if _arrays.is_table(unlabeled) else _arrays.to_numpy(unlabeled, "unlabeled")
        rows.append(more)
        labels.append(_predictions(teacher, more))
    targets = np.concatenate(labels)
    chosen = _default_student(len(targets), seed) if student is None else clone(student)
    return chosen.fit(_stacked(rows), targets)


def _predictions(teacher: Any, X: Any) -> np.ndarray[Any, Any]:
    return np.asarray(_arrays.to_numpy(teacher.predict(X), "predictions"), dtype=np.float64)


def _out_of_fold(
    teacher: Any, X: Any, y: Any, cv: Any, seed: int
) -> np.ndarray[Any, Any] | None:
    """Predictions of clones that were not trained on the rows, if there can be any."""
    if y is None:
        return None
    try:
        fresh = clone(teacher)
    except TypeError:
        return None
    if isinstance(cv, (int, np.integer)):
        cv = KFold(int(cv), shuffle=True, random_state=seed % 2**32)
    return np.asarray(cross_val_predict(fresh, X, y, cv=cv), dtype=np.float64)


def _default_student(rows: int, seed: int) -> Regressor:
    batches = math.ceil(rows / _DISTILL["batch"])
    return Regressor(
        _DISTILL["hidden"],
        batch=_DISTILL["batch"],
        lr=_DISTILL["lr"],
        schedule="cosine",
        weight_decay=_DISTILL["weight_decay"],
        epochs=math.ceil(_DISTILL["steps"] / batches),
        valid="none",
        random_state=seed,
    )


def _stacked(parts: list[Any]) -> Any:
    """Rows one below the other, in the container of the first."""
    if len(parts) == 1:
        return parts[0]
    library = _arrays.library(parts[0])
    if library == "pandas":
        import pandas

        return pandas.concat(parts, ignore_index=True)
    if library == "polars":
        import polars

        return polars.concat(parts, how="vertical_relaxed")
    return np.concatenate([_arrays.to_numpy(part, "X") for part in parts])
