"""The torch pass: torch.profiler over the measured requests."""
from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import os
import shutil
from typing import Any, Iterator, Mapping, Optional

from hf_workload.faults import UsageFault

COMPRESSION = 3  # traces are large and repetitive: higher levels take long and save little


@dataclasses.dataclass(frozen=True)
class TraceSettings:
    path: str
    record_shapes: bool = True
    with_stack: bool = False
    profile_memory: bool = False
    requests: int = 1


def trace_settings(environment: Mapping[str, str]) -> Optional[TraceSettings]:
    """What `llmprof run` requests with LLMPROF_TORCH_TRACE; None if it does not."""
    path = environment.get("LLMPROF_TORCH_TRACE")
    if not path:
        return None
    try:
        wanted = json.loads(environment.get("LLMPROF_TORCH_OPTIONS") or "{}")
        settings = TraceSettings(path=path, **wanted)
    except (json.JSONDecodeError, TypeError) as error:
        raise UsageFault(f"LLMPROF_TORCH_OPTIONS: {error}") from error
    if not isinstance(settings.requests, int) or settings.requests < 1:
        raise UsageFault("LLMPROF_TORCH_OPTIONS: requests must be a whole number of at least 1")
    return settings


@contextlib.contextmanager
def traced(torch: Any, settings: TraceSettings, with_cuda: bool) -> Iterator[None]:
    kinds = torch.profiler.ProfilerActivity
    activities = [kinds.CPU, kinds.CUDA] if with_cuda else [kinds.CPU]
    with torch.profiler.profile(activities=activities, record_shapes=settings.record_shapes,
                                with_stack=settings.with_stack,
                                profile_memory=settings.profile_memory) as profiler:
        yield
    _export(profiler, settings.path)


def _export(profiler: Any, path: str) -> None:
    plain = f"{path}.{os.getpid()}.tmp.json"
    packed = f"{path}.{os.getpid()}.tmp"
    try:
        profiler.export_chrome_trace(plain)
        with open(plain, "rb") as source, gzip.open(packed, "wb", compresslevel=COMPRESSION) as target:
            shutil.copyfileobj(source, target, length=1 << 20)
        os.replace(packed, path)
    finally:
        for leftover in (plain, packed):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(leftover)
