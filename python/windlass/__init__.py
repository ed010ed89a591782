"""Data augmentation and model selection for regression on small tables.

The main augmentation method is Anchor Data Augmentation (:class:`ADA`): similar rows are
grouped, and each row is moved toward or away from the mean of its group, features and target
together.

>>> import numpy as np
>>> from windlass import ADA
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(50, 3))
>>> y = X @ [1.0, -2.0, 0.5]
>>> X2, y2 = ADA(clusters=8, alpha=2.0, copies=10, random_state=0).fit_resample(X, y)
>>> X2.shape, y2.shape
((550, 3), (550,))

=========================== =====================================================
Task                        API
=========================== =====================================================
augment arrays and batches  :class:`ADA`, :class:`Mixup`, :class:`CMixup`,
                            :class:`LocalMixup`, :class:`Noise`, :class:`FOMA`,
                            :class:`CEMS`, :class:`SMOTER`, :class:`SMOGN`
augment a table             :func:`augment`
augment inside ``fit``      :class:`AugmentedRegressor`
find rare targets           :func:`relevance`
test whether it helps       :func:`compare`
compare with real rows      :func:`similarity`
train a model               :class:`Regressor`
distill a model             :func:`distill`, :meth:`Regressor.distill`
fit anchor regression       :class:`AnchorRegressor`
errors on rare targets      :mod:`windlass.metrics`
augment torch tensors       :mod:`windlass.torch`
augment on a cluster        :mod:`windlass.spark`, :mod:`windlass.ray`
=========================== =====================================================

The same seed gives bit-identical results for any number of threads, and in Python, the
command ``windlass`` and the Rust crate.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from ._windlass import FittedTable, InputError, InputTypeError, __version__

if TYPE_CHECKING:
    from . import metrics as metrics
    from . import ray as ray
    from . import spark as spark
    from . import torch as torch
    from ._anchor import AnchorRegressor as AnchorRegressor
    from ._anchor import Path as Path
    from ._augmented_regressor import AugmentedRegressor as AugmentedRegressor
    from ._augmenters import ADA as ADA
    from ._augmenters import SMOGN as SMOGN
    from ._augmenters import SMOTER as SMOTER
    from ._augmenters import CEMS as CEMS
    from ._augmenters import FOMA as FOMA
    from ._augmenters import Augmenter as Augmenter
    from ._augmenters import CMixup as CMixup
    from ._augmenters import LocalMixup as LocalMixup
    from ._augmenters import Mixup as Mixup
    from ._augmenters import Noise as Noise
    from ._augmenters import relevance as relevance
    from ._compare import Comparison as Comparison
    from ._compare import compare as compare
    from ._distill import distill as distill
    from ._regressor import Regressor as Regressor
    from ._table import augment as augment
    from ._table import similarity as similarity

# The module of each public name. Names are imported on first access, so that scikit-learn and
# torch are loaded only if they are used.
_HOMES = {
    "ADA": "_augmenters",
    "Augmenter": "_augmenters",
    "CMixup": "_augmenters",
    "LocalMixup": "_augmenters",
    "FOMA": "_augmenters",
    "CEMS": "_augmenters",
    "Mixup": "_augmenters",
    "Noise": "_augmenters",
    "SMOGN": "_augmenters",
    "SMOTER": "_augmenters",
    "relevance": "_augmenters",
    "AugmentedRegressor": "_augmented_regressor",
    "AnchorRegressor": "_anchor",
    "Path": "_anchor",
    "Comparison": "_compare",
    "compare": "_compare",
    "distill": "_distill",
    "Regressor": "_regressor",
    "augment": "_table",
    "similarity": "_table",
}

# Modules that are loaded when they are used.
_MODULES = ("metrics", "ray", "spark", "torch")

# `from windlass import *` imports estimators only if scikit-learn is installed, and never these
# modules, which would shadow the libraries `torch` and `ray`.
_ESTIMATORS = {"AugmentedRegressor", "AnchorRegressor", "Path", "Regressor", "distill"}
try:
    _MISSING = set() if importlib.util.find_spec("sklearn") else _ESTIMATORS
except ImportError:
    _MISSING = _ESTIMATORS
__all__ = [name for name in _HOMES if name not in _MISSING]
__all__ += ["FittedTable", "InputError", "InputTypeError", "__version__"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_MODULES])
