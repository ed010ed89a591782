"""Augmentation of Spark DataFrames.

Spark distributes the rows as Arrow batches, and the compiled core does the computation. Fitting
takes one to three passes of partial sums, which are merged exactly; rows are neither shuffled
nor collected. The result is bit-identical to the command ``windlass augment`` with
``--rows-by``, for any partitioning.

Examples
--------
>>> import windlass.spark  # doctest: +SKIP
>>> plan = windlass.ADA(clusters=32, alpha=2.0, copies=4, random_state=7)  # doctest: +SKIP
>>> out = windlass.spark.augment(df, plan, target="y", provenance=True)  # doctest: +SKIP
>>> out.write.parquet("augmented")  # doctest: +SKIP
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from . import _cluster
from . import _windlass as core
from ._base import needs
from ._windlass import FittedTable

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ._augmenters import Augmenter

try:
    import pyarrow
    import pyspark

    from ._atomic_dir import Folder
except ImportError as error:
    raise needs(str(error.name), "windlass.spark", "pyspark pyarrow") from None

# Partial aggregates that are merged on the driver and by one worker; one of a wide table has 30 MB.
_FEW, _TOGETHER = 8, 32


def fit(
    df: Any,
    plan: str | Augmenter,
    target: str | Sequence[str],
    *,
    key: str | None = None,
    provenance: bool = False,
    memory: int = _cluster.MEMORY,
    **columns: Any,
) -> FittedTable:
    """Fit a method on a DataFrame: roles of columns, groups and their means.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows to fit on.
    plan : Augmenter or str
        Augmentation method with its parameters, such as ``windlass.ADA(...)``.
    target : str or list of str
        Column to predict, or several.
    key : str, optional
        Column with a unique value in every row (integers, text or times). It identifies rows in
        ``windlass_source`` and seeds their random numbers. By default rows are identified by
        their values.
    provenance : bool, default False
        Whether to add columns (``windlass_source``, …) with the provenance of each row.
    memory : int, default 1 GiB
        Memory limit in bytes of the driver and of each worker. ADA with groups needs little;
        methods that mix rows need the whole table.
    **columns
        As in :func:`windlass.augment`: ``features``, ``exclude``, ``carry``, ``categorical``,
        ``continuous``, ``weight``, ``integers``, ``clip``, ``bounds``,
        ``drop_missing_target``.

    Returns
    -------
    fitted : FittedTable
        The fitted state, for :func:`augment` and :func:`write_parquet`.
    """
    request = _cluster.Request(
        plan, target=target, key=key, provenance=provenance, memory=memory, **columns
    )
    rows = _Rows(df, request)
    return _cluster.run_passes(request, rows.schema, rows.found)


def augment(
    df: Any,
    plan: str | Augmenter | FittedTable,
    target: str | Sequence[str] | None = None,
    *,
    key: str | None = None,
    provenance: bool = False,
    memory: int = _cluster.MEMORY,
    **columns: Any,
) -> Any:
    """Fit a method on a DataFrame, and return the augmented DataFrame.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows to augment.
    plan : Augmenter, str or FittedTable
        Augmentation method, or the result of :func:`fit` on this or another DataFrame with the
        same columns, which includes all settings.
    target, key, provenance, memory, **columns
        As in :func:`fit`.

    Returns
    -------
    augmented : pyspark.sql.DataFrame
        The original rows (unless ``originals=False``) and the synthetic rows, in no particular
        order. It is lazy.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    given = {"target": target, "key": key, "provenance": provenance, **columns}
    method, duplicate_counts = _method(df, plan, memory, given)

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _cluster.make_rows(method, batches, _here(duplicate_counts))

    # The schema comes from an empty output or, if the method is fitted per partition, a small one.
    if isinstance(method, _cluster.Whole):
        schema = method.out_schema(_arrow_schema(df))
    else:
        some = df.limit(2).toArrow().to_batches()
        counts: list[Any] | None = None if duplicate_counts is None else []
        schema = next(_cluster.make_rows(method, some, counts)).schema
    return df.mapInArrow(rows, from_arrow_schema(schema))


def write_parquet(
    df: Any,
    plan: str | Augmenter | FittedTable,
    path: str | os.PathLike[str],
    target: str | Sequence[str] | None = None,
    *,
    key: str | None = None,
    provenance: bool = False,
    memory: int = _cluster.MEMORY,
    **columns: Any,
) -> int:
    """Augment a DataFrame, and write Parquet files from the workers.

    The rows are those of ``augment(...).write.parquet(path)``, in a fraction of the time,
    because they are not sent back to Java. If the method was fitted on ``df``, the files contain
    a manifest, so that ``windlass verify`` can check them.

    Parameters
    ----------
    df, plan, target, key, provenance, memory, **columns
        As in :func:`augment`.
    path : str or path
        New folder on a file system that the driver and all workers share, or a URI that pyarrow
        supports, such as ``s3://``, ``gs://`` or ``hdfs://``. It appears when it is complete; on
        object stores file by file, with ``_SUCCESS`` last.

    Returns
    -------
    rows : int
        Number of rows written.
    """
    given = {"target": target, "key": key, "provenance": provenance, **columns}
    with Folder(path) as folder:
        method, duplicate_counts = _method(df, plan, memory, given)

        def rows(batches: Iterator[Any]) -> Iterator[Any]:
            yield from _cluster.write_rows(method, batches, _here(duplicate_counts), folder)

        parts = df.mapInArrow(rows, "file string, rows bigint").collect()
        folder.complete([part["file"] for part in parts])
    return sum(part["rows"] for part in parts)


