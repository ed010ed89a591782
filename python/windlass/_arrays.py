"""Conversion of arrays and columns to numpy, and back to their containers and dtypes."""

from __future__ import annotations

import decimal
import math
import numbers
import sys
from typing import Any

import numpy as np

from ._windlass import InputError, InputTypeError, rounded

_NUMBERS = (numbers.Real, decimal.Decimal, np.bool_)


def library(data: Any) -> str:
    """Return the table library of an object, or an empty string."""
    roots = (kind.__module__.partition(".")[0] for kind in type(data).__mro__)
    return next((root for root in roots if root in ("pandas", "polars", "pyarrow")), "")


def is_tensor(data: Any) -> bool:
    """Return whether an object is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(data, torch.Tensor)


def is_table(data: Any) -> bool:
    """Return whether an object is a table with columns."""
    # pandas before 2.2 does not implement the Arrow interface.
    speaks = hasattr(data, "__arrow_c_stream__") or library(data) == "pandas"
    return speaks and hasattr(data, "columns") or is_lazy(data)


def is_lazy(data: Any) -> bool:
    """Return whether an object is a polars LazyFrame."""
    return type(data).__name__ == "LazyFrame" and hasattr(data, "collect")


def refuse_lazy(data: Any, name: str) -> None:
    """Raise an error for a polars LazyFrame."""
    if is_lazy(data):
        raise InputTypeError(
            f"{name} is a LazyFrame that is not collected\nhint: {name}.collect()"
        )


def column_names(table: Any) -> list[Any]:
    """List the column names of a table; names of pandas may be of any type."""
    return list(table.schema.names if library(table) == "pyarrow" else table.columns)


def distinct(
    X: np.ndarray[Any, Any], y: np.ndarray[Any, Any], weights: np.ndarray[Any, Any] | None
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None:
    """Return the first of all equal rows, in an order of their values, and their total weights.

    So a row of weight 2 is the same as two rows, and one of weight 0 is absent. Returns None if
    rows are distinct and have no weights: they stay in their order.
    """
    if weights is not None and (weights < 0).any():
        return None  # The core refuses them.
    rows = np.column_stack([X, y])
    used = np.arange(len(rows)) if weights is None else np.flatnonzero(weights)
    _, first, inverse = np.unique(rows[used], axis=0, return_index=True, return_inverse=True)
    if len(first) < 2 or (weights is None and len(first) == len(rows)):
        return None
    of_used = None if weights is None else weights[used]
    return used[first], np.bincount(np.ravel(inverse), weights=of_used).astype(float)


def without(table: Any, column: str) -> Any:
    """Drop a column from a table, if it exists."""
    if column not in column_names(table):
        return table
    if library(table) == "pandas":
        return table.drop(columns=[column])
    return table.drop_columns([column]) if library(table) == "pyarrow" else table.drop(column)


def to_numpy(data: Any, name: str) -> np.ndarray[Any, Any]:
    """Convert an array-like to a numeric numpy array."""
    array = as_array(data, name)
    if array.dtype.kind == "O":
        array = _from_objects(array, name)
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {name} has dtype {array.dtype}")
    if array.dtype.kind not in "fiub":
        raise InputTypeError(
            f"{name} must be numeric, got {array.dtype}\n"
            "hint: encode text first, or pass a DataFrame to windlass.augment"
        )
    # Lists have no dtype to restore, so integers become floats.
    return array.astype(np.float64) if isinstance(data, (list, tuple)) else array


def as_array(data: Any, name: str) -> np.ndarray[Any, Any]:
    """Convert an array-like to a numpy array of any dtype."""
    if type(data) is np.ndarray:
        # Unaligned arrays, such as fields of packed records, cannot be read in place.
        return data if data.flags.aligned else data.copy()
    refuse_lazy(data, name)
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise InputTypeError(
            f"{name} is a sparse matrix, but synthetic rows are dense\n"
            f"hint: {name}.toarray(), if it fits in memory"
        )
    if is_tensor(data):
        if data.requires_grad:
            raise InputTypeError(
                f"{name} requires a gradient\nhint: {name}.detach(), or windlass.torch.ada"
            )
        # numpy has no bfloat16.
        data = data.float() if data.dtype == sys.modules["torch"].bfloat16 else data
        array = data.numpy() if data.is_cpu else data.cpu().numpy()
        return np.require(array, requirements="A")
    if np.ma.isMaskedArray(data) and np.ma.getmaskarray(data).any():
        # The core reports the position of missing values.
        return np.asarray(np.ma.filled(data.astype(np.float64), np.nan))
    if not isinstance(data, np.ndarray) and hasattr(data, "to_numpy"):
        data = data.to_numpy(**({"zero_copy_only": False} if library(data) == "pyarrow" else {}))
    try:
        return np.require(data, requirements="A")
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} is not an array: {error}") from None


def _from_objects(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    out = np.empty(array.shape)
    for place, value in np.ndenumerate(array):
        if not isinstance(value, _NUMBERS):
            where = ", column ".join(map(str, place))
            raise InputTypeError(
                f"{name} must be numeric, got {value!r} of type {type(value).__name__}"
                + (f" in row {where}" if place else "")
                + _why_no_number(value)
                + f"\nhint: fix values that are not numbers, then {name}.astype(float)"
            )
        try:
            out[place] = value
        except OverflowError:
            out[place] = math.inf  # The core reports its position.
    return out


def _why_no_number(value: Any) -> str:
    """Return Python's reason, unless the value is a text or a complex number."""
    try:
        if not isinstance(value, (str, bytes, complex, np.generic)):
            float(value)
    except (TypeError, ValueError) as error:
        return f": {error}"
    return ""


