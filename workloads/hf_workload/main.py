"""From the command line to metrics.json."""
from __future__ import annotations

import contextlib
import os
import platform
import sys
from typing import Any, Callable, Iterator, List, Mapping, Optional, Union

from hf_workload.annotations import Annotator, annotation_module
from hf_workload.faults import DeviceFault, Fault
from hf_workload.metrics import Json, aggregates, common, write_metrics
from hf_workload.model_torch import (Libraries, LoadedModel, check_device, first_line, import_libraries,
                                     load_model, out_of_memory_class)
from hf_workload.options import Options, parse_options
from hf_workload.prompts import Prompt, read_manifest
from hf_workload.ranges_torch import add_layer_ranges, add_vision_ranges
from hf_workload.request_plan import RequestPrompts, number_of_requests, plan_requests
from hf_workload.requests_torch import ContinuousRunner, StepwiseRunner, tokens_per_second
from hf_workload.short_run import shortened
from hf_workload.stage_times import StageTimes
from hf_workload.torch_memory import memory_recorded, snapshot_path
from hf_workload.torch_trace import TraceSettings, trace_settings, traced
from hf_workload.vision_torch import make_images

Runner = Union[StepwiseRunner, ContinuousRunner]


def main(arguments: List[str]) -> int:
    options = parse_options(arguments)
    try:
        options = shortened(options, os.environ)
        prompts = read_manifest(options.inputs_manifest) if options.inputs_manifest else None
        trace = trace_settings(os.environ)
        snapshot = snapshot_path(os.environ)
        libraries = import_libraries()
        with _memory_faults(libraries.torch, options):
            document = _run(libraries, options, prompts, trace, snapshot)
        _write_metrics(document, os.environ)
    except Fault as fault:
        print(f"hf_llm: {fault}", file=sys.stderr)
        return fault.exit_code
    return 0


@contextlib.contextmanager
def _memory_faults(torch: Any, options: Options) -> Iterator[None]:
    try:
        yield
    except (out_of_memory_class(torch), MemoryError) as error:
        raise DeviceFault(f"{options.device} does not have enough memory ({first_line(error)}); reduce --batch "
                          f"({options.batch}), --prompt-tokens ({options.prompt_tokens}) or --new-tokens "
                          f"({options.new_tokens}), or choose a smaller model") from error


def _run(libraries: Libraries, options: Options, prompts: Optional[List[Prompt]],
         trace: Optional[TraceSettings], snapshot: Optional[str]) -> Json:
    torch = libraries.torch
    check_device(torch, options)
    also = torch.profiler.record_function if trace else None
    annotator = Annotator(annotation_module(), also)
    synchronize: Callable[[], None] = torch.cuda.synchronize if options.uses_cuda else lambda: None
    times = StageTimes(annotator, synchronize)
    memory = memory_recorded(torch, snapshot, options.uses_cuda) if snapshot else contextlib.nullcontext()
    with torch.no_grad(), memory:
        model = load_model(libraries, options)
        count = trace.requests if trace else number_of_requests(options, prompts)
        plan = plan_requests(options, prompts, count, model.vocabulary, model.tokenize)
        runner = _runner(libraries, model, options, plan, times)
        requests = [runner.prepare(request) for request in plan]
        with times.warm_up():
            for _ in range(_warm_ups(options)):
                runner.run(requests[0], times)
        with traced(torch, trace, options.uses_cuda) if trace else contextlib.nullcontext():
            with times.measured():
                new_tokens = [runner.run(request, times) for request in requests]
        sampled = runner.sampled_tokens()
    document = _document(libraries, model, options, plan)
    return {**document, **_measured(options, times, new_tokens), "sampled_tokens": sampled}


def _warm_ups(options: Options) -> int:
    """The first request captures the graph or compiles; the second is the first to use the result."""
    return max(options.warm_up, 2) if options.mode in ("cuda_graph", "compiled") else options.warm_up


def _runner(libraries: Libraries, model: LoadedModel, options: Options, plan: List[RequestPrompts],
            times: StageTimes) -> Runner:
    if options.mode == "continuous_batching":
        return ContinuousRunner(libraries, model, options)
    images = make_images(libraries.torch, model.module, options) if options.images else None
    if images is not None:
        add_vision_ranges(model.module, times.annotator)
    if options.layer_ranges and options.mode == "compiled":
        print("hf_llm: --layer-ranges is ignored: compiled code has no layers", file=sys.stderr)
    elif options.layer_ranges:
        add_layer_ranges(model.module, times.annotator)
    longest = max(len(ids) for request in plan for ids in request)
    limit = getattr(model.text_config, "max_position_embeddings", None)
    if limit and longest + options.new_tokens > limit:
        print(f"hf_llm: {longest} prompt and {options.new_tokens} new tokens exceed the {limit} "
              "positions that the model supports", file=sys.stderr)
    return StepwiseRunner(libraries, model, options, images, longest)


def _device(torch: Any, options: Options) -> Json:
    if options.uses_cuda:
        return {"kind": "cuda", "name": torch.cuda.get_device_name(),
                "peak_memory_bytes": torch.cuda.max_memory_allocated()}
    return {"kind": "cpu", "name": platform.processor() or platform.machine(),
            "threads": torch.get_num_threads()}


def _measured(options: Options, times: StageTimes, new_tokens: List[int]) -> Json:
    stages = dict(times.milliseconds)
    if "decode" in stages:  # steps are not synchronized: their time is that of decode divided by their number
        stages["decode_step"] = [ms / options.new_tokens for ms in stages["decode"]]
    figures = aggregates(stages, tokens_per_second(new_tokens, times))
    return {"aggregates": figures, "tokens_per_s": figures["tokens_per_s"]["mean"]}


def _document(libraries: Libraries, model: LoadedModel, options: Options, plan: List[RequestPrompts]) -> Json:
    lengths = [len(ids) for request in plan for ids in request]
    document: Json = {
        "model": model.name,
        "params": model.parameters,
        "dtype": options.dtype,
        "weights": options.weights,
        "mode": options.mode,
        "prompt_tokens": common(lengths),
        "new_tokens": options.new_tokens,
        "batch": len(plan[0]),
        "images": options.images,
        "requests": len(plan),
        "warm_up": _warm_ups(options),
        "seed": options.seed,
        "device": _device(libraries.torch, options),
        "versions": {
            "torch": str(libraries.torch.__version__),
            "transformers": str(libraries.transformers.__version__),
            "cuda": getattr(libraries.torch.version, "cuda", None),
            "python": platform.python_version(),
        },
    }
    if document["prompt_tokens"] is None:
        document["prompt_tokens_of_sequences"] = lengths
    return document


def _write_metrics(document: Json, environment: Mapping[str, str]) -> None:
    path = environment.get("LLMPROF_METRICS")
    if path:
        write_metrics(path, document)
    for name, times in document["aggregates"]["stage_ms"].items():
        spread = "" if times["std"] is None else f" +- {times['std']:.3f}"
        print(f"{name}: {times['mean']:.3f}{spread} ms over {times['count']} requests")
    print(f"{document['tokens_per_s']:.1f} new tokens per second")
