"""The command line."""
from __future__ import annotations

import argparse
import dataclasses
from typing import Callable, List, Optional

MODES = ("eager", "cuda_graph", "compiled", "continuous_batching")
DTYPES = ("bfloat16", "float16", "float32")
SYNTHETIC_REQUESTS = 3


@dataclasses.dataclass(frozen=True)
class Options:
    model_config: str
    weights: str
    path: str
    name: str
    trust_remote_code: bool
    attention: str
    dtype: str
    mode: str
    compile_mode: str
    device: str
    prompt_tokens: int
    new_tokens: int
    batch: int
    requests: Optional[int]  # None: one per prompt of the manifest, or SYNTHETIC_REQUESTS
    warm_up: int
    seed: int
    inputs_manifest: str
    images: int
    image_size: int  # 0: from the model's configuration
    layer_ranges: bool

    @property
    def uses_cuda(self) -> bool:
        return self.device.startswith("cuda")


def _whole(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is less than {least}")
        return value

    return parse


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hf_llm.py",
        description="Runs a Hugging Face language model, annotated for llmprof.",
        epilog="Exit codes: 0 done; 1 failed; 2 wrong arguments or inputs; 3 torch or transformers "
        "is missing; 4 no such device, or not enough memory on it.",
    )
    model = parser.add_argument_group("model")
    model.add_argument("--model-config", default="", metavar="JSON|PATH",
                       help="for random weights: a config.json (as text, path or folder), "
                       "or a preset from conf/model/llm")
    model.add_argument("--weights", choices=("random", "real"), default="random")
    model.add_argument("--path", default="", help="folder of real weights; nothing is downloaded")
    model.add_argument("--name", default="", help="name of the model in reports")
    model.add_argument("--trust-remote-code", action="store_true",
                       help="run the model's own Python code in --path")
    model.add_argument("--attention", default="", metavar="NAME",
                       help="attn_implementation: eager, sdpa, flash_attention_2, ...")
    model.add_argument("--dtype", choices=DTYPES, default="bfloat16")

    how = parser.add_argument_group("how it runs")
    how.add_argument("--mode", choices=MODES, default="eager")
    how.add_argument("--compile-mode", default="reduce-overhead", metavar="NAME",
                     help="mode of torch.compile, with --mode compiled")
    how.add_argument("--device", default="cuda:0", help="cuda:N or cpu")
    how.add_argument("--layer-ranges", action="store_true",
                     help="annotate each layer with a range; adds a small overhead per layer")

    work = parser.add_argument_group("work")
    work.add_argument("--prompt-tokens", type=_whole(1), default=512, metavar="N",
                      help="prompt tokens per sequence, including those of images")
    work.add_argument("--new-tokens", type=_whole(1), default=64, metavar="N",
                      help="decode steps per request")
    work.add_argument("--batch", type=_whole(1), default=1, metavar="N")
    work.add_argument("--requests", type=_whole(1), default=None, metavar="N",
                      help=f"measured requests (default {SYNTHETIC_REQUESTS}, or one per prompt of "
                      "the manifest)")
    work.add_argument("--warm-up", type=_whole(0), default=1, metavar="N",
                      help="warm-up requests before the measured ones")
    work.add_argument("--seed", type=_whole(0), default=0, metavar="N")
    work.add_argument("--inputs-manifest", default="", metavar="FILE",
                      help="prompts, as YAML or JSON lines: {prompt_ids: [..]}, {text: ..} or "
                      "{prompt_tokens: n}")
    work.add_argument("--images", type=_whole(0), default=0, metavar="N",
                      help="random images per sequence, for a vision-language model")
    work.add_argument("--image-size", type=_whole(0), default=0, metavar="PIXELS",
                      help="(default: from the model's configuration)")
    return parser


def parse_options(arguments: List[str]) -> Options:
    """Wrong arguments exit with 2 and a message, as with argparse."""
    parser = _parser()
    options = Options(**vars(parser.parse_args(arguments)))
    if options.weights == "real" and not options.path:
        parser.error("--weights real needs --path FOLDER")
    if options.weights == "random" and not options.model_config:
        parser.error("--weights random needs --model-config (a config.json, as text or path)")
    if options.device != "cpu" and not options.uses_cuda:
        parser.error(f"--device must be cpu or cuda:N, not {options.device}")
    if not options.uses_cuda and options.mode in ("cuda_graph", "continuous_batching"):
        parser.error(f"--mode {options.mode} needs --device cuda:N; on a CPU: --mode eager")
    if options.mode == "continuous_batching" and options.images:
        parser.error("--mode continuous_batching does not support --images")
    return options
