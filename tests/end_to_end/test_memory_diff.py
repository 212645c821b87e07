"""`llmprof diff` shows what grew in GPU memory, and gate rules hold it: two logs of a program whose allocations the
writer knows, and PyTorch's snapshots."""
import json
import pathlib
import tempfile
import unittest

from memory_log import KV_PER_TOKEN, MIB, OTHERS, recorded_run
from program import DATA, run

TOKENS = 8192
CACHE = TOKENS * KV_PER_TOKEN
MORE_OTHERS = 64 * MIB


class Sides(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.base = cls.analyzed("base")
        cls.new = cls.analyzed("new", kv_tokens=2 * TOKENS, others=OTHERS + MORE_OTHERS)

    @classmethod
    def analyzed(cls, name, **options):
        log = cls.folder / f"{name}.llmtrace"
        recorded_run(log, **options)
        return cls.bundle(name, log, "--model", "llm/llama_1b")

    @classmethod
    def bundle(cls, name, *arguments):
        out = cls.folder / name
        done = run("analyze", *arguments, "--out", out)
        assert done.returncode == 0, done.stderr
        return out

    def diff(self, base, new, *options, exit_code=0):
        out = self.folder / "diff"
        done = run("diff", base, new, "--out", out, "--force", *options)
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        self.markdown = (out / "diff.md").read_text(encoding="utf-8")
        return json.loads((out / "diff.json").read_text(encoding="utf-8"))

    def gates(self, base, new, *rules, exit_code):
        options = [part for rule in rules for part in ("--gate", rule)]
        diff = self.diff(base, new, *options, exit_code=exit_code)
        return {gate["rule"]: gate for gate in diff["gates"]}


class Ledgers(Sides):
    def test_the_row_that_grew_is_named_with_its_bytes(self):
        diff = self.diff(self.base, self.new)
        memory = diff["memory"]
        self.assertTrue(diff["summary"].endswith("GPU memory at the peak changed: +268.44 MB on cuda:0 (+5.91 %)."),
                        diff["summary"])
        self.assertEqual((memory["base_ledgers"], memory["new_ledgers"], memory["left_out"]), (1, 1, []))
        self.assertEqual({moment["kind"] for moment in memory["moments"]},
                         {"after_load", "stage_peak", "steady_decode", "peak", "end"})
        for moment in memory["moments"]:
            rows = moment["rows"]
            self.assertEqual(sum(row["difference_bytes"] for row in rows), moment["used"]["difference_bytes"])
            self.assertEqual(moment["used"]["difference_bytes"], CACHE + MORE_OTHERS)
            self.assertEqual(moment["own"]["difference_bytes"], CACHE)
            changed = {(row["part"], row["change"], row["difference_bytes"]) for row in rows
                       if row["change"] != "same"}
            self.assertEqual(changed, {("kv_cache", "larger", CACHE), ("other_processes", "larger", MORE_OTHERS)})
        self.assertIn("GPU memory of cuda:0 at the peak", self.markdown)
        self.assertIn("(+268.44 MB, +5.91 %): +268.44 MB KV cache (libggml-cuda.so).", self.markdown)
        # Each moment has the same rows: they are shown once.
        self.assertEqual(self.markdown.count("| KV cache |"), 1)
        self.assertNotIn("| weights |", self.markdown)

    def test_rows_of_one_side_are_new_or_gone(self):
        profile = json.loads((self.base / "profile.json").read_text(encoding="utf-8"))
        ledger = profile["memory_ledger"]
        for moment in ledger["moments"]:
            moment["used_bytes"] -= sum(row["bytes"] for row in ledger["rows"]
                                        if row["part"] == "vmm" and ledger["moments"][row["moment"]] is moment)
        ledger["rows"] = [row for row in ledger["rows"] if row["part"] != "vmm"]
        without = self.folder / "without_vmm.json"
        without.write_text(json.dumps(profile), encoding="utf-8")
        for base, new, change in ((without, self.base, "new"), (self.base, without, "gone")):
            peak = self.diff(base, new)["memory"]["moments"][-2]
            (row,) = [row for row in peak["rows"] if row["part"] == "vmm"]
            self.assertEqual(row["change"], change)
            self.assertIsNone(row["base_bytes" if change == "new" else "new_bytes"])
            self.assertIn(f"| {change} |", self.markdown)

    def test_gates_decide_by_share_and_by_bytes(self):
        gates = self.gates(self.base, self.new, "memory.peak<=+1%", "memory.peak<=+300MiB", "memory.kv_cache<=+0%",
                           "memory.weights<=+0%", "memory.peak<=+1%&+1GiB", exit_code=5)
        self.assertEqual({rule: gate["outcome"] for rule, gate in gates.items()}, {
            "memory.peak<=+1%": "fail", "memory.peak<=+300MiB": "pass", "memory.kv_cache<=+0%": "fail",
            "memory.weights<=+0%": "pass", "memory.peak<=+1%&+1GiB": "pass"})
        cache = gates["memory.kv_cache<=+0%"]
        self.assertEqual(cache["stage"], "cuda:0")
        self.assertEqual((cache["measured"]["base"], cache["measured"]["new"]), (CACHE, 2 * CACHE))
        self.assertEqual(cache["measured"]["unit"], "bytes")
        self.assertIn("cuda:0: KV cache at the peak: 268.44 MB to 536.87 MB, +100.00 %: beyond", cache["text"])
        self.gates(self.base, self.base, "memory.peak<=+0%", exit_code=0)
        self.gates(self.base, self.new, "memory", exit_code=5)

    def test_several_runs_have_an_interval(self):
        diff = self.diff(self.base, self.new, "--base", self.base, "--new", self.base)
        peak = diff["memory"]["moments"][-2]
        self.assertEqual(peak["own"]["difference_bytes"], CACHE / 2)
        self.assertLess(peak["own"]["low_bytes"], 0)
        self.assertEqual(peak["own"]["change"], "same")

    def test_a_side_without_a_ledger_is_said(self):
        profile = json.loads((self.base / "profile.json").read_text(encoding="utf-8"))
        profile["memory_ledger"] = None
        without = self.folder / "without.json"
        without.write_text(json.dumps(profile), encoding="utf-8")
        gates = self.gates(self.base, without, "memory.peak<=+1%", "memory.pytorch_peak<=+1%", exit_code=3)
        peak = gates["memory.peak<=+1%"]
        self.assertEqual((peak["outcome"], peak["measured"]), ("cannot_tell", None))
        self.assertEqual(peak["text"], "cuda:0: the new side does not have a recorded use of GPU memory (llmprof's "
                         "collector) "
                         "in all its runs")
        self.assertIn("neither side has a memory snapshot", gates["memory.pytorch_peak<=+1%"]["text"])
        self.assertIn("1 of 1 run of the new side has no recorded use of GPU memory", self.markdown)

    def test_a_gpu_on_one_side_only_is_no_pass(self):
        profile = json.loads((self.base / "profile.json").read_text(encoding="utf-8"))
        ledger = profile["memory_ledger"]
        more = [{**moment, "device": "cuda:1"} for moment in ledger["moments"]]
        rows = [{**row, "moment": row["moment"] + len(more)} for row in ledger["rows"]]
        ledger["moments"] += more
        ledger["rows"] += rows
        two = self.folder / "two_gpus.json"
        two.write_text(json.dumps(profile), encoding="utf-8")
        diff = self.diff(two, self.base, "--gate", "memory.peak<=+1%", exit_code=3)
        self.assertEqual([(gate["stage"], gate["outcome"]) for gate in diff["gates"]],
                         [("cuda:0", "pass"), ("cuda:1", "cannot_tell")])
        self.assertIn("cuda:1: both sides have", diff["gates"][1]["text"])

    def test_gpus_of_another_size_are_a_note(self):
        profile = json.loads((self.base / "profile.json").read_text(encoding="utf-8"))
        for moment in profile["memory_ledger"]["moments"]:
            moment["total_bytes"] /= 2
        smaller = self.folder / "smaller.json"
        smaller.write_text(json.dumps(profile), encoding="utf-8")
        aspects = {aspect["aspect"]: aspect["blocking"] for aspect in self.diff(self.base, smaller)["aspects"]}
        self.assertEqual(aspects["gpu_memory"], False)

    def test_wrong_rules_are_refused(self):
        for rule, message in (("memory.peaks<=+1%", "unknown quantity 'peaks' of memory; available: memory.peak"),
                              ("memory.peak<=+1ms", "is not a limit in %, B, kB, MB, GB, KiB, MiB or GiB"),
                              ("memory.peak.p99<=+1%", "memory has no statistics")):
            done = run("diff", self.base, self.base, "--gate", rule)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


class Snapshots(Sides):
    def test_pytorchs_figures_are_compared(self):
        snapshots = DATA / "torch_memory"
        base = self.bundle("small", snapshots / "decode_protocol4.pickle")
        new = self.bundle("large", snapshots / "fragmented_protocol5.pickle")
        diff = self.diff(base, new)
        figures = {row["figure"]: row for row in diff["memory"]["pytorch"]}
        for side, out in (("base", base), ("new", new)):
            (device,) = json.loads((out / "profile.json").read_text(encoding="utf-8"))["memory"]["devices"]
            expected = {"peak_active": device["peak"]["active_bytes"],
                        "peak_reserved": device["reserved_peak"]["reserved_bytes"],
                        "reserved": device["reserved_bytes"], "allocated": device["allocated_bytes"],
                        "inactive": device["inactive_bytes"], "private_pools": device["private_pools_bytes"]}
            self.assertEqual({name: row[f"{side}_bytes"] for name, row in figures.items()}, expected)
        self.assertIn("Inside PyTorch", self.markdown)
        self.assertIn("PyTorch's memory on cuda:0, active, highest", diff["summary"])
        self.assertEqual(diff["stages"], [])

    def test_copies_of_a_snapshot_are_identical(self):
        source = DATA / "torch_memory" / "decode_protocol4.pickle"
        copy = self.folder / "copy.pickle"
        copy.write_bytes(source.read_bytes())
        diff = self.diff(self.bundle("one", source), self.bundle("other", copy))
        self.assertTrue(diff["identical"])
        self.assertTrue(all(row["change"] == "same" for row in diff["memory"]["pytorch"]))


if __name__ == "__main__":
    unittest.main()
