"""What PyTorch's memory is used for, by its snapshots: against what the recorded program counted itself
(tests/data/h200-memory-contents), against plain Python over what Python's own pickle reads, and, with a log written
from the format's description, inside the rows of the ledger and beside what an engine says."""
import collections
import gzip
import json
import pathlib
import pickle
import sys
import tempfile
import unittest

from memory_log import KV_PER_TOKEN, MIB, WEIGHTS, recorded_run
from program import DATA, Bundle, run
from test_memory import load

sys.path.insert(0, str(DATA / "torch_memory"))
import make_snapshots as made  # noqa: E402  pylint: disable=wrong-import-position

FOLDER = DATA / "h200-memory-contents"
WORKSPACE = 32 * MIB  # of cuBLAS on Hopper, by PyTorch's source
PER_TOKEN = 6 * 2 * 4 * 64 * 2  # layers, keys and values, heads, values of a head, bytes
MODEL_WEIGHTS = 2 * (2 * 32_000 * 1024 + 1024 + 6 * (2 * 1024 * 1024 + 2 * 1024 * 256 + 3 * 1024 * 2816 + 2 * 1024))


def sums(rows, key, name="content"):
    total = collections.Counter()
    for row in rows:
        total[row[name]] += row[key]
    return total


def in_cache(frames):
    return any("transformers/cache_utils.py" in frame["filename"] for frame in frames)


