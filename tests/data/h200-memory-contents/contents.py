"""Snapshots of a Llama of Hugging Face transformers, with what it holds on standard output.

    python3 contents.py save X                    writes the model that the others load
    python3 contents.py KIND OUT                  KIND: random, pretrained, generate, static, graph, twice

writes OUT.pickle, and prints KIND and, as JSON, the bytes of its parameters, buffers and cache.
"""
import gzip
import json
import os
import sys

import torch
from transformers import AutoModelForCausalLM, DynamicCache, LlamaConfig, StaticCache

KIND, OUT = sys.argv[1:]
BF16 = torch.bfloat16
CONFIG = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=6, num_attention_heads=16,
                     num_key_value_heads=4, head_dim=64, vocab_size=32000, tie_word_embeddings=False)
FOLDER = "/tmp/contents_model"


def load():
    if KIND == "random":
        return AutoModelForCausalLM.from_config(CONFIG, dtype=BF16).to("cuda")
    return AutoModelForCausalLM.from_pretrained(FOLDER, dtype=BF16, device_map="cuda")


if KIND == "save":
    AutoModelForCausalLM.from_config(CONFIG, dtype=BF16).save_pretrained(FOLDER)
    raise SystemExit
torch.cuda.init()
torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
models = [load() for _ in range(2 if KIND == "twice" else 1)]
model = models[0]
ids = torch.randint(0, 32000, (2, 500), device="cuda")
with torch.no_grad():
    if KIND == "generate":
        out = model.generate(ids, max_new_tokens=4, do_sample=False, return_dict_in_generate=True)
        cache = out.past_key_values
    else:
        cache = (StaticCache(config=CONFIG, max_cache_len=1024) if KIND in ("static", "graph")
                 else DynamicCache(config=CONFIG))
        for _ in range(4):
            out = model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
            ids = out.logits.argmax(-1)
        if KIND == "graph":
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                model(input_ids=ids, past_key_values=cache, use_cache=True)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = model(input_ids=ids, past_key_values=cache, use_cache=True)
torch.cuda.synchronize()
stats = torch.cuda.memory_stats()
torch.cuda.memory._dump_snapshot(OUT + ".pickle")
held = {id(each): each for each in model.parameters()}.values()
truth = {"weights": sum(each.nbytes for each in held), "tensors": len(held), "models": len(models),
         "buffers": sum(each.nbytes for each in model.buffers()),
         "kv_cache": sum(t.untyped_storage().nbytes() for layer in cache.layers for t in (layer.keys, layer.values)),
         "kv_shape": list(cache.layers[0].keys.shape), "torch": torch.__version__,
         **{name: stats[f"{name}_bytes.all.current"] for name in ("allocated", "reserved", "active", "requested")}}
print(KIND, json.dumps(truth))
