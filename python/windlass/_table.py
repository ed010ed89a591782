"""Tables of pandas, polars, pyarrow and other libraries with the Arrow interface."""

from __future__ import annotations

import json
import math
import os
import sys
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _arrays
from . import _windlass as core
from ._augmenters import Augmenter, check_room, copies_of, named
from ._base import DEFAULTS, needs, seed_of
from ._windlass import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from ._base import RandomStateLike

_USUAL = DEFAULTS["augment"]
_PREFIX = "windlass_"
_PROVENANCE = frozenset(
    f"{_PREFIX}{name}"
    for name in ("synthetic", "source", "copy", "twin", "group", "gamma", "partner", "lambda")
)


def augment(
    data: Any,
    target: str | Sequence[str],
    *,
    method: str | Augmenter = "ada",
    copies: int | Literal["auto"] | None = None,
    originals: bool | None = None,
    provenance: bool = False,
    random_state: RandomStateLike = _USUAL["random_state"],
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    carry: Sequence[str] = (),
    categorical: Sequence[str] = (),
    continuous: Sequence[str] = (),
    weight: str | None = None,
    integers: str = _USUAL["integers"],
    clip: str = _USUAL["clip"],
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    drop_missing_target: bool = _USUAL["drop_missing_target"],
    **options: Any,
) -> Any:
    """Add synthetic rows to a table, as the command ``windlass augment``.

    Split before you augment: test on rows that no synthetic row is derived from.

    Numeric columns are augmented. Text, dates, booleans, columns of 0 and 1, row counters,
    identifiers and constants are copied from the source row. Missing values stay missing. If
    Windlass augmented the table before, with provenance, only its original rows are augmented.
    Floats are not rounded (the command rounds values of text files to the decimals of their
    column).

    Parameters
    ----------
    data : pandas or polars DataFrame, pyarrow Table, or other table with the Arrow interface
        The table. It is not modified.
    target : str or list of str
        Column to predict, or several. Column names of pandas that are not strings are
        converted by ``str(name)``.
    method : str or Augmenter, default "ada"
        Name of a method ("ada", "mixup", …), or an augmenter with its parameters.
    copies : int or "auto", default "auto"
        Number of synthetic rows per row; "auto" is 1 or, with ``rare``, the number that makes rare
        rows as many as the others.
    originals : bool, default True
        Whether to return the original rows too, before the synthetic rows.
    provenance : bool, default False
        Whether to add columns (``windlass_source``, …) with the provenance of each row.
    random_state : int, Generator or None, default 0
        Random seed, as ``--seed`` of the command. An augmenter uses its own.
    features : list of str, optional
        Augment only these columns; copy the others from the source row.
    exclude : list of str
        Columns to omit.
    carry : list of str
        Columns to copy unchanged from the source row, such as ids.
    categorical : list of str
        Numeric columns to treat as categories.
    continuous : list of str
        Columns (0/1 or dates) to augment as numbers.
    weight : str, optional
        Column of row weights.
    integers : {"round", "float"}, default "round"
        Type of synthetic values in integer columns.
    clip : {"none", "observed"}, default "none"
        Whether to clip synthetic values to the range observed in their column.
    bounds : dict of str to (low, high), optional
        Bounds of columns, with ``None`` for an open end, such as ``{"hours": (0, 24)}``:
        synthetic values are clipped, original values outside are an error.
    drop_missing_target : bool, default False
        Drop rows without a finite target instead of raising an error.
    **options
        Parameters of the method, such as ``alpha=3.0``, ``bandwidth="0.5sd"`` or
        ``rare="high"``: generate rows only from rows with a high target.

    Returns
    -------
    table : same type as data
        The augmented table. The index of a pandas DataFrame is that of the source rows.

    See Also
    --------
    ADA.fit_resample : The same for features and targets in separate arrays.

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
        given = [*options, *(["random_state"] if random_state != _USUAL["random_state"] else [])]
        if given:
            raise InputTypeError(
                f"{', '.join(given)}: the augmenter already has its parameters\n"
                "hint: set them there, or pass the name of the method"
            )
        augmenter, random_state = method, method.random_state
    else:
        augmenter = named(method, **options)
    source = Source(data, "data")
    made = source.augment(
        augmenter,
        names_of(target, "target"),
        {
            "features": None if features is None else names_of(features, "features"),
            "exclude": names_of(exclude, "exclude"),
            "carry": names_of(carry, "carry"),
            "categorical": names_of(categorical, "categorical"),
            "continuous": names_of(continuous, "continuous"),
            "weight": None if weight is None else str(weight),
            "integers": integers,
        },
        copies=augmenter.copies if copies is None else copies,
        originals=augmenter.originals if originals is None else originals,
        seed=seed_of(random_state),
        clip=clip,
        bounds=bounds,
        drop_missing_target=drop_missing_target,
    )
    return made.table(provenance=provenance)


def similarity(
    real: Any,
    synthetic: Any,
    *,
    target: str | Sequence[str] = (),
    report: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Compare synthetic rows with real rows, as ``windlass inspect SYNTHETIC --against REAL``.

    Small distances and exact copies mean that rows repeat real rows. Large distances do not mean
    that rows are anonymous.

    Parameters
    ----------
    real, synthetic : pandas or polars DataFrame, pyarrow Table, or other Arrow table
        The tables. Rows of ``synthetic`` that are marked as originals (``windlass_synthetic``)
        are not compared, nor are its first rows if they are the rows of ``real`` in order.
    target : str or list of str, optional
        Columns to predict.
    report : str or path-like, optional
        File for a page with the comparison, such as ``"similarity.html"``.
    force : bool, default False
        Whether to overwrite an existing file that is not a Windlass report.

    Returns
    -------
    found : dict
        ``copies`` (rows that equal a real row); ``distances`` to the closest real row and
        ``real_distances`` between real rows, at the quantiles 0.05, 0.25, 0.5, 0.75 and 0.95;
        how many rows are ``close`` to a real row, of those ``measured``, and whether that is more
        than new rows would be (``follows_real_rows``); ``columns`` with statistics and
        histograms of both; ``correlations`` that differ most; and ``notes``.

    See Also
    --------
    augment : Generate synthetic rows.
    compare : Test whether rows help, with ``rows``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from windlass import augment, similarity
    >>> rng = np.random.default_rng(0)
    >>> real = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "y"])
    >>> found = similarity(real, augment(real, target="y"), target="y")
    >>> found["synthetic_rows"], found["copies"]
    (80, 0)
    """
    tables = Source(real, "real").core, Source(synthetic, "synthetic").core
    text, page = core.similarity(*tables, target=names_of(target, "targets"))
    if report is not None:
        core.write_atomic(os.fspath(report), page, "report", force=force)
    found: dict[str, Any] = json.loads(text)
    return found