class OfLlama(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.truth = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
        cls.bundles = {kind: Bundle(FOLDER / f"{kind}.pickle.gz", options=("--model", FOLDER / "config.json"))
                       for kind in cls.truth}
        cls.snapshots = {kind: load(gzip.decompress((FOLDER / f"{kind}.pickle.gz").read_bytes()))
                         for kind in cls.truth}

    def each(self):
        for kind, truth in self.truth.items():
            yield kind, truth, self.bundles[kind].profile["memory"], self.snapshots[kind]

    def test_weights_and_cache_are_what_the_program_counted(self):
        for _, truth, memory, _ in self.each():
            now = sums(memory["contents"], "now_bytes")
            self.assertEqual(truth["weights"], MODEL_WEIGHTS)
            # PyTorch takes 512 bytes at least, but the blocks state what was requested.
            self.assertEqual(now["weights"], truth["models"] * (truth["weights"] + truth["buffers"]))
            self.assertLess(abs(now["kv_cache"] - truth["kv_cache"]), 100)  # counters of static layers
            (model,) = memory["models"]
            self.assertEqual(model["weights_bytes"], MODEL_WEIGHTS)
            self.assertEqual(model["found_weights_bytes"], now["weights"])
            self.assertEqual(model["weight_sets"], truth["models"])
            self.assertEqual(model["bytes_per_token"], PER_TOKEN)
            sequences, _, tokens, _ = truth["kv_shape"]
            self.assertEqual(model["cache_tokens"], sequences * tokens)

    def test_tensors_have_the_sizes_of_the_configuration(self):
        for _, truth, memory, _ in self.each():
            exact = sum(row["now_bytes"] for row in memory["contents"]
                        if (row["content"], row["basis"]) == ("weights", "stack_and_size"))
            self.assertEqual(exact, truth["models"] * MODEL_WEIGHTS)

    def test_rows_sum_to_what_the_allocator_holds(self):
        for _, truth, memory, snapshot in self.each():
            (device,) = memory["devices"]
            self.assertEqual(sum(row["now_bytes"] for row in memory["contents"]), truth["reserved"])
            self.assertEqual(sum(row["at_peak_bytes"] for row in memory["contents"]), device["peak"]["reserved_bytes"])
            loaded = 0
            for entry in snapshot["device_traces"][0]:
                if any(frame["name"] == "forward" for frame in entry["frames"]):
                    break
                loaded += {"segment_alloc": 1, "segment_free": -1}.get(entry["action"], 0) * entry["size"]
            self.assertEqual(sum(row["after_load_bytes"] for row in memory["contents"]), loaded)
            after = sums(memory["contents"], "after_load_bytes")
            self.assertEqual(after["weights"], truth["models"] * (truth["weights"] + truth["buffers"]))
            self.assertEqual(after["kv_cache"], 0)

    def test_the_most_in_passes_by_plain_python(self):
        for _, _, memory, snapshot in self.each():
            live, level, highest, cache, began = {}, 0, 0, 0, False
            for entry in snapshot["device_traces"][0]:
                began = began or any(frame["name"] == "forward" for frame in entry["frames"])
                if entry["action"] == "alloc":
                    live[entry["addr"]] = (entry["size"], in_cache(entry["frames"]))
                    level += entry["size"]
                elif entry["action"] == "free_completed":
                    level -= live.pop(entry["addr"])[0]
                if began and level > highest:
                    highest = level
                    cache = sum(size for size, cached in live.values() if cached)
            in_passes = sums(memory["contents"], "in_passes_bytes")
            self.assertEqual(in_passes["kv_cache"], cache)
            self.assertEqual(memory["models"][0]["cache_tokens_in_passes"], cache // PER_TOKEN)

    def test_the_peak_by_plain_python(self):
        """Bytes of the cache and of private pools at the event with most bytes."""
        for _, _, memory, snapshot in self.each():
            live, level, highest, cache, peak = {}, 0, 0, 0, 0
            for index, entry in enumerate(snapshot["device_traces"][0]):
                if entry["action"] == "alloc":
                    live[entry["addr"]] = (entry["size"], in_cache(entry["frames"]))
                    level += entry["size"]
                elif entry["action"] == "free_completed":
                    level -= live.pop(entry["addr"])[0]
                if level > highest:
                    highest, peak = level, index
                    cache = sum(size for size, cached in live.values() if cached)
            at_peak = sums(memory["contents"], "at_peak_bytes")
            self.assertEqual(memory["devices"][0]["peak"]["active_bytes"], highest)
            self.assertEqual(at_peak["kv_cache"], cache)
            pools = self.pools_at(snapshot, peak)
            self.assertEqual(at_peak["graph_pool"], sum(size for _, size in pools))
            in_pools = 0
            for entry in snapshot["device_traces"][0][:peak + 1]:
                size = entry["size"] if any(0 <= entry["addr"] - address < size for address, size in pools) else 0
                in_pools += {"alloc": 1, "free_completed": -1}.get(entry["action"], 0) * size
            outside = memory["devices"][0]["peak"]["reserved_bytes"] - at_peak["graph_pool"]
            self.assertEqual(at_peak["unused"], outside - (highest - in_pools))

    @staticmethod
    def pools_at(snapshot, event):
        """Address and size of the private segments that were there after the event."""
        came = {entry["addr"]: index for index, entry in enumerate(snapshot["device_traces"][0])
                if entry["action"] == "segment_alloc"}
        return [(segment["address"], segment["total_size"]) for segment in snapshot["segments"]
                if tuple(segment["segment_pool_id"]) != (0, 0) and came[segment["address"]] <= event]

    def test_workspaces_and_private_pools(self):
        for kind, _, memory, snapshot in self.each():
            now = sums(memory["contents"], "now_bytes")
            private = sum(segment["total_size"] for segment in snapshot["segments"]
                          if tuple(segment["segment_pool_id"]) != (0, 0))
            self.assertEqual(now["graph_pool"], private)
            self.assertEqual(private > 0, kind == "graph")
            # One for each stream on which products ran.
            streams = 2 if kind == "graph" else 1
            self.assertEqual(now["workspace"], streams * WORKSPACE)

    def test_two_copies_are_a_finding(self):
        for kind, truth, _, _ in self.each():
            found = [each for each in self.bundles[kind].profile["findings"]
                     if each["kind"] == "memory_duplicated_weights"]
            self.assertEqual(len(found), 1 if kind == "twice" else 0)
            if found:
                values = {each["name"]: each["value"] for each in found[0]["values"]}
                self.assertEqual(values["sets"], 2)
                self.assertEqual(values["extra"], truth["weights"])
                self.assertEqual(values["extra_tokens"], truth["weights"] // PER_TOKEN)

    def test_without_a_model_the_stacks_still_tell(self):
        memory = Bundle(FOLDER / "static.pickle.gz").profile["memory"]
        self.assertEqual(memory["models"], [])
        now = sums(memory["contents"], "now_bytes")
        self.assertEqual(now["weights"], self.truth["static"]["weights"] + self.truth["static"]["buffers"])
        self.assertNotIn("stack_and_size", {row["basis"] for row in memory["contents"]})

    def test_without_stacks_only_complete_sets_count(self):
        """The weights are a complete set of the model's sizes, the cache is one block per layer for keys and values."""
        snapshot = self.snapshots["static"]
        for segment in snapshot["segments"]:
            for block in segment["blocks"]:
                block["frames"] = []
        for entry in snapshot["device_traces"][0]:
            entry["frames"] = []
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plain.pickle"
            path.write_bytes(pickle.dumps(snapshot, protocol=4))
            rows = Bundle(path, options=("--model", FOLDER / "config.json")).profile["memory"]["contents"]
            found = {(row["content"], row["basis"]): row["now_bytes"] for row in rows}
            self.assertEqual(found["weights", "model_size"], MODEL_WEIGHTS)
            self.assertEqual(found["kv_cache", "model_size"], self.truth["static"]["kv_cache"])
            # Of another model, nothing is claimed.
            other = Bundle(path, options=("--model", "llm/llama_1b")).profile["memory"]["contents"]
            self.assertLessEqual({row["content"] for row in other}, {"other", "unused", "rounding"})

    def test_the_report_and_tables_show_it(self):
        report = self.bundles["graph"].files["report.md"]
        for words in ("What it is used for", "KV cache", "private pools (CUDA graphs)", "Beside the model's"):
            self.assertIn(words, report)


class InTheLedger(unittest.TestCase):
    """A run whose log, snapshot and output are written by hand."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name) / "run"
        (cls.folder / "collector").mkdir(parents=True)
        (cls.folder / "torch").mkdir()
        cls.program = recorded_run(cls.folder / "collector" / "4711.llmtrace")
        (cls.folder / "inputs.yaml").write_text(
            "model:\n  target: llm/llama_1b\nworkload:\n  name: other\n  prompt_tokens: 1000\n  new_tokens: 24\n"
            "  batch: 2\n", encoding="utf-8")
        (cls.folder / "collector" / "record.log").write_text(
            "load_tensors:        CUDA0 model buffer size =  2357.13 MiB\n"
            "load_tensors:   CPU_Mapped model buffer size =   250.50 MiB\n"
            "llama_kv_cache:      CUDA0 KV buffer size =   128.00 MiB\n"
            "llama_kv_cache:      CUDA0 KV buffer size =   192.00 MiB\n"
            "sched_reserve:      CUDA0 compute buffer size =    62.01 MiB\n"
            "sched_reserve:  CUDA_Host compute buffer size =    20.01 MiB\n", encoding="utf-8")
        snapshot = made.dump([made.decode()])
        (cls.folder / "torch" / "memory.pickle").write_bytes(pickle.dumps(snapshot, protocol=4))
        cls.bundle = Bundle(cls.folder, options=("--model", "llm/llama_1b"))
        cls.profile = cls.bundle.profile
        cls.ledger = cls.profile["memory_ledger"]

    def test_rows_inside_sum_to_the_rows_of_pytorch(self):
        (peak,) = [i for i, each in enumerate(self.ledger["moments"]) if each["kind"] == "peak"]
        inside = [row for row in self.ledger["contents"] if row["moment"] == peak]
        self.assertTrue(inside)
        self.assertEqual(sum(row["bytes"] for row in inside), 166 * MIB)
        held = sum(row["in_passes_bytes"] for row in self.profile["memory"]["contents"])
        (difference,) = [row["bytes"] for row in inside if row["content"] == "difference"]
        self.assertEqual(difference, 166 * MIB - held)
        for index, moment in enumerate(self.ledger["moments"]):
            rows = [row for row in self.ledger["rows"] if row["moment"] == index]
            self.assertEqual(sum(row["bytes"] for row in rows), moment["used_bytes"])

    def test_what_the_engine_states_is_beside_it(self):
        found = {row["part"]: row for row in self.profile["memory_statements"]}
        self.assertEqual(set(found), {"weights", "kv_cache", "compute"})
        for row in found.values():
            self.assertEqual((row["engine"], row["device"], row["file"]),
                             ("llama.cpp", "cuda:0", "collector/record.log"))
        self.assertEqual(found["weights"]["stated_bytes"], round(2357.13 * MIB, 4))
        self.assertEqual(found["weights"]["recorded_bytes"], WEIGHTS)
        self.assertEqual(found["kv_cache"]["stated_bytes"], 320 * MIB)
        self.assertEqual(found["kv_cache"]["lines"], 2)
        self.assertEqual(found["kv_cache"]["difference_bytes"], 64 * MIB)
        self.assertIsNone(found["compute"]["recorded_bytes"])
        messages = [each["message"] for each in self.profile["diagnostics"] if each["code"] == "memory_statement_differs"]
        self.assertEqual(len(messages), 1)
        self.assertIn("kv_cache", messages[0])
        stated = {row["part"]: row["stated_bytes"] for row in self.ledger["rows"]}
        self.assertEqual(stated["kv_cache"], 320 * MIB)
        self.assertIsNone(stated["framework"])

    def test_how_much_of_the_cache_is_used(self):
        (left,) = self.ledger["headroom"]
        tokens = 256 * MIB // KV_PER_TOKEN
        self.assertEqual(left["cache_tokens"], tokens)
        self.assertEqual(left["cache_used_tokens"], 2 * (1000 + 24))
        self.assertEqual(left["cache_used_share"], 2 * 1024 / tokens)
        self.assertEqual(left["weight_sets"], 1)
        self.assertIn("are KV cache, of which requests used at most 25.0 % at a time",
                      self.bundle.files["stakeholder_summary.md"])

    def test_queries(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            self.assertEqual(run("analyze", self.folder, "--model", "llm/llama_1b", "--out", out).returncode, 0)
            for table in ("memory_contents", "memory_models", "memory_ledger_contents", "memory_statements"):
                answer = run("query", out, f"SELECT count(*) AS n FROM {table}", "--format", "csv")
                self.assertEqual(answer.returncode, 0, answer.stderr)
                self.assertGreater(int(answer.stdout.split()[-1]), 0, table)


if __name__ == "__main__":
    unittest.main()
