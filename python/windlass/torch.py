"""Augmentation of torch tensors: differentiable maps for hidden layers, and a collate function.

Examples
--------
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

from . import _arrays
from . import _windlass as core
from ._augmenters import Augmenter
from ._base import needs
from ._windlass import InputError, InputTypeError

try:
    import torch
    from torch.utils.data import default_collate
except ImportError as error:
    raise needs("torch", "windlass.torch", "torch") from error

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    Labels = NDArray[np.int64]
    Strength = float | NDArray[np.float64]

__all__ = ["Collate", "ada", "mixup"]

# The range of γ in the core: at its ends distances change by a factor of 10⁸.
_GAMMA = (1e-16, 1e16)
_LAMBDA = (0.0, 1.0)


def ada(h: Tensor, groups: Any, gamma: Any) -> Tensor:
    """Move each row toward or away from the mean of its group in the batch.

    Computes ``mean + (h − mean)/√gamma``: differentiable Anchor Data Augmentation of features,
    targets or a hidden layer. Use the same groups and gamma for the targets of the batch.

    Parameters
    ----------
    h : Tensor of shape (n_batch, ...)
        Rows of floats, on any device.
    groups : array-like or Tensor of int, shape (n_batch,)
        Group of each row, such as ``ada.groups_[idx]``.
    gamma : float, or array-like or Tensor of shape (n_batch,)
        Values in [1e-16, 1e16], such as ``ada.draw_gamma(step)``. Has no gradient.

    Returns
    -------
    out : Tensor of shape (n_batch, ...)
        Moved rows, with the dtype and device of ``h``. Values that are not finite propagate to
        their group instead of raising an error, so that a ``GradScaler`` finds them.

    See Also
    --------
    windlass.ADA : Fits the groups and draws gamma.

    Notes
    -----
    On the CPU, float32 and float64 give the bits of ``ada.batch``, if ``ada`` was fitted without
    weights. On other devices, and inside ``torch.compile``, the map consists of torch
    operations; on CUDA their sums are not deterministic unless
    ``torch.use_deterministic_algorithms(True)``.

    Examples
    --------
    >>> import torch
    >>> import windlass.torch
    >>> from windlass import ADA
    >>> X, y = torch.randn(32, 3), torch.randn(32)
    >>> ada = ADA(clusters=4).fit(X, y)
    >>> layer, idx = torch.nn.Linear(3, 8), torch.randperm(32)[:16]
    >>> groups, gamma = ada.groups_[idx], ada.draw_gamma(step=0)
    >>> h = windlass.torch.ada(layer(X[idx]), groups=groups, gamma=gamma)
    >>> target = windlass.torch.ada(y[idx], groups=groups, gamma=gamma)
    >>> h.shape, target.shape
    (torch.Size([16, 8]), torch.Size([16]))
    """
    _check(h)
    if h.element_size() < 4:
        # 16-bit sums lose precision and overflow after a few rows.
        return ada(h.float(), groups, gamma).to(h.dtype)
    if _compiling():
        labels = torch.as_tensor(groups)
        _check_shape(labels, len(h), "groups")
        return _moved(h, labels, _traced(gamma, len(h), _GAMMA, "gamma"))
    numbers = _labels(groups, len(h))
    strength = _strength(gamma, len(h), _GAMMA, "gamma")
    if not _in_core(h):
        return _moved(h, torch.from_numpy(numbers), strength)
    return _in_one_node(h, numbers, strength, False)


def mixup(h: Tensor, lam: Any, partner: Any = None) -> Tensor:
    """Mix each row with a partner: ``lam·h + (1 − lam)·h[partner]``.

    Parameters
    ----------
    h : Tensor of shape (n_batch, ...) or (2·n_batch, ...)
        Rows of floats, on any device.
    lam : float, or array-like or Tensor of shape (n_batch,)
        Weight of the row, in [0, 1]. Has no gradient.
    partner : array-like or Tensor of int, shape (n_batch,), optional
        Index in ``h`` of the partner of each row, such as ``torch.randperm(len(h))``. By
        default the first half of ``h`` are the rows and the second half their partners.

    Returns
    -------
    out : Tensor of shape (n_batch, ...)
        Mixed rows, with the dtype and device of ``h``.

    See Also
    --------
    windlass.Mixup : Draws partners and weights.

    Examples
    --------
    >>> import torch
    >>> h = torch.tensor([[0.0], [4.0], [8.0]])
    >>> mixup(h, 0.75, partner=[1, 2, 0]).ravel().tolist()
    [1.0, 5.0, 6.0]
    """
    _check(h)
    if h.element_size() < 4:
        # With 16 bits, features and targets would have different weights.
        return mixup(h.float(), lam, partner).to(h.dtype)
    if partner is not None:
        mine, theirs = h, h.index_select(0, _places(partner, len(h)).to(h.device))
    elif len(h) % 2 == 0:
        mine, theirs = h.chunk(2)
    else:
        raise InputError(
            f"h must have an even number of rows without partner, got {len(h)}\n"
            "hint: pass partner, or torch.cat([rows, partners]) as h"
        )
    if _compiling():
        share = _traced(lam, len(mine), _LAMBDA, "lam")
    else:
        # A tensor even for one number: 1 − share is then rounded as in the core.
        strength = _strength(lam, len(mine), _LAMBDA, "lam")
        share = torch.as_tensor(strength, dtype=torch.float64)
    share = _per_row(share, h)
    return share * mine + (1 - share) * theirs


def _compiling() -> bool:
    """Return whether torch.compile is tracing; False for the oldest versions of torch."""
    return hasattr(torch, "compiler") and torch.compiler.is_compiling()


def _check(h: Any) -> None:
    if not isinstance(h, torch.Tensor):
        hint = "\nhint: torch.as_tensor(h)" if isinstance(h, np.ndarray) else ""
        raise InputTypeError(f"h must be a tensor, got {type(h).__name__}{hint}")
    if not h.is_floating_point():
        raise InputTypeError(f"h must be a tensor of floats, got {h.dtype}\nhint: h.float()")
    if h.layout != torch.strided:
        raise InputTypeError(f"h must be dense, got {h.layout}\nhint: h.to_dense()")
    if h.ndim == 0:
        raise InputError("h must have one row per sample, got a single number")
    if len(h) == 0:
        raise InputError("h has no rows\nhint: omit empty batches")


def _check_shape(values: Any, rows: int, name: str) -> None:
    if tuple(values.shape) != (rows,):
        got = tuple(values.shape)
        raise InputError(f"{name} must have a value for each of {rows} rows of h, got shape {got}")


def _labels(groups: Any, rows: int) -> Labels:
    if isinstance(groups, torch.Tensor):
        groups = groups.detach().cpu().numpy()
    array = np.asarray(groups)
    if array.dtype.kind not in "iub":
        raise InputTypeError(
            f"groups must be integers, got {array.dtype}\nhint: ada.groups_[idx]"
        )
    _check_shape(array, rows, "groups")
    # Always a copy: the backward pass needs the current labels.
    return array.astype(np.int64)


def _places(partner: Any, rows: int) -> Tensor:
    if _compiling() or (isinstance(partner, torch.Tensor) and not partner.is_cpu):
        # torch checks the values, without a synchronization of the device.
        places = torch.as_tensor(partner)
        _check_shape(places, rows, "partner")
        return places.long()
    array = np.asarray(partner)
    if array.dtype.kind not in "iu":
        raise InputTypeError(f"partner must be integers, got {array.dtype}")
    _check_shape(array, rows, "partner")
    outside = array[(array < 0) | (array >= rows)]
    if len(outside):
        raise InputError(f"partner must be in [0, {rows - 1}], got {outside[0]}")
    return torch.from_numpy(array.astype(np.int64))


def _strength(value: Any, rows: int, limits: tuple[float, float], name: str) -> Strength:
    """Convert to a number, or an array with one number per row."""
    low, high = limits
    if type(value) is float and low <= value <= high:
        return value
    if isinstance(value, torch.Tensor):
        _check_constant(value, name)
        value = value.cpu().double().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise InputTypeError(
            f"{name} must be a number, or one number per row, got {type(value).__name__}"
        )
    if array.shape not in ((), (rows,)):
        text = f"{name} must be a number, or one for each of {rows} rows, got shape {array.shape}"
        # For ADA with per="row".
        hint = "\nhint: ada.draw_gamma(step, idx) draws those of a batch" if name == "gamma" else ""
        raise InputError(text + hint)
    # Negated so that NaN is outside.
    outside = array[~((array >= low) & (array <= high))]
    if len(outside):
        raise _out_of_range(f"{outside[0]:g}", limits, name)
    return array.astype(np.float64) if array.ndim else float(array)


def _traced(value: Any, rows: int, limits: tuple[float, float], name: str) -> Any:
    """Check a strength while a graph is traced, without the values of tensors."""
    if isinstance(value, (int, float)):
        if not limits[0] <= value <= limits[1]:
            raise _out_of_range(str(value), limits, name)
        return value
    if not isinstance(value, torch.Tensor):
        value = torch.as_tensor(value, dtype=torch.float64)
    _check_constant(value, name)
    if value.ndim:
        _check_shape(value, rows, name)
    return value


def _check_constant(value: Tensor, name: str) -> None:
    if value.requires_grad:
        raise InputTypeError(f"{name} requires a gradient, but has none\nhint: {name}.detach()")


def _out_of_range(got: str, limits: tuple[float, float], name: str) -> InputError:
    # As the core formats numbers: 1e16.
    low, high = (f"{limit:g}".replace("+", "") for limit in limits)
    return InputError(f"{name} must be in [{low}, {high}], got {got}")


def _in_core(h: Tensor) -> bool:
    """Return whether the core can compute on these rows."""
    return (
        type(h) in (torch.Tensor, torch.nn.Parameter)
        and h.is_cpu
        and h.dtype in (torch.float32, torch.float64)
        and not _transforming()
    )


# Inside torch.func (grad, vmap, …) tensors have no data pointer.
_transforming: Callable[[], bool] = getattr(
    torch._C, "_are_functorch_transforms_active", lambda: False
)


def _in_one_node(h: Tensor, labels: Labels, gamma: Strength, transposed: bool) -> Tensor:
    """Apply the core's map, as one autograd node if gradients are needed."""
    if h.requires_grad and torch.is_grad_enabled():
        made: Tensor = _GroupMean.apply(h, labels, gamma, transposed)
        return made
    return _mapped(h, labels, gamma, transposed)


