"""Augmentation of Ray Datasets.

As in :mod:`windlass.spark`, Ray distributes the rows as Arrow blocks, and the compiled core
does the computation. The result is bit-identical for any partition into blocks.

Examples
--------
>>> import windlass.ray  # doctest: +SKIP
>>> plan = windlass.ADA(clusters=32, alpha=2.0, copies=4, random_state=7)  # doctest: +SKIP
>>> more = windlass.ray.augment(dataset, plan, target="y", provenance=True)  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _cluster
from . import _windlass as core
from ._base import needs
from ._windlass import FittedTable, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ._augmenters import Augmenter

    # Output batches of the batches of a block and its row identifiers.
    _Make = Callable[[Iterable[Any], Any], Iterator[Any]]

try:
    import pyarrow
    import ray
    import ray.data

    from ._atomic_dir import Folder
except ImportError as error:
    raise needs(str(error.name), "windlass.ray", "'ray[data]' pyarrow") from None

# Number of partial aggregates that one worker merges.
_FEW = 16


def fit(
    dataset: Any,
    plan: str | Augmenter,
    target: str | Sequence[str],
    *,
    key: str | None = None,
    provenance: bool = False,
    memory: int = _cluster.MEMORY,
    **columns: Any,
) -> FittedTable:
    """Fit a method on a Dataset: roles of columns, groups and their means.

    Parameters
    ----------
    dataset : ray.data.Dataset
        Rows to fit on.
    plan, target, key, provenance, memory, **columns
        As in :func:`windlass.spark.fit`.

    Returns
    -------
    fitted : FittedTable
        The fitted state, for :func:`augment` and :func:`write_parquet`.
    """
    request = _cluster.Request(
        plan, target=target, key=key, provenance=provenance, memory=memory, **columns
    )
    rows = _Rows.requested(dataset, request)
    return _cluster.run_passes(request, rows.schema, rows.parts)


def augment(
    dataset: Any,
    plan: str | Augmenter | FittedTable,
    target: str | Sequence[str] | None = None,
    *,
    key: str | None = None,
    provenance: bool = False,
    memory: int = _cluster.MEMORY,
    **columns: Any,
) -> Any:
    """Fit a method on a Dataset, and return the augmented Dataset.

    Parameters
    ----------
    dataset : ray.data.Dataset
        Rows to augment.
    plan, target, key, provenance, memory, **columns
        As in :func:`windlass.spark.augment`.

    Returns
    -------
    augmented : ray.data.Dataset
        The original rows (unless ``originals=False``) and the synthetic rows, in no particular
        order. It is lazy, with one exception: without a key, duplicate rows are numbered by
        their position, so a Dataset with duplicates is materialized first.
    """
    given = {"target": target, "key": key, "provenance": provenance, **columns}
    method, rows = _method(dataset, plan, memory, given)
    out = method.out_schema(rows.schema) if isinstance(method, _cluster.Whole) else None
    return rows.each(lambda batches, counts: _cluster.make_rows(method, batches, counts), out)


def write_parquet(
    dataset: Any,
    plan: str | Augmenter | FittedTable,
    path: str | os.PathLike[str],
    target: str | Sequence[str] | None = None,
    *,
    key: str | None = None,
    provenance: bool = False,
    memory: int = _cluster.MEMORY,
    **columns: Any,
) -> int:
    """Augment a Dataset, and write Parquet files from the workers.

    The rows are those of ``augment(...).write_parquet(path)``, but are not stored in Ray's
    object store.

    Parameters
    ----------
    dataset, plan, target, key, provenance, memory, **columns
        As in :func:`augment`.
    path : str or path
        As in :func:`windlass.spark.write_parquet`.

    Returns
    -------
    rows : int
        Number of rows written.
    """
    given = {"target": target, "key": key, "provenance": provenance, **columns}
    with Folder(path) as folder:
        method, rows = _method(dataset, plan, memory, given)
        parts = rows.each(
            lambda batches, counts: _cluster.write_rows(method, batches, counts, folder),
            pyarrow.schema({"file": pyarrow.string(), "rows": pyarrow.int64()}),
        ).take_all()
        folder.complete([part["file"] for part in parts])
    return sum(part["rows"] for part in parts)


def _method(
    dataset: Any, plan: str | Augmenter | FittedTable, memory: int, given: dict[str, Any]
) -> tuple[_cluster.Whole | _cluster.Within, _Rows]:
    """Fit a method, unless it is fitted, and compute row identifiers if needed."""
    if isinstance(plan, FittedTable):
        _cluster.check_fitted(plan, given)
        rows = _Rows.of(dataset, plan.rows_by, plan.draws_for_rows)
        return _cluster.Whole(_shared(plan)), rows
    request = _cluster.Request(plan, memory=memory, **given)
    rows = _Rows.requested(dataset, request)
    fitted = _cluster.fitted_or_within(request, rows.schema, rows.parts)
    if isinstance(fitted, _cluster.Within):
        if isinstance(rows, _Equal):
            raise InputError(
                "duplicate rows cannot be identified within blocks\n"
                "hint: set key to a column with a unique value in every row"
            )
        return fitted, rows
    return _cluster.Whole(_shared(fitted), fitted.complete, own=True), rows


def _shared(fitted: FittedTable) -> Callable[[], bytes]:
    """Put the state into the object store once."""
    sent = ray.put(fitted.to_bytes())
    return lambda: ray.get(sent)


def _arrow_schema(dataset: Any) -> Any:
    schema = dataset.schema()
    if schema is None:
        raise InputError("the dataset has no rows")
    return pyarrow.schema(list(zip(schema.names, schema.types)))


def _same(table: Any, schema: Any) -> Any:
    """Raise an error if the columns of a block differ from the dataset."""
    if table.schema.names != schema.names:
        raise InputError(
            f"a block has the columns {', '.join(table.schema.names)}, "
            f"but the dataset {', '.join(schema.names)}"
        )
    for field, block in zip(schema, table.schema):
        if field.type != block.type:
            first = table.column(block.name)[0].as_py() if table.num_rows else "nothing"
            raise InputError(
                f"column `{field.name}` is {block.type} in a block (such as {first!r}), "
                f"but {field.type} in the dataset\nhint: convert the column to one type"
            )
    return table


class _Rows:
    """The rows of a dataset, block by block."""

    def __init__(self, dataset: Any) -> None:
        self.dataset, self.schema = dataset, _arrow_schema(dataset)

    @staticmethod
    def requested(dataset: Any, request: _cluster.Request) -> _Rows:
        """Return the rows, after a check of the settings that does not read them."""
        request.fitting(_arrow_schema(dataset))
        return _Rows.of(dataset, request.rows_by, request.draws_for_rows)

    @staticmethod
    def of(dataset: Any, rows_by: str, draws: bool) -> _Rows:
        """Return the rows, with counted duplicates if random numbers depend on rows."""
        if not draws:
            return _Rows(dataset)
        ids = dataset.map_batches(
            lambda table: pyarrow.table(core.ids_of_rows(table, rows_by)),
            batch_format="pyarrow",
            batch_size=None,
        )
        counts = ids.groupby("id").count()
        equal = counts.filter(lambda row: row["count()"] > 1).take(_cluster.MOST_TWINS + 1)
        found = [row["id"] for row in equal]
        if rows_by != "content":
            _cluster.refuse_same_keys(rows_by.split(":", 1)[1], found)
            return _Different(dataset)
        _cluster.refuse_many_duplicates(len(found))
        return _Equal(dataset, found) if found else _Different(dataset)

    duplicate_counts: Any = None

    def parts(self, task: bytes) -> Iterable[bytes]:
        """Return the partial aggregates of the blocks."""
        schema, duplicate_counts = self.schema, self.duplicate_counts

        def part(table: Any) -> Any:
            batches = _same(table, schema).to_batches()
            return _list(_cluster.take_part(task, batches, duplicate_counts))

        found = self.dataset.map_batches(part, batch_format="pyarrow", batch_size=None)
        found = found.map_batches(
            lambda table: _list([_cluster.merged(task, schema, table.column(0).to_pylist())]),
            batch_format="pyarrow",
            batch_size=_FEW,
        )
        return (row["part"] for row in found.iter_rows())

    def each(self, make: _Make, out: Any) -> Any:
        """Return a dataset of the outputs of every block, with this schema."""
        schema, duplicate_counts = self.schema, self.duplicate_counts

        def tables(table: Any) -> Iterator[Any]:
            for batch in make(_same(table, schema).to_batches(), duplicate_counts):
                yield pyarrow.Table.from_batches([batch], out)

        return self.dataset.map_batches(tables, batch_format="pyarrow", batch_size=None)


class _Different(_Rows):
    """Rows without duplicates."""

    duplicate_counts: Any = []


class _Equal(_Rows):
    """Rows with duplicates, which are counted block by block in a materialized dataset."""

    def __init__(self, dataset: Any, equal: list[int]) -> None:
        super().__init__(dataset.materialize())
        self.blocks = self.dataset.to_arrow_refs()
        known = ray.put(set(equal))
        counts = ray.get([_count.remote(block, known) for block in self.blocks])
        before: dict[int, int] = {}
        self.before = []
        for count in counts:
            self.before.append([(id, before.get(id, 0)) for id in count])
            for id, more in count.items():
                before[id] = before.get(id, 0) + more

    def parts(self, task: bytes) -> Iterable[bytes]:
        todo = zip(self.blocks, self.before)
        parts = [_part.remote(task, self.schema, block, counts) for block, counts in todo]
        return (part for found in parts for part in ray.get(found))

    def each(self, make: _Make, out: Any) -> Any:
        todo = zip(self.blocks, self.before)
        return ray.data.from_arrow_refs([_block.remote(make, out, *block) for block in todo])


def _list(parts: Iterable[bytes]) -> Any:
    return pyarrow.table({"part": pyarrow.array(list(parts), pyarrow.large_binary())})


def _count_block(block: Any, known: set[int]) -> dict[int, int]:
    """Count the duplicates in a block."""
    counts: dict[int, int] = {}
    for id in pyarrow.table(core.ids_of_rows(block, "content")).column(0).to_pylist():
        if id in known:
            counts[id] = counts.get(id, 0) + 1
    return counts


def _part_of_block(task: bytes, schema: Any, block: Any, duplicate_counts: Any) -> list[bytes]:
    return list(_cluster.take_part(task, _same(block, schema).to_batches(), duplicate_counts))


def _make_block(make: _Make, out: Any, block: Any, duplicate_counts: Any) -> Any:
    return pyarrow.Table.from_batches(make(block.to_batches(), duplicate_counts), out)


_count, _part, _block = map(ray.remote, (_count_block, _part_of_block, _make_block))
