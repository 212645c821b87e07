"""Prompts: synthetic ones, or those of a manifest."""
from __future__ import annotations

import dataclasses
import json
import random
from typing import Any, Callable, List, Optional, Tuple

from hf_workload.faults import UsageFault
from hf_workload.text_files import parse_json, read_text, yaml_module

Ids = List[int]
Tokenize = Callable[[str], Ids]
KINDS = ("prompt_ids", "text", "prompt_tokens")


@dataclasses.dataclass(frozen=True)
class Prompt:
    """Exactly one of ids, text and tokens is given."""

    where: str  # "file:line"
    ids: Optional[Ids] = None
    text: Optional[str] = None
    tokens: Optional[int] = None


def read_manifest(path: str) -> List[Prompt]:
    """Reads YAML (a list) or JSON lines, depending on the file's name; errors name file and line."""
    text = read_text(path)
    entries = (
        _yaml_entries(path, text) if path.endswith((".yaml", ".yml")) else _json_entries(path, text)
    )
    prompts = [_prompt(where, entry) for where, entry in entries]
    if not prompts:
        raise UsageFault(f"{path}: the manifest has no prompts")
    return prompts


def _json_entries(path: str, text: str) -> List[Tuple[str, Any]]:
    if text.lstrip().startswith("["):  # one list instead of lines
        return [(f"{path}: entry {index + 1}", entry)
                for index, entry in enumerate(parse_json(text, path))]
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            entries.append((where, json.loads(line)))
        except json.JSONDecodeError as error:
            raise UsageFault(f"{where}: invalid JSON ({error.msg})") from error
    return entries


def _yaml_entries(path: str, text: str) -> List[Tuple[str, Any]]:
    yaml = yaml_module(path)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        entries = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise UsageFault(f"{path}{line}: invalid YAML ({problem})") from error
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise UsageFault(f"{path}:1: a manifest must be a list of prompts, not a {type(entries).__name__}")
    lines = [node.start_mark.line + 1 for node in root.value]
    return [(f"{path}:{line}", entry) for line, entry in zip(lines, entries)]


def _prompt(where: str, entry: Any) -> Prompt:
    valid = ", ".join(KINDS)
    if not isinstance(entry, dict):
        raise UsageFault(f"{where}: a prompt must be a map with one of {valid}")
    unknown = sorted(str(key) for key in entry if key not in KINDS)
    if unknown:
        raise UsageFault(f"{where}: unknown key {unknown[0]}; available: {valid}")
    if len(entry) != 1:
        raise UsageFault(f"{where}: a prompt must have exactly one of {valid}")
    kind, value = next(iter(entry.items()))
    if kind == "prompt_ids":
        if not isinstance(value, list) or not value or not all(_is_whole(item, 0) for item in value):
            raise UsageFault(f"{where}: prompt_ids must be a list of token numbers")
        return Prompt(where, ids=value)
    if kind == "text":
        if not isinstance(value, str) or not value:
            raise UsageFault(f"{where}: text must be a string that is not empty")
        return Prompt(where, text=value)
    if not _is_whole(value, 1):
        raise UsageFault(f"{where}: prompt_tokens must be a whole number of at least 1")
    return Prompt(where, tokens=value)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def random_ids(generator: random.Random, count: int, vocabulary: int) -> Ids:
    """Token 0 is not used: it is often the padding."""
    return generator.choices(range(1, vocabulary), k=count)


def ids_of(prompt: Prompt, vocabulary: int, generator: random.Random,
           tokenize: Optional[Tokenize]) -> Ids:
    if prompt.ids is not None:
        largest = max(prompt.ids)
        if largest >= vocabulary:
            raise UsageFault(f"{prompt.where}: token {largest} is outside the model's vocabulary, which ends at "
                             f"{vocabulary - 1}")
        return prompt.ids
    if prompt.text is not None:
        if tokenize is None:
            raise UsageFault(f"{prompt.where}: a text prompt needs a tokenizer, which comes with real weights "
                             "(--weights real --path FOLDER); or give prompt_ids or prompt_tokens")
        return tokenize(prompt.text)
    return random_ids(generator, prompt.tokens or 1, vocabulary)
