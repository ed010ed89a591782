"""Shared code of :mod:`windlass.spark` and :mod:`windlass.ray`."""

from __future__ import annotations

import copy
import itertools
import os
import warnings
from typing import TYPE_CHECKING, Any

from . import _windlass as core
from ._augmenters import Augmenter, copies_of, named
from ._base import DEFAULTS, seed_of
from ._table import bounds_of, names_of, word_of
from ._windlass import FittedTable, InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ._atomic_dir import Folder

# Memory limit of the driver and of each worker for methods that need the whole table.
MEMORY = 1 << 30

# Maximum number of distinct duplicated rows, which are listed on the driver.
MOST_TWINS = 1_000_000


class Request:
    """The settings of a distributed fit."""

    def __init__(
        self,
        plan: str | Augmenter,
        *,
        target: str | Sequence[str] | None,
        key: str | None,
        provenance: bool,
        memory: int,
        **roles: Any,
    ) -> None:
        if target is None:
            raise InputError("target is missing")
        self.augmenter = plan if isinstance(plan, Augmenter) else named(plan)
        options, found, within = self.augmenter._anchors(None)
        if found is not None or within is not None:
            raise InputError(
                "anchors and within must be columns of a distributed table, not arrays\n"
                'hint: ADA(anchors="column:NAME", within="NAME")'
            )
        clip = roles.pop("clip", DEFAULTS["augment"]["clip"])
        bounds = roles.pop("bounds", None)
        drop = roles.pop("drop_missing_target", DEFAULTS["augment"]["drop_missing_target"])
        self.rows_by = "content" if key is None else f"column:{key}"
        lists = ("features", "exclude", "carry", "categorical", "continuous")
        unknown = [name for name in roles if name not in (*lists, "weight", "integers")]
        if unknown:
            raise InputTypeError(f"unknown setting {', '.join(unknown)}")
        self.settings: dict[str, Any] = {
            "target": names_of(target, "target"),
            "roles": {
                name: names_of(value, name) if name in lists and value is not None else value
                for name, value in roles.items()
            },
            "copies": copies_of(self.augmenter.copies),
            "rare": self.augmenter.rare,
            "originals": bool(self.augmenter.originals),
            "seed": seed_of(self.augmenter.random_state),
            "clip": word_of(clip, "clip"),
            "bounds": bounds_of(bounds),
            "drop_missing_target": bool(drop),
            "provenance": bool(provenance),
            "rows_by": self.rows_by,
            "memory": memory,
        }
        self.options = options

    def fitting(self, schema: Any) -> core.FitDriver:
        """Create the driver of a fit on a table with this schema."""
        return core.FitDriver(schema, self.augmenter._method, self.options, **self.settings)

    def without_limit(self) -> Request:
        """Return the same settings without a memory limit."""
        other = copy.copy(self)
        other.settings = {**self.settings, "memory": 2**62}
        return other

    @property
    def draws_for_rows(self) -> bool:
        """Whether random numbers depend on rows, so that rows need identifiers."""
        return self.augmenter._method != "ada" or self.options.get("per") != "copy"


def check_fitted(fitted: FittedTable, given: dict[str, Any]) -> None:
    """Raise an error for settings that a fitted state contains already, and for row numbers."""
    said = [name for name, value in given.items() if value]
    if said:
        raise InputTypeError(
            f"{', '.join(said)}: {fitted!r} already has its settings\nhint: set them in fit"
        )
    if fitted.rows_by == "number":
        raise InputError(
            "rows of distributed tables have no numbers\n"
            "hint: fit with --rows-by content or --rows-by column:NAME"
        )


def alone() -> None:
    """Use one thread: the engine starts one process per core."""
    os.environ.setdefault("RAYON_NUM_THREADS", "1")


def take_part(task: bytes, batches: Iterable[Any], duplicate_counts: Any) -> Iterator[bytes]:
    """Compute the partial aggregate of some batches; yield nothing if there are no rows."""
    alone()
    part = None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        if part is None:
            part = core.PassAccumulator(task, batch.schema, duplicate_counts)
        part.add(batch)
    if part is not None:
        yield part.to_bytes()


class Whole:
    """A method fitted on the whole table, for workers."""

    def __init__(
        self, state: Callable[[], bytes], complete: Sequence[str] = (), own: bool = False
    ) -> None:
        self.state = state
        # Columns without nulls, and whether it was fitted on the table that is augmented.
        self.complete, self.own = complete, own

    def on(
        self, batches: Iterator[Any], _duplicate_counts: Any
    ) -> tuple[FittedTable, Iterable[Any]]:
        """Return the fitted state and the batches of a partition."""
        return FittedTable.from_bytes(self.state()), batches

    def out_schema(self, schema: Any) -> Any:
        """Return the pyarrow schema of the output."""
        import pyarrow

        fitted = FittedTable.from_bytes(self.state())
        maker = core.RowGenerator(fitted, _never_null(schema, self.complete), [])
        return pyarrow.table(maker.empty).schema


