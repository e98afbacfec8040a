"""Which function measures which kind. Their modules need torch and are imported by load()."""
import importlib
import sys

from points_other import POINTWISE

MEASURING = {
    "matmul": ("kinds_matmul", "measure_matmul"),
    "fp8_matmul": ("kinds_matmul", "measure_fp8_matmul"),
    "grouped_matmul": ("kinds_matmul", "measure_grouped_matmul"),
    "attention": ("kinds_attention", "measure_attention"),
    "rotary": ("kinds_attention", "measure_rotary"),
    **{kind: ("kinds_pointwise", "measure_pointwise") for kind in POINTWISE},
    "embedding": ("kinds_pointwise", "measure_embedding"),
    "loss": ("kinds_pointwise", "measure_loss"),
    "router": ("kinds_experts", "measure_router"),
    "dispatch": ("kinds_experts", "measure_dispatch"),
    "combine": ("kinds_experts", "measure_combine"),
    **{kind: ("kinds_memory", "measure_transfer") for kind in ("copy", "fill", "cast", "accumulate")},
    "optimizer": ("kinds_memory", "measure_optimizer"),
    "grad_norm": ("kinds_memory", "measure_grad_norm"),
    "launch": ("kinds_memory", "measure_launch"),
    "layers": ("layers", "measure_layer"),
    "layers-compiled": ("layers", "measure_compiled_layer"),
    "steps": ("steps", "measure_step"),
}
SECTION = {"layers": "layers", "layers-compiled": "layers", "steps": "steps"}


def load():
    """Imports all of them, while their folder is on the path."""
    for module, _ in MEASURING.values():
        importlib.import_module(module)


def measuring(kind):
    module, name = MEASURING[kind]
    return getattr(sys.modules[module], name)
