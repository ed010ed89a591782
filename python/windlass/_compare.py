"""Comparison of augmentation methods on any scikit-learn regressor."""

from __future__ import annotations

import html
import json
import os
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from . import _windlass as core
from ._augmenters import METHODS, Augmenter, copies_of, named
from ._base import DEFAULTS, has_names, needs, seed_of
from ._table import Source, _fresh, _target_names
from ._windlass import InputError, InputTypeError, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._base import RandomStateLike

_USUAL = DEFAULTS["compare"]
_NO_ROWS = ("none", "placebo")
# The default methods.
_ALL = ("none", "noise", "mixup", "c-mixup", "ada")
# The label of "none".
_NO_AUGMENTATION = "no augmentation"
# Placeholder for the name of the table in the page of a pickled comparison.
_NAME = b"@table@"


def compare(
    X: Any,
    y: Any,
    estimator: Any,
    methods: Sequence[str | Augmenter] | Mapping[str, str | Augmenter] = _ALL,
    *,
    rows: Mapping[str, Any] | None = None,
    cv: int = _USUAL["cv"],
    repeats: int = _USUAL["repeats"],
    split: str = _USUAL["split"],
    groups: Any = None,
    sizes: Sequence[int | None] = (None,),
    rare: str | None = None,
    copies: int | None = None,
    random_state: RandomStateLike = DEFAULTS["augment"]["random_state"],
    n_jobs: int | None = None,
) -> Comparison:
    """Compare augmentation methods on a scikit-learn regressor.

    In each split, every method generates synthetic rows from the training rows, the model is
    trained on both, and predicts the held-out rows. All methods use the same splits and seeds.
    Splits, intervals and verdicts are those of the command ``windlass compare``: differences
    are in expected RMSE at this number of training rows, and intervals and p-values are
    corrected for multiple comparisons (Holm).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or DataFrame
        Features.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    estimator : regressor
        The model. It is cloned for every run. If its ``random_state`` is None, each split uses
        another seed, which is the same for all methods.
    methods : list of str or Augmenter, or dict of them by label
        Methods to compare: names ("ada", "mixup", …) or augmenters with their parameters.
        "none" (no augmentation, also "erm") is the reference and is added if it is missing;
        "placebo" is "none" with another seed, which shows differences by chance.
    rows : dict of str to table or (X, y), optional
        Rows from elsewhere (another generator, a simulator, an expert) by label, each a table
        with the columns of ``X`` and ``y``, or a pair of features and targets. They take part
        as a method: they are added to training rows, never to test rows. Rows whose source
        (``windlass_source``) is held out, and copies of held-out rows, are omitted from that
        split. There is no verdict on rows that were probably derived from held-out rows.
    cv : int, default 5
        Number of folds.
    repeats : int, default 3
        Number of repeats with different folds.
    split : str, default "rows"
        How to hold out rows: "rows" (random), or by a column of a DataFrame "group:COLUMN"
        (rows with the same value stay together), "domain:COLUMN" (each of up to ten domains in
        turn) or "time:COLUMN" (forward chaining: blocks of the later half, each predicted from
        all earlier rows). The column is not a feature, unless it contains times as numbers.
    groups : array-like of shape (n_samples,), optional
        Group labels; rows of a group are held out together. Replaces ``split``.
    sizes : sequence of int or None
        Numbers of training rows for learning curves; None is all.
    rare : str, optional
        Also report errors on rows with rare targets: "high", "low" or "both" extremes of a box
        plot, "density" (targets in sparse ranges), or a file with columns y and phi.
    copies : int, optional
        Number of synthetic rows per row, for methods given by name.
    random_state : int, Generator or None, default 0
        Random seed of splits, methods and models.
    n_jobs : int, optional
        Number of parallel runs (joblib).

    Returns
    -------
    comparison : Comparison
        Verdict, next step and errors of all methods.

    See Also
    --------
    AugmentedRegressor : Train a regressor with the best method.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from windlass import ADA, compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + rng.normal(size=60)
    >>> found = compare(X, y, Ridge(), ["none", ADA(copies=4)], cv=5, repeats=2)
    >>> found.helps
    False
    >>> [line["method"] for line in found.lines]
    ['no augmentation', 'ada', 'predict the mean']
    """
    try:
        from sklearn.base import clone
    except ImportError:
        raise needs("scikit-learn", "compare", "scikit-learn") from None

    if not isinstance(cv, (int, np.integer)) or isinstance(cv, bool):
        raise InputTypeError(
            f"cv must be a number of folds, got {type(cv).__name__}\n"
            'hint: split="group:COLUMN", "domain:COLUMN" or "time:COLUMN", or groups=labels'
        )
    candidates = _candidates(methods, copies, list(rows or {}))
    if any(who["method"] == "placebo" for who, _ in candidates) and not _seeds(estimator):
        raise InputError(
            f"the placebo needs another seed, but {type(estimator).__name__} has no random_state\n"
            "hint: omit it"
        )
    table, target, split = _table(X, y, split, groups)
    if rows and groups is not None:
        raise InputError(
            "groups has no labels of rows\n"
            'hint: add a column to both tables, and use split="group:COLUMN"'
        )
    added = [_added(label, data, X, target) for label, data in (rows or {}).items()]
    comparison = core.EstimatorComparison(
        table,
        target=target,
        roles={},
        candidates=[who for who, _ in candidates],
        rows=[(str(label), more.core) for label, more in zip(rows or {}, added)],
        split=split,
        folds=int(cv),
        repeats=_arrays.whole(repeats, "repeats"),
        sizes=_sizes(sizes),
        rare=rare,
        seed=seed_of(random_state),
    )
    targets = _arrays.to_numpy(y, "y").astype(np.float64, copy=False)
    if comparison.warning is not None:
        warnings.warn(comparison.warning, stacklevel=2)
    for note in comparison.notes:
        warnings.warn(note, stacklevel=2)
    if has_names(X) and comparison.omitted is not None:
        X = _arrays.without(X, comparison.omitted)

    def run(place: int, part: dict[str, Any]) -> tuple[int, Any, np.ndarray[Any, Any], float]:
        started = time.perf_counter()
        who, augmenter = candidates[place]
        train_x, train_y = _take(X, part["train"]), targets[part["train"]]
        if augmenter is not None:
            own = clone(augmenter).set_params(random_state=part["seed"])
            train_x, train_y = own.fit_resample(train_x, train_y)
        if who["rows"] is not None:
            more, places = added[who["rows"]], part["added"][who["rows"]]
            train_x = _below(train_x, _take(more.x, places))
            train_y = np.concatenate([train_y, more.y[places].reshape(-1, *train_y.shape[1:])])
        placebo = who["method"] == "placebo"
        model = clone(estimator)
        _seed(model, part["placebo" if placebo else "seed"], force=placebo)
        model.fit(train_x, train_y)
        predicted = np.asarray(model.predict(_take(X, part["test"])), dtype=np.float64)
        predicted = predicted.reshape(len(part["test"]), -1)
        key = (part["size"], part["repeat"], part["fold"])
        return place, key, predicted, time.perf_counter() - started

    tasks = [(place, part) for part in comparison.splits() for place in range(len(candidates))]
    if n_jobs is None or n_jobs == 1:
        done = [run(*task) for task in tasks]
    else:
        from joblib import Parallel, delayed

        done = Parallel(n_jobs=n_jobs)(delayed(run)(*task) for task in tasks)
    runs = [comparison.judge(place, key, made, took) for place, key, made, took in done]
    following = [_following(estimator, augmenter, who["rows"]) for who, augmenter in candidates]
    return Comparison(comparison.outcome(runs, repr(estimator), following))


