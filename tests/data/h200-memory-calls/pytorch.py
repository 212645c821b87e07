"""A product of 32 layers, eager, then in a CUDA graph; 3 GiB that are allocated and released; what PyTorch states."""
import time

import torch

torch.manual_seed(0)
weights = [torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(32)]
x = torch.randn(8, 2048, device="cuda", dtype=torch.bfloat16)


def forward(x):
    for weight in weights:
        x = torch.nn.functional.silu(x @ weight) + x * 0.5
    return x


def pause():
    torch.cuda.synchronize()
    time.sleep(0.3)


pause()
with torch.cuda.stream(torch.cuda.Stream()):
    for _ in range(3):
        forward(x)
pause()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = forward(x)
pause()
for _ in range(50):
    graph.replay()
large = torch.empty(3 << 30, dtype=torch.uint8, device="cuda")
pause()
del large
torch.cuda.empty_cache()
pause()
print("reserved", torch.cuda.memory_reserved())
