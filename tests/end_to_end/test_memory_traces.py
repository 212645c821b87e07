"""What PyTorch reports of its memory in traces (profile_memory=True). Expected figures come from plain Python over the
traces' events, and, for the written fixture, from a calculation by hand."""
import collections
import gzip
import json
import os
import pathlib
import tempfile
import unittest

from program import DATA, ROOT, Bundle, run

CAPTURES = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures")) / "public"
FIXTURE = DATA / "kineto" / "profile_memory.json"
GPU_TYPES = (1, 6)  # CUDA, HIP


class Oracle:
    """The memory events of one GPU of a trace, replayed."""

    def __init__(self, events, device):
        self.calls = [each for each in events if each.get("ph") == "X" and each.get("cat") == "cpu_op"]
        found = [each for each in events if each.get("name") == "[memory]" and
                 each["args"]["Device Type"] in GPU_TYPES and each["args"]["Device Id"] == device]
        self.events = sorted(found, key=lambda each: float(each["ts"]))
        self.live = {}
        self.existed_before = 0
        peak = None
        for index, event in enumerate(self.events):
            arguments = event["args"]
            if arguments["Bytes"] > 0:
                self.live[arguments["Addr"]] = event
            elif self.live.pop(arguments["Addr"], None) is None:
                self.existed_before += 1
            if peak is None or arguments["Total Allocated"] > self.events[peak]["args"]["Total Allocated"]:
                peak = index
                self.live_at_peak = dict(self.live)
        self.peak = peak

    def peak_of(self, total):
        return max(each["args"][total] for each in self.events)

    def time_ms(self, index):
        return (float(self.events[index]["ts"]) - float(self.events[0]["ts"])) / 1000

    def innermost(self, event):
        """The operator that was open last on the event's thread."""
        time = float(event["ts"])
        around = [each for each in self.calls if each["tid"] == event["tid"] and each["pid"] == event["pid"] and
                  float(each["ts"]) <= time <= float(each["ts"]) + float(each["dur"])]
        return max(around, key=lambda each: (float(each["ts"]), -float(each["dur"])))["name"] if around else None

    def bytes_by_operator(self):
        held = collections.Counter()
        for event in self.live_at_peak.values():
            held[self.innermost(event)] += event["args"]["Bytes"]
        return held


def device_row(profile, device):
    (row,) = [each for each in profile["memory"]["devices"] if each["device"] == device]
    return row


class WrittenTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bundle = Bundle(FIXTURE)
        cls.memory = cls.bundle.profile["memory"]

    def test_levels_and_peaks(self):
        (source,) = self.memory["snapshots"]
        self.assertEqual((source["source"], source["events"], source["start_ns"]), ("trace", 6, 120500))
        row = device_row(self.bundle.profile, "cuda:0")
        self.assertEqual(row["source"], "trace")
        self.assertEqual((row["allocated_bytes"], row["reserved_bytes"]), (10752, 4194304))
        self.assertEqual((row["allocations"], row["frees"], row["existed_before"], row["events"]), (3, 2, 1, 5))
        self.assertEqual(row["contradicting_events"], 0)
        self.assertEqual(row["largest_request_bytes"], 8192)
        self.assertEqual(row["peak"], {"time_ms": 0.2295, "event": 3, "active_bytes": None, "allocated_bytes": 11776,
                                       "reserved_bytes": 4194304, "allocations": 3})
        self.assertEqual(row["reserved_peak"]["event"], 3)
        for unknown in ("active_bytes", "requested_bytes", "rounding_bytes", "inactive_bytes", "private_pools_bytes",
                        "segments", "blocks", "largest_free_block_bytes"):
            self.assertIsNone(row[unknown], unknown)

    def test_what_holds_the_peak(self):
        found = [(each["made"], each["place"], each["frames"], each["at_peak_bytes"], each["allocations_at_peak"],
                  each["now_bytes"], each["blocks_now"])
                 for each in self.memory["stacks"] if each["device"] == "cuda:0"]
        self.assertEqual(found, [
            ("no_operator", "", [], 8192, 1, 8192, 1),
            ("before_trace", "", [], 2048, None, 2048, None),
            ("operators", "aten::addmm", ["aten::addmm", "aten::linear", "prefill"], 1024, 1, 0, 0),
            ("operators", "prefill", ["prefill"], 512, 1, 512, 1),
        ])

    def test_the_timeline(self):
        points = [(each["event"], each["allocated_bytes"], each["reserved_bytes"])
                  for each in self.memory["timeline"] if each["device"] == "cuda:0"]
        self.assertEqual(points, [(None, 4096, 2097152), (0, 5120, 2097152), (1, 5632, 2097152), (2, 3584, 2097152),
                                  (3, 11776, 4194304), (4, 10752, 4194304)])

    def test_amd_gpus_are_gpus(self):
        row = device_row(self.bundle.profile, "cuda:1")
        self.assertEqual((row["peak"]["allocated_bytes"], row["allocations"]), (512, 1))

    def test_other_events_are_counted(self):
        counts = {each["code"]: each["count"] for each in self.bundle.profile["diagnostics"]}
        self.assertEqual(counts["kineto_host_memory"], 3)
        self.assertEqual(counts["kineto_other_memory"], 1)
        self.assertEqual(counts["kineto_old_memory"], 1)
        self.assertEqual(counts["kineto_bad_memory"], 7)
        self.assertEqual(counts["kineto_bad_events"], 1)

    def test_reports_and_tables(self):
        report = self.bundle.files["report.md"]
        self.assertIn("### At the end of the trace", report)
        self.assertIn("aten::addmm in prefill", report)
        self.assertIn("(before the trace's first event)", report)
        self.assertNotIn("largest free block", report)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            self.assertEqual(run("analyze", FIXTURE, "--out", out).returncode, 0)
            for statement, expected in (
                    ("select peak_allocated_bytes from memory where source = 'trace' and device = 'cuda:0'", "11776.0"),
                    ("select sum(at_peak_bytes) from memory_stacks where device = 'cuda:0'", "11776.0"),
                    ("select max(allocated_bytes) from memory_timeline", "11776.0"),
                    ("select source from memory_snapshots", "trace")):
                done = run("query", out, statement, "--format", "csv")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(float(expected) if expected[0].isdigit() else expected,
                                 float(done.stdout.split()[-1]) if expected[0].isdigit() else done.stdout.split()[-1],
                                 statement)

    def test_a_snapshot_and_a_trace_stand_side_by_side(self):
        snapshot = DATA / "h200-memory" / "eager.pickle"
        bundle = Bundle(FIXTURE, snapshot)
        sources = [each["source"] for each in bundle.profile["memory"]["snapshots"]]
        self.assertEqual(sources, ["snapshot", "trace"])
        self.assertIn("end of the trace", bundle.files["report.md"])
        self.assertIn("### At the snapshot", bundle.files["report.md"])