def _following(estimator: Any, augmenter: Augmenter | None, rows: int | None) -> str:
    """Return the code that trains a candidate."""
    if rows is not None:
        return f"{estimator!r}.fit(X_with_rows, y_with_rows)"
    if augmenter is None:
        return f"{estimator!r}.fit(X, y)"
    return f"AugmentedRegressor({estimator!r}, {augmenter!r}).fit(X, y)"


def _candidates(
    methods: Sequence[str | Augmenter] | Mapping[str, str | Augmenter],
    copies: int | None,
    rows: Sequence[str] = (),
) -> list[tuple[dict[str, Any], Augmenter | None]]:
    if isinstance(methods, (str, Augmenter)):
        methods = [methods]
    named_by = methods.items() if hasattr(methods, "items") else ((None, m) for m in methods)
    taken: list[str] = []
    out: list[tuple[dict[str, Any], Augmenter | None]] = []
    for label, method in named_by:
        augmenter: Augmenter | None = None
        method = "none" if isinstance(method, str) and method == "erm" else method
        if isinstance(method, Augmenter):
            name, augmenter = method._method, method
        elif method in _NO_ROWS:
            name = method
        elif method in METHODS:
            name, augmenter = method, named(method, **({} if copies is None else {"copies": copies}))
        elif method in ("ada-manifold", "manifold-mixup"):
            raise InputError(
                f"{method} augments a hidden layer, which estimators do not expose\n"
                "hint: compare networks with the command `windlass compare`"
            )
        else:
            known = ", ".join([*_NO_ROWS, *METHODS])
            raise InputError(f"unknown method {method!r}: methods are {known}")
        who = {
            "label": _fresh(label or (_NO_AUGMENTATION if name == "none" else name), taken),
            "method": name,
            "options": None if augmenter is None else _words(augmenter),
            "copies": 0 if augmenter is None else _count(augmenter),
            "rows": None,
        }
        out.append((who, augmenter))
    plain = [pair for pair in out if pair[0]["method"] == "none"]
    if len(plain) > 1:
        raise InputError("no augmentation is named twice\nhint: omit one of them")
    if not plain:
        label = _fresh(_NO_AUGMENTATION, taken)
        plain = [(_plain(label), None)]
    others = [pair for pair in out if pair[0]["method"] != "none"]
    for place, label in enumerate(rows):
        others.append(({**_plain(_fresh(str(label), taken)), "rows": place}, None))
    if not others:
        raise InputError("nothing to compare: there is only one candidate\nhint: name more methods")
    # The reference comes first.
    return plain + others


