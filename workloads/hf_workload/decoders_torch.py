"""Decoders that run one forward pass after the other: eager, from a CUDA graph, or compiled."""
from __future__ import annotations

import inspect
from typing import Any, Dict, List, Optional, Union

from hf_workload.faults import Fault
from hf_workload.model_torch import Libraries, LoadedModel, first_line, out_of_memory_class
from hf_workload.options import Options

WARM_UP_STEPS = 3  # on a side stream, before graph capture


class Forward:
    """The model's forward pass, with the arguments that its version supports."""

    def __init__(self, model: Any) -> None:
        self._model = model
        known = inspect.signature(model.forward).parameters
        self._fixed: Dict[str, Any] = {"use_cache": True}
        if "logits_to_keep" in known:
            self._fixed["logits_to_keep"] = 1
        self.wants_cache_position = "cache_position" in known

    def __call__(self, ids: Any, cache: Any, position: Any = None, pixel_values: Any = None) -> Any:
        arguments = dict(self._fixed)
        if self.wants_cache_position and position is not None:
            arguments["cache_position"] = position
        if pixel_values is not None:
            arguments["pixel_values"] = pixel_values
        return self._model(input_ids=ids, past_key_values=cache, **arguments)


def _greedy(output: Any) -> Any:
    return output.logits[:, -1, :].argmax(dim=-1, keepdim=True)


class EagerDecoder:
    """Uses the KV cache that the model creates by itself."""

    def __init__(self, model: LoadedModel) -> None:
        self._forward = Forward(model.module)
        self._cache: Any = None
        self._token: Any = None
        self.generated: List[Any] = []

    def begin(self) -> None:
        self._cache = None
        self.generated = []

    def prefill(self, ids: Any, pixel_values: Any) -> None:
        output = self._forward(ids, None, pixel_values=pixel_values)
        self._cache = output.past_key_values
        self._token = _greedy(output)

    def step(self) -> None:
        output = self._forward(self._token, self._cache)
        self._cache = output.past_key_values
        self._token = _greedy(output)
        self.generated.append(self._token)


class StaticDecoder:
    """Uses a KV cache of fixed size and location, as CUDA graphs and compiled code need."""

    def __init__(self, libraries: Libraries, model: LoadedModel, options: Options, longest: int) -> None:
        self._torch = libraries.torch
        self._forward = Forward(model.module)
        self._cache = _static_cache(libraries, model, options, longest)
        self._token = self._torch.zeros((options.batch, 1), dtype=self._torch.long, device=options.device)
        self._position = self._torch.zeros(1, dtype=self._torch.long, device=options.device)
        self._used = False
        self.generated: List[Any] = []

    def begin(self) -> None:
        if self._used:
            self._cache.reset()
        self._used = True
        self.generated = []

    def prefill(self, ids: Any, pixel_values: Any) -> None:
        length = int(ids.shape[1])
        positions = None
        if self._forward.wants_cache_position:
            positions = self._torch.arange(length, device=ids.device)
        self._token.copy_(_greedy(self._forward(ids, self._cache, positions, pixel_values)))
        self._position.fill_(length)

    def _next_token(self, token: Any) -> Any:
        following = _greedy(self._forward(token, self._cache, self._position))
        if self._forward.wants_cache_position:
            self._position.add_(1)
        return following


class GraphDecoder(StaticDecoder):
    """Captures the decode step once and replays it. Its output is its next input."""

    def __init__(self, libraries: Libraries, model: LoadedModel, options: Options, longest: int) -> None:
        super().__init__(libraries, model, options, longest)
        self._graph: Optional[Any] = None

    def step(self) -> None:
        if self._graph is None:
            self._graph = self._capture()
            return
        self._graph.replay()
        self.generated.append(self._token.clone())

    def _body(self) -> None:
        self._token.copy_(self._next_token(self._token))

    def _capture(self) -> Any:
        """The warm-up steps advance the cache, so the request that captures must not be measured."""
        cuda = self._torch.cuda
        side = cuda.Stream()
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            for _ in range(WARM_UP_STEPS):
                self._body()
        cuda.current_stream().wait_stream(side)
        graph = cuda.CUDAGraph()
        try:
            # Other threads, such as a sampler's, may use the device during graph capture.
            with cuda.graph(graph, capture_error_mode="thread_local"):
                self._body()
        except out_of_memory_class(self._torch):
            raise
        except RuntimeError as error:
            raise Fault(f"--mode cuda_graph: this model's decode step cannot be captured "
                        f"({first_line(error)}): it reads a value from the device, or its control flow "
                        "depends on the token; use --mode eager") from error
        return graph


class CompiledDecoder(StaticDecoder):
    def __init__(self, libraries: Libraries, model: LoadedModel, options: Options, longest: int) -> None:
        super().__init__(libraries, model, options, longest)
        self._mark_step = getattr(self._torch.compiler, "cudagraph_mark_step_begin", lambda: None)
        self._compiled = self._torch.compile(self._next_token, mode=options.compile_mode)
        self._mode = options.compile_mode

    def step(self) -> None:
        self._mark_step()
        try:
            following = self._compiled(self._token)
        except out_of_memory_class(self._torch):
            raise
        except RuntimeError as error:
            raise Fault(f"--mode compiled: torch.compile (mode {self._mode}) failed "
                        f"({first_line(error)}); it needs a C compiler; try --compile-mode default, or "
                        "--mode cuda_graph") from error
        # The output of the compiled step is overwritten by the next step.
        self._token.copy_(following)
        self.generated.append(self._token.clone())


def _static_cache(libraries: Libraries, model: LoadedModel, options: Options, longest: int) -> Any:
    torch, cache_class = libraries.torch, libraries.transformers.StaticCache
    needed = longest + options.new_tokens + WARM_UP_STEPS + 1
    arguments: Dict[str, Any] = {"config": model.text_config, "max_cache_len": needed}
    known = inspect.signature(cache_class.__init__).parameters
    if "max_batch_size" in known:  # before about transformers 4.56, the cache was allocated at once
        arguments["max_batch_size"] = options.batch
        arguments["device"] = torch.device(options.device)
        arguments["dtype"] = getattr(torch, options.dtype)
    return cache_class(**arguments)


Decoder = Union[EagerDecoder, GraphDecoder, CompiledDecoder]


def make_decoder(libraries: Libraries, model: LoadedModel, options: Options, longest: int) -> Decoder:
    """`longest`: number of tokens of the longest prompt."""
    if options.mode == "cuda_graph":
        return GraphDecoder(libraries, model, options, longest)
    if options.mode == "compiled":
        return CompiledDecoder(libraries, model, options, longest)
    return EagerDecoder(model)
