"""Continuous batching of a small random-weight model: the program of the capture in this folder.

Requests of different lengths share passes of at most `TOKENS` tokens, so there are passes with
only prompts, with only single new tokens, and with both. Each pass is a range with its content in vLLM's
spelling: execute_context_REQUESTS(TOKENS)_generation_REQUESTS(TOKENS).
"""
import random

import torch
from transformers import AutoModelForCausalLM, ContinuousBatchingConfig, GenerationConfig, Qwen2Config

TOKENS, NEW = 512, 8
random.seed(0)
torch.manual_seed(0)
torch.set_default_dtype(torch.bfloat16)
config = Qwen2Config(
    hidden_size=1024,
    num_hidden_layers=3,
    num_attention_heads=8,
    num_key_value_heads=2,
    intermediate_size=4096,
    vocab_size=32000,
)
with torch.device("cuda"):
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()
forward = model.forward


def label(ends):
    sizes = [after - before for before, after in zip(ends, ends[1:]) if after > before]
    prompts = [size for size in sizes if size > 1]
    return f"execute_context_{len(prompts)}({sum(prompts)})_generation_{len(sizes) - len(prompts)}({len(sizes) - len(prompts)})"


def annotated(*arguments, **named):
    ends = named["cu_seq_lens_q"].tolist()
    torch.cuda.nvtx.range_push(label(ends))
    try:
        return forward(*arguments, **named)
    finally:
        torch.cuda.nvtx.range_pop()


model.forward = annotated
prompts = [[random.randrange(1, 32000) for _ in range(random.choice([40, 150, 400, 700]))] for _ in range(6)]
results = model.generate_batch(
    inputs=prompts,
    generation_config=GenerationConfig(max_new_tokens=NEW, do_sample=False, eos_token_id=-1, pad_token_id=0),
    continuous_batching_config=ContinuousBatchingConfig(
        max_batch_tokens=TOKENS, num_blocks=64, use_cuda_graph=False, use_async_batching=False
    ),
    warmup=False,
)
print("prompts", [len(prompt) for prompt in prompts], "new", [len(r.generated_tokens) for r in results.values()])
