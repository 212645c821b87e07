"""hf_llm.py from end to end, on the stand-ins of torch and transformers."""
import gzip
import json
import os
import subprocess
import sys
import unittest
from unittest import mock

import hf_case

NEW_TOKENS = 4
WORK = ("--prompt-tokens", "6", "--new-tokens", str(NEW_TOKENS), "--batch", "2", "--requests", "2",
        "--warm-up", "1", "--seed", "3")


def greedy_tokens(prompt, count, vocabulary):
    """The stand-in model's answer, computed without a cache."""
    seen, made = sum(prompt), []
    for _ in range(count + 1):  # the first is prefill's
        made.append(seen % vocabulary)
        seen += made[-1]
    return made[1:]


def events_between(events, first, last):
    """The events between each `first` and the following `last`."""
    parts, inside = [], None
    for event in events:
        if event == first:
            inside = []
        elif event == last:
            parts.append(inside)
            inside = None
        elif inside is not None:
            inside.append(event)
    return parts


class Stages(hf_case.StandInCase):
    def test_eager(self):
        code, events, metrics, _ = self.run_program(*WORK)
        self.assertEqual(code, 0)
        self.assertEqual(events_between(events, "push prefill", "pop prefill"),
                         [["step prefill 2 12", "forward 2x6", "synchronize"]] * 2)
        step = ["push decode_step", "step decode 2 2", "forward 2x1", "pop decode_step"]
        self.assertEqual(events_between(events, "push decode_all", "pop decode_all"),
                         [step * NEW_TOKENS + ["synchronize"]] * 2)
        warm_up = events_between(events, "push warm_up", "pop warm_up")
        self.assertEqual(warm_up, [["forward 2x6"] + ["forward 2x1"] * NEW_TOKENS + ["synchronize"]])

        stages = metrics["aggregates"]["stage_ms"]
        self.assertEqual({name: row["count"] for name, row in stages.items()},
                         {"prefill": 2, "decode": 2, "decode_step": 2})
        self.assertAlmostEqual(stages["decode_step"]["mean"] * NEW_TOKENS, stages["decode"]["mean"])
        self.assertEqual(
            {key: metrics[key] for key in ("model", "params", "dtype", "prompt_tokens", "new_tokens", "batch",
                                           "images", "requests", "seed", "mode", "weights")},
            {"model": "llama", "params": 1234, "dtype": "bfloat16", "prompt_tokens": 6, "new_tokens": NEW_TOKENS,
             "batch": 2, "images": 0, "requests": 2, "seed": 3, "mode": "eager", "weights": "random"})
        self.assertEqual(metrics["device"]["kind"], "cuda")

    def test_tokens_are_the_models(self):
        manifest = self.file("in.jsonl", '{"prompt_ids": [5, 11, 20]}\n')
        wanted = greedy_tokens([5, 11, 20], NEW_TOKENS, hf_case.MODEL["vocab_size"])
        for mode in ("eager", "compiled"):
            _, _, metrics, _ = self.run_program("--mode", mode, "--new-tokens", str(NEW_TOKENS),
                                                "--inputs-manifest", manifest, "--requests", "2")
            self.assertEqual(metrics["sampled_tokens"], wanted, mode)
            self.assertEqual(metrics["prompt_tokens"], 3)

    def test_cuda_graph(self):
        code, events, metrics, _ = self.run_program("--mode", "cuda_graph", *WORK)
        self.assertEqual(code, 0)
        self.assertEqual(events.count("capture"), 1)
        warm_up = events_between(events, "push warm_up", "pop warm_up")[0]
        self.assertIn("capture", warm_up)
        step = ["push decode_step", "step decode 2 2", "replay", "pop decode_step"]
        self.assertEqual(events_between(events, "push decode_all", "pop decode_all"),
                         [step * NEW_TOKENS + ["synchronize"]] * 2)
        # Every request but the first starts with an empty cache, outside the stages.
        self.assertEqual(events.count("cache reset"), 3)
        # Three steps of warm-up before the capture, and the captured one.
        self.assertIn(f"static cache {6 + NEW_TOKENS + 4}", events)
        self.assertEqual(metrics["warm_up"], 2)

    def test_compiled(self):
        _, events, _, _ = self.run_program("--mode", "compiled", *WORK)
        self.assertEqual(events.count("compile reduce-overhead"), 1)
        self.assertEqual([part.count("forward 2x1") for part in events_between(events, "push decode_all", "pop decode_all")],
                         [NEW_TOKENS] * 2)

    def test_continuous_batching(self):
        code, events, metrics, _ = self.run_program("--mode", "continuous_batching", *WORK)
        self.assertEqual(code, 0)
        self.assertEqual(events_between(events, "push serve", "pop serve"), [["generate_batch 2", "synchronize"]] * 2)
        serve = metrics["aggregates"]["stage_ms"]["serve"]
        self.assertEqual(serve["count"], 2)
        self.assertEqual(metrics["sampled_tokens"], [7] * NEW_TOKENS)

    def test_a_scheduler_that_gave_up_is_a_failure(self):
        code, _, _, errors = self.run_program("--mode", "continuous_batching", *WORK,
                                              model={**hf_case.MODEL, "lost_tokens": NEW_TOKENS})
        self.assertEqual(code, 1)
        self.assertIn("finished 0 of 2 sequences", errors)

    def test_a_cpu_is_never_synchronized(self):
        code, events, metrics, _ = self.run_program("--device", "cpu", *WORK)
        self.assertEqual(code, 0)
        self.assertNotIn("synchronize", events)
        self.assertEqual(metrics["device"]["kind"], "cpu")

    def test_layers(self):
        _, events, _, _ = self.run_program("--layer-ranges", *WORK)
        prefill = events_between(events, "push prefill", "pop prefill")[0]
        self.assertEqual(prefill, ["step prefill 2 12", "forward 2x6", "push layer_00", "pop layer_00",
                                   "push layer_01", "pop layer_01", "synchronize"])

    def test_images(self):
        model = {"model_type": "pictures", "vocab_size": 97, "image_token_id": 96,
                 "vision_config": {"image_size": 32}}
        code, events, metrics, errors = self.run_program(*WORK, "--prompt-tokens", "12", "--images", "2",
                                                         "--image-size", "32", model=model)
        self.assertEqual(code, 0, errors)
        prefill = events_between(events, "push prefill", "pop prefill")[0]
        self.assertEqual(prefill, ["step prefill 2 24", "forward 2x12", "push sam", "pop sam",
                                   "push projector", "pop projector", "synchronize"])
        self.assertEqual((metrics["images"], metrics["prompt_tokens"]), (2, 12))

    def test_images_take_room_in_the_prompt(self):
        model = {"model_type": "pictures", "vocab_size": 97, "image_token_id": 96, "vision_config": {}}
        code, _, _, errors = self.run_program(*WORK, "--images", "2", "--image-size", "32", model=model)
        self.assertEqual(code, 2)
        self.assertIn("2 images take 10 of them; give at least 11", errors)


