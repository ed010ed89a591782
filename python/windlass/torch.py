"""Augmentation of torch tensors: differentiable maps for hidden layers, and batches of a loader.

>>> import torch
>>> import windlass.torch as wt
>>> h = torch.tensor([[0.0], [4.0], [10.0], [30.0]], requires_grad=True)
>>> out = wt.ada(h, groups=[0, 0, 1, 1], gamma=4.0)  # halves every distance to the group's mean
>>> out.ravel().tolist()
[1.0, 3.0, 15.0, 25.0]
>>> out[0].sum().backward()
>>> h.grad.ravel().tolist()
[0.75, 0.25, 0.0, 0.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from . import _windlass as core
from ._base import needs
from ._windlass import InputError, InputTypeError

try:
    import torch
except ImportError as error:
    raise needs("torch", "windlass.torch", "torch") from error

if TYPE_CHECKING:
    from torch import Tensor

    from ._augmenters import Augmenter

__all__ = ["Collate", "ada", "mixup"]


def ada(h: Tensor, groups: Any, gamma: Any) -> Tensor:
    """Move every row toward or away from the mean of its group in the batch.

    ``mean + (h − mean)/√gamma``: Anchor Data Augmentation of features, targets or a hidden
    layer, with the gradient flowing through it. Use the same groups and gamma for the
    targets of the batch.

    Parameters
    ----------
    h : Tensor of shape (n_batch, ...)
        The rows, on any device.
    groups : array-like of int, shape (n_batch,)
        The group of every row, such as ``ada.groups_[idx]``.
    gamma : float, or array-like of shape (n_batch,)
        The strength, such as ``ada.gamma(step)``.

    Returns
    -------
    Tensor of shape (n_batch, ...)
    """
    _check(h)
    labels = torch.as_tensor(groups, dtype=torch.int64)
    if labels.shape != h.shape[:1]:
        raise InputError(
            f"h and groups must have the same rows, got {len(h)} and {tuple(labels.shape)}"
        )
    strength = _strength(gamma, len(h), "gamma")
    if _in_core(h):
        made: Tensor = _GroupMean.apply(h, labels.cpu().numpy(), strength, False)
        return made
    return _group_mean_on_device(h, labels.to(h.device), strength)


def mixup(h: Tensor, lam: Any, partner: Any = None) -> Tensor:
    """Mix every row with a partner: ``lam·h + (1 − lam)·h[partner]``.

    Parameters
    ----------
    h : Tensor of shape (n_batch, ...) or (2·n_batch, ...)
        The rows, on any device.
    lam : float, or array-like of shape (n_batch,)
        How much the row itself counts, in [0, 1].
    partner : array-like of int, shape (n_batch,), optional
        The place of each row's partner in ``h``, such as ``torch.randperm(len(h))``. Without it
        ``h`` has the rows in its first half and their partners in its second.

    Returns
    -------
    Tensor of shape (n_batch, ...)
    """
    _check(h)
    if partner is None:
        if len(h) % 2:
            raise InputError(f"h must have rows and as many partners, got {len(h)} rows")
        both = h
    else:
        places = torch.as_tensor(partner, dtype=torch.int64, device=h.device)
        if places.shape != h.shape[:1]:
            raise InputError(
                f"h and partner must have the same rows, got {len(h)} and {tuple(places.shape)}"
            )
        both = torch.cat([h, h.index_select(0, places)])
    length = len(both) // 2
    strength = _strength(lam, length, "lam")
    if _in_core(both):
        made: Tensor = _Pairs.apply(both, length, strength, False)
        return made
    return _pairs_on_device(both, length, strength)


def _check(h: Any) -> None:
    if not isinstance(h, torch.Tensor):
        raise InputTypeError(f"h must be a tensor, got {type(h).__name__}")
    if h.ndim == 0 or not h.is_floating_point():
        raise InputTypeError(f"h must have rows of floats, got {h.dtype} of shape {tuple(h.shape)}")


def _strength(value: Any, rows: int, name: str) -> Any:
    """Give a number, or an array with a number for every row."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0:
        return float(array)
    if array.shape != (rows,):
        raise InputError(f"{name} must be a number, or one for each of {rows} rows")
    return np.ascontiguousarray(array)


def _in_core(h: Tensor) -> bool:
    """Whether the core can reach the rows, and has their width."""
    return (
        h.is_cpu
        and h.dtype in (torch.float32, torch.float64)
        and not torch.compiler.is_compiling()
    )


