"""Reads JSON and YAML, and writes files atomically."""
from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from hf_workload.faults import UsageFault


def read_text(path: str) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageFault(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageFault(f"{path}: not UTF-8 text (byte {error.start})") from error


def yaml_module(path: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise UsageFault(f"{path}: YAML needs PyYAML (pip install pyyaml); or use JSON instead") from None
    return yaml


def parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageFault(f"{where}:{error.lineno}: invalid JSON ({error.msg})") from error


def write_whole(path: str, content: bytes) -> None:
    """Writes a temporary file and renames it, so that readers never see a partial file."""
    aside = f"{path}.{os.getpid()}.tmp"
    with open(aside, "wb") as file:
        file.write(content)
    os.replace(aside, path)