class TorchProfilerRecording(hf_case.StandInCase):
    def test_as_many_requests_as_asked_for_after_the_warm_up(self):
        trace = self.folder / "trace.json.gz"
        code, events, metrics, _ = self.run_program(
            *WORK, environment={"LLMPROF_TORCH_TRACE": str(trace),
                                "LLMPROF_TORCH_OPTIONS": '{"record_shapes": true, "requests": 1}'})
        self.assertEqual(code, 0)
        profiled = events_between(events, "profile CPU+CUDA", "profile ends")[0]
        self.assertEqual(profiled.count("push prefill"), 1)
        self.assertNotIn("push warm_up", profiled)
        self.assertEqual(metrics["requests"], 1)
        with gzip.open(trace) as file:
            self.assertEqual(json.load(file), {"traceEvents": []})
        self.assertEqual(sorted(item.name for item in self.folder.iterdir()), ["metrics.json", "trace.json.gz"])

    def test_wrong_options(self):
        for wrong in ("{", '{"shapes": true}', '{"requests": 0}'):
            code, _, _, errors = self.run_program(*WORK, environment={"LLMPROF_TORCH_TRACE": "t.json.gz",
                                                                      "LLMPROF_TORCH_OPTIONS": wrong})
            self.assertEqual(code, 2, wrong)
            self.assertIn("LLMPROF_TORCH_OPTIONS", errors)


