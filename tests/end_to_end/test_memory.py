"""`llmprof analyze` with memory snapshots of PyTorch. Expected figures come from a simulated allocator that knows the
truth at every moment (tests/data/torch_memory/make_snapshots.py), or from plain Python over what Python's own pickle
reads."""
import collections
import gzip
import io
import json
import os
import pathlib
import pickle
import sys
import tempfile
import unittest

from program import DATA, ROOT, Bundle, run

sys.path.insert(0, str(DATA / "torch_memory"))
import make_snapshots as made  # noqa: E402  pylint: disable=wrong-import-position

MIB = made.MIB
CAPTURES = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures")) / "memory"


class PlainUnpickler(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name} is not plain data")


def load(content):
    return PlainUnpickler(io.BytesIO(content)).load()


def now_of(snapshot, device):
    """The figures of a device at the snapshot, from its segments."""
    segments = [each for each in snapshot["segments"] if each["device"] == device]
    blocks = [block for segment in segments for block in segment["blocks"]]
    free = [block["size"] for block in blocks if block["state"] == "inactive"]
    total = {key: sum(segment[size] for segment in segments) for key, size in (
        ("reserved_bytes", "total_size"), ("allocated_bytes", "allocated_size"), ("active_bytes", "active_size"),
        ("requested_bytes", "requested_size"))}
    return {**total, "rounding_bytes": total["active_bytes"] - total["requested_bytes"],
            "inactive_bytes": total["reserved_bytes"] - total["active_bytes"],
            "awaiting_free_bytes": total["active_bytes"] - total["allocated_bytes"],
            "largest_free_block_bytes": max(free, default=None), "free_blocks": len(free), "blocks": len(blocks),
            "segments": len(segments),
            "expandable_bytes": sum(each["total_size"] for each in segments if each["is_expandable"]),
            "private_pools_bytes": sum(each["total_size"] for each in segments
                                       if tuple(each["segment_pool_id"]) != (0, 0))}


def peak_by_trace(snapshot, device):
    """The highest sum of allocations that are not free, as PyTorch's own page replays events."""
    live, before, level, highest = {}, 0, 0, 0
    for entry in snapshot["device_traces"][device]:
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry["size"]
            level += entry["size"]
        elif entry["action"] == "free_completed":
            if live.pop(entry["addr"], None) is None:
                before += entry["size"]
            level -= entry["size"]
        highest = max(highest, level)
    touched = {entry.get("addr") for entry in snapshot["device_traces"][device] if entry["action"].startswith(
        ("alloc", "free"))}
    before += sum(block["requested_size"] for segment in snapshot["segments"] if segment["device"] == device
                  for block in segment["blocks"] if block["state"] != "inactive" and block["address"] not in touched)
    return highest + before