class Within:
    """A method that is fitted in each partition, for tables that do not fit in memory.

    The roles of columns are inferred from the whole table.
    """

    complete: Sequence[str] = ()
    own = False

    def __init__(self, request: Request, schema: Any, found: Callable[[bytes], Iterable[bytes]]):
        self.request = request.without_limit()
        task = self.request.fitting(schema).task()
        self.look = merged(task[1], schema, found(task[1])) if task else b""

    def on(
        self, batches: Iterator[Any], duplicate_counts: Any
    ) -> tuple[FittedTable, Iterable[Any]]:
        """Fit on the batches of a partition."""
        kept = list(batches)
        schema = kept[0].schema
        fitting = self.request.fitting(schema)
        while (task := fitting.task()) is not None:
            part = core.PassAccumulator(task[1], schema, duplicate_counts)
            if task[0] == "reading":
                part.merge(self.look)
            else:
                for batch in kept:
                    part.add(batch)
            fitting.take(part)
        return fitting.finish(), kept


def make_rows(
    method: Whole | Within, batches: Iterable[Any], duplicate_counts: Any
) -> Iterator[Any]:
    """Yield the output of some batches, one batch and copy at a time."""
    import pyarrow

    if (begun := _begun(method, batches, duplicate_counts)) is None:
        return
    fitted, schema, batches = begun
    maker = core.RowGenerator(fitted, _never_null(schema, method.complete), duplicate_counts)
    for batch in batches:
        yield from pyarrow.table(maker.make(batch)).to_batches()


def write_rows(
    method: Whole | Within, batches: Iterable[Any], duplicate_counts: Any, folder: Folder
) -> Iterator[Any]:
    """Write the output of some batches to a file; yield its name and number of rows."""
    import pyarrow

    if (begun := _begun(method, batches, duplicate_counts)) is None:
        return
    fitted, schema, batches = begun
    stream = pyarrow.RecordBatchReader.from_batches(schema, batches)
    complete = _never_null(schema, method.complete)

    def write(path: str) -> int:
        return core.write_rows(
            fitted, complete, stream, path, duplicate_counts=duplicate_counts, own=method.own
        )

    name, rows = folder.write(write)
    yield pyarrow.RecordBatch.from_pydict({"file": [name], "rows": [rows]})


def _begun(
    method: Whole | Within, batches: Iterable[Any], duplicate_counts: Any
) -> tuple[FittedTable, Any, Iterable[Any]] | None:
    """Return the fitted state, the schema and the batches; None if there are no rows."""
    alone()
    rest = (batch for batch in batches if batch.num_rows)
    first = next(rest, None)
    if first is None:
        return None
    fitted, batches = method.on(itertools.chain([first], rest), duplicate_counts)
    return fitted, first.schema, batches


def _never_null(schema: Any, complete: Sequence[str]) -> Any:
    """Mark columns as not nullable; the core checks it when it generates rows."""
    import pyarrow

    fields = (field.with_nullable(False) if field.name in complete else field for field in schema)
    return pyarrow.schema(fields)


def run_passes(
    request: Request, schema: Any, found: Callable[[bytes], Iterable[bytes]]
) -> FittedTable:
    """Fit in passes; ``found`` returns the partial aggregates of a pass."""
    fitting = request.fitting(schema)
    while (task := fitting.task()) is not None:
        whole = core.PassAccumulator(task[1], schema)
        for part in found(task[1]):
            whole.merge(part)
        fitting.take(whole)
    return fitting.finish()


def fitted_or_within(
    request: Request, schema: Any, found: Callable[[bytes], Iterable[bytes]]
) -> FittedTable | Within:
    """Fit; if memory does not suffice, some methods fall back to partners within partitions."""
    try:
        return run_passes(request, schema, found)
    except core.NeedsMemoryError:
        # Which rows are rare depends on all of them.
        if not request.augmenter._within_partitions or request.augmenter.rare is not None:
            raise
        warnings.warn(
            f"{request.augmenter._method} finds partners within partitions only: the table is "
            f"larger than memory ({request.settings['memory']} bytes); rows depend on how it is partitioned",
            stacklevel=4,
        )
        return Within(request, schema, found)


def merged(task: bytes, schema: Any, parts: Iterable[bytes]) -> bytes:
    """Merge partial aggregates."""
    alone()
    whole = core.PassAccumulator(task, schema)
    for part in parts:
        whole.merge(part)
    return whole.to_bytes()


def refuse_same_keys(column: str, keys: list[Any]) -> None:
    """Raise an error for a key that is not unique."""
    if keys:
        raise InputError(
            f"key column `{column}` is not unique: two rows have the key {keys[0]}\n"
            "hint: choose a column with a unique value in every row, or omit key to identify rows "
            "by content"
        )


def refuse_many_duplicates(count: int) -> None:
    """Raise an error for more duplicate rows than the driver can count."""
    if count > MOST_TWINS:
        raise InputError(
            f"more than {MOST_TWINS} rows are duplicates, too many to count on the driver\n"
            "hint: set key to a column with a unique value in every row"
        )
