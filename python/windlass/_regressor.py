"""Models of the core as a scikit-learn estimator."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from . import _windlass as core
from ._augmenters import Augmenter, named
from ._base import DEFAULTS, has_names, needs, seed_of
from ._table import Source, _fresh, _target_names
from ._windlass import InputError, Table

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils.validation import (
        _check_sample_weight,
        check_array,
        check_is_fitted,
        validate_data,
    )
except ImportError as error:
    raise needs("scikit-learn 1.6 or newer", "Regressor", "scikit-learn") from error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from ._base import RandomStateLike

_NET = DEFAULTS["regressor"]
_DISTILL = DEFAULTS["distill"]


def _augmenter(given: Augmenter | str, name: str) -> Augmenter:
    augmenter = named(given) if isinstance(given, str) else given
    if not isinstance(augmenter, Augmenter):
        raise core.InputTypeError(
            f"{name} must be an augmenter or its name, got {type(augmenter).__name__}"
        )
    return augmenter


class Regressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Neural network with augmentation inside the training loop, or another model.

    Trained by the same engine as ``windlass train``, with the same model files. Preprocessing
    is part of the model: features and targets are scaled, text columns of a DataFrame are
    one-hot encoded, and missing values are imputed.

    Parameters
    ----------
    hidden : tuple of int, default (128, 128)
        Units of each hidden layer.
    model : str, default "mlp"
        Kind of model: "mlp" (a network, or an average of networks with ``committee``), "auto"
        (networks, ridge regressions, a Gaussian process and trees, averaged with weights that
        minimize the cross-validation error), "ridge", "gp" (a Gaussian process), "forest",
        "extra-trees" or "boosting". Parameters of networks do not apply to the other models,
        whose error is estimated by cross-validation unless ``valid`` is "none".
    augment : Augmenter or str, optional
        Method that augments each batch: ``ADA(...)``, ``"c-mixup"``, …. Its parameters
        ``copies``, ``originals`` and ``random_state`` are ignored. A column of anchors is not a
        feature.
    layer : int, default 0
        Hidden layer after which to augment; 0 is the input.
    keep_originals : bool, default False
        Whether to keep the original rows of a batch in addition to the synthetic rows.
    per_batch : bool, default False
        Find groups and partners in each batch instead of once in all training rows.
    activation : {"relu", "leaky-relu", "sigmoid", "tanh", "identity"}, default "relu"
        Activation function.
    slope : float, optional
        Slope of leaky ReLU for negative inputs, default 0.1.
    epochs : int, default 200
        Number of training epochs.
    batch : int, default 16
        Batch size.
    lr : float, default 0.002
        Learning rate.
    schedule : {"constant", "cosine"}, optional
        Learning rate schedule; by default constant, and cosine for ``lr`` above 0.002
        or more than 20 batches in an epoch.
    optimizer : {"adamw", "adam", "sgd"}, default "adamw"
        Optimizer.
    momentum : float, optional
        Momentum of SGD, default 0.9.
    weight_decay : float, optional
        Weight decay; AdamW multiplies it by ``lr`` in each step. By default 0.001 / ``lr``, at
        most 0.5, times (20 / batches)⁴ if an epoch has more than 20 batches; 0 for other
        optimizers.
    clip_norm : float, optional
        Clip the gradient norm.
    loss : str, default "mse"
        Loss function: "mse", "huber" or "huber:DELTA".
    patience : int, optional
        Early stopping: end after this many epochs without a better validation error.
    shuffle : {"epoch", "once", "never"}, default "epoch"
        When to shuffle rows.
    drop_last : bool, default False
        Drop the last batch of an epoch if it is not full.
    valid : float or "none", default 0.2
        Fraction of validation rows, which choose the best epoch.
    committee : int, optional
        Train this number of networks, each validated on another fold, and average them.
    split : str, default "rows"
        How to hold out validation rows: "rows" (random), or by a column "group:COLUMN" or
        "domain:COLUMN" (rows with the same value stay together; the column is not a feature),
        or "time:COLUMN": the latest rows, or, with ``committee``, blocks of the later half, each
        predicted from all earlier rows. Networks validated by time are then trained on all
        rows, with the best number of epochs.
    density_weights : float, optional
        Weight rows by the rarity of their target: 0 weights all rows alike, 1 ignores rows where
        targets are densest. Errors of held-out rows are not weighted.
    density_average : float, optional
        Average a model trained without weights and one with ``density_weights`` of this strength.
    scale : {"standard", "minmax", "none"}, default "standard"
        Scaling of continuous features.
    target_scale : {"standard", "minmax", "none"}, default "standard"
        Scaling of targets; predictions stay in the original units.
    categorical : list of str
        Columns of a DataFrame to treat as categories: numbers, or text with many values.
    continuous : list of str
        Columns of a DataFrame (0/1 or dates) to treat as numbers.
    random_state : int, Generator or None, default 0
        Random seed.

    Attributes
    ----------
    history_ : list of list of (float, float or None)
        Loss and validation error of each epoch, for each network.
    notes_ : list of str
        Columns that are omitted or not used as numbers, and why.
    card_ : dict
        Metadata of the model file.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` has names.

    See Also
    --------
    AugmentedRegressor : Augmentation for any scikit-learn regressor.
    compare : Test whether augmentation helps.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass import ADA, Regressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 3))
    >>> y = X[:, 0] - 2 * X[:, 1] ** 2
    >>> model = Regressor(hidden=(32, 32), augment=ADA(clusters=8), epochs=50).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        hidden: Sequence[int] = _NET["hidden"],
        *,
        model: str = "mlp",
        augment: Augmenter | str | None = None,
        layer: int = 0,
        keep_originals: bool = False,
        per_batch: bool = False,
        activation: str = _NET["activation"],
        slope: float | None = _NET["slope"],
        epochs: int = _NET["epochs"],
        batch: int = _NET["batch"],
        lr: float = _NET["lr"],
        schedule: str | None = _NET["schedule"],
        optimizer: str = _NET["optimizer"],
        momentum: float | None = _NET["momentum"],
        weight_decay: float | None = _NET["weight_decay"],
        clip_norm: float | None = _NET["clip_norm"],
        loss: str = _NET["loss"],
        patience: int | None = _NET["patience"],
        shuffle: str = _NET["shuffle"],
        drop_last: bool = _NET["drop_last"],
        valid: float | str = _NET["valid"],
        committee: int | None = _NET["committee"],
        split: str = _NET["split"],
        density_weights: float | None = None,
        density_average: float | None = None,
        scale: str = _NET["scale"],
        target_scale: str = _NET["target_scale"],
        categorical: Sequence[str] = (),
        continuous: Sequence[str] = (),
        random_state: RandomStateLike = DEFAULTS["augment"]["random_state"],
    ) -> None:
        self.hidden = hidden
        self.model = model
        self.augment = augment
        self.layer = layer
        self.keep_originals = keep_originals
        self.per_batch = per_batch
        self.activation = activation
        self.slope = slope
        self.epochs = epochs
        self.batch = batch
        self.lr = lr
        self.schedule = schedule
        self.optimizer = optimizer
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.clip_norm = clip_norm
        self.loss = loss
        self.patience = patience
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.valid = valid
        self.committee = committee
        self.split = split
        self.density_weights = density_weights
        self.density_average = density_average
        self.scale = scale
        self.target_scale = target_scale
        self.categorical = categorical
        self.continuous = continuous
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or DataFrame
            Training features. Columns of a DataFrame may contain text and missing values.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights. A weight of 2 is the same as two rows, and one of 0 as no row: a row
            that occurs several times is trained on once, with the sum of its weights.

        Returns
        -------
        self : Regressor
            The fitted estimator.
        """
        if has_names(X):
            validate_data(self, X, skip_check_array=True)
            table = Source(X, "X").core
            targets = _arrays.to_numpy(y, "y").astype(np.float64, copy=False)
        else:
            X, targets = validate_data(
                self,
                X,
                y,
                dtype=np.float64,
                multi_output=True,
                y_numeric=True,
                ensure_min_samples=2,
            )
            table = Table.of_arrays(X, self._names(X.shape[1]))
        targets = np.asarray(targets, dtype=np.float64)
        taken = list(table.names)
        columns = targets.reshape(len(targets), -1)
        names = [_fresh(name, taken) for name in _target_names(y, columns.shape[1])]
        table = table.with_columns(columns, names)
        roles: dict[str, Any] = {
            "categorical": list(self.categorical),
            "continuous": list(self.continuous),
        }
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, targets, dtype=np.float64)
            roles["weight"] = _fresh("sample_weight", taken)
            table = table.with_columns(weights.reshape(-1, 1), [roles["weight"]])
        table, inside = self._inside(table, roles)
        model, notes, history, diverged, warning = core.Model.train(
            table,
            target=names,
            roles=roles,
            network=self._network(),
            seed=seed_of(self.random_state),
            model=self.model,
            augment=inside,
            density=self._density(),
        )
        if diverged is not None:
            raise InputError(
                f"training diverged in epoch {diverged}: the loss is NaN or infinite\n"
                "hint: choose a smaller lr, or clip_norm=1.0"
            )
        if warning is not None:
            warnings.warn(warning, stacklevel=2)
        self.model_ = model
        self.notes_ = notes
        self.history_ = history
        self._flat = targets.ndim == 1
        self._loaded = False
        return self

    def _density(self) -> tuple[float, bool] | None:
        """Return the strength of density weights, and whether to average with a plain model."""
        if self.density_weights is not None and self.density_average is not None:
            raise InputError("density_weights and density_average exclude each other\nhint: omit one")
        if self.density_average is not None:
            return float(self.density_average), True
        return None if self.density_weights is None else (float(self.density_weights), False)

    def _names(self, count: int) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{place}" for place in range(count)] if names is None else list(names)

    def _network(self) -> dict[str, Any]:
        options = {name: getattr(self, name) for name in _NET}
        if self.model != "mlp":
            shared = {"split", "scale", "target_scale"}
            if self.valid == "none" and self.model != "auto":
                shared.add("valid")
            usual = {name: value for name, value in _NET.items() if name not in shared}
            changed = [name for name, value in usual.items() if options[name] != value]
            if self.augment is not None:
                changed.append("augment")
            if changed:
                raise InputError(
                    f"{changed[0]} does not apply to model={self.model!r}\nhint: omit it"
                )
        if np.ndim(self.hidden) <= 1 and not isinstance(self.hidden, str):
            options["hidden"] = tuple(np.atleast_1d(self.hidden).tolist())
        return options

    def _inside(
        self, table: Table, roles: dict[str, Any]
    ) -> tuple[Table, dict[str, Any] | None]:
        """Return the augmentation of batches; group labels become carried columns of the table."""
        if self.augment is None:
            if self.layer or self.keep_originals or self.per_batch:
                raise InputError("layer, keep_originals and per_batch need augment")
            return table, None
        augmenter = _augmenter(self.augment, "augment")
        if augmenter.rare is not None:
            raise InputError(
                "rare does not apply to augmentation of batches\n"
                "hint: AugmentedRegressor(Regressor(), SMOTER()) adds rows before training"
            )
        options, anchors, within = augmenter._anchors(None, table.names)
        for key, labels in (("anchors", anchors), ("within", within)):
            if labels is None:
                continue
            if labels.ndim == 2:
                raise InputError(
                    "a matrix of anchors does not apply to networks\n"
                    "hint: pass group labels, or name a column"
                )
            name = _fresh(key, list(table.names))
            table = table.with_columns(labels.reshape(-1, 1), [name])
            options[key] = name if key == "within" else f"column:{name}"
        named_by = str(options.get("anchors")).partition("column:")[2]
        roles["carry"] = [name for name in (named_by, options.get("within")) if name]
        return table, {
            "name": augmenter._method,
            "options": options,
            "layer": _arrays.whole(self.layer, "layer"),
            "keep_originals": bool(self.keep_originals),
            "per_batch": bool(self.per_batch),
        }

    def _table(self, X: Any) -> Table:
        check_is_fitted(self, "model_")
        if self._loaded:
            # The model file lists its columns; a table may have others, in any order.
            if has_names(X):
                return Source(X, "X").core
            X = check_array(X, dtype=np.float64)
        elif has_names(X) and hasattr(self, "feature_names_in_"):
            validate_data(self, X, reset=False, skip_check_array=True)
            return Source(X, "X").core
        else:
            X = validate_data(self, X, reset=False, dtype=np.float64)
        return Table.of_arrays(X, self._names(X.shape[1]))

    def predict(
        self, X: Any, return_std: bool = False, interval: float | None = None
    ) -> Any:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or DataFrame
            Features.
        return_std : bool, default False
            Also return the standard deviation over the members of an ensemble. It is not a
            prediction error: use ``interval`` for that.
        interval : float, optional
            Also return the bounds of prediction intervals with this coverage, such as 0.9. They
            are computed from the errors of held-out rows (CV+), so ``valid`` must not be
            "none". The coverage holds on average over all rows; it may be lower for unusual
            rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions. With ``return_std``, followed by the standard deviations; with
            ``interval``, by the lower and the upper bounds.
        """
        table = self._table(X)
        mean, spread, bounds = self.model_.predict(table, interval)
        made = [mean]
        if return_std:
            if spread is None:
                raise InputError(
                    "a single model has no standard deviation\nhint: Regressor(committee=5)"
                )
            made.append(spread)
        made.extend(bounds or ())
        if self._flat:
            made = [values[:, 0] for values in made]
        return tuple(made) if len(made) > 1 else made[0]

    def distill(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        student: str = "network",
        hidden: Sequence[int] = _DISTILL["hidden"],
        steps: int = _DISTILL["steps"],
        method: Augmenter | str | None = _DISTILL["method"],
        copies: int = _DISTILL["copies"],
        unlabeled: Any = None,
        out_of_fold_labels: bool = _DISTILL["out_of_fold_labels"],
        expected_error: bool = _DISTILL["expected_error"],
        random_state: RandomStateLike = _DISTILL["random_state"],
    ) -> Regressor:
        """Distill this model, the teacher, into one small model, the student.

        The student is trained on the training rows, on synthetic rows generated from them and on
        unlabeled rows, all with predictions of this model as targets. The same as ``windlass
        distill``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or DataFrame
            The features that this model was trained on.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets that it was trained on.
        sample_weight : array-like of shape (n_samples,), optional
            The weights that it was trained with.
        student : {"network", "boosting"}, default "network"
            The kind of student: a dense network or gradient-boosted trees.
        hidden : tuple of int, default (64, 64)
            Units of every hidden layer of a network.
        steps : int, default 6000
            Number of optimizer steps of a network.
        method : Augmenter, str or None, default "mixup"
            Generator of synthetic rows: ``ADA(...)``, ``"noise"``, …. Its copies, originals and
            random_state do not matter. None for no synthetic rows.
        copies : int, default 40
            Synthetic rows for every training row.
        unlabeled : array-like or DataFrame, optional
            Further rows to label, with the columns of ``X``.
        out_of_fold_labels : bool, default True
            Label training rows by predictions of models that were not trained on them, so that
            the student does not learn their noise.
        expected_error : bool, default True
            Estimate the error of new rows, by a student for each fold of this model.
        random_state : int, Generator or None, default 0
            The seed of everything random.

        Returns
        -------
        Regressor
            The student. ``card_["valid"]`` is its expected error,
            ``card_["distillation"]["teacher_valid"]`` that of this model.

        Examples
        --------
        >>> import numpy as np
        >>> from windlass import Regressor
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(100, 3))
        >>> y = X[:, 0] - 2 * X[:, 1] ** 2
        >>> teacher = Regressor(model="gp").fit(X, y)
        >>> student = teacher.distill(X, y, steps=1000)
        >>> bool(student.score(X, y) > 0.9)
        True
        """
        table = self._table(X)
        names, columns = list(self.model_.targets), _arrays.to_numpy(y, "y")
        columns = np.asarray(columns, dtype=np.float64).reshape(len(columns), -1)
        if columns.shape[1] != len(names):
            raise InputError(
                f"y has {columns.shape[1]} targets, the teacher {len(names)}: {', '.join(names)}"
            )
        table = table.with_columns(columns, names)
        weight = self.card_["recipe"]["columns"].get("weight")
        if sample_weight is not None:
            if weight is None:
                raise InputError(
                    "the teacher was trained without sample_weight\nhint: leave it out"
                )
            weights = _check_sample_weight(sample_weight, columns, dtype=np.float64)
            table = table.with_columns(weights.reshape(-1, 1), [weight])
        if self.augment is not None and not self._loaded:
            table, _ = self._inside(table, {})
        generator = None
        if method is not None and _arrays.whole(copies, "copies") > 0:
            augmenter = _augmenter(method, "method")
            options, *labels = augmenter._anchors(None, table.names)
            if any(given is not None for given in labels):
                raise InputError("anchors of rows do not apply to distill\nhint: name a column")
            generator = {"name": augmenter._method, "options": options, "copies": int(copies)}
        model, notes, diverged = self.model_.distill(
            table,
            student={
                "name": student,
                "hidden": [_arrays.whole(units, "hidden", 1) for units in np.atleast_1d(hidden)],
                "steps": _arrays.whole(steps, "steps", 1),
                "out_of_fold_labels": bool(out_of_fold_labels),
                "expected_error": bool(expected_error),
                "seed": seed_of(random_state),
            },
            method=generator,
            unlabeled=None if unlabeled is None else self._table(unlabeled),
        )
        if diverged is not None:
            raise InputError(f"the student diverged in epoch {diverged}: the loss is NaN")
        made = type(self)(hidden) if student == "network" else type(self)(model=student)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(made, name, getattr(self, name))
        made.model_, made.notes_, made.history_ = model, notes, []
        made._flat, made._loaded = self._flat, self._loaded
        return made

    @property
    def card_(self) -> dict[str, Any]:
        """Metadata of the model file."""
        check_is_fitted(self, "model_")
        metadata: dict[str, Any] = json.loads(self.model_.metadata)
        return metadata

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a model file, which ``windlass predict`` can read.

        Parameters
        ----------
        path : str or path-like
            Output file. It is written atomically.
        force : bool, default False
            Whether to overwrite an existing file that is not a Windlass model.

        See Also
        --------
        load : Read a model file.
        """
        check_is_fitted(self, "model_")
        core.write_atomic(os.fspath(path), self.model_.to_bytes(), "model", force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file that :meth:`save` or ``windlass train`` wrote.

        Parameters
        ----------
        path : str or path-like
            Model file.

        Returns
        -------
        model : Regressor
            A fitted estimator for tables with the columns of the model (or arrays, if these
            are x0, x1, …). Its parameters are the defaults; ``card_`` contains the settings of
            the training.
        """
        with open(path, "rb") as file:
            model = core.Model.from_bytes(file.read(), os.fspath(path))
        self = cls()
        self.model_ = model
        self.notes_ = []
        self.history_ = []
        self._flat = len(model.targets) == 1
        self._loaded = True
        return self