def _count(augmenter: Augmenter) -> int:
    """Return the number of copies; 0 if it depends on the number of rare rows."""
    return copies_of(augmenter.copies) or int(augmenter.rare is None)


def _plain(label: str) -> dict[str, Any]:
    """Return a candidate without augmentation."""
    return {"label": label, "method": "none", "options": None, "copies": 0, "rows": None}


class _AddedRows:
    """Rows from elsewhere: features and targets for the model, and both as a table of the core."""

    def __init__(self, x: Any, y: np.ndarray[Any, Any], core: Table) -> None:
        self.x, self.y, self.core = x, y, core


def _added(label: str, data: Any, X: Any, target: list[str]) -> _AddedRows:
    """Return rows from elsewhere in the columns of X and y."""
    named_x = has_names(X)
    if isinstance(data, tuple) and len(data) == 2:
        x, y = data
    elif has_names(data) and named_x:
        missing = [name for name in target if name not in map(str, _arrays.column_names(data))]
        if missing:
            raise InputError(
                f"rows[{label!r}] has no column {missing[0]!r}\n"
                "hint: name the targets as y is named, or pass a pair of features and targets"
            )
        y = np.column_stack([_arrays.to_numpy(data[name], "y") for name in target])
        x = data
    else:
        raise InputTypeError(
            f"rows[{label!r}] must be a table with the columns of X and y, or a pair of features "
            f"and targets, got {type(data).__name__}"
        )
    y = _arrays.to_numpy(y, "y").astype(np.float64, copy=False)
    y = y.reshape(len(y), -1)
    if named_x:
        if not has_names(x):
            raise InputTypeError(f"rows[{label!r}] must have the column names of X")
        table = Source(x, f"rows[{label!r}]").core
        table = table.select([name for name in table.names if name not in target])
        known = set(map(str, _arrays.column_names(x)))
        if all(str(name) in known for name in _arrays.column_names(X)):
            x = _select(x, list(_arrays.column_names(X)))
    else:
        x = _arrays.to_numpy(x, "X")
        x = x.reshape(len(x), -1).astype(np.float64)
        width = _arrays.to_numpy(X, "X").reshape(len(X), -1).shape[1]
        if x.shape[1] != width:
            raise InputError(
                f"rows[{label!r}] must have {width} features, the columns of X, got {x.shape[1]}"
            )
        table = Table.of_arrays(x, [f"x{place}" for place in range(width)])
    if y.shape[1] != len(target):
        raise InputError(f"rows[{label!r}] must have {len(target)} targets, got {y.shape[1]}")
    return _AddedRows(x, y, table.with_columns(y, target))


