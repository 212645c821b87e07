"""Which prompts each request uses."""
from __future__ import annotations

import random
from typing import List, Optional

from hf_workload.options import SYNTHETIC_REQUESTS, Options
from hf_workload.prompts import Ids, Prompt, Tokenize, ids_of, random_ids

# Under continuous batching, prompts of different lengths make prefill and decode mix.
SHORTEST_PART_OF_PROMPT = 4

RequestPrompts = List[Ids]  # one per sequence


def number_of_requests(options: Options, prompts: Optional[List[Prompt]]) -> int:
    if options.requests is not None:
        return options.requests
    if prompts is None or options.mode == "continuous_batching":
        return SYNTHETIC_REQUESTS
    return len(prompts)


def plan_requests(options: Options, prompts: Optional[List[Prompt]], count: int, vocabulary: int,
                  tokenize: Optional[Tokenize]) -> List[RequestPrompts]:
    """A request is one batch. Its sequences have equal length, except under continuous batching."""
    generator = random.Random(options.seed)
    if options.mode == "continuous_batching":
        return [_served_together(options, prompts, vocabulary, tokenize, generator) for _ in range(count)]
    if prompts is None:
        return [[random_ids(generator, options.prompt_tokens, vocabulary) for _ in range(options.batch)]
                for _ in range(count)]
    chosen = [ids_of(prompt, vocabulary, generator, tokenize) for prompt in prompts]
    return [[chosen[index % len(chosen)]] * options.batch for index in range(count)]


def _served_together(options: Options, prompts: Optional[List[Prompt]], vocabulary: int,
                     tokenize: Optional[Tokenize], generator: random.Random) -> RequestPrompts:
    if prompts is not None:
        return [ids_of(prompt, vocabulary, generator, tokenize) for prompt in prompts]
    shortest = max(1, options.prompt_tokens // SHORTEST_PART_OF_PROMPT)
    return [random_ids(generator, generator.randint(shortest, options.prompt_tokens), vocabulary)
            for _ in range(options.batch)]
