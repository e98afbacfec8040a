"""NEST plans the training of large models on clusters of accelerators.

A question names a model, a cluster and what is asked; its answer has the fastest plan that fits, with a
proof:

    >>> import nest
    >>> q = nest.Question(model="llama3.1-8b", cluster="h100-spine-leaf", devices=64, global_batch=512)
    >>> a = q.solve()
    >>> a.status, a.plan.tensor, a.plan.data
    ('optimal', 1, 64)

`nest.torch`, `nest.accelerate` and `nest.callbacks` connect plans with the code that trains.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import _core
from ._answer import Answer, WhyNot
from ._calibrate import Calibration, calibrate
from ._cluster import Cluster
from ._compare import Comparison, compare
from ._core import Degrees, Layer, Operator, Progress, Transform
from ._errors import InputError, NoPlan
from ._fits import Fits, fits
from ._launch import check, read_launch
from ._model import Model
from ._plan import Plan, load_plan
from ._price import Price, Prices
from ._question import Question, options
from ._results import Check, Difference, Explanation, Export
from ._simulation import Segment, Simulation
from ._strategy import Strategy
from ._study import Study, sweep
from ._trace import trace
from ._views import Drawing, Report

__version__ = _core.version()

__all__ = [
    "Answer",
    "Calibration",
    "Check",
    "Cluster",
    "Comparison",
    "Degrees",
    "Difference",
    "Drawing",
    "Explanation",
    "Export",
    "Fits",
    "InputError",
    "Layer",
    "Model",
    "NoPlan",
    "Operator",
    "Plan",
    "Price",
    "Prices",
    "Progress",
    "Question",
    "Report",
    "Segment",
    "Simulation",
    "Strategy",
    "Study",
    "Transform",
    "WhyNot",
    "accelerators",
    "baselines",
    "calibrate",
    "check",
    "cluster_kinds",
    "clusters",
    "compare",
    "fits",
    "load_plan",
    "models",
    "options",
    "read_launch",
    "recipes",
    "report_sections",
    "sweep",
    "targets",
    "trace",
]


def models() -> list[str]:
    """Names of the models that come with the library."""
    return _core.models()


def clusters() -> list[str]:
    """Names of the clusters that come with the library."""
    return _core.clusters()


def cluster_kinds() -> list[str]:
    """The kinds of files that `nest.Cluster.read` reads clusters from."""
    return _core.cluster_kinds()


def recipes() -> list[str]:
    """Names of the recipes that come with the library."""
    return _core.recipes()


def accelerators() -> list[str]:
    """Names of the accelerators that come with the library."""
    return _core.accelerators()


def baselines() -> list[dict[str, Any]]:
    """The baselines of `nest.compare`: what each does, knows and ignores."""
    return _core.baselines()


def targets() -> list[dict[str, Any]]:
    """The targets of `Plan.export`, with the releases that were tried."""
    return _core.targets()


def report_sections() -> list[str]:
    """The sections of `Plan.report`."""
    return _core.report_sections()


def __getattr__(name: str) -> Any:
    # Modules that bring other packages along are loaded when they are asked for.
    if name in ("torch", "accelerate", "callbacks"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'nest' has no attribute '{name}'")
