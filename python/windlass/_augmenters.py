"""Augmentation methods for arrays, batches and tables."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from . import _arrays
from ._base import DEFAULTS, BaseEstimator, OneToOneFeatureMixin, needs, seed_of
from ._windlass import Fitted, InputError, InputTypeError, Plan, Table
from ._windlass import relevance as _relevance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from ._base import RandomStateLike

_COPIES: int | Literal["auto"] = DEFAULTS["augment"]["copies"]
_ORIGINALS: bool = DEFAULTS["augment"]["originals"]
_SEED: RandomStateLike = DEFAULTS["augment"]["random_state"]
_ADA = DEFAULTS["ada"]
_MIXUP = DEFAULTS["mixup"]
_C_MIXUP = DEFAULTS["c-mixup"]
_LOCAL_MIXUP = DEFAULTS["local-mixup"]
_NOISE = DEFAULTS["noise"]
_SMOTER = DEFAULTS["smoter"]
_SMOGN = DEFAULTS["smogn"]
_FOMA = DEFAULTS["foma"]
_CEMS = DEFAULTS["cems"]


class Augmenter(OneToOneFeatureMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of all augmentation methods.

    Use one of :class:`ADA`, :class:`Mixup`, :class:`CMixup`, :class:`LocalMixup`,
    :class:`Noise`, :class:`FOMA`, :class:`CEMS`, :class:`SMOTER` and :class:`SMOGN`.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` has names.
    seed_ : int
        Seed of the fit: ``random_state`` if that is an integer.
    sample_indices_ : ndarray of int
        Index of the source row of each resampled row; set by :meth:`fit_resample`.
    provenance_ : dict of str to ndarray
        Provenance of each resampled row; set by :meth:`fit_resample`. The keys are
        ``synthetic``, ``source``, ``copy`` and, depending on the method, ``group``, ``gamma``,
        ``partner`` and ``lambda``. Original rows have partner -1 and NaN for γ and λ.

    See Also
    --------
    augment : Augment a table with columns of any type.
    AugmentedRegressor : Augment inside ``fit`` of a scikit-learn regressor.
    """

    _method: ClassVar[str]
    # Whether it can be fitted separately in each partition of a table that does not fit in memory.
    _within_partitions: ClassVar[bool] = False
    # What may be passed to `fit` and `fit_resample` for each row.
    _METADATA: ClassVar[list[str]] = ["anchors", "sample_weight"]

    copies: int | Literal["auto"]
    rare: Any = None
    originals: bool
    random_state: RandomStateLike

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if "imblearn" not in sys.modules:
            return tags
        # A sampler of imbalanced-learn, which has tags of its own. `allow_nan` stays off, because
        # `fit_resample` takes missing values but `fit` does not.
        from imblearn.utils import _tags

        return _tags.Tags(
            estimator_type="sampler",
            target_tags=tags.target_tags,
            sampler_tags=_tags.SamplerTags(sample_indices=True),
            input_tags=_tags.InputTags(dataframe=True),
        )

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in DEFAULTS[self._method]}

    def _anchors(
        self, anchors: Any, columns: Sequence[str] = ()
    ) -> tuple[dict[str, Any], np.ndarray[Any, Any] | None, np.ndarray[Any, Any] | None]:
        """Return the options as text, then anchors and levels that are arrays."""
        if anchors is not None:
            raise InputError(f"anchors do not apply to {self._method}\nhint: omit them")
        return self._options(), None, None

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        anchors: Any = None,
    ) -> Self:
        """Fit the method on training rows, for :meth:`batch` and :meth:`draw`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features, ...)
            Numeric training features. Use :meth:`fit_resample` for tables with text.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights in means, standard deviations and clusters.
        anchors : optional
            Anchors of these rows (:class:`ADA` only); overrides the parameter ``anchors``.

        Returns
        -------
        self : Augmenter
            The fitted augmenter.
        """
        if _arrays.is_table(X):
            X, anchors = self._by_name(X, anchors)
        x, y = _arrays.same_floats(*self._rows(X, y))
        self._fit(X, x, y, sample_weight, anchors)
        return self

    def _by_name(self, X: Any, anchors: Any) -> tuple[Any, Any]:
        """Return features and anchors; the anchors may be a column of the table."""
        return X, anchors

    def _has_matrix(self, anchors: Any) -> bool:
        """Return whether anchors are real-valued."""
        return False

    def _rows(self, X: Any, y: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        x, targets = _arrays.to_numpy(X, "X"), _arrays.to_numpy(y, "y")
        _arrays.check_rows(x, targets)
        if x.shape[1:] == (0,):
            raise InputError(
                f"X has 0 feature(s) (shape={x.shape}) while a minimum of 1 is required."
            )
        return x, targets

    def _fit(
        self,
        X: Any,
        x: np.ndarray[Any, Any],
        y: np.ndarray[Any, Any],
        sample_weight: ArrayLike | None,
        anchors: Any,
    ) -> None:
        options, found, within = self._anchors(anchors)
        if options.get("within") is not None:
            raise InputError(
                "within names a column, but arrays have no column names\n"
                "hint: pass an array of labels, or a DataFrame to fit_resample"
            )
        seed = seed_of(self.random_state)
        self._fitted: Fitted | None = Fitted(
            self._method,
            options,
            x,
            y,
            seed,
            weights=_arrays.weights(sample_weight),
            anchors=found,
            within=within,
            rare=self.rare,
        )
        self._remember(X, x.shape[1], seed)

    def _remember(
        self,
        X: Any,
        features: int,
        seed: int,
        provenance: dict[str, np.ndarray[Any, Any]] | None = None,
    ) -> None:
        """Set the fitted attributes."""
        self.seed_ = seed
        self.n_features_in_ = features
        self._groups: np.ndarray[Any, Any] | None = None
        self._drawn: tuple[int | None, bool] | None = None
        self._provenance: dict[str, np.ndarray[Any, Any]] | None = provenance
        names = _arrays.column_names(X) if _arrays.is_table(X) else []
        if names and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def fit_resample(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        anchors: Any = None,
    ) -> tuple[Any, Any]:
        """Fit, and generate ``copies`` synthetic rows per row, or per row with a rare target.

        Split before you augment: test on rows that no synthetic row is derived from.

        All columns of arrays are augmented; integers and booleans are rounded. In tables
        (pandas, polars, pyarrow) text, dates, booleans and columns of 0 and 1 are copied from
        the source row: see :func:`windlass.augment`. Missing features stay missing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features, ...) or table
            Training features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights in means, standard deviations and clusters. The weights of the
            resampled rows are ``sample_weight[self.sample_indices_]``.
        anchors : optional
            Anchors of these rows (:class:`ADA` only); overrides the parameter ``anchors``.

        Returns
        -------
        X_resampled, y_resampled : same types as X and y
            The original rows (unless ``originals=False``) followed by the copies, in the
            containers and dtypes of ``X`` and ``y``.
        """
        if _arrays.is_table(X) and not self._has_matrix(anchors):
            from . import _table

            return _table.resample(self, X, y, sample_weight, anchors)
        x, targets = self._rows(X, y)
        if x.ndim == 2 and x.dtype.kind == "f" and np.isnan(x).any() and not self._has_matrix(anchors):
            return self._resample_missing(X, x, y, sample_weight, anchors)
        copies, originals = copies_of(self.copies), bool(self.originals)
        check_room(len(x) * ((copies or 1) + 1), math.prod(x.shape[1:]))
        x_in, y_in = _arrays.same_floats(x, targets)
        self._fit(X, x_in, y_in, sample_weight, anchors)
        plan = self._core().plan(copies, originals)
        rows = plan.sources() if "pandas" in map(_arrays.library, (X, y)) else None
        made_x = _arrays.like(plan.features(x_in), X, rows, originals)
        made_y = _arrays.like(plan.targets(y_in), y, rows, originals)
        self._drawn = (copies, originals)
        return made_x, made_y

    def _resample_missing(
        self, X: Any, x: np.ndarray[Any, Any], y: Any, sample_weight: Any, anchors: Any
    ) -> tuple[Any, Any]:
        """Resample an array with missing values, which only tables can have in the core."""
        from . import _table

        names = [f"x{place}" for place in range(x.shape[1])]
        table = Table.of_arrays(x.astype(np.float64, copy=False), names)
        made, made_y = _table.resample(self, table, y, sample_weight, anchors, continuous=names)
        made_x = np.column_stack([made.numbers(name) for name in names])
        self._remember(X, x.shape[1], self.seed_, self._provenance)
        return _arrays.like(made_x, X, self.sample_indices_, bool(self.originals)), made_y

    def set_fit_resample_request(self, **requests: bool | str | None) -> Self:
        """Request metadata for :meth:`fit_resample` in a pipeline of imbalanced-learn.

        The pipeline then passes ``sample_weight`` and ``anchors`` of its ``fit`` on to this step,
        if scikit-learn's metadata routing is enabled. imbalanced-learn does not resample metadata,
        so later steps must not request them: ``Ridge().set_fit_request(sample_weight=False)``.

        Parameters
        ----------
        **requests : bool, str or None
            ``sample_weight`` and, of :class:`ADA`, ``anchors``: ``True`` to request it, ``False``
            to ignore it, a name under which it is passed, or ``None`` to raise an error if it is
            passed.

        Returns
        -------
        self : Augmenter

        See Also
        --------
        fit_resample : The method that receives the metadata.
        """
        try:
            # Registers `fit_resample` as a method with metadata.
            import imblearn.base  # noqa: F401
            from sklearn.utils._metadata_requests import RequestMethod
        except ImportError:
            raise needs(
                "imbalanced-learn", "metadata routing of fit_resample", "imbalanced-learn"
            ) from None
        # The pipeline asks for requests of `fit` too, although it does not call it.
        for method in ("fit", "fit_resample"):
            RequestMethod(method, self._METADATA).__get__(self, type(self))(**requests)
        return self

    def _core(self) -> Fitted:
        fitted: Fitted | None = getattr(self, "_fitted", None)
        if fitted is None:
            name = type(self).__name__
            raise InputError(f"this {name} is not fitted yet\nhint: call fit first")
        return fitted

    def batch(self, X: Any, y: Any, idx: Any, *, step: int) -> tuple[Any, Any]:
        """Augment a minibatch of the training rows.

        Parameters
        ----------
        X : array or tensor of shape (n_batch, n_features, ...)
            Features of the batch.
        y : array or tensor of shape (n_batch,) or (n_batch, n_outputs)
            Targets of the batch.
        idx : array or tensor of int, shape (n_batch,)
            Indices of the training rows in the batch.
        step : int
            Number of the training step. The same step gives the same random numbers.

        Returns
        -------
        X_batch, y_batch : ndarray or Tensor
            One synthetic row per row: arrays of floats, or tensors with the device and dtype
            of the input if ``X`` and ``y`` are tensors.

        See Also
        --------
        windlass.torch.Collate : Augment the batches of a ``DataLoader``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.arange(20.0).reshape(10, 2)
        >>> ada = ADA(clusters=2, random_state=0).fit(X, X[:, 0])
        >>> xb, yb = ada.batch(X[:4], X[:4, 0], [0, 1, 2, 3], step=7)
        >>> xb.shape, yb.shape
        ((4, 2), (4,))
        """
        fitted = self._core()
        torch = sys.modules.get("torch")
        if torch is not None and type(X) is type(y) is type(idx) is torch.Tensor:
            made = _batch_of_tensors(torch, fitted, X, y, idx, step)
            if made is not None:
                return made
        rows, step = _arrays.row_numbers(idx), _arrays.whole(step, "step")
        made = fitted.batch(_floats(X, "X"), _floats(y, "y"), rows, step)
        if torch is None or not isinstance(X, torch.Tensor):
            return made
        x_made, y_made = (torch.from_numpy(side).to(X.device) for side in made)
        return _as_precise(x_made, X), _as_precise(y_made, y)

    def draw(self, idx: Any = None, *, step: int = 0) -> dict[str, np.ndarray[Any, Any]]:
        """Return the random draws of a step without applying them.

        Parameters
        ----------
        idx : array-like of int, optional
            Rows of a batch; by default all rows, as in a copy of :meth:`fit_resample`.
        step : int, default 0
            Number of the step.

        Returns
        -------
        drawn : dict of str to ndarray
            ``source`` and, depending on the method, ``group`` and ``gamma``, or ``partner``,
            ``lambda`` and (:class:`LocalMixup`) ``weight``.
        """
        rows = None if idx is None else _arrays.row_numbers(idx)
        return self._core().draw(_arrays.whole(step, "step"), rows)

    @property
    def sample_indices_(self) -> np.ndarray[Any, Any]:
        """Index of the source row of each resampled row."""
        kept: dict[str, np.ndarray[Any, Any]] | None = getattr(self, "_provenance", None)
        return self._again("sample_indices_").sources() if kept is None else kept["source"]

    @property
    def provenance_(self) -> dict[str, np.ndarray[Any, Any]]:
        """Provenance of each resampled row."""
        kept: dict[str, np.ndarray[Any, Any]] | None = getattr(self, "_provenance", None)
        return self._again("provenance_").provenance() if kept is None else kept

    def _again(self, name: str) -> Plan:
        """Repeat the draws of :meth:`fit_resample`, which is cheaper than storing them."""
        if getattr(self, "_drawn", None) is None:
            raise AttributeError(f"{name} is set by fit_resample")
        return self._core().plan(*self._drawn)  # type: ignore[misc]


def copies_of(copies: Any) -> int | None:
    """Return a number of copies, or ``None`` if it is automatic."""
    if isinstance(copies, str):
        if copies != "auto":
            raise InputError(f'copies must be an integer or "auto", got {copies!r}')
        return None
    return _arrays.whole(copies, "copies", 1)


def check_room(rows: int, columns: int) -> None:
    """Raise an error if the result does not fit in memory, before the process is killed."""
    try:
        np.empty((rows, columns))
    except (MemoryError, ValueError):
        raise InputError(
            f"{rows} rows of {columns} columns do not fit in memory\nhint: choose fewer copies"
        ) from None


def _batch_of_tensors(
    torch: Any, fitted: Fitted, X: Any, y: Any, idx: Any, step: Any
) -> tuple[Any, Any] | None:
    """Augment contiguous CPU tensors without conversions, which dominate the time of a batch."""
    rows, x_type, y_type, double = idx.numel(), X.dtype, y.dtype, torch.float64
    open_to_all = (
        type(step) is int
        and step >= 0
        and rows > 0
        and idx.dim() == 1
        and idx.dtype is torch.int64
        and (x_type is torch.float32 or x_type is double)
        and (y_type is torch.float32 or y_type is double)
        and X.dim() > 0
        and y.dim() > 0
        and X.size(0) == rows
        and y.size(0) == rows
        and not (X.requires_grad or y.requires_grad)
        and (idx.is_cpu and X.is_cpu and y.is_cpu)
        and (idx.is_contiguous() and X.is_contiguous() and y.is_contiguous())
    )
    if not open_to_all:
        return None
    # Values are read in place, so pointers must be valid and aligned.
    places = idx.data_ptr(), X.data_ptr(), y.data_ptr()
    x_size, y_size = 8 if x_type is double else 4, 8 if y_type is double else 4
    if 0 in places or places[0] % 8 or places[1] % x_size or places[2] % y_size:
        return None
    # Arrays and tensors share memory.
    x_made, y_made = fitted.batch(X.numpy(), y.numpy(), idx.numpy(), step)
    return torch.from_numpy(x_made), torch.from_numpy(y_made)


def _floats(side: Any, name: str) -> np.ndarray[Any, Any]:
    if _arrays.is_tensor(side) and not side.is_floating_point():
        side = side.float()
    return _arrays.to_floats(_arrays.to_numpy(side, name))


def _as_precise(made: Any, given: Any) -> Any:
    """Convert a tensor of floats to the dtype of its source."""
    floats = _arrays.is_tensor(given) and given.is_floating_point()
    return made.to(given.dtype) if floats else made


class ADA(Augmenter):
    """Anchor Data Augmentation: move each row toward or away from its group's mean.

    Similar rows are grouped (by k-means or other anchors). Each row is moved toward (γ > 1)
    or away from (γ < 1) the mean of its group, features and target together, so that the
    relation between them is approximately preserved.

    Parameters
    ----------
    clusters : int or "auto", default "auto"
        Number of groups; "auto" is √(rows/2), at least 2 and at most 32.
    alpha : float, default 2.0
        γ is drawn from [1/alpha, alpha]. Must be above 1.
    anchors : str or array-like, default "kmeans"
        How to group rows: ``"kmeans"``; the name of a column of a DataFrame;
        ``"bins:COLUMN"`` or ``"quantiles:COLUMN"`` (columns of arrays are x0, x1, … and y);
        an array or column of labels; or a matrix of real-valued anchors with one row per
        training row.
    gamma : str, float or list of float, default "uniform"
        Distribution of γ: "uniform", "log-uniform", "grid[:K]", "published-grid[:K]",
        "gamma:SHAPE,SCALE", one number, or a list of numbers that are used in turn.
    cluster_on : {"xy", "x", "y"}, default "xy"
        Columns for k-means: features, targets or both.
    cluster_scale : {"standard", "raw"}, default "standard"
        Standardize columns before k-means, or use raw values.
    within : str or array of labels, optional
        Form groups separately within each level of this categorical column.
    per : {"auto", "row", "copy"}, default "auto"
        Draw one γ per row, or one per copy or batch; "auto" is "row" for
        :meth:`fit_resample` and "copy" for :meth:`batch`.
    copies : int or "auto", default "auto"
        Number of synthetic rows per row in :meth:`fit_resample`; "auto" is 1 or, with ``rare``,
        the number that makes rare rows as many as the others.
    rare : str, path or list of control points, optional
        Generate rows in :meth:`fit_resample` only from rows whose (first) target is rare: see
        :func:`windlass.relevance`.
    originals : bool, default True
        Whether :meth:`fit_resample` returns the original rows too, before the synthetic rows.
    random_state : int, Generator or None, default 0
        Random seed; ``None`` uses a new seed in every fit.

    Attributes
    ----------
    groups_ : ndarray of int, shape (n_samples,)
        Group of each training row.

    See Also
    --------
    compare : Test whether augmentation helps.
    windlass.torch.ada : The same map for tensors, with gradients.

    References
    ----------
    Schneider, Goshtasbpour, Perez-Cruz, *Anchor Data Augmentation*, NeurIPS 2023,
    https://arxiv.org/abs/2311.06965.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [4.0], [10.0], [30.0]])
    >>> y = np.array([1.0, 3.0, 5.0, 9.0])
    >>> ada = ADA(anchors=[0, 0, 1, 1], gamma=4.0, originals=False)
    >>> X2, y2 = ada.fit_resample(X, y)
    >>> X2.ravel()  # γ = 4 halves every distance to the group's mean: 2 and 20
    array([ 1.,  3., 15., 25.])
    >>> y2
    array([1.5, 2.5, 6. , 8. ])
    >>> ada.provenance_["gamma"]
    array([4., 4., 4., 4.])
    """

    _method = "ada"

    def __init__(
        self,
        clusters: int | str = _ADA["clusters"],
        alpha: float = _ADA["alpha"],
        *,
        anchors: Any = _ADA["anchors"],
        gamma: str | float | Sequence[float] = _ADA["gamma"],
        cluster_on: str = _ADA["cluster_on"],
        cluster_scale: str = _ADA["cluster_scale"],
        within: Any = _ADA["within"],
        per: str = _ADA["per"],
        copies: int | Literal["auto"] = _COPIES,
        rare: Any = None,
        originals: bool = _ORIGINALS,
        random_state: RandomStateLike = _SEED,
    ) -> None:
        self.clusters = clusters
        self.alpha = alpha
        self.anchors = anchors
        self.gamma = gamma
        self.cluster_on = cluster_on
        self.cluster_scale = cluster_scale
        self.within = within
        self.per = per
        self.copies = copies
        self.rare = rare
        self.originals = originals
        self.random_state = random_state

    @classmethod
    def published(cls, clusters: int, alpha: float, **params: Any) -> Self:
        """Return an augmenter with the settings of the published code.

        These are k-means on raw [x, y], its grid of γ, and one γ per copy or batch.

        Parameters
        ----------
        clusters : int
            Number of groups.
        alpha : float
            Upper end of the range of γ.
        **params
            Other parameters of the class.

        Returns
        -------
        ada : ADA
        """
        published = {"cluster_scale": "raw", "gamma": "published-grid", "per": "copy"}
        return cls(clusters, alpha, **{**published, **params})

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        if hasattr(self.gamma, "tolist"):
            options["gamma"] = self.gamma.tolist()
        return options

    def _anchors(
        self, anchors: Any, columns: Sequence[str] = ()
    ) -> tuple[dict[str, Any], np.ndarray[Any, Any] | None, np.ndarray[Any, Any] | None]:
        options = self._options()
        _name_anchors(options, columns, anchors)
        found = within = None
        if not isinstance(options["anchors"], (str, type(None))):
            found = _found(options["anchors"])
            # The core then reports parameters of k-means as not applicable.
            options["anchors"] = "matrix:anchors" if found.ndim == 2 else "column:anchors"
        if not isinstance(self.within, (str, type(None))):
            within = _arrays.labels(self.within, "within")
            options["within"] = None
        return options, found, within

    def _by_name(self, X: Any, anchors: Any) -> tuple[Any, Any]:
        value = self.anchors if anchors is None else anchors
        if not isinstance(value, str) or value == _ADA["anchors"]:
            return X, anchors
        names = [str(name) for name in _arrays.column_names(X)]
        kind, _, column = value.partition(":")
        if kind in ("bins", "quantiles") and column in names:
            return X, f"{kind}:x{names.index(column)}"
        name = column if kind == "column" and column in names else value
        return (_arrays.without(X, name), X[name]) if name in names else (X, anchors)

    def _has_matrix(self, anchors: Any) -> bool:
        value = self.anchors if anchors is None else anchors
        try:
            return not isinstance(value, (str, type(None))) and np.ndim(value) == 2
        except ValueError:
            # A ragged list, which is refused as labels.
            return False

    @property
    def groups_(self) -> np.ndarray[Any, Any]:
        """Group of each training row."""
        groups: np.ndarray[Any, Any] | None = getattr(self, "_groups", None)
        if groups is not None:
            return groups
        if getattr(self, "_fitted", None) is not None:
            groups = self._core().groups
        elif "group" in (getattr(self, "_provenance", None) or {}):
            rows = self.sample_indices_
            groups = np.zeros(rows.max() + 1, dtype=np.int64)
            groups[rows] = self.provenance_["group"]
        if groups is None:
            raise AttributeError("groups_ is set by fit, if the anchors are groups")
        # Cached for training loops.
        self._groups = groups
        return groups

    def draw_gamma(self, step: int, idx: Any = None) -> Any:
        """Draw γ for a training step.

        Parameters
        ----------
        step : int
            Number of the step.
        idx : array-like of int, optional
            Rows of the batch; needed with ``per="row"``.

        Returns
        -------
        gamma : float or ndarray
            One number, or one per row of ``idx`` with ``per="row"``.
        """
        if self.per == "row":
            return self.draw(idx, step=step)["gamma"]
        return float(self.draw([0], step=step)["gamma"][0])


def _name_anchors(options: dict[str, Any], columns: Sequence[str], anchors: Any) -> None:
    """Convert the name of a column to the syntax of the command."""
    value = options["anchors"] if anchors is None else anchors
    if isinstance(value, str) and value != "kmeans":
        kind, mark, rest = value.partition(":")
        known = kind in ("bins", "quantiles", "column") and rest in columns
        if not mark or value in columns and not known:
            value = f"column:{value}"
    options["anchors"] = value


def _found(anchors: Any) -> np.ndarray[Any, Any]:
    """Return labels, or a matrix of real-valued anchors."""
    array = _arrays.as_array(anchors, "anchors")
    if array.ndim == 2:
        return np.ascontiguousarray(_arrays.to_numpy(array, "anchors"), dtype=np.float64)
    return _arrays.labels(array, "anchors")


class Mixup(Augmenter):
    """Mixup: mix each row with a random training row.

    Parameters
    ----------
    beta : float, default 2.0
        The weight λ of the row is drawn from Beta(beta, beta).
    per : {"auto", "row", "copy"}, default "auto"
        Draw one λ per row, or one per copy or batch; "auto" is "row" for
        :meth:`fit_resample` and "copy" for :meth:`batch`.
    copies : int or "auto", default "auto"
        Number of synthetic rows per row in :meth:`fit_resample`; "auto" is 1 or, with ``rare``,
        the number that makes rare rows as many as the others.
    rare : str, path or list of control points, optional
        Generate rows in :meth:`fit_resample` only from rows whose (first) target is rare: see
        :func:`windlass.relevance`.
    originals : bool, default True
        Whether :meth:`fit_resample` returns the original rows too.
    random_state : int, Generator or None, default 0
        Random seed; ``None`` uses a new seed in every fit.

    See Also
    --------
    CMixup : Partners with similar targets.
    LocalMixup : Partners with similar features.

    References
    ----------
    Zhang, Cisse, Dauphin, Lopez-Paz, *mixup: Beyond Empirical Risk Minimization*, ICLR 2018,
    https://arxiv.org/abs/1710.09412.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0)[:, None]
    >>> mixup = Mixup(beta=0.5, originals=False).fit(X, X[:, 0])
    >>> drawn = mixup.draw([3], step=5)
    >>> xb, yb = mixup.batch(X[[3]], X[[3], 0], [3], step=5)
    >>> lam, partner = drawn["lambda"][0], drawn["partner"][0]
    >>> bool(yb[0] == lam * 3.0 + (1 - lam) * X[partner, 0])
    True
    """

    _method = "mixup"

    def __init__(
        self,
        beta: float = _MIXUP["beta"],
        *,
        per: str = _MIXUP["per"],
        copies: int | Literal["auto"] = _COPIES,
        rare: Any = None,
        originals: bool = _ORIGINALS,
        random_state: RandomStateLike = _SEED,
    ) -> None:
        self.beta = beta
        self.per = per
        self.copies = copies
        self.rare = rare
        self.originals = originals
        self.random_state = random_state


class CMixup(Augmenter):
    """C-Mixup: mix each row with a row of similar target.

    Parameters
    ----------
    bandwidth : float or str, default "0.25sd"
        Bandwidth of the Gaussian kernel on targets, in units of the target or in standard
        deviations, such as ``"0.25sd"``.
    beta : float, default 2.0
        The weight λ of the row is drawn from Beta(beta, beta).
    per, copies, rare, originals, random_state
        See :class:`Mixup`.

    See Also
    --------
    Mixup : Random partners.
    LocalMixup : Partners with similar features.

    Notes
    -----
    The n × n matrix of probabilities is never formed.

    References
    ----------
    Yao, Wang, Zhang, Zou, Finn, *C-Mixup: Improving Generalization in Regression*,
    NeurIPS 2022, https://arxiv.org/abs/2210.05775.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(40.0)[:, None]
    >>> X2, y2 = CMixup(bandwidth=1.0, copies=3).fit_resample(X, X[:, 0])
    >>> X2.shape
    (160, 1)
    """

    _method = "c-mixup"

    def __init__(
        self,
        bandwidth: float | str = _C_MIXUP["bandwidth"],
        *,
        beta: float = _C_MIXUP["beta"],
        per: str = _C_MIXUP["per"],
        copies: int | Literal["auto"] = _COPIES,
        rare: Any = None,
        originals: bool = _ORIGINALS,
        random_state: RandomStateLike = _SEED,
    ) -> None:
        self.bandwidth = bandwidth
        self.beta = beta
        self.per = per
        self.copies = copies
        self.rare = rare
        self.originals = originals
        self.random_state = random_state


class LocalMixup(Augmenter):
    """Local-Mixup: mix each row with a row of similar features.

    Parameters
    ----------
    epsilon : float or str, default "auto"
        Maximum distance between the features of partners: in units of the features, or of
        standardized features, such as ``"1.5sd"``; "auto" admits about a quarter of all
        pairs. :meth:`fit_resample` omits pairs that are farther apart, so it may return fewer
        rows; :meth:`batch` gives them weight 0: see ``draw(idx, step=step)["weight"]``.
    beta : float, default 2.0
        The weight λ of the row is drawn from Beta(beta, beta).
    per, copies, rare, originals, random_state
        See :class:`Mixup`.

    See Also
    --------
    Mixup : Random partners.
    CMixup : Partners with similar targets.

    References
    ----------
    Baena, Drumetz, Gripon, *Preventing Manifold Intrusion with Locality: Local Mixup*, 2022,
    https://arxiv.org/abs/2201.04368.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(40.0)[:, None]
    >>> X2, y2 = LocalMixup(epsilon=5.0, copies=3).fit_resample(X, X[:, 0])
    >>> 40 < len(X2) < 160
    True
    """

    _method = "local-mixup"
    # Partners are similar rows, which every partition has.
    _within_partitions = True

    def __init__(
        self,
        epsilon: float | str = _LOCAL_MIXUP["epsilon"],
        *,
        beta: float = _LOCAL_MIXUP["beta"],
        per: str = _LOCAL_MIXUP["per"],
        copies: int | Literal["auto"] = _COPIES,
        rare: Any = None,
        originals: bool = _ORIGINALS,
        random_state: RandomStateLike = _SEED,
    ) -> None:
        self.epsilon = epsilon
        self.beta = beta
        self.per = per
        self.copies = copies
        self.rare = rare
        self.originals = originals
        self.random_state = random_state


class Noise(Augmenter):
    """Gaussian noise on targets, and optionally on features.

    Parameters
    ----------
    target_noise : float, default 0.1
        Standard deviation of the noise on targets.
    feature_noise : float, default 0.0
        Standard deviation of the noise on features.
    noise_units : {"sd", "absolute"}, default "sd"
        Units of the noise: standard deviations of each column, or units of the column.
    copies : int or "auto", default "auto"
        Number of synthetic rows per row in :meth:`fit_resample`; "auto" is 1 or, with ``rare``,
        the number that makes rare rows as many as the others.
    rare : str, path or list of control points, optional
        Generate rows in :meth:`fit_resample` only from rows whose (first) target is rare: see
        :func:`windlass.relevance`.
    originals : bool, default True
        Whether :meth:`fit_resample` returns the original rows too.
    random_state : int, Generator or None, default 0
        Random seed; ``None`` uses a new seed in every fit.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0)[:, None]
    >>> X2, y2 = Noise(target_noise=0.2, copies=2).fit_resample(X, X[:, 0])
    >>> bool((X2[6:12] == X).all()), bool((y2[6:12] == X[:, 0]).any())
    (True, False)
    """

    _method = "noise"

    def __init__(
        self,
        target_noise: float = _NOISE["target_noise"],
        feature_noise: float = _NOISE["feature_noise"],
        *,
        noise_units: str = _NOISE["noise_units"],
        copies: int | Literal["auto"] = _COPIES,
        rare: Any = None,
        originals: bool = _ORIGINALS,
        random_state: RandomStateLike = _SEED,
    ) -> None:
        self.target_noise = target_noise
        self.feature_noise = feature_noise
        self.noise_units = noise_units
        self.copies = copies
        self.rare = rare
        self.originals = originals
        self.random_state = random_state


class FOMA(Augmenter):
    """FOMA: shrink the rows of a neighborhood toward its leading directions.

    With the singular value decomposition USV' of a neighborhood of rows [X, y], singular values
    after the leading ones are multiplied by λ: the same linear map for features and targets.

    Parameters
    ----------
    rho : float or "dimension", default 0.95
        Share of the sum of singular values of the directions that stay, in (0, 1];
        ``"dimension"`` keeps as many as the intrinsic dimension of the rows.
    beta : float, default 2.0
        λ of a neighborhood is drawn from Beta(beta, beta).
    variant : {"paper", "published", "published-trailing"}, default "paper"
        ``"published"`` does what the published code does on airfoil: it shrinks the *leading*
        singular values and keeps the targets. ``"published-trailing"`` keeps the targets only.
    neighborhood : {"auto", "nearest", "near", "random"}, default "auto"
        Neighborhoods of :meth:`fit_resample`: a random row and the nearest rows that are left
        ("auto" and "nearest"), rows drawn with probability ∝ 1/distance, or random rows. In
        :meth:`batch`, the batch is the neighborhood.
    neighborhood_size : int, default 32
        Number of rows of a neighborhood of :meth:`fit_resample`.
    svd_scale : {"standard", "raw"}, default "standard"
        Divide columns by their standard deviation and center them in each neighborhood, or use
        raw values, as published.
    copies, rare, originals, random_state
        See :class:`Mixup`.

    See Also
    --------
    CEMS : Steps along the curved surface of a neighborhood.

    References
    ----------
    Kaufman, Azencot, *First-Order Manifold Data Augmentation for Regression Learning*,
    ICML 2024, https://arxiv.org/abs/2406.10914.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> X2, y2 = FOMA(rho=0.8, copies=3).fit_resample(X, X[:, 0])
    >>> X2.shape
    (160, 3)
    """

    _method = "foma"
    # Neighborhoods are similar rows, which every partition has.
    _within_partitions = True

    def __init__(
        self,
        rho: float | str = _FOMA["rho"],
        *,
        beta: float = _FOMA["beta"],
        variant: str = _FOMA["variant"],
        neighborhood: str = _FOMA["neighborhood"],
        neighborhood_size: int = int(_FOMA["neighborhood_size"]),
        svd_scale: str = _FOMA["svd_scale"],
        copies: int | Literal["auto"] = _COPIES,
        rare: Any = None,
        originals: bool = _ORIGINALS,
        random_state: RandomStateLike = _SEED,
    ) -> None:
        self.rho = rho
        self.beta = beta
        self.variant = variant
        self.neighborhood = neighborhood
        self.neighborhood_size = neighborhood_size
        self.svd_scale = svd_scale
        self.copies = copies
        self.rare = rare
        self.originals = originals
        self.random_state = random_state


class CEMS(Augmenter):
    """CEMS: move rows along the curved surface that their neighborhood lies on.

    A quadratic surface is fitted to the neighbors of each row [x, y]: its first directions are
    the tangent space, and the others are regressed on them. Each row takes a random step along it.

    Parameters
    ----------
    sigma : float, default 0.1
        Standard deviation of the step, in standard deviations of the columns.
    dimension : int or "auto", default "auto"
        Dimension of the surface; "auto" estimates it by two nearest neighbors.
    neighborhood : {"auto", "row", "nearest", "near", "random"}, default "auto"
        The nearest rows of each row ("auto" and "row"), or neighborhoods that their rows share,
        as in :class:`FOMA`.
    neighborhood_size : int, default 32
        Number of rows of a neighborhood. In :meth:`batch`, a shared neighborhood is the batch.
    svd_scale : {"standard", "raw"}, default "standard"
        Divide columns by their standard deviation, or use raw values: then ``sigma`` is in the
        units of the columns.
    copies, rare, originals, random_state
        See :class:`Mixup`.

    See Also
    --------
    FOMA : Shrink rows toward the leading directions of a neighborhood.

    References
    ----------
    Kaufman, Azencot, *Curvature Enhanced Data Augmentation for Regression*, ICML 2025,
    https://arxiv.org/abs/2506.06853.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> X2, y2 = CEMS(originals=False).fit_resample(X, X[:, 0] ** 2)
    >>> bool(np.median(np.abs(y2 - X2[:, 0] ** 2)) < 0.01)  # close to the curve
    True
    """

    _method = "cems"
    # Neighborhoods are similar rows, which every partition has.
    _within_partitions = True

    def __init__(
        self,
        sigma: float = _CEMS["sigma"],
        *,
        dimension: int | str = _CEMS["dimension"],
        neighborhood: str = _CEMS["neighborhood"],
        neighborhood_size: int = int(_CEMS["neighborhood_size"]),
        svd_scale: str = _CEMS["svd_scale"],
        copies: int | Literal["auto"] = _COPIES,
        rare: Any = None,
        originals: bool = _ORIGINALS,
        random_state: RandomStateLike = _SEED,
    ) -> None:
        self.sigma = sigma
        self.dimension = dimension
        self.neighborhood = neighborhood
        self.neighborhood_size = neighborhood_size
        self.svd_scale = svd_scale
        self.copies = copies
        self.rare = rare
        self.originals = originals
        self.random_state = random_state


class SMOTER(Augmenter):
    """SMOTER: mix each row of rare target with a rare neighbor.

    Parameters
    ----------
    neighbors : int, default 5
        Number of nearest rare rows, by standardized features, of which one is the partner.
        Low and high targets are not mixed.
    rare : str, path or list of control points, default "both"
        Which targets are rare: see :func:`windlass.relevance`.
    copies : int or "auto", default "auto"
        Number of synthetic rows per rare row in :meth:`fit_resample`; "auto" makes rare rows as
        many as the others.
    originals : bool, default True
        Whether :meth:`fit_resample` returns the original rows too. All of them are kept, of which
        the paper drops some that are not rare.
    random_state : int, Generator or None, default 0
        Random seed; ``None`` uses a new seed in every fit.

    See Also
    --------
    SMOGN : Noise instead of a partner that is far away.
    relevance : Which targets are rare.

    References
    ----------
    Torgo, Ribeiro, Pfahringer, Branco, *SMOTE for Regression*, EPIA 2013,
    https://doi.org/10.1007/978-3-642-40669-0_33.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(40.0)[:, None]
    >>> y = X[:, 0] ** 2  # the five highest are rare
    >>> X2, y2 = SMOTER(rare="high").fit_resample(X, y)
    >>> X2.shape, bool((y2[40:] >= 35**2).all())
    ((70, 1), True)
    """

    _method = "smoter"

    def __init__(
        self,
        neighbors: int = int(_SMOTER["neighbors"]),
        *,
        rare: Any = "both",
        copies: int | Literal["auto"] = _COPIES,
        originals: bool = _ORIGINALS,
        random_state: RandomStateLike = _SEED,
    ) -> None:
        self.neighbors = neighbors
        self.rare = rare
        self.copies = copies
        self.originals = originals
        self.random_state = random_state


class SMOGN(Augmenter):
    """SMOGN: mix each row of rare target with a near rare row, or add noise if none is near.

    Parameters
    ----------
    neighbors : int, default 5
        Number of nearest rare rows, by standardized features, of which one is the partner. It is
        near if it is nearer than half the median distance to the other rare rows.
    perturbation : float, default 0.02
        Standard deviation of the noise, in standard deviations of each column.
    rare, copies, originals, random_state
        See :class:`SMOTER`.

    See Also
    --------
    SMOTER : Always a partner.
    relevance : Which targets are rare.

    References
    ----------
    Branco, Torgo, Ribeiro, *SMOGN: a Pre-processing Approach for Imbalanced Regression*, 2017,
    https://proceedings.mlr.press/v74/branco17a.html.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(40.0)[:, None]
    >>> X2, y2 = SMOGN(rare="high", copies=2).fit_resample(X, X[:, 0] ** 2)
    >>> X2.shape  # the five highest targets are rare
    (50, 1)
    """

    _method = "smogn"

    def __init__(
        self,
        neighbors: int = int(_SMOGN["neighbors"]),
        perturbation: float = _SMOGN["perturbation"],
        *,
        rare: Any = "both",
        copies: int | Literal["auto"] = _COPIES,
        originals: bool = _ORIGINALS,
        random_state: RandomStateLike = _SEED,
    ) -> None:
        self.neighbors = neighbors
        self.perturbation = perturbation
        self.rare = rare
        self.copies = copies
        self.originals = originals
        self.random_state = random_state


def relevance(y: ArrayLike, rare: Any = "both") -> np.ndarray[Any, Any]:
    """Return the relevance φ of targets: 1 for rare ones, 0 for common ones.

    A target with a relevance of at least 0.8 is rare.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    rare : str, path or list of control points, default "both"
        Which targets are rare: "high", "low" or "both" extremes, by the box plot (0 at the
        median, 1 at the most extreme values within 1.5 interquartile ranges of the quartiles);
        "density", targets in sparse ranges (1 minus the scaled density); control points
        ``(y, phi)`` or ``(y, phi, slope)`` with increasing ``y``; or the path of a table of
        them, with columns ``y``, ``phi`` and, optionally, ``slope``.

    Returns
    -------
    phi : ndarray of shape (n_samples,)
        Relevance of each target, in [0, 1]: a monotone cubic interpolation of the control points.

    See Also
    --------
    SMOTER : Generate rows of rare targets.

    Examples
    --------
    >>> relevance([1.0, 2.0, 3.0, 4.0, 5.0], rare="high")
    array([0. , 0. , 0. , 0.5, 1. ])
    >>> relevance([10.0, 15.0, 20.0], rare=[(10, 0), (20, 1)])
    array([0. , 0.5, 1. ])
    """
    targets = _arrays.to_numpy(y, "y")
    if targets.ndim != 1:
        raise InputError(f"y must have one dimension, got shape {targets.shape}")
    return _relevance(np.ascontiguousarray(targets, dtype=np.float64), rare)


_CLASSES = (ADA, Mixup, CMixup, LocalMixup, Noise, FOMA, CEMS, SMOTER, SMOGN)
METHODS: dict[str, type[Augmenter]] = {method._method: method for method in _CLASSES}


def named(name: str, **params: Any) -> Augmenter:
    """Create a method by its name in the command."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}: methods are {', '.join(METHODS)}")
    known = METHODS[name]._get_param_names()
    for param in params:
        if param not in known:
            raise InputTypeError(
                f"{name} has no option {param!r}: its options are {', '.join(known)}"
            )
    return METHODS[name](**params)
