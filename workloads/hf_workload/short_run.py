"""A recording that replays kernels needs few of them: it asks for a short run."""
from __future__ import annotations

import dataclasses
import json
from typing import Mapping

from hf_workload.faults import UsageFault
from hf_workload.options import Options

LEAST = {"requests": 1, "new_tokens": 1, "warm_up": 0}  # as of the command line


def shortened(options: Options, environment: Mapping[str, str]) -> Options:
    """Options within the limits that `llmprof run` sets with LLMPROF_SHORT_RUN, if it does."""
    text = environment.get("LLMPROF_SHORT_RUN")
    if not text:
        return options
    try:
        limits = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageFault(f"LLMPROF_SHORT_RUN: {error}") from error
    if not isinstance(limits, dict):
        raise UsageFault(f"LLMPROF_SHORT_RUN: must be a JSON object, not {text}")
    for name, most in limits.items():
        if name not in LEAST:
            raise UsageFault(f"LLMPROF_SHORT_RUN: unknown limit {name!r}; available: {', '.join(LEAST)}")
        if type(most) is not int or most < LEAST[name]:  # true and false are no numbers here
            raise UsageFault(f"LLMPROF_SHORT_RUN: {name} must be a whole number of at least {LEAST[name]}")
    changed = {}
    for name, most in limits.items():
        value = getattr(options, name)
        changed[name] = most if value is None else min(value, most)
    return dataclasses.replace(options, **changed)
