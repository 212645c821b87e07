"""Snapshots of PyTorch's memory on a GPU, with its own statistics beside them.

    python3 snapshots.py KIND OUT        KIND: eager, expandable, graph, size, fragmented

writes OUT.pickle and OUT.json. `expandable` needs PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.
"""
import json
import sys

import torch

GIB, MIB = 1 << 30, 1 << 20
KIND, OUT = sys.argv[1:]
BF16 = {"device": "cuda", "dtype": torch.bfloat16}


def bytes_of(size):
    return torch.empty(size, device="cuda", dtype=torch.uint8)


def model(layers=8, hidden=1024, inner=4096):
    return [(torch.randn(hidden, inner, **BF16) * 0.02, torch.randn(inner, hidden, **BF16) * 0.02)
            for _ in range(layers)]


def forward(weights, x):
    for up, down in weights:
        x = torch.nn.functional.silu(x @ up) @ down + x
    return x


def decode(with_graph):
    weights = model()
    kept = [torch.zeros(1, 8, 2048, 64, **BF16) for _ in range(16)]
    prompt = torch.randn(512, 1024, **BF16)
    for _ in range(3):
        forward(weights, prompt)
    odd = [bytes_of(1000 + 777 * i) for i in range(40)]
    del odd[::2]
    kept += [weights, prompt, odd]
    if with_graph:
        token = torch.randn(1, 1024, **BF16)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            forward(weights, token)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kept.append(forward(weights, token))
        graph.replay()
        kept += [token, graph]
    return kept


def fail(size):
    try:
        bytes_of(size)
    except torch.OutOfMemoryError as failure:
        return str(failure)
    raise SystemExit("that fits")


def too_large():
    return [bytes_of(20 * GIB)], fail(200 * GIB)


def fragmented():
    """6 GiB in segments of 1 GiB, of which every other 128 MiB are free; 7 GiB are allowed."""
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction(7 * GIB / total)
    whole = [bytes_of(GIB) for _ in range(6)]
    del whole
    parts = [bytes_of(128 * MIB) for _ in range(48)]
    kept = parts[::2]
    del parts
    return kept, fail(2 * GIB)


torch.manual_seed(1)
torch.cuda.memory._record_memory_history(stacks="python")
kept, message = {"size": too_large, "fragmented": fragmented}.get(KIND, lambda: (decode(KIND == "graph"), None))()
torch.cuda.synchronize()
stats = torch.cuda.memory_stats()
torch.cuda.memory._dump_snapshot(OUT + ".pickle")
names = [f"{what}_bytes.all.{when}" for what in ("allocated", "reserved", "active", "requested")
         for when in ("current", "peak")]
with open(OUT + ".json", "w", encoding="utf-8") as file:
    json.dump({"torch": torch.__version__, "message": message, "stats": {name: stats[name] for name in names}},
              file, indent=1)