def names_of(columns: Any, role: str) -> list[str]:
    """Convert a column name or a list of names to a list."""
    if isinstance(columns, (list, tuple, set, np.ndarray)) or hasattr(columns, "to_list"):
        names = [str(name) for name in columns]
    elif isinstance(columns, (str, int, np.integer)):
        names = [str(columns)]
    else:
        kind = type(columns).__name__
        hint = "\nhint: noise on features is method=Noise(feature_noise=...)" * (role == "features")
        raise InputTypeError(f"{role} must be column names, got {columns!r} of type {kind}{hint}")
    if role == "target" and not names:
        raise InputError("target is empty")
    return names


def word_of(value: Any, name: str) -> str:
    """Check that a setting is a string."""
    if not isinstance(value, str):
        kind = type(value).__name__
        raise InputTypeError(f"{name} must be a string, got {value!r} of type {kind}")
    return value


def bounds_of(bounds: Any) -> dict[str, tuple[float | None, float | None]]:
    """Check that bounds are pairs of numbers, by column."""
    try:
        pairs = {str(name): (low, high) for name, (low, high) in dict(bounds or {}).items()}
        ends = [end for pair in pairs.values() for end in pair if end is not None]
        for end in ends:
            float(end)
    except (TypeError, ValueError):
        raise InputTypeError(
            f'bounds must be pairs of numbers such as {{"hours": (0, 24)}}, got {bounds!r}'
        ) from None
    return pairs