class Snapshots(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def write(self, content, name="snapshot.bin"):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def analyzed(self, content, name="snapshot.bin"):
        bundle = Bundle(self.write(content, name))
        self.assertEqual(bundle.result.returncode, 0, bundle.result.stderr)
        return bundle

    def check_now(self, memory, snapshot, device=0):
        row = next(each for each in memory["devices"] if each["device"] == f"cuda:{device}")
        for key, value in now_of(snapshot, device).items():
            self.assertEqual(row[key], value, key)
        return row

    def check_truth(self, memory, allocator, lost=0):
        """Peaks and every point of the timeline equal the simulator's. `lost`: entries that the ring lost."""
        device = f"cuda:{allocator.device}"
        row = next(each for each in memory["devices"] if each["device"] == device)
        # Without the first entries, the state before the first one that is left counts too.
        truth = allocator.truth[lost:]
        start = [allocator.truth[lost - 1]] if lost else []
        for key, figure in (("peak", "active"), ("reserved_peak", "reserved")):
            highest = max(each[figure] for each in start + truth)
            self.assertEqual(row[key][f"{figure}_bytes"], highest, (key, device))
        at = row["peak"]["event"]
        state = truth[at] if at is not None else start[0]
        self.assertEqual(row["peak"]["allocations"], state["allocations"])
        points = [point for point in memory["timeline"] if point["device"] == device]
        self.assertLessEqual(len(points), 2002)
        for point in points:
            if point["event"] is None:
                continue
            expected = truth[point["event"]]
            for key in ("active", "allocated", "reserved"):
                self.assertEqual(point[f"{key}_bytes"], expected[key], (point["event"], key))
        self.assertEqual(row["contradicting_events"], 0)
        return row

    def test_every_way_of_writing_gives_the_same(self):
        for expandable in (False, True):
            memory = made.decode(expandable=expandable, pools=True)
            snapshot = made.dump([memory])
            ways = {f"protocol {protocol}": pickle.dumps(snapshot, protocol=protocol) for protocol in (2, 3, 4, 5)}
            ways["torch::jit::Pickler"] = made.jit_pickle(snapshot)
            ways["gzip"] = gzip.compress(ways["protocol 4"])
            if expandable:
                ways = {"protocol 4": ways["protocol 4"]}
            results = {}
            for way, content in ways.items():
                bundle = self.analyzed(content)
                found = bundle.profile["memory"]
                self.check_now(found, snapshot)
                row = self.check_truth(found, memory)
                self.assertEqual(row["event_size"], "requested", way)
                self.assertEqual(row["existed_before"], 0)
                self.assertEqual(row["largest_request_bytes"],
                                 max(entry["size"] for entry in memory.trace if entry["action"] == "alloc"))
                results[way] = found
            first = next(iter(results.values()))
            for way, found in results.items():
                self.assertEqual(found, first, way)

    def test_pools_and_stacks(self):
        memory = made.decode(pools=True)
        snapshot = made.dump([memory])
        found = self.analyzed(pickle.dumps(snapshot, protocol=4)).profile["memory"]
        pools = collections.Counter()
        for segment in snapshot["segments"]:
            pools["{},{}".format(*segment["segment_pool_id"]), str(segment["stream"])] += segment["total_size"]
        self.assertEqual({(row["pool"], row["stream"]): row["reserved_bytes"] for row in found["pools"]}, dict(pools))
        self.assertEqual({row["pool"] for row in found["pools"] if row["is_private"]}, {"0,1", "0,2"})
        now = collections.Counter()
        for block in memory.blocks():
            if block.state != "inactive":
                now[block.stack[1]["name"]] += block.requested
        shown = collections.Counter()
        for row in found["stacks"]:
            shown[row["frames"][1].split(" ")[0]] += row["now_bytes"]
        self.assertEqual(shown, now)
        places = {row["place"] for row in found["stacks"]}
        self.assertEqual(places, {"load (load.py:12)", "make_cache (cache.py:7)", "step (model.py:55)"})
        self.assertTrue(any("forward (torch/nn/modules/linear.py:125)" in row["frames"] for row in found["stacks"]))
        self.assertEqual(sum(row["at_peak_bytes"] for row in found["stacks"]),
                         found["devices"][0]["peak"]["active_bytes"])

    def test_nothing_private_is_shown(self):
        bundle = self.analyzed(pickle.dumps(made.dump([made.decode()]), protocol=4))
        for name, text in {**bundle.files, "stdout": bundle.result.stdout}.items():
            for secret in ("hf_thisMustNotAppear", "API_TOKEN", "someone"):
                self.assertNotIn(secret, text, name)
        settings = {each["name"]: each["value"] for each in bundle.profile["memory"]["snapshots"][0]["settings"]}
        self.assertEqual(settings["expandable_segments"], "false")
        self.assertEqual(settings["roundup_power2_divisions"], "1024:0,2048:4")

    def test_a_full_ring_loses_the_start_and_no_level(self):
        memory = made.decode()
        kept = 150
        snapshot = made.dump([memory], keep=kept)
        bundle = self.analyzed(pickle.dumps(snapshot, protocol=4))
        found = bundle.profile["memory"]
        lost = len(memory.trace) - kept
        row = self.check_truth(found, memory, lost)
        self.assertTrue(found["snapshots"][0]["events_lost"])
        self.assertEqual(row["existed_before"], memory.truth[lost - 1]["allocations"])
        self.assertIn("memory_snapshot_events_lost", bundle.codes())

    def test_devices_are_apart(self):
        memories = [made.decode(), made.fragmented()]
        memories[1] = made.decode(expandable=True)
        for device, memory in enumerate(memories):
            memory.device = device
        snapshot = made.dump(memories)
        found = self.analyzed(pickle.dumps(snapshot, protocol=4)).profile["memory"]
        self.assertEqual([row["device"] for row in found["devices"]], ["cuda:0", "cuda:1"])
        for device, memory in enumerate(memories):
            self.check_now(found, snapshot, device)
            self.check_truth(found, memory)

    def test_an_oom_is_explained_from_the_state_of_that_moment(self):
        for make, cause, words in ((made.fragmented, "fragmentation", "free memory is fragmented"),
                                   (made.too_large, "size", "too little memory is free"),
                                   (made.held_elsewhere, "other_pools", "belongs to other pools")):
            memory = make()
            self.assertEqual(len(memory.failures), 1, cause)
            bundle = self.analyzed(pickle.dumps(made.dump([memory]), protocol=4))
            found, = bundle.profile["memory"]["out_of_memory"]
            self.assertEqual(found["cause"], cause)
            for key, value in memory.failures[0].items():
                self.assertEqual(found[key], value, (cause, key))
            need = made.rounded(found["requested_bytes"])
            self.assertEqual(found["missing_bytes"],
                             need - max(found["device_free_bytes"], found["largest_free_same_bytes"]))
            self.assertIn(words, bundle.files["report.md"])
            self.assertIn(words, bundle.result.stdout)
            self.check_truth(bundle.profile["memory"], memory)

    def test_a_long_timeline_keeps_its_maxima(self):
        memory = made.Allocator(4096 * MIB)
        stacks = made.Stacks()
        for i in range(3000):
            block = memory.alloc(1000 + i * 37 % 5003, stacks.activation)
            memory.release(block, stacks.release)
        found = self.analyzed(pickle.dumps(made.dump([memory]), protocol=4)).profile["memory"]
        self.check_truth(found, memory)
        self.assertGreater(len(found["timeline"]), 900)
        highest = max(point["active_bytes"] for point in found["timeline"])
        self.assertEqual(highest, max(each["active"] for each in memory.truth))

    def test_annotations(self):
        memory = made.decode()
        start = memory.trace[0]["time_us"]
        marks = [{"stage": "START", "name": "load", "device": 0, "time_us": start},
                 {"stage": "START", "name": "decode", "device": 0, "time_us": start + 500},
                 {"stage": "END", "name": "decode", "device": 0, "time_us": start + 900},
                 {"stage": "END", "name": "load", "device": 0, "time_us": start + 400}]
        content = pickle.dumps(made.dump([memory], external_annotations=marks), protocol=4)
        found = self.analyzed(content).profile["memory"]["annotations"]
        self.assertEqual([(each["name"], each["start_ms"], each["end_ms"]) for each in found],
                         [("load", 0, 0.4), ("decode", 0.5, 0.9)])

    def test_what_is_unknown_is_counted(self):
        memory = made.decode()
        memory.trace.append({"action": "teleport", "addr": 1, "size": 1, "stream": 0, "frames": []})
        memory.trace.append({"action": "alloc", "addr": "no number", "size": 1, "stream": 0, "frames": []})
        bundle = self.analyzed(pickle.dumps(made.dump([memory], new_topic=[1, 2, {"a": None}]), protocol=4))
        for code in ("memory_snapshot_unknown_actions", "memory_snapshot_bad_events", "memory_snapshot_unknown_keys"):
            self.assertIn(code, bundle.codes())
        self.check_now(bundle.profile["memory"], made.dump([memory]))

    def test_with_a_capture(self):
        path = self.write(pickle.dumps(made.dump([made.decode()]), protocol=4))
        capture = DATA / "h200-decoder" / "kineto.json.gz"
        alone = Bundle(capture)
        bundle = Bundle(capture, path)
        self.assertEqual(len(bundle.profile["context"]["captures"]), 2)
        self.assertIn("GPU memory", bundle.files["report.md"])
        self.assertNotIn("GPU memory", alone.files["report.md"])
        self.assertIsNone(alone.profile["memory"])
        # All else is as without the snapshot.
        for key in ("stages", "kernels", "totals", "findings", "token_times"):
            self.assertEqual(bundle.profile[key], alone.profile[key], key)

    def test_queries(self):
        path = self.write(pickle.dumps(made.dump([made.fragmented()]), protocol=4))
        out = self.folder / "run"
        self.assertEqual(run("analyze", path, "--out", out).returncode, 0)
        answer = run("query", out, "SELECT cause, requested_bytes FROM memory_oom", "--format", "csv")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(f"fragmentation,{100 * MIB + 5}", answer.stdout)
        answer = run("query", out, "SELECT max(reserved_bytes) AS most FROM memory_timeline", "--format", "csv")
        self.assertIn(str(max(each["reserved"] for each in made.fragmented().truth)), answer.stdout)

    def refused(self, content, *words):
        result = run("analyze", self.write(content), "--out", self.folder / "out")
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertFalse((self.folder / "out").exists())
        self.assertNotIn("must not run", result.stdout + result.stderr)

    def test_code_is_never_run(self):
        self.refused(made.calling(2), "GLOBAL", "byte ")
        self.refused(made.calling(4), "STACK_GLOBAL", "byte ")
        plain = pickle.dumps(made.dump([made.too_large()]), protocol=4)
        for opcode, name in ((b"R", "REDUCE"), (b"b", "BUILD"), (b"ios\nsystem\n", "INST"), (b"o", "OBJ"),
                             (b"\x82\x01", "EXT1"), (b"P1\n", "PERSID"), (b"Q", "BINPERSID"), (b"\x81", "NEWOBJ")):
            self.refused(plain[:-1] + opcode + b".", name, f"byte {len(plain) - 1}")

    def test_objects_that_contain_themselves_and_bombs(self):
        self.refused(made.self_containing(), "contains itself", "byte ")
        self.refused(made.billion_laughs(), "device_traces", "byte ")
        deep = b"\x80\x04}(\x8c\x08segments" + b"](" * 5000
        self.refused(deep, "nested too deeply", "byte ")
        long_text = b"\x80\x04}(\x8c\x08segmentsX\xff\xff\xff\xff"
        self.refused(long_text, "too long", "byte ")

    def test_wrong_types(self):
        for wrong in ({"segments": 5}, {"segments": [[1]]}, {"segments": "x", "device_traces": {}},
                      {"segments": [], "device_traces": [{"a": 1}]}, {"segments": [], "device_traces": [[1]]}):
            self.refused(pickle.dumps(wrong, protocol=4))
        self.refused(pickle.dumps({"segments": [], "device_traces": [[]]}, protocol=4), "neither segments nor events")
        self.refused(pickle.dumps(["segments"], protocol=4), "not a dictionary")
        self.refused(pickle.dumps({"no": "segments"}, protocol=4), "not a memory snapshot")


class RealSnapshots(unittest.TestCase):
    """Figures equal PyTorch's own statistics."""

    def test_levels_and_peaks(self):
        folder = DATA / "h200-memory"
        for kind in ("eager", "expandable", "graph", "size", "fragmented"):
            said = json.loads((folder / f"{kind}.json").read_text("utf-8"))["stats"]
            profile = Bundle(folder / f"{kind}.pickle").profile
            (device,) = profile["memory"]["devices"]
            for what in ("allocated", "reserved", "active", "requested"):
                self.assertEqual(device[f"{what}_bytes"], said[f"{what}_bytes.all.current"], f"{kind}: {what}")
            # Events state what was requested.
            self.assertEqual(device["peak"]["active_bytes"], said["requested_bytes.all.peak"], kind)
            self.assertEqual(device["reserved_peak"]["reserved_bytes"], said["reserved_bytes.all.peak"], kind)
            failed = profile["memory"]["out_of_memory"]
            self.assertEqual(len(failed), 1 if kind in ("size", "fragmented") else 0, kind)
            if kind == "size":
                self.assertEqual((failed[0]["requested_bytes"], failed[0]["cause"]), (200 << 30, "size"))
            if kind == "fragmented":
                self.assertEqual([failed[0][f"{name}_bytes"] for name in ("requested", "free_same", "largest_free_same")],
                                 [2 << 30, 3 << 30, 128 << 20])


class SnapshotOfARun(unittest.TestCase):
    """A workload writes it where `llmprof run` says, and the run's analysis reads it."""

    PROGRAM = """
import gzip, json, os, shutil, sys
trace, snapshot = (os.environ.get(name) for name in ("LLMPROF_TORCH_TRACE", "LLMPROF_TORCH_MEMORY"))
print("asked for a snapshot" if snapshot else "asked for none")
if trace:
    with gzip.open(trace, "wt") as file:
        event = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 1, "dur": 5, "pid": 1, "tid": 1, "args": {}}
        json.dump({"schemaVersion": 1, "traceEvents": [event]}, file)
if snapshot and len(sys.argv) > 1:
    shutil.copy(sys.argv[1], snapshot)
"""

    def recorded(self, *overrides, snapshot=None):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        out = pathlib.Path(folder.name) / "run"
        program = pathlib.Path(folder.name) / "program.py"
        program.write_text(self.PROGRAM, encoding="utf-8")
        off = [f"pipeline.{tool}.enable=false" for tool in ("collector", "nsys", "ncu")]
        done = run("run", "workload.uses_torch=true", *off, *overrides, f"hydra.run.dir={out}", "--", sys.executable,
                   program, *([snapshot] if snapshot else []))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("asked for none", (out / "stage1" / "control.log").read_text(encoding="utf-8"))
        self.said = (out / "torch" / "profile.log").read_text(encoding="utf-8")
        return json.loads((out / "profile.json").read_text(encoding="utf-8"))

    def test_it_is_read_with_the_run(self):
        profile = self.recorded("workload.uses_cuda=true",
                                snapshot=DATA / "torch_memory" / "fragmented_protocol5.pickle")
        self.assertEqual(profile["memory"]["out_of_memory"][0]["cause"], "fragmentation")
        finding = profile["findings"][-1]
        self.assertEqual((finding["kind"], finding["subject"]), ("memory_allocation_failed", "cuda:0"))
        self.assertIsNone(finding["recoverable_ms"])

    def test_a_workload_that_writes_none_is_said(self):
        profile = self.recorded("workload.uses_cuda=true")
        self.assertIn("asked for a snapshot", self.said)
        self.assertIsNone(profile["memory"])
        self.assertIn("no_memory_snapshot", {each["code"] for each in profile["diagnostics"]})

    def test_without_cuda_none_is_asked_for(self):
        profile = self.recorded("workload.uses_cuda=false")
        self.assertIn("asked for none", self.said)
        self.assertNotIn("no_memory_snapshot", {each["code"] for each in profile["diagnostics"]})


@unittest.skipUnless(CAPTURES.is_dir(), "needs ../shared/captures/memory (or LLMPROF_CAPTURES), which is not here")
class SharedSnapshot(unittest.TestCase):
    def test_mosaic(self):
        path = CAPTURES / "facebookresearch+mosaic__output.pickle"
        snapshot = load(path.read_bytes())
        found = Bundle(path).profile["memory"]
        for device in sorted({each["device"] for each in snapshot["segments"]}):
            row = next(each for each in found["devices"] if each["device"] == f"cuda:{device}")
            for key, value in now_of(snapshot, device).items():
                self.assertEqual(row[key], value, key)
        row = found["devices"][0]
        self.assertEqual(row["allocations"], 520)
        self.assertEqual(row["frees"], 520)
        self.assertEqual(row["peak"]["active_bytes"], peak_by_trace(snapshot, 0))


if __name__ == "__main__":
    unittest.main()
