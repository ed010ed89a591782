"""Arrays in, arrays out: the same container and dtype, without copies where it can be."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._windlass import InputError, InputTypeError, rounded


def is_tensor(data: Any) -> bool:
    """Whether something is a tensor of torch, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(data, torch.Tensor)


def is_table(data: Any) -> bool:
    """Whether something has named columns."""
    return hasattr(data, "__arrow_c_stream__") and hasattr(data, "columns") or is_lazy(data)


def is_lazy(data: Any) -> bool:
    """Whether something is a query of polars that has not been run."""
    return type(data).__name__ == "LazyFrame" and hasattr(data, "collect")


def is_column(data: Any) -> bool:
    """Whether something is a column of a table."""
    return not isinstance(data, np.ndarray) and hasattr(data, "to_numpy") and not is_table(data)


def to_numpy(data: Any, name: str) -> np.ndarray[Any, Any]:
    """Give anything like an array as one of numpy; refuse what holds no numbers."""
    if is_lazy(data):
        raise InputTypeError(
            f"{name} is a LazyFrame, whose rows do not exist yet\nhint: {name}.collect()"
        )
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise InputTypeError(
            f"{name} is a sparse matrix: moved rows would have no zeros left\n"
            f"hint: {name}.toarray(), if it fits in memory"
        )
    if is_tensor(data):
        if data.requires_grad:
            raise InputTypeError(
                f"{name} requires a gradient\nhint: {name}.detach(), or windlass.torch.ada"
            )
        data = data.cpu().numpy()
    elif not isinstance(data, np.ndarray) and hasattr(data, "to_numpy"):
        data = data.to_numpy()
    array = np.asarray(data)
    if array.dtype == object:
        array = _from_objects(array, name)
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {name} holds {array.dtype}")
    if array.dtype.kind not in "fiub":
        raise InputTypeError(
            f"{name} must hold numbers, got {array.dtype}\n"
            "hint: encode text first, or give a DataFrame to windlass.augment"
        )
    return array


def _from_objects(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    for place, value in np.ndenumerate(array):
        if not isinstance(value, (int, float, np.number, np.bool_)):
            where = f"row {place[0]}" + "".join(f", column {column}" for column in place[1:])
            raise InputTypeError(
                f"{name} must hold numbers, got dtype object with {value!r} "
                f"of type {type(value).__name__} in {where}\n"
                f"hint: {name}.astype(float), after mending what is no number"
            )
    return array.astype(np.float64)


def to_floats(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Give numbers as floats that the core takes; 32 and 64 bits stay as they are."""
    if array.dtype == np.float64 or array.dtype == np.float32:
        return array
    if array.dtype.kind == "f" and array.dtype.itemsize <= 4:
        return array.astype(np.float32)
    return array.astype(np.float64)


def same_floats(
    x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Give both as floats of the same width: 32 bits where both have no more."""
    x, y = to_floats(x), to_floats(y)
    if x.dtype != y.dtype:
        x, y = x.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
    return x, y


def restored(
    made: np.ndarray[Any, Any], source: np.ndarray[Any, Any], originals: bool
) -> np.ndarray[Any, Any]:
    """Bring what was made to the dtype that it was made from; integers are rounded."""
    if made.dtype == source.dtype:
        return made
    dtype = source.dtype
    if dtype.kind == "b":
        made = made >= 0.5
    elif dtype.kind in "iu":
        made = rounded(made.astype(np.float64, copy=False), dtype.name).astype(dtype, copy=False)
    else:
        made = made.astype(dtype)
    if originals:
        made[: len(source)] = source
    return made


def check_rows(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> None:
    """Refuse shapes that are no samples with targets."""
    if x.ndim < 2:
        raise InputError(
            f"Expected 2D array, got {x.ndim}D array instead: x has shape {x.shape}\n"
            "hint: Reshape your data: x.reshape(-1, 1) for one feature, "
            "x.reshape(1, -1) for one row"
        )
    if y.ndim < 1:
        raise InputError("y must have a target for every row, got a single number")


def labels(values: Any, name: str) -> np.ndarray[Any, Any]:
    """Number the labels of groups from 0 on, in their order."""
    if is_column(values):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must have one label for every row, got shape {array.shape}")
    if array.dtype.kind == "f":
        if not np.all(np.isnan(array) | (array == np.floor(array))):
            raise InputError(
                f"{name} holds fractions, which name no groups\n"
                f"hint: for real-valued anchors give a matrix: {name}[:, None]"
            )
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    if array.dtype == object:
        # None and NaN are one more group; numbers and text may stand side by side.
        words = ["" if v is None or v != v else f"{type(v).__name__} {v}" for v in array]
        array = np.asarray(words, dtype=str)
    return np.unique(array, return_inverse=True)[1].astype(np.int64)