def _method(
    df: Any, plan: str | Augmenter | FittedTable, memory: int, given: dict[str, Any]
) -> tuple[_cluster.Whole | _cluster.Within, dict[int, Any] | None]:
    """Fit a method, unless it is fitted, and count duplicate rows if needed."""
    if isinstance(plan, FittedTable):
        _cluster.check_fitted(plan, given)
        duplicate_counts = _duplicate_counts(df, plan.rows_by) if plan.draws_for_rows else None
        return _cluster.Whole(_shared(df, plan.to_bytes())), duplicate_counts
    request = _cluster.Request(plan, memory=memory, **given)
    rows = _Rows(df, request)
    fitted = _cluster.fitted_or_within(request, rows.schema, rows.found)
    if isinstance(fitted, _cluster.Within):
        return fitted, rows.duplicate_counts
    # Columns without nulls save Spark the null checks, a quarter of its time.
    state, complete = _shared(df, fitted.to_bytes()), fitted.complete
    return _cluster.Whole(state, complete, own=True), rows.duplicate_counts


class _Rows:
    """The rows of a DataFrame, with counted duplicates if needed."""

    def __init__(self, df: Any, request: _cluster.Request) -> None:
        self.df, self.schema = df, _arrow_schema(df)
        request.fitting(self.schema)  # Checks the settings before rows are read.
        self.duplicate_counts = _duplicate_counts(df, request.rows_by) if request.draws_for_rows else None
        self.partitions = df.rdd.getNumPartitions() if hasattr(df, "rdd") else _TOGETHER

    def found(self, task: bytes) -> Iterable[bytes]:
        """Return partial aggregates of the partitions."""
        found = self.df.mapInArrow(_parts(task, self.duplicate_counts), "part binary")
        parts = self.partitions
        while parts > _FEW:
            parts = math.ceil(parts / _TOGETHER)
            found = found.repartition(parts)
            found = found.mapInArrow(_merge(task, self.schema), "part binary")
        return (bytes(row["part"]) for row in found.collect())


def _arrow_schema(df: Any) -> Any:
    """Return the Arrow schema of the workers."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(df.schema)


def _shared(df: Any, state: bytes) -> Callable[[], bytes]:
    """Broadcast the state; with Spark Connect it is part of each task."""
    context = getattr(df.sparkSession, "_sc", None)
    if context is None:
        return lambda: state
    sent = context.broadcast(state)
    return lambda: sent.value


def _here(duplicate_counts: dict[int, Any] | None) -> Any:
    """Return the duplicate counts of this partition."""
    if duplicate_counts is None:
        return None
    context = pyspark.TaskContext.get()
    return duplicate_counts.get(context.partitionId(), []) if context is not None else []


def _parts(task: bytes, duplicate_counts: dict[int, Any] | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def parts(batches: Iterator[Any]) -> Iterator[Any]:
        for part in _cluster.take_part(task, batches, _here(duplicate_counts)):
            yield pyarrow.RecordBatch.from_pydict({"part": [part]})

    return parts


def _merge(task: bytes, schema: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def merge(batches: Iterator[Any]) -> Iterator[Any]:
        parts = (part.as_py() for batch in batches for part in batch.column(0))
        whole = _cluster.merged(task, schema, parts)
        yield pyarrow.RecordBatch.from_pydict({"part": [whole]})

    return merge


def _duplicate_counts(df: Any, rows_by: str) -> dict[int, Any]:
    """Count duplicate rows in the partitions before each partition.

    Only row identifiers are shuffled, eight bytes per row.
    """

    def numbered(batches: Iterator[Any]) -> Iterator[Any]:
        context = pyspark.TaskContext.get()
        here = context.partitionId() if context is not None else 0
        for batch in batches:
            if batch.num_rows:
                ids = pyarrow.table(core.ids_of_rows(batch, rows_by)).column(0).combine_chunks()
                place = pyarrow.array([here] * len(ids), pyarrow.int32())
                yield pyarrow.RecordBatch.from_arrays([ids, place], ["id", "place"])

    ids = df.mapInArrow(numbered, "id bigint, place int")
    equal = ids.groupBy("id").count().where("count > 1").select("id")
    if rows_by != "content":
        _cluster.refuse_same_keys(rows_by.split(":", 1)[1], [r["id"] for r in equal.take(1)])
        return {}
    found = equal.limit(_cluster.MOST_TWINS + 1)
    counts = ids.join(found, "id").groupBy("id", "place").count().collect()
    _cluster.refuse_many_duplicates(len({row["id"] for row in counts}))
    before: dict[int, int] = {}
    duplicate_counts: dict[int, Any] = {}
    for row in sorted(counts, key=lambda row: (row["id"], row["place"])):
        duplicate_counts.setdefault(row["place"], []).append((row["id"], before.get(row["id"], 0)))
        before[row["id"]] = before.get(row["id"], 0) + row["count"]
    return duplicate_counts
