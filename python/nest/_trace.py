"""Modules of torch as models: their operators, recorded by torch.export without weights.

torch.onnx writes the operators down with the shapes of the weights alone, and the library reads them as it
reads any ONNX file (docs/formats/model.md): it finds repeated blocks, attention, norms and what tensor
parallelism may cut.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import _core
from ._errors import InputError
from ._model import Model

ROWS = 2
"""Sequences of a trace that may have any number of them."""
LENGTH = 32
"""Tokens of a sequence that may have any length."""
HEADS = ("ForCausalLM", "ForSeq2SeqLM", "ForMaskedLM", "ForImageClassification", "")
"""Of transformers' classes by the kind of a model: the one that is trained."""


def trace(model: Any, inputs: Any = None, *, name: str = "") -> Model:
    """A module of torch, or a configuration of transformers, as a model for the planner.

    Nothing is computed: configurations become modules on the meta device, and the weights of modules are
    neither read nor copied. Needs torch, onnx and onnxscript (`pip install nest-planner[trace]`).

    Args:
        model: a `torch.nn.Module`, or a configuration of transformers, whose training class is made.
        inputs: what the module is called with: a tensor, a list of tensors, or a dict by the names of its
            arguments; shapes and dtypes count alone. The first axis is the batch, and the second one of
            whole numbers (tokens) the sequence. Without it, what models of transformers take.
        name: of the model; without it, the configuration's or the module's.

    Raises:
        InputError: where torch cannot export the module, or the library cannot cut its operators into
            layers. `what` has the reason.
    """
    import tempfile  # here and below: `import nest` does not wait for what tracing needs

    try:
        import onnx_ir
        import onnxscript  # noqa: F401  torch.onnx needs it
        import torch
    except ImportError as error:
        raise ImportError(
            f"tracing needs torch, onnx and onnxscript: pip install nest-planner[trace] ({error.name} is "
            "missing)",
            name=error.name,
        ) from error
    module = model if isinstance(model, torch.nn.Module) else _module_of(torch, model)
    name = name or _name_of(module)
    with tempfile.TemporaryDirectory() as folder, _evaluating(module):
        file = Path(folder) / f"{name}.onnx"
        _write(torch, onnx_ir, module, inputs, file)
        try:
            read = Model(file)
        except InputError as error:
            _core.fail(f"the graph of {name}", "", error.what, error.hint)
    text = read.to_nest()
    assert isinstance(text, dict)
    positions = getattr(getattr(module, "config", None), "max_position_embeddings", None)
    if isinstance(positions, int) and not text["positions"] and not text["default_sequence"]:
        text["positions"] = positions
    made = Model(text)
    made._said += read.warnings
    held = sum(p.numel() for p in module.parameters())
    if made.parameters != held:
        made._said.append(
            f"{made.parameters:,} parameters were found in the graph, and {held:,} in the module: some are "
            "not used by its output or stand in the graph twice, or buffers count as parameters"
        )
    return made


def _module_of(torch: Any, config: Any) -> Any:
    """The class of a configuration that is trained, on the meta device."""
    if not hasattr(config, "to_json_string"):
        _core.fail("", "model", f"a {type(config).__name__} is no module and no configuration")
    import transformers

    if config.architectures is None:  # which some classes of transformers do not expect
        config = copy.deepcopy(config)
        config.architectures = []
    named = [getattr(transformers, one, None) for one in config.architectures]
    both = hasattr(config, "text_config") and hasattr(config, "vision_config")  # as CLIP: no part alone
    heads: tuple[str, ...] = HEADS[::-1] if both else HEADS
    if getattr(config, "is_encoder_decoder", False):  # the whole of it, no decoder alone
        heads = ("ForSeq2SeqLM", *heads)
    autos = [getattr(transformers, f"AutoModel{head}", None) for head in heads]
    with torch.device("meta"):
        for known in filter(None, named):
            return known(config)
        for auto in filter(None, autos):
            try:
                return auto.from_config(config)
            except ValueError:  # of another kind
                continue
    _core.fail("", "model", f"transformers has no model of the type '{config.model_type}'")


def _name_of(module: Any) -> str:
    config = getattr(module, "config", None)
    name = str(getattr(config, "_name_or_path", "") or getattr(config, "model_type", "")).rstrip("/")
    name = name.rpartition("/")[2] or type(module).__name__
    return re.sub(r"[^\w.-]+", "_", name)


@contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    """Without dropout; the module is as before afterwards."""
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for part, training in modes.items():
            part.training = training


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what exporters tell of themselves."""
    import logging

    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _write(torch: Any, onnx_ir: Any, module: Any, inputs: Any, file: Path) -> None:
    """The module's operators as an ONNX file without weights."""
    reasons = []
    names, values = _inputs_of(torch, module, inputs)
    # Any batch and length first. Inputs that somebody gave, and images, may also be taken as they are; tokens
    # that nobody gave would make a model of so short sequences alone.
    ways: list[tuple[int, ...]] = [(0, 1)]
    if inputs is not None or not any(_counts_tokens(value) for value in values):
        ways += [(0,), ()]
    for free in ways:
        try:
            with _quietly():
                program = _export(torch, module, names, values if not free else _several(torch, values), free)
            break
        except Exception as error:  # whatever exporters throw
            reasons.append(_reason(error))
    else:
        _core.fail(
            "",
            "model",
            f"torch cannot export {type(module).__name__}: {reasons[0]}",
            "give a configuration of transformers, or a layer profile",
        )
    graph = program.model.graph
    place = 0
    for key, value in graph.initializers.items():
        tensor = value.const_value
        raw = getattr(tensor, "raw", None)
        if isinstance(raw, torch.Tensor) and (raw.is_meta or isinstance(raw, torch.nn.Parameter)):
            value.const_value = onnx_ir.ExternalTensor(
                "weights", place, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=key
            )
            place += tensor.nbytes
    onnx_ir.save(program.model, file)


def _export(
    torch: Any, module: Any, names: list[str] | None, values: list[Any], free: tuple[int, ...]
) -> Any:
    more = {"use_cache": False} if hasattr(getattr(module, "config", None), "use_cache") else {}

    class First(torch.nn.Module):  # type: ignore[misc]
        """The module's first output alone."""

        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *given: Any) -> Any:
            if names is None:
                return _first(torch, self.module(*given))
            return _first(torch, self.module(**dict(zip(names, given)), **more))

    def axes(value: Any) -> dict[int, Any]:
        known = 2 if _counts_tokens(value) else 1
        return {axis: torch.export.Dim.DYNAMIC for axis in free if axis < min(known, value.ndim)}

    return torch.onnx.export(
        First().eval(),
        tuple(values),
        dynamo=True,
        optimize=False,
        verbose=False,
        input_names=names,
        dynamic_shapes=(tuple(axes(value) for value in values),) if free else None,
    )


def _first(torch: Any, output: Any) -> Any:
    """The first tensor of what a module gives."""
    if isinstance(output, torch.Tensor):
        return output
    if getattr(output, "logits", None) is not None:
        return output.logits
    parts = output.values() if isinstance(output, Mapping) else output
    return next(_first(torch, part) for part in parts if part is not None)


def _several(torch: Any, values: list[Any]) -> list[Any]:
    """Batches of one as batches of several: torch.export takes a size of 1 for one that never differs."""
    if any(value.ndim == 0 or value.shape[0] != 1 for value in values):
        return values
    return [value.expand(ROWS, *value.shape[1:]).clone() for value in values]


def _counts_tokens(value: Any) -> bool:
    """Whether a tensor is tokens: whole numbers, one for each place of a sequence."""
    return value.ndim == 2 and not value.is_floating_point()


def _inputs_of(torch: Any, module: Any, inputs: Any) -> tuple[list[str] | None, list[Any]]:
    """Names and tensors, on the module's device."""
    first = next(module.parameters(), None)
    device = torch.device("cpu") if first is None else first.device
    if inputs is None:
        inputs = _usual_inputs(torch, module)
    if isinstance(inputs, Mapping):
        pairs = [(key, one) for key, one in inputs.items() if one is not None]
        names: list[str] | None = [key for key, _ in pairs]
        values = [one for _, one in pairs]
    else:
        names = None
        values = list(inputs) if isinstance(inputs, Sequence) else [inputs]
    for value in values:
        if not isinstance(value, torch.Tensor):
            _core.fail("", "inputs", f"a {type(value).__name__} is no tensor")
    return names, [torch.empty_like(value, device=device).zero_() for value in values]


def _usual_inputs(torch: Any, module: Any) -> dict[str, Any]:
    """What models of transformers take."""
    config = getattr(module, "config", None)
    wanted = getattr(module, "main_input_name", "")
    most = getattr(config, "max_position_embeddings", None) or LENGTH
    tokens = torch.zeros(ROWS, min(LENGTH, most), dtype=torch.long)
    images = _images(torch, config)
    if wanted == "input_ids":
        given = {"input_ids": tokens}
        if getattr(config, "is_encoder_decoder", False):
            given["decoder_input_ids"] = tokens
        if hasattr(config, "vision_config") and hasattr(config, "text_config") and images is not None:
            given["pixel_values"] = images
        return given
    if wanted == "pixel_values" and images is not None:
        return {"pixel_values": images}
    _core.fail(
        "",
        "inputs",
        f"what {type(module).__name__} is called with is not known",
        "give inputs=, tensors of the shapes of a micro-batch",
    )


def _images(torch: Any, config: Any) -> Any:
    sizes = getattr(config, "vision_config", config)
    side = getattr(sizes, "image_size", None)
    if side is None:
        return None
    sides = [side, side] if isinstance(side, int) else list(side)
    return torch.zeros(ROWS, getattr(sizes, "num_channels", 3), *sides)


def _reason(error: BaseException) -> str:
    """The sentence of an exporter's error that says most: that of its first cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'it says no more'}"
