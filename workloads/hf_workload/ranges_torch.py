"""Ranges around submodules, with forward hooks."""
from __future__ import annotations

import sys
from typing import Any, ContextManager, Dict, List

from hf_workload.annotations import Annotator
from hf_workload.vision_torch import vision_parts


class _ModuleRange:
    """Hooks of one submodule; its calls do not nest."""

    def __init__(self, annotator: Annotator, label: str) -> None:
        self._annotator = annotator
        self._label = label
        self._open: List[ContextManager[None]] = []

    def before(self, *_: Any) -> None:
        entered = self._annotator.range(self._label)
        entered.__enter__()
        self._open.append(entered)

    def after(self, *_: Any) -> None:
        self._open.pop().__exit__(None, None, None)


def _hook(modules: Dict[str, Any], labels: Dict[str, str], annotator: Annotator) -> None:
    for name, label in labels.items():
        hooks = _ModuleRange(annotator, label)
        modules[name].register_forward_pre_hook(hooks.before)
        modules[name].register_forward_hook(hooks.after)


def add_vision_ranges(model: Any, annotator: Annotator) -> None:
    modules = dict(model.named_modules())
    _hook(modules, vision_parts(list(modules)), annotator)


def layer_labels(names: List[str]) -> Dict[str, str]:
    """The layers of the decoder: the longest numbered list outside the vision parts."""
    lists: Dict[str, List[str]] = {}
    for name in names:
        parent, _, last = name.rpartition(".")
        inside_vision = any("vision" in part or part in ("visual", "sam_encoder") for part in name.split("."))
        if last.isdigit() and parent.rpartition(".")[2] in ("layers", "h", "blocks") and not inside_vision:
            lists.setdefault(parent, []).append(name)
    longest: List[str] = max(lists.values(), key=len, default=[])
    return {name: f"layer_{int(name.rpartition('.')[2]):02d}" for name in longest}


def add_layer_ranges(model: Any, annotator: Annotator) -> None:
    modules = dict(model.named_modules())
    labels = layer_labels(list(modules))
    if not labels:
        print("hf_llm: --layer-ranges: no list of layers found in the model", file=sys.stderr)
    _hook(modules, labels, annotator)