class _GroupMean(torch.autograd.Function):  # type: ignore[misc]
    """The core's map; its gradient is the transposed map, and vice versa."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, labels: Labels, gamma: Strength, transposed: bool) -> Tensor:
        ctx.state = (labels, gamma, transposed)
        return _mapped(h, labels, gamma, transposed)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        labels, gamma, transposed = ctx.state
        return _in_one_node(gradients[0], labels, gamma, not transposed), None, None, None


def _mapped(h: Tensor, labels: Labels, gamma: Strength, transposed: bool) -> Tensor:
    rows = h.numpy(force=True)
    try:
        return torch.from_numpy(core.group_mean(rows, labels, gamma, transposed))
    except InputError:
        # Everything else is checked, so a value is infinite, NaN or too large. Training loops
        # expect no error: a GradScaler tries scales until gradients overflow.
        by_torch = _moved_back if transposed else _moved
        return by_torch(h.detach(), torch.from_numpy(labels), gamma)


def _moved(h: Tensor, labels: Tensor, gamma: Any) -> Tensor:
    """Compute the core's map with torch operations: ``mean + shrink·(h − mean)``."""
    # In this form rows are unchanged, bit by bit, if γ is 1 or a group has one row.
    return h - (1 - _shrink(gamma, h)) * (h - _group_means(h, labels))