class MemorySnapshot(hf_case.StandInCase):
    def run_with_snapshot(self, *arguments, **more):
        self.snapshot = self.folder / "memory.pickle"
        return self.run_program(*WORK, *arguments, environment={"LLMPROF_TORCH_MEMORY": str(self.snapshot)}, **more)

    def files(self):
        return sorted(item.name for item in self.folder.iterdir())

    def test_from_before_the_model_until_the_end(self):
        code, events, _, errors = self.run_with_snapshot()
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(events[:2], ["cuda init", "memory history python 1000000"])
        self.assertEqual(events[-2:], ["memory snapshot", "memory history ends"])
        self.assertEqual(self.files(), ["memory.pickle", "metrics.json"])

    def test_no_other_run_records_it(self):
        _, events, _, _ = self.run_program(*WORK)
        self.assertFalse([event for event in events if "memory" in event])

    def test_a_failed_allocation_has_its_own(self):
        code, events, _, _ = self.run_with_snapshot(model={**hf_case.MODEL, "too_large": True})
        self.assertEqual(code, 4)
        self.assertEqual(self.files(), ["memory-oom.pickle"])
        self.assertEqual(events.count("memory snapshot"), 1)

    def test_a_cpu_has_none(self):
        code, events, _, errors = self.run_with_snapshot("--device", "cpu")
        self.assertEqual(code, 0)
        self.assertEqual(errors, "hf_llm: no memory snapshot: --device cpu has no GPU memory\n")
        self.assertFalse([event for event in events if "memory" in event])

    def test_a_torch_that_cannot_runs_all_the_same(self):
        import torch

        with mock.patch.object(torch.memory, "_record_memory_history", side_effect=TypeError("no stacks")):
            code, _, _, errors = self.run_with_snapshot()
        self.assertEqual((code, self.files()), (0, ["metrics.json"]))
        self.assertEqual(errors, "hf_llm: no memory snapshot: torch stand-in cannot record it (no stacks)\n")

    def test_a_full_disk_leaves_no_part_of_one(self):
        import torch

        with mock.patch.object(torch.memory, "_dump_snapshot", side_effect=OSError("no space left")):
            code, _, _, errors = self.run_with_snapshot()
        self.assertEqual((code, self.files()), (0, ["metrics.json"]))
        self.assertIn("no space left", errors)


class Faults(hf_case.StandInCase):
    def test_memory(self):
        code, _, metrics, errors = self.run_program(*WORK, model={**hf_case.MODEL, "too_large": True})
        self.assertEqual(code, 4)
        self.assertIn("cuda:0 does not have enough memory (CUDA out of memory. Tried to allocate 1 GiB); reduce --batch (2)",
                      errors)
        self.assertIsNone(metrics)

    def test_no_such_device(self):
        code, _, _, errors = self.run_program(*WORK, "--device", "cuda:5")
        self.assertEqual(code, 4)
        self.assertIn("torch sees 1 CUDA devices", errors)

    def test_an_unknown_model(self):
        code, _, _, errors = self.run_program(*WORK, model={"model_type": "lama"})
        self.assertEqual(code, 2)
        self.assertIn("model_type lama", errors)

    def test_without_torch(self):
        paths = os.pathsep.join([str(hf_case.HERE / "stand_ins" / "no_torch"), str(hf_case.ROOT / "workloads")])
        done = subprocess.run([sys.executable, hf_case.PROGRAM, "--model-config", json.dumps(hf_case.MODEL)],
                              env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("pip install torch transformers", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_without_the_annotation_module(self):
        program = ("import sys; sys.modules['llmprof_annotate'] = None\n"
                   "from hf_workload.annotations import Annotator, annotation_module\n"
                   "with Annotator(annotation_module()).range('prefill'): pass\n")
        done = subprocess.run([sys.executable, "-c", program], cwd=hf_case.ROOT / "workloads",
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "hf_llm: annotations are off: llmprof's python folder is not on PYTHONPATH "
                         "(llmprof run adds it)\n")


if __name__ == "__main__":
    unittest.main()
