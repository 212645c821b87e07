"""Logs that the collector made on an H200.

DenseGraph: a dense decoder of 8 layers, 9 requests of 24 tokens, its decode a
CUDA graph of 516 kernels that was captured once under the ranges layer_NN/attn and layer_NN/mlp.
LlamaRun: the timeline of `llmprof run model=llm/llama_1b workload.new_tokens=16`, and ncu's metrics of the kernels
that the run chose from it, passed by symbol."""
import collections
import csv
import gzip
import json
import pathlib
import tempfile
import unittest

from collector_log import Log
from program import DATA, run

LOG = DATA / "h200-collector" / "dense_graph.llmtrace.gz"
REQUESTS = 9
TOKENS = 24
LAYERS = 8
# The program's own figures.
HIDDEN, INNER, HEADS, KV_HEADS, VOCABULARY = 4096, 11008, 32, 8, 32000
HEAD = HIDDEN // HEADS
CACHE = 777 + TOKENS + 8  # positions, all read by each masked step
BYTES = 2  # per bf16 number


def bytes_of_a_token():
    """The weights that a decode step reads once, and the cache; the embedding is one row."""
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

    def test_the_device_is_reported(self):
        (gpu,) = self.profile["context"]["gpus"]
        self.assertEqual(gpu["name"], "NVIDIA H200")


class LlamaRun(unittest.TestCase):
    TOP = 10
    FOLDER = DATA / "h200-collector"

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            plain = pathlib.Path(folder) / "llama.llmtrace"
            plain.write_bytes(gzip.decompress((cls.FOLDER / "llama_eager.llmtrace.gz").read_bytes()))
            out = pathlib.Path(folder) / "bundle"
            result = run("analyze", plain, cls.FOLDER / "llama_eager_ncu.csv.gz", "--out", out)
            if result.returncode != 0:
                raise AssertionError(result.stderr)
            cls.profile = json.loads((out / "profile.json").read_text(encoding="utf-8"))
            cls.log = Log(plain)
        with gzip.open(cls.FOLDER / "llama_eager_ncu.csv.gz", "rt", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        name = rows[0].index("Kernel Name")
        cls.measured = collections.Counter(row[name] for row in rows[2:])

    def in_stages(self):
        """Time and number of kernels launched in a stage, by symbol."""
        staged = {
            call["correlation"]
            for call in self.log.calls()
            if {"prefill", "decode_all"} & set(call["ranges"])
        }
        found = collections.defaultdict(lambda: [0, 0])
        for start, end, correlation, definition in self.log.kernels():
            if correlation in staged:
                found[definition["name"]][0] += end - start
                found[definition["name"]][1] += 1
        return found

    def test_ncu_measured_the_ten_kernels_that_take_longest_in_stages(self):
        found = self.in_stages()
        longest = sorted(found, key=lambda symbol: -found[symbol][0])[: self.TOP]
        self.assertEqual(set(self.measured), set(longest))

    def test_measured_kernels_join_the_timeline_by_symbol(self):
        found = self.in_stages()
        rows = [row for row in self.profile["kernels"] if row["metrics"]]
        self.assertEqual(len(rows), self.TOP)
        ours = sorted(
            (sum(stage["calls"] for stage in row["stages"].values()),
             round(1e6 * sum(stage["total_ms"] for stage in row["stages"].values())))
            for row in rows
        )
        self.assertEqual(ours, sorted((found[symbol][1], found[symbol][0]) for symbol in self.measured))


if __name__ == "__main__":
    unittest.main()