def _moved_back(gradient: Tensor, labels: Tensor, gamma: Any) -> Tensor:
    """Compute the transposed map with torch operations."""
    shrink = _shrink(gamma, gradient)
    return shrink * gradient + _group_means((1 - shrink) * gradient, labels)


def _shrink(gamma: Any, like: Tensor) -> Any:
    """Return the factor of distances to the mean, per row or for all: ``1/√γ``."""
    if isinstance(gamma, np.ndarray):
        gamma = torch.from_numpy(gamma)
    return _per_row(gamma**-0.5, like)


def _per_row(values: Any, like: Tensor) -> Any:
    """Reshape one value per row to broadcast with rows; return numbers unchanged."""
    if not isinstance(values, torch.Tensor):
        return values
    values = values.to(like)
    return values.reshape(-1, *([1] * (like.ndim - 1))) if values.ndim else values


def _group_means(rows: Tensor, labels: Tensor) -> Tensor:
    """Return the group mean of each row."""
    places = _numbered(labels).to(rows.device)
    counts = rows.new_zeros(len(rows)).index_add(0, places, rows.new_ones(len(rows)))
    # One sum per row, some of them unused: a number of groups that depends on values would need
    # a synchronization of the device, and could not be compiled.
    sums = torch.zeros_like(rows).index_add(0, places, rows)
    means = sums / _per_row(counts.clamp(min=1), rows)
    return means.index_select(0, places)