def to_floats(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Convert to float32 or float64, the types of the core."""
    if array.dtype == np.float64 or array.dtype == np.float32:
        return array
    if array.dtype.kind == "f" and array.dtype.itemsize <= 4:
        return array.astype(np.float32)
    with np.errstate(over="ignore"):
        return array.astype(np.float64)


def same_floats(
    x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Convert both to the same float type: float32 if both have at most 32 bits."""
    x, y = to_floats(x), to_floats(y)
    if x.dtype != y.dtype:
        x, y = x.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
    return x, y


def restored(
    made: np.ndarray[Any, Any], source: np.ndarray[Any, Any], originals: bool
) -> np.ndarray[Any, Any]:
    """Convert resampled values to the dtype of their source.

    Integers are rounded; integers and small floats are clipped to the range of their type.
    Original rows are copied exactly.
    """
    dtype = source.dtype
    if made.dtype == dtype:
        return made
    if dtype.kind == "b":
        made = made >= 0.5
    elif dtype.kind in "iu":
        made = rounded(made.astype(np.float64, copy=False), dtype.name).astype(dtype, copy=False)
    else:
        ends = np.finfo(dtype)
        made = np.clip(made, ends.min, ends.max).astype(dtype)
    if originals:
        made[: len(source)] = source
    return made


def like(made: np.ndarray[Any, Any], given: Any, rows: Any, originals: bool) -> Any:
    """Convert resampled values to the container and dtype of their source.

    ``rows`` are the source rows, for the index of pandas.
    """
    kind = library(given)
    if kind and is_table(given):
        return _table_like(made, given, rows, originals)
    if isinstance(given, (list, tuple)):
        return restored(made, np.asarray(given), originals).tolist()
    made = restored(made, to_numpy(given, "y"), originals)
    if is_tensor(given):
        return sys.modules["torch"].from_numpy(made).to(given.device, given.dtype)
    if kind == "pandas" and hasattr(given, "index"):
        index = given.index.take(rows)
        return sys.modules["pandas"].Series(made, index=index, name=given.name, dtype=given.dtype)
    if kind == "polars":
        return sys.modules["polars"].Series(given.name, made).cast(given.dtype)
    if kind == "pyarrow":
        pyarrow = sys.modules["pyarrow"]
        array = pyarrow.array(made).cast(given.type)
        chunked = isinstance(given, pyarrow.ChunkedArray)
        return pyarrow.chunked_array([array]) if chunked else array
    return made


def _table_like(made: np.ndarray[Any, Any], given: Any, rows: Any, originals: bool) -> Any:
    kind = library(given)
    places = range(made.shape[1])
    if kind == "pandas":
        columns = [like(made[:, at], given.iloc[:, at], rows, originals).array for at in places]
        index = given.index.take(rows)
        out = sys.modules["pandas"].DataFrame(dict(enumerate(columns)), index=index)
        return out.set_axis(given.columns, axis=1)
    if kind == "polars":
        columns = [like(made[:, at], given.to_series(at), rows, originals) for at in places]
        return sys.modules["polars"].DataFrame(columns)
    columns = [like(made[:, at], given.column(at), rows, originals) for at in places]
    return sys.modules["pyarrow"].table(columns, names=column_names(given))


def check_rows(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> None:
    """Raise an error for shapes that are not samples with targets."""
    if x.ndim < 2:
        raise InputError(
            f"Expected 2D array, got {x.ndim}D array instead: x has shape {x.shape}\n"
            "hint: Reshape your data: x.reshape(-1, 1) for one feature, "
            "x.reshape(1, -1) for one row"
        )
    if y.ndim < 1:
        raise InputError("y must have one target per row, got a single number")


def weights(values: Any) -> np.ndarray[Any, Any] | None:
    """Convert row weights to float64, or return None."""
    if values is None:
        return None
    array = np.asarray(to_numpy(values, "sample_weight"), dtype=np.float64)
    if array.ndim != 1:
        raise InputError(f"sample_weight must have one weight per row, got shape {array.shape}")
    return array


def whole(value: Any, name: str, least: int = 0) -> int:
    """Convert to an integer in [least, 2**64)."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InputTypeError(
            f"{name} must be an integer, got {value!r} of type {type(value).__name__}"
        )
    if not least <= int(value) < 2**64:
        raise InputError(f"{name} must be in [{least}, 2**64), got {value}")
    return int(value)


def row_numbers(idx: Any) -> np.ndarray[Any, Any]:
    """Convert row indices to int64."""
    rows = as_array(idx, "idx")
    if rows.ndim == 1 and rows.dtype == np.int64:
        return rows
    if rows.dtype.kind not in "iu" and rows.size:
        raise InputTypeError(f"idx must be an array of integers, got {rows.dtype}")
    if rows.ndim != 1:
        raise InputError(f"idx must have one row index per row, got shape {rows.shape}")
    return rows.astype(np.int64, copy=False)


def labels(values: Any, name: str) -> np.ndarray[Any, Any]:
    """Encode group labels as integers from 0."""
    array = as_array(values, name)
    if array.ndim != 1:
        raise InputError(f"{name} must have one label per row, got shape {array.shape}")
    if array.dtype.kind == "f" and not np.all(np.isnan(array) | (array == np.floor(array))):
        raise InputError(
            f"{name} contains fractions, which are not group labels\n"
            f"hint: for real-valued anchors pass a matrix: {name}[:, None]"
        )
    if array.dtype.kind in "iu" and array.dtype.itemsize * (2 - (array.dtype.kind == "i")) <= 8:
        # The core encodes integers.
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "O":
        array = np.asarray([_word(value) for value in array], dtype=str)
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def _word(label: Any) -> str:
    """Return a unique string for a label of any type; all missing labels are one label."""
    missing = label is None or type(label).__name__ == "NAType" or label != label
    return "" if missing else f"{type(label).__name__} {label}"