class _GroupMean(torch.autograd.Function):
    """The core's map; its gradient is the transposed map, which has the map as its own."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, labels: Any, gamma: Any, transposed: bool) -> Tensor:
        ctx.state = (labels, gamma, transposed)
        return torch.from_numpy(core.group_mean(h.detach().numpy(), labels, gamma, transposed))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        labels, gamma, transposed = ctx.state
        return _GroupMean.apply(gradients[0], labels, gamma, not transposed), None, None, None


class _Pairs(torch.autograd.Function):
    """As above, for pairs."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, length: int, lam: Any, transposed: bool) -> Tensor:
        ctx.state = (length, lam, transposed)
        return torch.from_numpy(core.pairs(rows.detach().numpy(), length, lam, transposed))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        length, lam, transposed = ctx.state
        return _Pairs.apply(gradients[0], length, lam, not transposed), None, None, None


def _per_row(value: Any, like: Tensor) -> Tensor:
    strength = torch.as_tensor(value, dtype=like.dtype, device=like.device)
    return strength.reshape(-1, *([1] * (like.ndim - 1))) if strength.ndim else strength


def _group_mean_on_device(h: Tensor, labels: Tensor, gamma: Any) -> Tensor:
    """The same map by operations of torch, where the core cannot reach the rows."""
    _, places = torch.unique(labels, return_inverse=True)
    groups = len(h)
    sums = torch.zeros((groups, *h.shape[1:]), dtype=h.dtype, device=h.device)
    counts = torch.zeros(groups, dtype=h.dtype, device=h.device)
    sums = sums.index_add(0, places, h)
    counts = counts.index_add(0, places, torch.ones_like(places, dtype=h.dtype))
    means = sums / _per_row(counts.clamp(min=1), sums)
    centre = means.index_select(0, places)
    return centre + (h - centre) * _per_row(gamma, h).rsqrt()


def _pairs_on_device(rows: Tensor, length: int, lam: Any) -> Tensor:
    share = _per_row(lam, rows)
    return share * rows[:length] + (1 - share) * rows[length:]


class Collate:
    """A ``collate_fn`` that augments the batches of a ``DataLoader``.

    The random numbers of a batch are those of its rows and the epoch, so any number of
    workers gives the same batches.

    Parameters
    ----------
    augmenter : Augmenter
        A fitted augmenter.
    keep_index : bool, default False
        Whether batches are ``(x, y, idx)`` and not ``(x, y)``.

    Notes
    -----
    Samples of the data set are ``(x, y, index)``. Call :meth:`set_epoch` before every epoch:
    a batch of the same rows in the same order is otherwise augmented the same way again.

    Examples
    --------
    >>> import torch
    >>> from windlass import ADA
    >>> X, y = torch.randn(32, 3), torch.randn(32)
    >>> rows = torch.utils.data.TensorDataset(X, y, torch.arange(32))
    >>> collate = Collate(ADA(n_anchors=4).fit(X, y))
    >>> loader = torch.utils.data.DataLoader(rows, batch_size=8, collate_fn=collate)
    >>> for epoch in range(2):
    ...     collate.set_epoch(epoch)
    ...     for xb, yb in loader:
    ...         assert xb.shape == (8, 3) and yb.shape == (8,)
    """

    def __init__(self, augmenter: Augmenter, *, keep_index: bool = False) -> None:
        augmenter._core()
        self.augmenter = augmenter
        self.keep_index = keep_index
        # In shared memory: workers that stay between epochs see it change.
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins.

        Parameters
        ----------
        epoch : int
            Its number.
        """
        self._epoch.fill_(epoch)

    def __call__(self, samples: list[Any]) -> tuple[Tensor, ...]:
        """Put samples together, and augment them."""
        try:
            xs, ys, rows = zip(*samples)
        except (TypeError, ValueError):
            raise InputError(
                "samples must be (x, y, index)\n"
                "hint: TensorDataset(X, y, torch.arange(len(X)))"
            ) from None
        collate: Callable[[Any], Any] = torch.utils.data.default_collate
        x, y, idx = collate(list(xs)), collate(list(ys)), collate(list(rows))
        index = idx.numpy().astype(np.int64, copy=False)
        step = core.step_of(index, int(self._epoch))
        x, y = self.augmenter.batch(x, y, index, step=step)
        return (x, y, idx) if self.keep_index else (x, y)