def _numbered(labels: Tensor) -> Tensor:
    """Number groups from 0."""
    ordered, order = torch.sort(labels)
    new = torch.zeros_like(order)
    new[1:] = ordered[1:] != ordered[:-1]
    return torch.empty_like(order).scatter(0, order, new.cumsum(0))


class Collate:
    """A ``collate_fn`` that augments the batches of a ``DataLoader``.

    The random numbers of a batch depend on its rows and the epoch, so the batches are the same
    for any number of workers.

    Parameters
    ----------
    augmenter : Augmenter
        A fitted augmenter.
    keep_index : bool, default False
        Whether batches are ``(x, y, idx)`` instead of ``(x, y)``.

    See Also
    --------
    windlass.ADA.batch : Augment one batch.

    Notes
    -----
    Samples of the dataset are ``(x, y, index)`` and are collated by ``default_collate``. Call
    :meth:`set_epoch` before every epoch; otherwise a batch of the same rows in the same order
    gets the same augmentation again.

    torch shuffles the rows. With ``persistent_workers=True`` the order differs from that without
    workers from the second epoch on, unless the sampler has its own generator:
    ``sampler=RandomSampler(rows, generator=torch.Generator().manual_seed(0))``.

    Examples
    --------
    >>> import torch
    >>> from windlass import ADA
    >>> X, y = torch.randn(32, 3), torch.randn(32)
    >>> rows = torch.utils.data.TensorDataset(X, y, torch.arange(32))
    >>> collate = Collate(ADA(clusters=4).fit(X, y))
    >>> loader = torch.utils.data.DataLoader(rows, batch_size=8, collate_fn=collate)
    >>> for epoch in range(2):
    ...     collate.set_epoch(epoch)
    ...     for xb, yb in loader:
    ...         assert xb.shape == (8, 3) and yb.shape == (8,)
    """

    def __init__(self, augmenter: Augmenter, *, keep_index: bool = False) -> None:
        if not isinstance(augmenter, Augmenter):
            raise InputTypeError(
                f"augmenter must be one of windlass, such as ADA, got {type(augmenter).__name__}"
            )
        augmenter._core()
        self.augmenter = augmenter
        self.keep_index = keep_index
        # In shared memory, so that persistent workers see changes.
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # An unpickled copy has its own workers.
        self._epoch.share_memory_()

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch, which seeds the random numbers.

        Parameters
        ----------
        epoch : int
            Number of the epoch.
        """
        self._epoch.fill_(_arrays.whole(epoch, "epoch"))

    def __call__(self, samples: list[Any]) -> tuple[Tensor, ...]:
        """Collate samples, and augment them.

        Parameters
        ----------
        samples : list of (x, y, index)
            Samples of the dataset.

        Returns
        -------
        batch : tuple of Tensor
            ``(x, y)``, or ``(x, y, idx)`` with ``keep_index``.
        """
        if not all(isinstance(sample, (tuple, list)) and len(sample) == 3 for sample in samples):
            raise InputError(
                "samples must be (x, y, index)\n"
                "hint: TensorDataset(X, y, torch.arange(len(X))) has such samples"
            )
        collate: Callable[[Any], Any] = default_collate
        x, y, idx = collate(samples)
        for name, side in (("x", x), ("y", y), ("index", idx)):
            if not isinstance(side, torch.Tensor):
                raise InputTypeError(
                    f"{name} of samples must be numbers, arrays or tensors, "
                    f"but default_collate returns a {type(side).__name__}"
                )
        index = _arrays.row_numbers(idx)
        step = core.step_of(index, int(self._epoch))
        x, y = self.augmenter.batch(x, y, index, step=step)
        return (x, y, idx) if self.keep_index else (x, y)