class Source:
    """A table of any library, converted for the core."""

    def __init__(self, data: Any, name: str) -> None:
        _arrays.refuse_lazy(data, name)
        speaks = hasattr(data, "__arrow_c_stream__") and not hasattr(data, "to_numpy")
        if not speaks and not _arrays.is_table(data):
            raise InputTypeError(
                f"{name} must be a table with the Arrow interface (pandas, polars, pyarrow), "
                f"got {type(data).__name__}\nhint: for arrays use ADA(...).fit_resample(X, y)"
            )
        self.data = data
        self.kind = _arrays.library(data)
        if self.kind == "pandas":
            data = _of_pandas(data)
        elif self.kind == "polars":
            data = _of_polars(data)
        self.core = core.Table.read(data)
        self.names = self.core.names

    def add_columns(self, values: np.ndarray[Any, Any], *names: str) -> list[str]:
        """Add columns that are not part of the result; return their names."""
        if len(values) != len(self.core):
            raise InputError(
                f"X and {names[0]} must have the same number of rows, "
                f"got {len(self.core)} and {len(values)}"
            )
        taken = self.core.names
        fresh = [_fresh(name, taken) for name in names]
        self.core = self.core.with_columns(values.reshape(len(values), -1), fresh)
        return fresh

    def augment(
        self,
        augmenter: Augmenter,
        target: list[str],
        roles: dict[str, Any],
        *,
        copies: int | Literal["auto"],
        originals: bool,
        seed: int,
        clip: str = _USUAL["clip"],
        bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
        drop_missing_target: bool = _USUAL["drop_missing_target"],
        anchors: Any = None,
    ) -> Made:
        """Augment the table."""
        options, found, within = augmenter._anchors(anchors, self.names)
        if found is not None and found.ndim == 2:
            raise InputError(
                "a matrix of anchors does not apply to tables\n"
                "hint: ADA(...).fit_resample(X.to_numpy(), y), or an array of labels"
            )
        if found is not None:
            options["anchors"] = f"column:{self.add_columns(found, 'anchors')[0]}"
        if within is not None:
            options["within"] = self.add_columns(within, "within")[0]
        count = copies_of(copies)
        check_room(len(self.core) * ((count or 1) + 1), len(self.names))
        table, moved = core.augment(
            self.core,
            augmenter._method,
            options,
            target=target,
            roles=roles,
            copies=count,
            rare=augmenter.rare,
            originals=bool(originals),
            seed=seed,
            clip=word_of(clip, "clip"),
            bounds=bounds_of(bounds),
            drop_missing_target=bool(drop_missing_target),
        )
        return Made(self, table, moved)


