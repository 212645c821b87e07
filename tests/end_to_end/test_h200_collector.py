"""A log that the collector made on an H200: a dense decoder of 8 layers, 9 requests of 24 tokens, its decode a
CUDA graph of 516 kernels that was captured once under the ranges layer_NN/attn and layer_NN/mlp."""
import json
import pathlib
import tempfile
import unittest

from program import DATA, run

LOG = DATA / "h200-collector" / "dense_graph.llmtrace.gz"
REQUESTS = 9
TOKENS = 24
LAYERS = 8
# The program's own numbers.
HIDDEN, INNER, HEADS, KV_HEADS, VOCABULARY = 4096, 11008, 32, 8, 32000
HEAD = HIDDEN // HEADS
CACHE = 777 + TOKENS + 8  # positions, all read by each step under a mask
BYTES = 2  # of bf16


def bytes_of_a_token():
    """Weights that a decode step reads once, and the cache: the embedding is one row."""
    attention = (HEADS + 2 * KV_HEADS) * HEAD * HIDDEN + HIDDEN * HIDDEN
    mlp = 3 * INNER * HIDDEN
    cache = 2 * KV_HEADS * HEAD * CACHE
    return BYTES * (LAYERS * (attention + mlp + cache) + VOCABULARY * HIDDEN)


class DenseGraph(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            result = run("analyze", LOG, "--out", out)
            if result.returncode != 0:
                raise AssertionError(result.stderr)
            cls.profile = json.loads((out / "profile.json").read_text(encoding="utf-8"))
        cls.stages = {stage["name"]: stage for stage in cls.profile["stages"]}

    def test_stages_hold_the_kernels_that_nsys_counts_in_this_program(self):
        counts = {
            name: [instance["kernel_count"] for instance in stage["instances"]]
            for name, stage in self.stages.items()
        }
        self.assertEqual(counts, {"prefill": [462] * REQUESTS, "decode": [12408] * REQUESTS})

    def test_each_step_is_one_replay_and_a_launch(self):
        steps = [step["kernel_count"] for step in self.profile["steps"] if step["stage"] == "decode"]
        self.assertEqual(steps, [517] * (REQUESTS * TOKENS))

    def test_replayed_kernels_belong_to_the_layers_of_their_capture(self):
        found = {
            row["name"]: row["kernels_per_step"]
            for row in self.profile["layers"]
            if row["stage"] == "decode" and row["name"].startswith("layer_")
        }
        expected = {}
        for layer in range(LAYERS):
            expected[f"layer_{layer:02}"] = 63
            expected[f"layer_{layer:02}/attn"] = 48
            expected[f"layer_{layer:02}/mlp"] = 15
        self.assertEqual(found, expected)

    def test_dram_delivers_what_the_model_must_read(self):
        measured = self.stages["decode"]["measured"]
        self.assertAlmostEqual(
            measured["dram_read_bytes_per_token"] / bytes_of_a_token(), 1, delta=0.05
        )
        self.assertGreater(measured["coverage_share_of_wall"], 0.99)

    def test_the_device_is_told(self):
        (gpu,) = self.profile["context"]["gpus"]
        self.assertEqual(gpu["name"], "NVIDIA H200")


if __name__ == "__main__":
    unittest.main()
