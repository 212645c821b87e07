"""Runs requests: prefill and decode separately, or together under continuous batching."""
from __future__ import annotations

from typing import Any, List, Optional

from hf_workload.decoders_torch import Decoder, make_decoder
from hf_workload.faults import Fault
from hf_workload.model_torch import Libraries, LoadedModel
from hf_workload.options import Options
from hf_workload.request_plan import RequestPrompts
from hf_workload.stage_times import MILLISECONDS, StageTimes
from hf_workload.vision_torch import Images, with_placeholders

SAMPLED_TOKENS = 16


class StepwiseRunner:
    """The stages prefill and decode, with one decode step per new token."""

    def __init__(self, libraries: Libraries, model: LoadedModel, options: Options, images: Optional[Images],
                 longest: int) -> None:
        self._torch = libraries.torch
        self._options = options
        self._images = images
        self._decoder: Decoder = make_decoder(libraries, model, options, longest)

    def prepare(self, prompts: RequestPrompts) -> Any:
        if self._images is not None:
            prompts = [with_placeholders(ids, self._images) for ids in prompts]
        return self._torch.tensor(prompts, dtype=self._torch.long, device=self._options.device)

    def run(self, ids: Any, times: StageTimes) -> int:
        """Returns the number of new tokens over all sequences."""
        batch, length = int(ids.shape[0]), int(ids.shape[1])
        steps = self._options.new_tokens
        pixels = self._images.pixel_values if self._images is not None else None
        decoder = self._decoder
        decoder.begin()
        with times.stage("prefill", "prefill"):
            times.note_step("prefill", batch, batch * length)
            decoder.prefill(ids, pixels)
        with times.stage("decode", "decode_all"):
            for _ in range(steps):
                with times.step("decode_step", "decode", batch, batch):
                    decoder.step()
        return batch * steps

    def sampled_tokens(self) -> List[int]:
        """The first tokens of the first sequence of the last request, to compare modes."""
        return [int(token[0, 0]) for token in self._decoder.generated[:SAMPLED_TOKENS]]


class ContinuousRunner:
    """The scheduler of transformers mixes prefill and decode: one stage, serve."""

    def __init__(self, libraries: Libraries, model: LoadedModel, options: Options) -> None:
        self._model = model.module
        self._sampled: List[int] = []
        if not hasattr(self._model, "generate_batch"):
            raise Fault("--mode continuous_batching: transformers "
                        f"{libraries.transformers.__version__} has no generate_batch; install a newer version")
        # No token ends a sequence early.
        self._config = libraries.transformers.GenerationConfig(
            max_new_tokens=options.new_tokens, do_sample=False, eos_token_id=-1, pad_token_id=0)

    def prepare(self, prompts: RequestPrompts) -> RequestPrompts:
        return prompts

    def run(self, prompts: RequestPrompts, times: StageTimes) -> int:
        with times.stage("serve", "serve"):
            answers = self._model.generate_batch(inputs=prompts, generation_config=self._config)
        generated = [list(getattr(answer, "generated_tokens", [])) for answer in answers.values()]
        answered = [tokens for tokens in generated if tokens]
        if len(answered) != len(prompts):
            raise Fault(f"--mode continuous_batching: generate_batch finished {len(answered)} of "
                        f"{len(prompts)} sequences; its own messages above give the reason")
        self._sampled = [int(token) for token in generated[0][:SAMPLED_TOKENS]]
        return sum(map(len, generated))

    def sampled_tokens(self) -> List[int]:
        return self._sampled


def tokens_per_second(new_tokens: List[int], times: StageTimes) -> List[float]:
    """New tokens of all sequences divided by the time of decode (serve, under continuous batching)."""
    taken = times.milliseconds.get("decode") or times.milliseconds["serve"]
    return [tokens / (ms / MILLISECONDS) for tokens, ms in zip(new_tokens, taken)]
