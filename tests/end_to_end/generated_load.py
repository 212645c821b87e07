"""profile.json of a load of requests, without captures: what a client measured of a server that processes one prompt
after the other while all started requests decode."""
import math
import random

NS = 1_000_000


def nearest_rank(values, fraction):
    return sorted(values)[max(1, math.ceil(fraction * len(values))) - 1]


def times(values):
    if not values:
        return {"count": 0}
    return {"count": len(values), "mean": sum(values) / len(values), "p50": nearest_rank(values, 0.5),
            "p90": nearest_rank(values, 0.9), "p99": nearest_rank(values, 0.99), "min": min(values),
            "max": max(values), "std": None}


def request(number, arrival, prompt, queue, prefill, gaps):
    """One completed request; times in ns."""
    first = queue + prefill
    tokens = [first]
    for gap in gaps:
        tokens.append(tokens[-1] + gap)
    decode = tokens[-1] - first
    return {"id": str(number), "status": "completed", "warm_up": False, "scheduled_ms": arrival / NS,
            "sent_ms": arrival / NS, "client_delay_ns": 0, "ttft_ns": first, "e2e_ns": tokens[-1],
            "tpot_ms": decode / NS / len(gaps), "longest_gap_ns": max(gaps), "prompt_tokens": prompt,
            "output_tokens": len(tokens), "cached_tokens": None, "joined_tokens": len(tokens), "preemptions": 0,
            "parts_ns": {"queue": queue, "own_prefill": prefill, "own_decode": decode},
            "ttft_parts_ns": {"queue": queue, "own_prefill": prefill}, "token_ns": tokens,
            "token_batches": [-1] * len(tokens)}


def load(run, seed=1, count=600, slower=1.0, longer_queue_ms=0.0, goodput=20.0):
    """The speed of the server drifts slowly; `run` seeds that drift, `seed` the arrivals and prompts."""
    arrivals = random.Random(seed)
    noise = random.Random(1000 + run)
    drift = 0.0

    def step():
        nonlocal drift
        drift = 0.9 * drift + noise.gauss(0, 0.02)
        return slower * (1 + drift) * (1 + noise.gauss(0, 0.01))

    items, arrival, free = [], 0, 0
    for number in range(count):
        arrival += round(arrivals.expovariate(1 / 30) * NS)
        prompt = arrivals.randint(100, 1000)
        start = max(arrival, free)
        prefill = round(0.02 * prompt * step() * NS)
        free = start + prefill
        gaps = [round(5 * step() * NS) for _ in range(8)]
        items.append(request(number, arrival, prompt, start - arrival + round(longer_queue_ms * NS), prefill, gaps))
    parts = {}
    for item in items:
        for part, time in item["parts_ns"].items():
            parts[part] = parts.get(part, 0) + time
    gaps = [(later - earlier) / NS for item in items
            for earlier, later in zip(item["token_ns"], item["token_ns"][1:])]
    requests = {
        "file": "requests.json", "source": "llmprof", "sent": count, "completed": count, "failed": 0, "warm_up": 0,
        "output_tokens": sum(item["output_tokens"] for item in items),
        "ttft_ms": times([item["ttft_ns"] / NS for item in items]), "itl_ms": times(gaps),
        "tpot_ms": times([item["tpot_ms"] for item in items]),
        "e2e_ms": times([item["e2e_ns"] / NS for item in items]),
        "queue_ms": times([item["parts_ns"]["queue"] / NS for item in items]),
        "load": {"arrivals": "poisson", "rate": 33.3, "completed_rate": 33.0, "goodput": goodput,
                 "goodput_low": goodput - 0.2, "goodput_high": goodput + 0.2},
        "join": {"state": "joined"}, "parts_ns": parts, "items": items}
    return {"schema_version": 1, "tool": {"name": "llmprof", "version": "0.0.0"}, "kernels": [],
            "requests": requests}
