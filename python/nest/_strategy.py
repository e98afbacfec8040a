"""Sub-graph strategies of one's own: how a layer is split over the devices of a cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

from . import _core
from ._core import Degrees, Layer, Transform


class Strategy:
    """A way to split a layer over the devices of a cell, beside the library's.

    The search, prices and reports use it as their own: `nest.Question(strategies=[..])`. A plan's JSON
    holds the degrees, not the strategy.

    Args:
        name: for messages.
        replaces: the library's strategy that it stands for where it is active: `tensor`, `sequence`,
            `context` or `expert`.
        active: whether these degrees ask for it.
        apply: rewrites the layer: takes its operators, splits tensors by axis, and pushes the operators
            back with collectives between them.
        check: a sentence why this layer cannot be split so, or None.
    """

    def __init__(
        self,
        name: str,
        *,
        replaces: str,
        active: Callable[[Degrees], bool],
        apply: Callable[[Transform], None],
        check: Callable[[Layer, Degrees], Optional[str]] = lambda layer, degrees: None,
    ) -> None:
        self.name = name
        """For messages."""
        self._core = _core.Strategy(name, replaces, active, check, apply)

    def __repr__(self) -> str:
        return f"<nest.Strategy {self.name}>"
