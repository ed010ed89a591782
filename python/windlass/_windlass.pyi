"""The core, compiled."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "GAMMAS",
    "Condensed",
    "EstimatorComparison",
    "Fitted",
    "FittedTable",
    "FitDriver",
    "InputError",
    "InputTypeError",
    "Model",
    "NeedsMemoryError",
    "Outcome",
    "PassAccumulator",
    "Plan",
    "RowGenerator",
    "Table",
    "__version__",
    "augment",
    "defaults",
    "density_weights",
    "errors_by_range",
    "group_mean",
    "ids_of_rows",
    "predict_linear",
    "relevance",
    "rounded",
    "run_command",
    "sera",
    "step_of",
    "write_rows",
    "similarity",
    "write_atomic",
]

__version__: str
GAMMAS: list[float]

class InputError(ValueError):
    """An invalid value; the message contains the value and a hint."""

class NeedsMemoryError(InputError):
    """A method needs more memory than the limit."""

class InputTypeError(TypeError):
    """Data of an unsupported type; the message contains the type and a hint."""

def run_command(arguments: list[str]) -> int: ...
def defaults() -> dict[str, dict[str, Any]]: ...
def rounded(values: NDArray[np.float64], dtype: str) -> NDArray[Any]: ...
def group_mean(
    rows: NDArray[Any],
    labels: NDArray[np.int64],
    gamma: float | NDArray[np.float64],
    transposed: bool = False,
) -> NDArray[Any]: ...
def step_of(index: NDArray[np.int64], epoch: int) -> int: ...
def relevance(y: NDArray[np.float64], rare: Any) -> NDArray[np.float64]: ...
def predict_linear(
    x: NDArray[np.float64], coef: NDArray[np.float64], intercept: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def sera(
    y: NDArray[np.float64], predicted: NDArray[np.float64], relevance: NDArray[np.float64]
) -> float: ...
def errors_by_range(
    y: NDArray[np.float64], predicted: NDArray[np.float64], ranges: int
) -> list[dict[str, Any]]: ...
def density_weights(y: NDArray[np.float64], alpha: float) -> NDArray[np.float64]: ...
def similarity(real: Table, synthetic: Table, *, target: Sequence[str]) -> tuple[str, bytes]: ...
def write_atomic(path: str, bytes: bytes, kind: str, *, force: bool) -> None: ...
def augment(
    table: Table,
    name: str,
    options: dict[str, Any],
    *,
    target: Sequence[str],
    roles: dict[str, Any],
    copies: int | None,
    rare: Any,
    originals: bool,
    seed: int,
    clip: str,
    bounds: dict[str, tuple[float | None, float | None]],
    drop_missing_target: bool,
) -> tuple[Table, list[str]]: ...
@final
class Fitted:
    def __new__(
        cls,
        name: str,
        options: dict[str, Any],
        x: NDArray[Any],
        y: NDArray[Any],
        seed: int,
        weights: NDArray[np.float64] | None = None,
        anchors: NDArray[Any] | None = None,
        within: NDArray[np.int64] | None = None,
        rare: Any = None,
    ) -> Fitted: ...
    @staticmethod
    def again(
        name: str,
        options: dict[str, Any],
        seed: int,
        labels: NDArray[np.int64] | None = None,
        matrix: NDArray[np.float64] | None = None,
        rows: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
        weights: NDArray[np.float64] | None = None,
        rare: Sequence[Sequence[float]] | None = None,
        sources: NDArray[np.int64] | None = None,
    ) -> Fitted: ...
    @property
    def groups(self) -> NDArray[np.int64] | None: ...
    def plan(self, copies: int | None, originals: bool) -> Plan: ...
    def batch(
        self, x: NDArray[Any], y: NDArray[Any], index: NDArray[np.int64], step: int
    ) -> tuple[NDArray[Any], NDArray[Any]]: ...
    def draw(
        self, step: int, index: NDArray[np.int64] | None = None
    ) -> dict[str, NDArray[Any]]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Plan:
    def features(self, x: NDArray[Any]) -> NDArray[Any]: ...
    def targets(self, y: NDArray[Any]) -> NDArray[Any]: ...
    def sources(self) -> NDArray[np.int64]: ...
    def provenance(self) -> dict[str, NDArray[Any]]: ...

@final
class Table:
    @staticmethod
    def read(data: Any) -> Table: ...
    @staticmethod
    def of_arrays(x: NDArray[np.float64], names: Sequence[str]) -> Table: ...
    def with_columns(self, y: NDArray[np.float64] | NDArray[np.int64], names: Sequence[str]) -> Table: ...
    def select(self, names: Sequence[str]) -> Table: ...
    def numbers(self, name: str) -> NDArray[Any]: ...
    @property
    def names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any: ...

@final
class FitDriver:
    def __new__(
        cls,
        schema: Any,
        name: str,
        options: dict[str, Any],
        *,
        target: Sequence[str],
        roles: dict[str, Any],
        copies: int | None,
        rare: Any,
        originals: bool,
        seed: int,
        clip: str,
        bounds: dict[str, tuple[float | None, float | None]],
        drop_missing_target: bool,
        provenance: bool,
        rows_by: str,
        memory: int,
    ) -> FitDriver: ...
    def task(self) -> tuple[str, bytes] | None: ...
    def take(self, part: PassAccumulator) -> None: ...
    def finish(self) -> FittedTable: ...

@final
class PassAccumulator:
    def __new__(
        cls, task: bytes, schema: Any, duplicate_counts: Sequence[tuple[int, int]] | None = None
    ) -> PassAccumulator: ...
    def add(self, rows: Any) -> None: ...
    def merge(self, found: bytes) -> None: ...
    def to_bytes(self) -> bytes: ...

@final
class FittedTable:
    """A method fitted on a table.

    Returned by :func:`windlass.spark.fit` and :func:`windlass.ray.fit`. Its files are those of
    the options ``--save-fitted`` and ``--fitted`` of ``windlass augment``.
    """

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> FittedTable: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> FittedTable: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def rows(self) -> int: ...
    @property
    def groups(self) -> list[int]: ...
    @property
    def complete(self) -> list[str]: ...
    @property
    def rows_by(self) -> str: ...
    @property
    def draws_for_rows(self) -> bool: ...

@final
class RowGenerator:
    def __new__(
        cls, fitted: FittedTable, schema: Any, duplicate_counts: Sequence[tuple[int, int]] | None = None
    ) -> RowGenerator: ...
    @property
    def empty(self) -> Table: ...
    def make(self, rows: Any) -> Table: ...

def write_rows(
    fitted: FittedTable,
    schema: Any,
    rows: Any,
    path: str | PathLike[str],
    *,
    duplicate_counts: Sequence[tuple[int, int]] | None = None,
    own: bool = False,
) -> int: ...
def ids_of_rows(rows: Any, rows_by: str) -> Table: ...
@final
class Condensed:
    def __new__(
        cls,
        x: NDArray[Any],
        y: NDArray[Any],
        anchors: NDArray[Any],
        weights: NDArray[np.float64] | None = None,
    ) -> Condensed: ...
    @staticmethod
    def again(
        means: Sequence[Sequence[float]],
        within: Sequence[NDArray[np.float64]],
        between: Sequence[NDArray[np.float64]],
        rest: float,
        size: float,
        weight: float,
    ) -> Condensed: ...
    def fit(self, gamma: float, penalty: float) -> dict[str, Any]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Model:
    @staticmethod
    def train(
        table: Table,
        *,
        target: Sequence[str],
        roles: dict[str, Any],
        network: dict[str, Any],
        seed: int,
        model: str = "mlp",
        augment: Mapping[str, Any] | None = None,
        valid: Table | None = None,
        density: tuple[float, bool] | None = None,
    ) -> tuple[
        Model, list[str], list[list[tuple[float, float | None]]], int | None, str | None
    ]: ...
    def distill(
        self,
        table: Table,
        *,
        student: Mapping[str, Any],
        method: Mapping[str, Any] | None,
        unlabeled: Table | None = None,
    ) -> tuple[Model, list[str], int | None]: ...
    def predict(self, table: Table, interval: float | None = None) -> tuple[
        NDArray[np.float64],
        NDArray[np.float64] | None,
        tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    ]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes, name: str = "the model") -> Model: ...
    @property
    def metadata(self) -> str: ...
    @property
    def targets(self) -> list[str]: ...
    @property
    def columns(self) -> list[str]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class EstimatorComparison:
    def __new__(
        cls,
        table: Table,
        *,
        target: Sequence[str],
        roles: dict[str, Any],
        candidates: Sequence[Mapping[str, Any]],
        rows: Sequence[tuple[str, Table]],
        split: str,
        folds: int,
        repeats: int,
        sizes: Sequence[int | None],
        seed: int,
        rare: str | None = None,
    ) -> EstimatorComparison: ...
    @property
    def omitted(self) -> str | None: ...
    @property
    def warning(self) -> str | None: ...
    @property
    def notes(self) -> list[str]: ...
    def splits(self) -> list[dict[str, Any]]: ...
    def judge(
        self,
        candidate: int,
        split: tuple[int | None, int, int],
        predicted: NDArray[np.float64],
        seconds: float,
    ) -> str: ...
    def outcome(self, runs: Sequence[str], command: str, next: Sequence[str]) -> Outcome: ...

@final
class Outcome:
    @property
    def verdict(self) -> str: ...
    @property
    def next(self) -> str | None: ...
    @property
    def helps(self) -> bool: ...
    @property
    def remarks(self) -> list[str]: ...
    @property
    def rows(self) -> str: ...
    @property
    def how(self) -> str: ...
    def lines(self) -> list[dict[str, Any]]: ...
    def to_json(self) -> str: ...
    def report(self, table: str) -> list[tuple[str, bytes]]: ...
