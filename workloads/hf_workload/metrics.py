"""metrics.json: the workload's own timings (docs/quickstart.md explains the fields)."""
from __future__ import annotations

import json
import math
from typing import Any, Dict, List, Optional, Sequence

from hf_workload.text_files import write_whole

Json = Dict[str, Any]


def statistics(samples: Sequence[float]) -> Json:
    """std is that of a sample, and null for fewer than two values."""
    count = len(samples)
    if count == 0:
        raise ValueError("statistics of no samples")
    mean = math.fsum(samples) / count
    spread: Optional[float] = None
    if count > 1:
        spread = math.sqrt(math.fsum((sample - mean) ** 2 for sample in samples) / (count - 1))
    return {"mean": mean, "std": spread, "count": count}


def aggregates(stage_ms: Dict[str, List[float]], tokens_per_s: Sequence[float]) -> Json:
    return {
        "stage_ms": {name: statistics(samples) for name, samples in stage_ms.items() if samples},
        "tokens_per_s": statistics(tokens_per_s),
    }


def common(values: Sequence[int]) -> Optional[int]:
    """The value that all share; None if they differ."""
    return values[0] if values and min(values) == max(values) else None


def write_metrics(path: str, document: Json) -> None:
    write_whole(path, (json.dumps(document, indent=2, allow_nan=False) + "\n").encode())
