#!/usr/bin/env python3
"""Runs a Hugging Face language model for llmprof: annotated, measured, with random or real weights.

    python3 hf_llm.py --model-config '{"model_type": "llama", "hidden_size": 2048, ...}' \\
        --weights random --dtype bfloat16 --mode eager --device cuda:0 \\
        --prompt-tokens 1024 --new-tokens 64 --batch 1 --requests 3 --warm-up 1 --seed 0

--help lists all options; `llmprof run` starts it with all of them filled in.
"""
import sys

from hf_workload.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
