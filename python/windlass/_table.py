"""Tables of pandas, polars, pyarrow, and anything else that speaks Arrow."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from . import _windlass as core
from ._augmenters import ADA, Augmenter, named
from ._base import DEFAULTS, needs, seed_of
from ._windlass import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ._base import RandomStateLike

_USUAL = DEFAULTS["augment"]
_PREFIX = "windlass_"


def augment(
    data: Any,
    target: str | Sequence[str],
    *,
    method: str | Augmenter = "ada",
    copies: int | None = None,
    originals: bool | None = None,
    provenance: bool = False,
    random_state: RandomStateLike = _USUAL["random_state"],
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    carry: Sequence[str] = (),
    categorical: Sequence[str] = (),
    continuous: Sequence[str] = (),
    weight: str | None = None,
    integers: str = "round",
    clip: bool = _USUAL["clip"],
    drop_missing_target: bool = _USUAL["drop_missing_target"],
    **options: Any,
) -> Any:
    """Augment a table: the same rows as the command ``windlass augment`` makes.

    Floats, and integers with more than 20 distinct values, are moved. Text, dates, booleans
    and integers with few values keep the value of the source row. Missing values stay
    missing.

    Parameters
    ----------
    data : DataFrame of pandas or polars, Table of pyarrow, or any table that speaks Arrow
        The rows. They are not copied and not changed.
    target : str or list of str
        The column to predict, or several.
    method : str or Augmenter, default "ada"
        "ada", "mixup", "c-mixup", "local-mixup", "noise", or an augmenter with its settings.
    copies : int, default 1
        Synthetic rows of every row.
    originals : bool, default True
        Whether the rows themselves come first.
    provenance : bool, default False
        Whether to say in further columns (``windlass_source``, …) where every row comes from.
    random_state : int, Generator or None, default 0
        The seed, as ``--seed`` of the command; that of an augmenter, where one is given.
    features : list of str, optional
        The only columns to move; the rest is carried.
    exclude : list of str
        Columns to leave out.
    carry : list of str
        Columns that keep the value of the source row: ids, folds.
    categorical : list of str
        Columns whose numbers are names.
    continuous : list of str
        Columns to move, although they hold few different integers.
    weight : str, optional
        The column that says how much a row counts.
    integers : {"round", "float"}, default "round"
        What becomes of integers that are moved.
    clip : bool, default False
        Whether to keep values inside the range observed in their column.
    drop_missing_target : bool, default False
        Leave out rows without a finite target instead of refusing them.
    **options
        Settings of the method, such as ``alpha=3.0`` or ``bandwidth="0.5sd"``.

    Returns
    -------
    table
        A table of the same kind. The index of a pandas DataFrame is that of the source rows.

    Examples
    --------
    >>> import pandas as pd
    >>> cars = pd.DataFrame(
    ...     {"weight": [3.5, 2.1, 2.0], "origin": ["usa", "japan", "japan"], "mpg": [18, 31.5, 29]}
    ... )
    >>> more = augment(cars, target="mpg", copies=2, provenance=True)
    >>> more.shape
    (9, 8)
    >>> list(more["origin"][3:6])
    ['usa', 'japan', 'japan']
    """
    if isinstance(method, Augmenter):
        if options:
            raise InputTypeError(
                f"{', '.join(options)}: the augmenter has its settings already\n"
                "hint: set them there, or give the method by its name"
            )
        augmenter = method
        random_state = augmenter.random_state
    else:
        augmenter = named(method, **options)
    targets = [target] if isinstance(target, str) else list(target)
    seed = seed_of(random_state)
    copies = augmenter.copies if copies is None else copies
    originals = augmenter.originals if originals is None else originals
    table = Source(data, "data")
    roles = {
        "features": None if features is None else list(features),
        "exclude": list(exclude),
        "carry": list(carry),
        "categorical": list(categorical),
        "continuous": list(continuous),
        "weight": weight,
        "integers": integers,
    }
    made = table.augment(
        augmenter,
        targets,
        roles,
        copies=copies,
        originals=originals,
        seed=seed,
        clip=clip,
        drop_missing_target=drop_missing_target,
    )
    return made.table(provenance=provenance)


class Source:
    """A table of any kind, as the core sees it."""

    def __init__(self, data: Any, name: str) -> None:
        if _arrays.is_lazy(data):
            raise InputTypeError(
                f"{name} is a LazyFrame, whose rows do not exist yet\nhint: {name}.collect()"
            )
        if not hasattr(data, "__arrow_c_stream__"):
            raise InputTypeError(
                f"{name} must be a table that speaks Arrow (pandas, polars, pyarrow), "
                f"got {type(data).__name__}\nhint: for arrays use ADA(...).fit_resample(X, y)"
            )
        self.data = data
        self.kind = type(data).__module__.partition(".")[0]
        if self.kind == "pandas":
            self.core = core.Table.read(_of_pandas(data))
        else:
            self.core = core.Table.read(data)

    def augment(
        self,
        augmenter: Augmenter,
        target: list[str],
        roles: dict[str, Any],
        *,
        copies: int,
        originals: bool,
        seed: int,
        clip: bool = False,
        drop_missing_target: bool = False,
        anchors: Any = None,
        extra: Sequence[str] = (),
    ) -> Made:
        """Augment the table; ``extra`` are columns that were added and are not given back."""
        options = augmenter._options()
        if isinstance(augmenter, ADA):
            _name_anchors(options, self.core.names, anchors)
        elif anchors is not None:
            raise InputError(f"anchors do not apply to {augmenter._method}\nhint: leave them out")
        if isinstance(copies, bool) or not isinstance(copies, (int, np.integer)):
            raise InputTypeError(f"copies must be a whole number, got {copies!r}")
        table, moved, summary = core.augment(
            self.core,
            augmenter._method,
            options,
            target=target,
            roles=roles,
            copies=max(int(copies), 0),
            originals=bool(originals),
            seed=seed,
            clip=clip,
            drop_missing_target=drop_missing_target,
        )
        return Made(self, table, moved, json.loads(summary), list(extra))


def _name_anchors(options: dict[str, Any], columns: list[str], anchors: Any) -> None:
    """Turn the name of a column into the words of the command."""
    value = options["anchors"] if anchors is None else anchors
    if isinstance(value, str) and value != "kmeans":
        kind, _, rest = value.partition(":")
        known = kind in ("bins", "quantiles", "column") and rest in columns
        if value in columns and not known:
            value = f"column:{value}"
    options["anchors"] = value
    if isinstance(options["law"], np.ndarray):
        options["law"] = options["law"].tolist()


def _of_pandas(data: Any) -> Any:
    """Give the columns of a DataFrame without its index, which is not a column to move."""
    names = list(data.columns)
    for name in names:
        if not isinstance(name, str):
            raise InputTypeError(
                f"columns must have text as names, got {name!r} of type {type(name).__name__}\n"
                "hint: data.rename(columns=str)"
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two columns are named `{twice}`\nhint: rename one of them")
    try:
        import pyarrow
    except ImportError:
        raise needs("pyarrow", "a table of pandas", "pyarrow") from None
    try:
        return pyarrow.Table.from_pandas(data, preserve_index=False)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError) as e:
        raise InputTypeError(
            f"{'; '.join(str(part) for part in e.args)}\n"
            "hint: give the column one type, or leave it out"
        ) from None


class Made:
    """An augmented table, before it goes back to where its rows came from."""

    def __init__(
        self,
        source: Source,
        table: core.Table,
        moved: list[str],
        summary: dict[str, Any],
        extra: list[str],
    ) -> None:
        self.source = source
        self.core = table
        self.moved = moved
        self.summary = summary
        self.extra = extra

    def provenance(self) -> dict[str, np.ndarray[Any, Any]]:
        """Say where every row comes from, as arrays."""
        names = [name for name in self.core.names if name.startswith(_PREFIX)]
        return {name[len(_PREFIX) :]: self.core.numbers(name) for name in names}

    def table(self, *, provenance: bool) -> Any:
        """Give the rows in a table of the same kind as the source."""
        data = self.source.data
        drop = [*self.extra]
        if not provenance:
            drop += [name for name in self.core.names if name.startswith(_PREFIX)]
        shown = [name for name in self.core.names if name not in drop]
        if self.source.kind == "pandas":
            return self._pandas(data, shown)
        if self.source.kind == "polars":
            return self._polars(data, shown)
        out = self.core.select(shown)
        if self.source.kind == "pyarrow":
            return sys.modules["pyarrow"].table(out)
        return out

    def _pandas(self, data: Any, shown: list[str]) -> Any:
        import pandas

        rows = self.core.numbers(f"{_PREFIX}source")
        out = {}
        for name in shown:
            if name in self.moved:
                out[name] = self._pandas_column(pandas, data[name], name)
            elif name in data.columns:
                out[name] = data[name].take(rows)
            else:
                column = self.core.numbers(name)
                missing = name in (f"{_PREFIX}partner",) and (column < 0).any()
                out[name] = pandas.array(
                    np.where(column < 0, 0, column) if missing else column,
                    dtype="Int64" if missing else column.dtype,
                )
                if missing:
                    out[name][column < 0] = pandas.NA
        index = data.index.take(rows)
        columns = {
            name: column.set_axis(index) if hasattr(column, "set_axis") else column
            for name, column in out.items()
        }
        made = pandas.DataFrame(columns, index=index, columns=shown)
        made.attrs = dict(data.attrs)
        made.columns.name = data.columns.name
        return made

    def _pandas_column(self, pandas: Any, source: Any, name: str) -> Any:
        """Give a moved column the dtype that it came with, wherever that can hold it."""
        import pyarrow

        column = pyarrow.table(self.core.select([name])).column(0)
        whole = pyarrow.types.is_integer(column.type)
        dtype = source.dtype
        if isinstance(dtype, pandas.ArrowDtype):
            return pandas.Series(column, dtype=pandas.ArrowDtype(column.type), name=name)
        if isinstance(dtype, np.dtype) and dtype.kind in "iu" and not whole:
            return pandas.Series(column.to_numpy(), name=name)
        if not isinstance(dtype, np.dtype) and not whole and hasattr(dtype, "numpy_dtype"):
            if dtype.numpy_dtype.kind in "iu":
                dtype = pandas.Float64Dtype()
        if isinstance(dtype, np.dtype) and dtype.kind in "fiu":
            return pandas.Series(column.to_numpy().astype(dtype, copy=False), name=name)
        return pandas.Series(column.to_pandas(), name=name).astype(dtype)

    def _polars(self, data: Any, shown: list[str]) -> Any:
        import polars

        made = polars.DataFrame(self.core.select(shown))
        kept = {
            name: dtype
            for name, dtype in data.schema.items()
            if name in shown and name not in self.moved and made.schema[name] != dtype
        }
        return made.cast(kept) if kept else made


def resample(
    augmenter: Augmenter,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    anchors: Any,
) -> tuple[Any, Any]:
    """``fit_resample`` of a table of features with targets beside it."""
    source = Source(X, "X")
    targets = _targets(y)
    augmenter._remember(X, len(source.core.names))
    taken = list(source.core.names)
    names = [_fresh(name, taken) for name in _target_names(y, targets.shape[1])]
    source.core = source.core.beside(np.asarray(targets, dtype=np.float64), names)
    roles: dict[str, Any] = {"carry": [], "exclude": []}
    extra = list(names)
    if sample_weight is not None:
        name = _fresh("sample_weight", taken)
        weights = np.asarray(sample_weight, dtype=np.float64).reshape(-1, 1)
        source.core = source.core.beside(weights, [name])
        roles["weight"] = name
        extra.append(name)
    anchors = _beside(augmenter, source, anchors, taken, extra)
    augmenter.seed_ = seed_of(augmenter.random_state)
    made = source.augment(
        augmenter,
        names,
        roles,
        copies=augmenter.copies,
        originals=augmenter.originals,
        seed=augmenter.seed_,
        anchors=anchors,
        extra=extra,
    )
    augmenter._drawn = None
    augmenter._provenance = made.provenance()
    if hasattr(augmenter, "_fitted"):
        del augmenter._fitted
    group = augmenter._provenance.get("group")
    if group is not None:
        groups = np.zeros(len(targets), dtype=np.int64)
        groups[augmenter._provenance["source"]] = group
        augmenter._groups = groups  # type: ignore[attr-defined]
    columns = np.column_stack([made.core.numbers(name) for name in names])
    values = columns if np.ndim(y) == 2 else columns[:, 0]
    return made.table(provenance=False), _target_like(values, y, made, augmenter)


def _beside(
    augmenter: Augmenter, source: Source, anchors: Any, taken: list[str], extra: list[str]
) -> Any:
    """Put labels that are no column of the table beside it, as one."""
    if not isinstance(augmenter, ADA):
        return anchors
    value = augmenter.anchors if anchors is None else anchors
    if isinstance(value, str):
        return value
    array = np.asarray(value.to_numpy() if hasattr(value, "to_numpy") else value)
    if array.ndim == 2:
        raise InputError(
            "a matrix of anchors goes with arrays, not with a table\n"
            "hint: X.to_numpy(), or an array of labels"
        )
    name = _fresh("anchors", taken)
    labels = _arrays.labels(value, "anchors").astype(np.float64).reshape(-1, 1)
    source.core = source.core.beside(labels, [name])
    extra.append(name)
    return f"column:{name}"


def _fresh(name: str, taken: list[str]) -> str:
    """Find a name that no column has, and take it."""
    while name in taken:
        name += "_"
    taken.append(name)
    return name


def _targets(y: Any) -> np.ndarray[Any, Any]:
    targets = _arrays.to_numpy(y, "y")
    if targets.ndim not in (1, 2):
        raise InputError(f"y must have one or two dimensions, got {targets.ndim}")
    return targets.reshape(len(targets), -1)


def _target_names(y: Any, count: int) -> list[str]:
    if _arrays.is_table(y):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    if count == 1:
        return [str(name) if isinstance(name, str) and name else "y"]
    return [f"y{number}" for number in range(count)]


def _target_like(values: np.ndarray[Any, Any], y: Any, made: Made, augmenter: Augmenter) -> Any:
    """Give targets in the container, and with the dtype, that they came in."""
    if _arrays.is_table(y):
        kind = type(y).__module__.partition(".")[0]
        columns = {name: values[:, place] for place, name in enumerate(y.columns)}
        if kind == "pandas":
            return type(y)(columns, index=made.source.data.index.take(augmenter.sample_indices_))
        return type(y)(columns)
    given = _arrays.to_numpy(y, "y")
    values = _arrays.restored(values, given, augmenter.originals)
    if type(y).__module__.partition(".")[0] == "pandas":
        rows = augmenter.sample_indices_
        out = type(y)(values, index=y.index.take(rows), name=y.name)
        return out if out.dtype == y.dtype else out.astype(y.dtype)
    from ._augmenters import _like

    return _like(values, y)
