"""A pass that replays kernels needs few of them: it asks for a short run."""
from __future__ import annotations

import dataclasses
import json
from typing import Mapping

from hf_workload.faults import UsageFault
from hf_workload.options import Options

LIMITS = ("requests", "new_tokens", "warm_up")


def shortened(options: Options, environment: Mapping[str, str]) -> Options:
    """Options within the limits that `llmprof run` sets with LLMPROF_SHORT_RUN, if it does."""
    text = environment.get("LLMPROF_SHORT_RUN")
    if not text:
        return options
    try:
        limits = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageFault(f"LLMPROF_SHORT_RUN: {error}") from error
    if not isinstance(limits, dict) or not all(
            name in LIMITS and isinstance(most, int) and most >= 0 for name, most in limits.items()):
        raise UsageFault(f"LLMPROF_SHORT_RUN: must hold whole numbers for some of {', '.join(LIMITS)}")
    changed = {}
    for name, most in limits.items():
        value = getattr(options, name)
        changed[name] = most if value is None else min(value, most)
    return dataclasses.replace(options, **changed)
