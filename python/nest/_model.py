"""Models, looked at by themselves: what they count, and what they are made of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import _core
from ._inputs import as_model
from ._views import data_frame


class Model:
    """A model, as questions take it.

    Args:
        model: a name, a file (config.json, a layer profile, an ONNX file), a dict with such keys, a
            configuration of transformers, or a module of torch.
        like: reads a config.json by the keys of this model type.

    Examples:
        >>> import nest
        >>> gpt2 = nest.Model("gpt2")
        >>> gpt2.parameters, len(gpt2.layers)
        (124439808, 14)
        >>> nest.Question(gpt2, devices=8).model
        'gpt2'
    """

    def __init__(self, model: object = None, *, like: str = "") -> None:
        self._core = _core.model(as_model(model), like)
        self._described: dict[str, Any] | None = None
        self._said: list[str] = []

    @property
    def name(self) -> str:
        """The model's name."""
        return self._core.name

    @property
    def parameters(self) -> int:
        """All parameters, tied ones once."""
        return int(self._value()["parameters"])

    @property
    def active_parameters(self) -> int:
        """Those that one token uses."""
        return int(self._value().get("active_parameters", self.parameters))

    @property
    def forward_flops(self) -> float:
        """Floating-point operations of the forward pass of one sequence; not a number for layer profiles."""
        return float(self._value().get("forward_flops", "nan"))

    @property
    def layers(self) -> list[dict[str, Any]]:
        """The layers, which a pipeline may cut between: parameters, FLOPs and bytes of each."""
        return list(self._value().get("layers", []))

    @property
    def warnings(self) -> list[str]:
        """What should be known of the file or configuration, a sentence each."""
        return [*self._core.warnings, *self._said]

    def describe(
        self, *, micro_batch: int = 1, sequence: int | None = None, mtp: bool = False
    ) -> dict[str, Any]:
        """What `nest models show --json` prints: layers, operators, tensors, FLOPs and bytes.

        Args:
            micro_batch: sequences at once.
            sequence: tokens of a sequence; without it, the model's positions, but at most 8192.
            mtp: with the modules for multi-token prediction.
        """
        return self._core.describe(micro_batch, sequence, mtp)

    def to_nest(self) -> str | dict[str, Any]:
        """What a question takes and a plan holds: a name, or the whole text of the model."""
        return self._core.value()

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the model to a file, which every command takes."""
        value = self.to_nest()
        if isinstance(value, str):
            _core.fail("", "model", f"{value} is a name, which every command takes as it is")
        path = Path(file)
        path.write_text(json.dumps(value) + "\n", encoding="utf-8")
        return path

    def to_pandas(self) -> Any:
        """The layers, a row each."""
        return data_frame(self.layers)

    def _value(self) -> dict[str, Any]:
        if self._described is None:
            self._described = self._core.describe(1, None, False)
        return self._described

    def __repr__(self) -> str:
        return f"<nest.Model {self.name}: {self.parameters:,} parameters>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_nest() == other.to_nest()

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, (self.to_nest(),)