def _select(data: Any, names: list[Any]) -> Any:
    """Select columns of a table."""
    return data.select(names) if hasattr(data, "select") else data[names]


def _below(train: Any, more: Any) -> Any:
    """Append rows to training rows of the same kind."""
    kind = _arrays.library(train) if _arrays.is_table(train) else ""
    if kind == "pandas":
        import pandas

        more = more[list(train.columns)]
        levels = [c for c in train if isinstance(train[c].dtype, pandas.CategoricalDtype)]
        more = more.astype({name: train[name].dtype for name in levels})
        return pandas.concat([train, more], ignore_index=True)
    if kind == "polars":
        import polars

        return polars.concat([train, more.select(train.columns)], how="vertical_relaxed")
    if kind == "pyarrow":
        import pyarrow

        more = more.select(train.column_names)
        return pyarrow.concat_tables([train, more], promote_options="permissive")
    more = _arrays.to_numpy(more, "X")
    return np.concatenate([train, more.reshape(-1, *train.shape[1:])])


def _words(augmenter: Augmenter) -> dict[str, Any]:
    """Return the settings as text; labels and matrices are an error."""
    options = augmenter._options()
    for name in ("anchors", "within"):
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            raise InputError(
                f"{name} as an array has one row per training row, but splits have fewer rows\n"
                f"hint: add a column to a DataFrame, and use its name"
            )
    anchors = options.get("anchors")
    if isinstance(anchors, str) and anchors != "kmeans" and ":" not in anchors:
        options["anchors"] = f"column:{anchors}"
    if isinstance(options.get("gamma"), np.ndarray):
        options["gamma"] = options["gamma"].tolist()
    return options


def _sizes(sizes: Sequence[int | None]) -> list[int | None]:
    if not isinstance(sizes, (list, tuple, np.ndarray)):
        raise InputTypeError(
            f"sizes must be a list of numbers of rows, got {sizes!r}\nhint: [50, 100, None]"
        )
    known = sorted({_arrays.whole(size, "sizes") for size in sizes if size is not None})
    return [*known, *([None] if None in list(sizes) else [])]


def _table(
    X: Any, y: Any, split: str, groups: Any
) -> tuple[Table, list[str], str]:
    targets = _arrays.to_numpy(y, "y")
    columns = targets.reshape(len(targets), -1).astype(np.float64, copy=False)
    if has_names(X):
        table = Source(X, "X").core
    else:
        x = _arrays.to_numpy(X, "X")
        _arrays.check_rows(x, targets)
        x = x.reshape(len(x), -1).astype(np.float64)
        table = Table.of_arrays(x, [f"x{place}" for place in range(x.shape[1])])
    taken = list(table.names)
    names = [_fresh(name, taken) for name in _target_names(y, columns.shape[1])]
    table = table.with_columns(columns, names)
    if groups is not None:
        if split != "rows":
            raise InputError("groups and split both define held-out rows\nhint: omit one of them")
        name = _fresh("groups", taken)
        table = table.with_columns(_arrays.labels(groups, "groups").reshape(-1, 1), [name])
        split = f"group:{name}"
    return table, names, split


