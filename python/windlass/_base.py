"""Base class and helpers of estimators, with and without scikit-learn."""

from __future__ import annotations

import inspect
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import column_names, is_table, refuse_lazy
from ._windlass import InputError, InputTypeError, defaults

if TYPE_CHECKING:
    from numpy.random import Generator, RandomState
    from typing_extensions import Self

    RandomStateLike = int | Generator | RandomState | None

DEFAULTS: dict[str, dict[str, Any]] = defaults()

try:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import OneToOneFeatureMixin as OneToOneFeatureMixin
except ImportError:

    class OneToOneFeatureMixin:  # type: ignore[no-redef]
        """Placeholder of scikit-learn's mixin."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Minimal replacement of scikit-learn's ``BaseEstimator``."""

        @classmethod
        def _get_param_names(cls) -> list[str]:
            names = inspect.signature(cls.__init__).parameters
            return sorted(name for name in names if name != "self")

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters of this estimator."""
            out: dict[str, Any] = {}
            for name in self._get_param_names():
                value = getattr(self, name)
                if deep and hasattr(value, "get_params") and not isinstance(value, type):
                    out.update((f"{name}__{k}", v) for k, v in value.get_params().items())
                out[name] = value
            return out

        def set_params(self, **params: Any) -> Self:
            """Set parameters of this estimator."""
            names = self._get_param_names()
            nested: dict[str, dict[str, Any]] = {}
            for key, value in params.items():
                name, _, rest = key.partition("__")
                if name not in names:
                    raise ValueError(
                        f"Invalid parameter {name!r} for estimator {self}. "
                        f"Valid parameters are: {names!r}."
                    )
                if rest:
                    nested.setdefault(name, {})[rest] = value
                else:
                    setattr(self, name, value)
            for name, values in nested.items():
                getattr(self, name).set_params(**values)
            return self

        def __repr__(self) -> str:
            usual = inspect.signature(type(self).__init__).parameters
            said = [
                f"{name}={value!r}"
                for name, value in self.get_params(deep=False).items()
                if value is not usual[name].default and value != usual[name].default
            ]
            return f"{type(self).__name__}({', '.join(said)})"


def has_names(data: Any) -> bool:
    """Return whether an object is a table with column names that are strings."""
    refuse_lazy(data, "X")
    return is_table(data) and any(isinstance(name, str) for name in column_names(data))


def needs(module: str, what: str, install: str) -> ImportError:
    """Return the error for a package that is not installed."""
    return ImportError(f"{what} needs {module}, which is not installed\nhint: pip install {install}")


def seed_of(random_state: RandomStateLike) -> int:
    """Convert a ``random_state`` to a seed.

    An integer is the seed, as ``--seed`` of the command; a generator draws one; ``None`` uses
    system entropy.
    """
    if random_state is None:
        return secrets.randbits(63)
    if isinstance(random_state, (bool, np.bool_)):
        raise InputTypeError("random_state must be an integer, a Generator or None, got a bool")
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= int(random_state) < 2**64:
            raise InputError(f"random_state must be in [0, 2**64), got {random_state}")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31)) << 31 | int(random_state.randint(2**31))
    raise InputTypeError(
        "random_state must be an integer, a Generator or None, "
        f"got {random_state!r} of type {type(random_state).__name__}"
    )