def _of_pandas(data: Any) -> Any:
    """Convert a pandas DataFrame without its index."""
    names = [str(name) for name in data.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two columns are named `{twice}`\nhint: rename one of them")
    try:
        import pyarrow
    except ImportError:
        raise needs("pyarrow", "a table of pandas", "pyarrow") from None
    if names != list(data.columns):
        data = data.set_axis(names, axis=1)
    sparse = [name for name in names if isinstance(data[name].dtype, sys.modules["pandas"].SparseDtype)]
    data = data.astype({name: data[name].dtype.subtype for name in sparse}) if sparse else data
    try:
        return pyarrow.Table.from_pandas(data, preserve_index=False)
    except (pyarrow.ArrowException, TypeError) as error:
        raise InputTypeError(
            f"{'; '.join(str(part) for part in error.args)}\n"
            "hint: convert the column to one type, or omit it"
        ) from None


def _of_polars(data: Any) -> Any:
    """Cast columns of type Null, which the core cannot read."""
    import polars

    nothing = [name for name, dtype in data.schema.items() if dtype == polars.Null]
    return data.cast(dict.fromkeys(nothing, polars.Boolean)) if nothing else data


class Made:
    """An augmented table, before its conversion to the type of the source."""

    def __init__(self, source: Source, table: core.Table, moved: list[str]) -> None:
        self.source = source
        self.core = table
        self.moved = moved
        # After the columns of the source follow the added columns, then provenance. Provenance
        # columns of a source that was augmented before are not copied.
        fresh = [name for name in table.names if name not in source.core.names]
        self.added = [name for name in table.names if name in fresh or name in _PROVENANCE]

    def provenance(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the provenance columns as arrays."""
        return {name[len(_PREFIX) :]: self.core.numbers(name) for name in self.added}

    def table(self, *, provenance: bool) -> Any:
        """Convert to the type of the source."""
        shown = [
            name
            for name in self.source.names
            if name in self.core.names and name not in _PROVENANCE
        ]
        added = self.added if provenance else []
        if self.source.kind == "pandas":
            return self._pandas(self.source.data, shown, added)
        out = self.core.select([*shown, *added])
        if self.source.kind == "polars":
            return self._polars(self.source.data, out)
        return sys.modules["pyarrow"].table(out) if self.source.kind == "pyarrow" else out

    def _pandas(self, data: Any, shown: list[str], added: list[str]) -> Any:
        import pandas
        import pyarrow

        rows = self.core.numbers(f"{_PREFIX}source")
        places = [self.source.names.index(name) for name in shown]
        made = pyarrow.table(self.core.select([*(set(shown) & set(self.moved)), *added]))
        columns = {}
        for name, place in zip(shown, places):
            source = data.iloc[:, place]
            moved = name in self.moved
            columns[name] = _moved(made[name], source.dtype) if moved else source.array.take(rows)
        for name in added:
            # The same dtype with and without originals, which have no partner.
            nullable = name == f"{_PREFIX}partner"
            columns[name] = _moved(made[name], pandas.Int64Dtype() if nullable else None)
        out = pandas.DataFrame(columns, index=data.index.take(rows))
        names = data.columns.take(places)
        out.columns = names.append(pandas.Index(added, name=names.name)) if added else names
        out.attrs = dict(data.attrs)
        return out

    def _polars(self, data: Any, out: core.Table) -> Any:
        import polars

        made = polars.DataFrame(out)
        kept = {
            name: dtype
            for name, dtype in data.schema.items()
            if name in made.columns and name not in self.moved and made.schema[name] != dtype
        }
        return made.cast(kept) if kept else made


def _moved(column: Any, dtype: Any) -> Any:
    """Convert an Arrow column to its original pandas dtype, if possible."""
    import pandas
    import pyarrow

    floats = pyarrow.types.is_floating(column.type)
    if isinstance(dtype, pandas.ArrowDtype):
        dtype = pandas.ArrowDtype(column.type)
    elif dtype is not None and dtype.kind in "iu" and floats:
        dtype = None if isinstance(dtype, np.dtype) else pandas.Float64Dtype()
    if hasattr(dtype, "__from_arrow__"):
        return dtype.__from_arrow__(column)
    if dtype == object:
        return pandas.array(column.to_pylist(), dtype=object)
    array = column.to_numpy()
    if isinstance(dtype, pandas.SparseDtype):
        return pandas.arrays.SparseArray(array, dtype=dtype)
    return array if dtype is None else array.astype(dtype, copy=False)


def resample(
    augmenter: Augmenter,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    anchors: Any,
    continuous: Sequence[str] = (),
) -> tuple[Any, Any]:
    """Implement ``fit_resample`` for a table of features and separate targets."""
    source = Source(X, "X")
    targets = _arrays.to_numpy(y, "y")
    if targets.ndim not in (1, 2) or targets.shape[1:] == (0,):
        raise InputError(f"y must have one or two dimensions, got shape {targets.shape}")
    count = math.prod(targets.shape[1:])
    names = source.add_columns(targets.astype(np.float64, copy=False), *_target_names(y, count))
    weights = _arrays.weights(sample_weight)
    roles: dict[str, Any] = {"continuous": list(continuous)}
    if weights is not None:
        roles["weight"] = source.add_columns(weights, "sample_weight")[0]
    seed = seed_of(augmenter.random_state)
    made = source.augment(
        augmenter,
        names,
        roles,
        copies=augmenter.copies,
        originals=augmenter.originals,
        seed=seed,
        anchors=anchors,
    )
    augmenter._fitted = None
    augmenter._remember(X, len(source.names), seed, made.provenance())
    rows = augmenter.sample_indices_
    columns = np.column_stack([made.core.numbers(name) for name in names])
    values = columns.reshape(len(rows), *targets.shape[1:])
    more_y = _arrays.like(values, y, rows, bool(augmenter.originals))
    return made.table(provenance=False), more_y


def _fresh(name: str, taken: list[str]) -> str:
    """Return an unused column name, and add it to ``taken``."""
    while name in taken:
        name += "_"
    taken.append(name)
    return name


def _target_names(y: Any, count: int) -> list[str]:
    if _arrays.is_table(y):
        return [str(name) for name in _arrays.column_names(y)]
    name = getattr(y, "name", None)
    if count == 1:
        return [str(name) if isinstance(name, str) and name else "y"]
    return [f"y{number}" for number in range(count)]
