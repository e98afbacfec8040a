"""What people have at hand, as values that the library reads: names, files, dicts, configs and modules."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any

from . import _core


def as_model(model: object) -> object:
    """A name, a file or a group of keys for anything that describes a model."""
    if model is None:
        return _core.default_model
    if isinstance(model, (str, os.PathLike, dict)):
        return model
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        return _module(model)
    if hasattr(model, "to_json_string"):  # a configuration of transformers
        return config_dict(model)
    if hasattr(model, "to_nest"):  # what describes itself in the library's words
        return model.to_nest()
    _core.fail(
        "", "model", f"a {type(model).__name__} is no name, file, group of keys, config or module"
    )


def config_dict(config: Any) -> dict[str, Any]:
    """A configuration of transformers as its config.json has it, with all defaults."""
    found: dict[str, Any] = json.loads(config.to_json_string(use_diff=False))
    found["model_type"] = config.model_type
    return found


def _module(module: Any) -> object:
    """What a module's configuration says where that is all of it, else what tracing finds."""
    config = getattr(module, "config", None)
    if config is not None and getattr(config, "model_type", "") in _core.model_types():
        found = config_dict(config)
        if _counted(found) == sum(p.numel() for p in module.parameters()):
            return found
    return import_module("nest._trace").trace(module).to_nest()


def _counted(config: dict[str, Any]) -> int:
    """The parameters that a config.json makes, with heads beside the published count."""
    told: dict[str, Any] = _core.model(config, "").describe(1, None, False)
    return int(told["parameters"]) + sum(
        int(part["parameters"]) for part in told["apart"] if part["in_graph"]
    )


def as_cluster(cluster: object) -> object:
    """A name, a file or a group of keys; the default without one."""
    if cluster is None:
        return _core.default_cluster
    return cluster.to_dict() if hasattr(cluster, "to_dict") else cluster


def as_recipe(recipe: object) -> object:
    """A name, a file or a group of keys; the default without one."""
    return _core.default_recipe if recipe is None else recipe


def as_options(options: dict[str, Any]) -> dict[str, Any]:
    """Keywords as fields of the library: `for_` is `for`, which Python keeps to itself."""
    return {name.rstrip("_"): value for name, value in options.items() if value is not None}