@unittest.skipUnless(CAPTURES.is_dir(), "needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")
class PublicTraces(unittest.TestCase):
    def check(self, name, device, operators):
        path = CAPTURES / name
        if not path.exists():
            self.skipTest(f"needs {path}, which is not here")
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            events = json.load(file)["traceEvents"]
        oracle = Oracle(events, device)
        profile = Bundle(path).profile
        row = device_row(profile, f"cuda:{device}")
        self.assertEqual(row["events"], len(oracle.events))
        self.assertEqual(row["allocations"], sum(each["args"]["Bytes"] > 0 for each in oracle.events))
        self.assertEqual(row["frees"], sum(each["args"]["Bytes"] < 0 for each in oracle.events))
        self.assertEqual(row["existed_before"], oracle.existed_before)
        self.assertEqual(row["contradicting_events"], 0)
        self.assertEqual(row["peak"]["allocated_bytes"], oracle.peak_of("Total Allocated"))
        self.assertEqual(row["peak"]["event"], oracle.peak)
        self.assertAlmostEqual(row["peak"]["time_ms"], oracle.time_ms(oracle.peak), places=5)
        self.assertEqual(row["peak"]["allocations"], len(oracle.live_at_peak))
        self.assertEqual(row["reserved_peak"]["reserved_bytes"], oracle.peak_of("Total Reserved"))
        last = oracle.events[-1]["args"]
        self.assertEqual((row["allocated_bytes"], row["reserved_bytes"]),
                         (last["Total Allocated"], last["Total Reserved"]))
        host = sum(each["args"]["Device Type"] == 0 for each in events if each.get("name") == "[memory]")
        counts = {each["code"]: each["count"] for each in profile["diagnostics"]}
        self.assertEqual(counts.get("kineto_host_memory", 0), host)
        for point in profile["memory"]["timeline"]:
            self.assertLessEqual(point["allocated_bytes"], row["peak"]["allocated_bytes"])
        if operators:
            self.check_operators(profile, oracle)

    def check_operators(self, profile, oracle):
        stacks = profile["memory"]["stacks"]
        self.assertEqual(sum(each["at_peak_bytes"] for each in stacks), oracle.peak_of("Total Allocated"))
        found = collections.Counter()
        for each in stacks:
            if each["made"] != "before_trace" and each["at_peak_bytes"] > 0:
                found[each["place"] if each["place"].startswith("aten::") else None] += each["at_peak_bytes"]
        self.assertEqual(found, +oracle.bytes_by_operator())

    def test_nvidia(self):
        self.check("AMD-AGI+TraceLens__h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 0, True)

    def test_amd(self):
        self.check("AMD-AGI+TraceLens__sglang_Qwen3-8B_capture_bs_32_rank0.json.gz", 0, False)

    def test_several_threads_whose_events_are_not_in_order(self):
        self.check("facebookresearch+HolisticTraceAnalysis__df_index_resolver.json.gz", 1, False)

    def test_old_traces_without_totals(self):
        path = CAPTURES / "pytorch+kineto__resnet50_worker0.1623143089861.pt.trace.json.gz"
        if not path.exists():
            self.skipTest(f"needs {path}, which is not here")
        profile = Bundle(path).profile
        self.assertIsNone(profile["memory"])
        counts = {each["code"]: each["count"] for each in profile["diagnostics"]}
        self.assertEqual((counts["kineto_old_memory"], counts["kineto_host_memory"]), (5898 + 2322, 4606 + 12))


if __name__ == "__main__":
    unittest.main()
