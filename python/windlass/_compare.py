"""Does augmentation help on my data, with my model?"""

from __future__ import annotations

import html
import os
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from . import _windlass as core
from ._augmenters import METHODS, Augmenter, named
from ._base import DEFAULTS, has_names, needs, seed_of
from ._table import Source, _fresh, _target_names
from ._windlass import InputError, InputTypeError, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._base import RandomStateLike

_USUAL = DEFAULTS["compare"]
_NO_ROWS = ("none", "placebo")
# Of methods by name, those that need no setting.
_ALL = ("none", "noise", "mixup", "c-mixup", "ada")
# The label of "none".
_NO_AUGMENTATION = "no augmentation"
# What the page of a pickled comparison calls its table, until it is told.
_NAME = b"@table@"


def compare(
    X: Any,
    y: Any,
    estimator: Any,
    methods: Sequence[str | Augmenter] | Mapping[str, str | Augmenter] = _ALL,
    *,
    cv: int = _USUAL["cv"],
    repeats: int = _USUAL["repeats"],
    split: str = _USUAL["split"],
    groups: Any = None,
    sizes: Sequence[int | None] = (None,),
    copies: int | None = None,
    random_state: RandomStateLike = DEFAULTS["augment"]["random_state"],
    n_jobs: int | None = None,
) -> Comparison:
    """Compare augmentations on any scikit-learn regressor: does any of them help?

    Every method makes its rows from the training rows of a split; the model learns from both
    and predicts the rows held out, with the same splits and seeds for every method. Splits,
    intervals and the verdict are those of the command ``windlass compare``: differences are of
    the RMSE expected for as many training rows of the same population, intervals and p-values
    are corrected for the number of augmentations.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or DataFrame
        Features.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    estimator : regressor
        The model. It is cloned for every run. Where its ``random_state`` is None, every split
        has a seed of its own, the same for all methods.
    methods : list of str or Augmenter, or dict of them by label
        The methods to compare: names ("ada", "mixup", …), or augmenters with
        their parameters; "none" (no augmentation, also "erm") is what they are compared with and
        is added if it is missing; "placebo" is "none" with another seed: what chance alone does.
    cv : int, default 5
        Parts that are held out in turn.
    repeats : int, default 3
        How often, each time with other parts.
    split : str, default "rows"
        How rows are held out: "rows" (at random), or by a column of a DataFrame
        "group:COLUMN" (rows with the same value stay together), "domain:COLUMN" (each of up to
        ten domains in turn) or "time:COLUMN" (forward chaining: blocks of the later half, each
        predicted from all rows before it). The column is not a feature, unless it holds times
        as numbers: neither the methods nor the model see it.
    groups : array-like of shape (n_samples,), optional
        Labels of rows that must not be parted, in place of ``split``.
    sizes : sequence of int or None
        Numbers of training rows, for learning curves; None is all.
    copies : int, optional
        Synthetic rows of every row, for methods by name; that of an augmenter is its own.
    random_state : int, Generator or None, default 0
        The seed of splits and of everything else random.
    n_jobs : int, optional
        Runs at the same time, by joblib.

    Returns
    -------
    Comparison

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
    candidates = _candidates(methods, copies)
    if any(who["method"] == "placebo" for who, _ in candidates) and not _seeds(estimator):
        raise InputError(
            f"the placebo is another seed, and {type(estimator).__name__} has none\n"
            "hint: leave it out"
        )
    table, target, split = _table(X, y, split, groups)
    comparison = core.EstimatorComparison(
        table,
        target=target,
        roles={},
        candidates=[who for who, _ in candidates],
        split=split,
        folds=int(cv),
        repeats=_arrays.whole(repeats, "repeats"),
        sizes=_sizes(sizes),
        seed=seed_of(random_state),
    )
    targets = _arrays.to_numpy(y, "y").astype(np.float64, copy=False)
    if comparison.warning is not None:
        warnings.warn(comparison.warning, stacklevel=2)
    if has_names(X) and comparison.omitted is not None:
        X = _arrays.without(X, comparison.omitted)

    def run(place: int, part: dict[str, Any]) -> tuple[int, Any, np.ndarray[Any, Any], float]:
        started = time.perf_counter()
        who, augmenter = candidates[place]
        train_x, train_y = _take(X, part["train"]), targets[part["train"]]
        if augmenter is not None:
            own = clone(augmenter).set_params(random_state=part["seed"])
            train_x, train_y = own.fit_resample(train_x, train_y)
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
    following = [_following(estimator, augmenter) for _, augmenter in candidates]
    return Comparison(comparison.outcome(runs, repr(estimator), following))


def _following(estimator: Any, augmenter: Augmenter | None) -> str:
    """Give what to write to train a candidate."""
    if augmenter is None:
        return f"{estimator!r}.fit(X, y)"
    return f"AugmentedRegressor({estimator!r}, {augmenter!r}).fit(X, y)"


def _candidates(
    methods: Sequence[str | Augmenter] | Mapping[str, str | Augmenter], copies: int | None
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
                f"{method} augments a hidden layer, and any estimator need not have one\n"
                "hint: the command `windlass compare` trains networks"
            )
        else:
            known = ", ".join([*_NO_ROWS, *METHODS])
            raise InputError(f"there is no method {method!r}: methods are {known}")
        who = {
            "label": _fresh(label or (_NO_AUGMENTATION if name == "none" else name), taken),
            "method": name,
            "options": None if augmenter is None else _words(augmenter),
            "copies": 0 if augmenter is None else int(augmenter.copies),
        }
        out.append((who, augmenter))
    plain = [pair for pair in out if pair[0]["method"] == "none"]
    if len(plain) > 1:
        raise InputError("no augmentation takes part twice\nhint: leave one of them out")
    if not plain:
        label = _fresh(_NO_AUGMENTATION, taken)
        plain = [({"label": label, "method": "none", "options": None, "copies": 0}, None)]
    others = [pair for pair in out if pair[0]["method"] != "none"]
    if not others:
        raise InputError("nothing to compare: there is one candidate only\nhint: name more methods")
    # What others are compared with comes first.
    return plain + others


def _words(augmenter: Augmenter) -> dict[str, Any]:
    """Give the settings that can be told; labels and matrices cannot."""
    options = augmenter._options()
    for name in ("anchors", "within"):
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            raise InputError(
                f"{name} given as an array have a row for every training row, and splits have fewer\n"
                f"hint: put them into a column of a DataFrame, and name it"
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
    table = table.beside(columns, names)
    if groups is not None:
        if split != "rows":
            raise InputError("groups and split both say what is held out\nhint: leave one out")
        name = _fresh("groups", taken)
        table = table.beside(_arrays.labels(groups, "groups").reshape(-1, 1), [name])
        split = f"group:{name}"
    return table, names, split


def _take(data: Any, rows: np.ndarray[Any, Any]) -> Any:
    """Give some rows of anything that has rows."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if type(data).__module__.partition(".")[0] == "polars":
        return data[rows]
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "take"):
        return data.take(rows)
    return _arrays.to_numpy(data, "X")[rows]


