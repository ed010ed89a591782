"""What :mod:`windlass.spark` and :mod:`windlass.ray` share: tables without an order."""

from __future__ import annotations

import copy
import itertools
import os
import warnings
from typing import TYPE_CHECKING, Any

from . import _windlass as core
from ._augmenters import Augmenter, named
from ._base import DEFAULTS, seed_of
from ._table import bounds_of, names_of, word_of
from ._windlass import FittedTable, InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ._atomic_dir import Folder

# What the driver may hold of a table for methods that mix rows, and send to every worker.
MEMORY = 1 << 30

# Rows that hold the same are told apart by a list on the driver, up to so many.
MOST_TWINS = 1_000_000


class Request:
    """What a user asks for."""

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
            raise InputError("target names no column")
        self.augmenter = plan if isinstance(plan, Augmenter) else named(plan)
        options, found, within = self.augmenter._anchors(None)
        if found is not None or within is not None:
            raise InputError(
                "anchors and within name columns of a table that is spread over many processes\n"
                'hint: ADA(anchors="column:NAME", within="NAME")'
            )
        clip = roles.pop("clip", DEFAULTS["augment"]["clip"])
        bounds = roles.pop("bounds", None)
        drop = roles.pop("drop_missing_target", DEFAULTS["augment"]["drop_missing_target"])
        self.rows_by = "content" if key is None else f"column:{key}"
        lists = ("features", "exclude", "carry", "categorical", "continuous")
        unknown = [name for name in roles if name not in (*lists, "weight", "integers")]
        if unknown:
            raise InputTypeError(f"there is no setting {', '.join(unknown)}")
        self.settings: dict[str, Any] = {
            "target": names_of(target, "target"),
            "roles": {
                name: names_of(value, name) if name in lists and value is not None else value
                for name, value in roles.items()
            },
            "copies": self.augmenter.copies,
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
        """Begin to fit on a table with these columns."""
        return core.FitDriver(schema, self.augmenter._method, self.options, **self.settings)

    def without_limit(self) -> Request:
        """Give the same, of a table of any size."""
        other = copy.copy(self)
        other.settings = {**self.settings, "memory": 2**62}
        return other

    @property
    def draws_for_rows(self) -> bool:
        """Whether random numbers belong to rows, so that they must be told apart."""
        return self.augmenter._method != "ada" or self.options.get("per") != "copy"


def check_fitted(fitted: FittedTable, given: dict[str, Any]) -> None:
    """Refuse settings beside something fitted, which has its own, and rows that go by numbers."""
    said = [name for name, value in given.items() if value]
    if said:
        raise InputTypeError(
            f"{', '.join(said)}: {fitted!r} has its settings already\nhint: set them in fit"
        )
    if fitted.rows_by == "number":
        raise InputError(
            "rows have no numbers on a cluster\n"
            "hint: fit with --rows-by content or --rows-by column:NAME"
        )


def alone() -> None:
    """Use one thread: an engine has a process for every core already."""
    os.environ.setdefault("RAYON_NUM_THREADS", "1")


def take_part(task: bytes, batches: Iterable[Any], twins: Any) -> Iterator[bytes]:
    """Do a task with some batches; nothing where there are none."""
    alone()
    part = None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        if part is None:
            part = core.PassAccumulator(task, batch.schema, twins)
        part.add(batch)
    if part is not None:
        yield part.to_bytes()


class Whole:
    """A method that was fitted on the whole table, as workers have it."""

    def __init__(
        self, state: Callable[[], bytes], complete: Sequence[str] = (), own: bool = False
    ) -> None:
        self.state = state
        # Columns that are never null, and whether it was fitted on the table whose rows it makes.
        self.complete, self.own = complete, own

    def on(self, batches: Iterator[Any], _twins: Any) -> tuple[FittedTable, Iterable[Any]]:
        """Give what was fitted, and the batches of a partition to make rows of."""
        return FittedTable.from_bytes(self.state()), batches

    def out_schema(self, schema: Any) -> Any:
        """Give the columns of the rows that are made, as pyarrow has them."""
        import pyarrow

        fitted = FittedTable.from_bytes(self.state())
        maker = core.RowGenerator(fitted, _never_null(schema, self.complete), [])
        return pyarrow.table(maker.empty).schema


class Within:
    """A method that is fitted anew in every partition, for tables that are too large.

    What columns are is found in the whole table.
    """

    complete: Sequence[str] = ()
    own = False

    def __init__(self, request: Request, schema: Any, found: Callable[[bytes], Iterable[bytes]]):
        self.request = request.without_limit()
        task = self.request.fitting(schema).task()
        self.look = merged(task[1], schema, found(task[1])) if task else b""

    def on(self, batches: Iterator[Any], twins: Any) -> tuple[FittedTable, Iterable[Any]]:
        """Fit on the batches of a partition."""
        kept = list(batches)
        schema = kept[0].schema
        fitting = self.request.fitting(schema)
        while (task := fitting.task()) is not None:
            part = core.PassAccumulator(task[1], schema, twins)
            if task[0] == "reading":
                part.merge(self.look)
            else:
                for batch in kept:
                    part.add(batch)
            fitting.take(part)
        return fitting.finish(), kept


def make_rows(method: Whole | Within, batches: Iterable[Any], twins: Any) -> Iterator[Any]:
    """Make all rows of some batches, a batch of each copy at a time."""
    import pyarrow

    if (begun := _begun(method, batches, twins)) is None:
        return
    fitted, schema, batches = begun
    maker = core.RowGenerator(fitted, _never_null(schema, method.complete), twins)
    for batch in batches:
        yield from pyarrow.table(maker.make(batch)).to_batches()


def write_rows(
    method: Whole | Within, batches: Iterable[Any], twins: Any, folder: Folder
) -> Iterator[Any]:
    """Write all rows of some batches to a file; give its name and the number of its rows."""
    import pyarrow

    if (begun := _begun(method, batches, twins)) is None:
        return
    fitted, schema, batches = begun
    stream = pyarrow.RecordBatchReader.from_batches(schema, batches)
    complete = _never_null(schema, method.complete)

    def write(path: str) -> int:
        return core.write_rows(fitted, complete, stream, path, twins=twins, own=method.own)

    name, rows = folder.write(write)
    yield pyarrow.RecordBatch.from_pydict({"file": [name], "rows": [rows]})


def _begun(
    method: Whole | Within, batches: Iterable[Any], twins: Any
) -> tuple[FittedTable, Any, Iterable[Any]] | None:
    """Give what makes rows of some batches, their columns, and the batches; nothing of no rows."""
    alone()
    rest = (batch for batch in batches if batch.num_rows)
    first = next(rest, None)
    if first is None:
        return None
    fitted, batches = method.on(itertools.chain([first], rest), twins)
    return fitted, first.schema, batches


def _never_null(schema: Any, complete: Sequence[str]) -> Any:
    """Say of some columns that they are never null, which is checked while rows are made."""
    import pyarrow

    fields = (field.with_nullable(False) if field.name in complete else field for field in schema)
    return pyarrow.schema(fields)


def run_passes(
    request: Request, schema: Any, found: Callable[[bytes], Iterable[bytes]]
) -> FittedTable:
    """Fit in passes; ``found`` gives what every part of the table found in one."""
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
    """Fit; without enough memory a method may fall back to partners within partitions."""
    try:
        return run_passes(request, schema, found)
    except core.NeedsMemoryError:
        if not request.augmenter._within_partitions:
            raise
        warnings.warn(
            f"{request.augmenter._method} finds partners within partitions only: the table is "
            f"larger than memory ({request.settings['memory']} bytes); rows depend on how it is partitioned",
            stacklevel=4,
        )
        return Within(request, schema, found)


def merged(task: bytes, schema: Any, parts: Iterable[bytes]) -> bytes:
    """Merge what some parts found."""
    alone()
    whole = core.PassAccumulator(task, schema)
    for part in parts:
        whole.merge(part)
    return whole.to_bytes()


def refuse_same_keys(column: str, keys: list[Any]) -> None:
    """Refuse a key that stands for several rows."""
    if keys:
        raise InputError(
            f"the key `{column}` does not tell rows apart: two rows have the same, {keys[0]}\n"
            "hint: a key has another value in every row; leave it out to go by what rows hold"
        )


def refuse_many_twins(count: int) -> None:
    """Refuse more equal rows than can be counted on the driver."""
    if count > MOST_TWINS:
        raise InputError(
            f"more than {MOST_TWINS} rows hold the same as another, too many to tell apart\n"
            "hint: name a column that differs in every row: key="
        )