def _take(data: Any, rows: np.ndarray[Any, Any]) -> Any:
    """Select rows of an array or table."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if type(data).__module__.partition(".")[0] == "polars":
        return data[rows]
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "take"):
        return data.take(rows)
    return _arrays.to_numpy(data, "X")[rows]


def _seeds(estimator: Any) -> list[str]:
    """List the parameters that are seeds."""
    return [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]


def _seed(estimator: Any, seed: int, *, force: bool) -> None:
    params = estimator.get_params()
    names = [name for name in _seeds(estimator) if force or params[name] is None]
    if names:
        estimator.set_params(**{name: seed % 2**32 for name in names})


class Comparison:
    """Results of :func:`compare`.

    Attributes
    ----------
    verdict : str
        Whether augmentation helps, in a sentence.
    next : str or None
        The recommended next step, with the code to run.
    helps : bool
        Whether an augmentation is better than no augmentation.
    remarks : list of str
        Other conclusions, and warnings.
    rows : list of dict
        What is known about the ``rows`` that were added: ``copies`` of rows that are tested on,
        how many rows are ``close`` to one, and whether the label ``leaks``, so that there is no
        verdict.
    lines : list of dict
        One entry per method and number of training rows: ``rmse``, ``mae``, ``mape``, ``r2``
        (means over splits); ``difference`` in RMSE to no augmentation in percent, with its 95 %
        interval ``low`` to ``high`` and p-value ``p``, corrected for multiple comparisons; and
        the ``finding``: "better" or "worse" if the 95 % interval excludes 0, "probably better"
        or "probably worse" if the 80 % interval excludes 0, else "cannot tell". With one target,
        ``bias`` is the mean of prediction − target and ``fifths`` the errors in fifths of the
        rows by their target. With ``rare``, ``rare_rmse``, ``rare_bias`` and ``sera`` are errors
        on rare rows, and ``rare_difference``, ``rare_low`` and ``rare_high`` the difference there.
        The last entry is a baseline, which predicts the mean of the training rows.

    See Also
    --------
    compare : Run a comparison.
    """

    def __init__(self, outcome: core.Outcome) -> None:
        self._outcome: core.Outcome | tuple[str, bytes] = outcome
        self.verdict: str = outcome.verdict
        self.next: str | None = outcome.next
        self.helps: bool = outcome.helps
        self.remarks: list[str] = list(outcome.remarks)
        self.rows: list[dict[str, Any]] = json.loads(outcome.rows)
        self.how: str = outcome.how
        self.lines: list[dict[str, Any]] = outcome.lines()

    @property
    def frame(self) -> Any:
        """``lines`` as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise needs("pandas", "a DataFrame", "pandas") from None
        hidden = ("differences", "fifths")
        rows = [{k: v for k, v in line.items() if k not in hidden} for line in self.lines]
        return pandas.DataFrame(rows)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        several = len({line["rows"] for line in self.lines}) > 1
        head = ["method", *(["rows"] if several else []), "RMSE", "difference", "95 % interval"]
        head += ["p", ""]
        cells = []
        for line in self.lines:
            row = [line["method"]]
            if several:
                row.append("all" if line["rows"] is None else str(line["rows"]))
            row.append(f"{line['rmse']:.4g}")
            if line["difference"] is None:
                row += ["", "", ""]
            else:
                row.append(f"{line['difference']:+.1f} %")
                row.append(f"{line['low']:+.1f} … {line['high']:+.1f} %")
                row.append("< 0.001" if line["p"] < 0.001 else f"{line['p']:.3f}")
            row.append(line["finding"])
            cells.append([cell.replace("-", "−") if "%" in cell else cell for cell in row])
        return head, cells

    def __repr__(self) -> str:
        head, cells = self._cells()
        widths = [max(len(row[place]) for row in [head, *cells]) for place in range(len(head))]

        def line(row: list[str]) -> str:
            first, *rest = zip(row, widths)
            right = "  ".join(cell.rjust(width) for cell, width in rest)
            return f"{first[0].ljust(first[1])}  {right}".rstrip()

        answer = [self.verdict] if self.next is None else [self.verdict, self.next]
        text = [*answer, "", line(head), *(line(row) for row in cells)]
        return "\n".join([*text, "", *self.remarks] if self.remarks else text)

    def _repr_html_(self) -> str:
        head, cells = self._cells()
        colors = {"better": "#1a7f37", "worse": "#b42318"}

        def row(line: list[str], tag: str) -> str:
            color = colors.get(line[-1], "inherit")
            inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line)
            return f'<tr style="color:{color}">{inner}</tr>'

        body = "".join(row(line, "td") for line in cells)
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        return (
            f"<p><b>{html.escape(self.verdict)}</b></p>"
            f"<p>{html.escape(self.next or '')}</p>"
            f"<table><thead>{row(head, 'th')}</thead><tbody>{body}</tbody></table>"
            f"{remarks}"
        )

    def plot(self, ax: Any = None) -> Any:
        """Plot the differences with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise needs("matplotlib", "a plot", "matplotlib") from None
        most = self.lines[-1]["rows"]
        lines = [
            line
            for line in self.lines
            if line["difference"] is not None
            and line["rows"] == most
            and line["method"] != "predict the mean"
        ][::-1]
        if ax is None:
            _, ax = plt.subplots(figsize=(6, 1 + 0.4 * len(lines)), layout="constrained")
        colors = {"better": "#1a7f37", "worse": "#b42318"}
        for place, line in enumerate(lines):
            color = colors.get(line["finding"], "#6b7280")
            ends = [line["low"], line["high"]]
            if np.isfinite(ends).all():
                ax.plot(ends, [place, place], color=color, linewidth=2)
            ax.plot([line["difference"]], [place], "o", color=color)
        ax.axvline(0.0, color="#9ca3af", linewidth=1)
        ax.set_yticks(range(len(lines)), [line["method"] for line in lines])
        ax.set_ylim(-0.6, len(lines) - 0.4)
        ax.set_xlabel("difference in RMSE to no augmentation, % (below 0 is better)")
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return ax

    def report(
        self, path: str | os.PathLike[str], table: str = "this table", *, force: bool = False
    ) -> None:
        """Write a self-contained HTML report with verdict, figures and numbers.

        Parameters
        ----------
        path : str or path-like
            Output file, such as ``"report.html"``.
        table : str
            Name of the data in the report.
        force : bool, default False
            Whether to overwrite an existing file that is not a Windlass report.
        """
        core.write_atomic(os.fspath(path), self._page(table), "report", force=force)

    def _page(self, table: str) -> bytes:
        if isinstance(self._outcome, core.Outcome):
            return bytes(dict(self._outcome.report(table))["report.html"])
        return self._outcome[1].replace(_NAME, html.escape(table).encode())

    def to_json(self) -> str:
        """Return all runs and settings as JSON.

        Returns
        -------
        text : str
        """
        outcome = self._outcome
        return outcome.to_json() if isinstance(outcome, core.Outcome) else outcome[0]

    def __getstate__(self) -> dict[str, Any]:
        # A pickle keeps the runs and the page.
        page = self._page(_NAME.decode())
        return {**self.__dict__, "_outcome": (self.to_json(), page)}