def _seeds(estimator: Any) -> list[str]:
    """Name the parameters that are seeds."""
    return [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]


def _seed(estimator: Any, seed: int, *, force: bool) -> None:
    params = estimator.get_params()
    names = [name for name in _seeds(estimator) if force or params[name] is None]
    if names:
        estimator.set_params(**{name: seed % 2**32 for name in names})


class Comparison:
    """What a comparison found.

    Attributes
    ----------
    verdict : str
        The answer in a sentence.
    next : str or None
        What to do now, with the line to write.
    helps : bool
        Whether an augmentation is better.
    remarks : list of str
        What else there is to say.
    lines : list of dict
        A line for every method and number of training rows: ``rmse``, ``mae``, ``mape``, ``r2``
        (means over splits), ``difference`` of the RMSE in percent to no augmentation with its
        95 % interval ``low`` to ``high`` and ``p``, both corrected for the number of
        augmentations, and the ``finding``: "better" or "worse" if the 95 % interval excludes 0,
        "probably better" or "probably worse" if the 80 % interval does, else "cannot tell". The
        last line is a baseline, which predicts the mean of the training rows.
    """

    def __init__(self, outcome: core.Outcome) -> None:
        self._outcome: core.Outcome | tuple[str, bytes] = outcome
        self.verdict: str = outcome.verdict
        self.next: str | None = outcome.next
        self.helps: bool = outcome.helps
        self.remarks: list[str] = list(outcome.remarks)
        self.how: str = outcome.how
        self.lines: list[dict[str, Any]] = outcome.lines()

    @property
    def frame(self) -> Any:
        """The lines as a DataFrame of pandas."""
        try:
            import pandas
        except ImportError:
            raise needs("pandas", "a DataFrame", "pandas") from None
        hidden = ("differences",)
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
        """Draw the differences with their intervals.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        Axes
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
        """Write a page with verdict, pictures and numbers, which needs no other file.

        Parameters
        ----------
        path : path
            Where it goes, such as ``"report.html"``.
        table : str
            What the page calls the data.
        force : bool, default False
            Whether to overwrite a file that is not a report which Windlass wrote.
        """
        core.write_atomic(os.fspath(path), self._page(table), "report", force=force)

    def _page(self, table: str) -> bytes:
        if isinstance(self._outcome, core.Outcome):
            return bytes(dict(self._outcome.report(table))["report.html"])
        return self._outcome[1].replace(_NAME, html.escape(table).encode())

    def to_json(self) -> str:
        """Give every run, and how it was made, as JSON."""
        outcome = self._outcome
        return outcome.to_json() if isinstance(outcome, core.Outcome) else outcome[0]

    def __getstate__(self) -> dict[str, Any]:
        # Of the outcome a pickle keeps what can still be asked of it: the runs and the page.
        page = self._page(_NAME.decode())
        return {**self.__dict__, "_outcome": (self.to_json(), page)}
