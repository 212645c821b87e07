"""Answers requests with prompts of random length, with or without a leak: program.py none|pytorch|driver SEED COUNT"""
import ctypes
import random
import sys
import time

import torch

LEAKED = 1_000_000  # bytes after each request
leak, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random.seed(seed)
HIDDEN = 1024
weights = [torch.full((HIDDEN, HIDDEN), 0.001, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
driver = ctypes.CDLL("libcuda.so.1")
kept = []


def forward(tokens):
    x = torch.ones(tokens, HIDDEN, device="cuda", dtype=torch.bfloat16)
    for weight in weights:
        y = torch.nn.functional.silu(x @ weight)
        scores = torch.softmax((y @ y.T).float(), -1).to(torch.bfloat16)
        x = x + scores @ y


def stage(name, lengths):
    torch.cuda.nvtx.range_push(name)
    for tokens in lengths:
        forward(tokens)
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()


for _ in range(count):
    stage("LLM@prefill", [random.randrange(100, 2000)])
    stage("LLM@decode_all", [1] * 4)
    if leak == "pytorch":
        kept.append(torch.zeros(LEAKED, device="cuda", dtype=torch.uint8))
    if leak == "driver":
        address = ctypes.c_uint64()
        assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(LEAKED)) == 0
    time.sleep(0.002)
