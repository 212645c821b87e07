"""--perfetto: trace.pftrace, decoded by protoc, has the slices, counters and flows of the capture."""
import collections
import contextlib
import gzip
import json
import lzma
import os
import pathlib
import shutil
import sqlite3
import tempfile
import unittest

import cuda_log
import memory_log
import perfetto_trace
from collector_log import Log
from program import DATA, ROOT, run

EXIT_INPUT = 3
NSYS = DATA / "h200-decoder" / "nsys.sqlite"
COMPUTE_THROUGHPUT = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
BYTES_PER_KERNEL = 40
SERVING = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures")) / "serving"


def setUpModule():
    if perfetto_trace.PROTOC is None:
        raise AssertionError("protoc is missing; scripts/setup.sh test installs it")


class ExportCase(unittest.TestCase):
    """One analysis with its trace, decoded once for a class."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)

    @classmethod
    def export(cls, *arguments):
        out = cls.folder / "bundle"
        done = run("analyze", *arguments, "--out", out, "--perfetto", cwd=ROOT)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.profile = json.loads((out / "profile.json").read_text(encoding="utf-8"))
        cls.trace = perfetto_trace.Trace(out / "trace.pftrace")


class OfMemory(ExportCase):
    """A log with readings of GPU memory, the first one before any work."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = cls.folder / "memory.llmtrace"
        cls.program = memory_log.recorded_run(path)
        cls.export(path)

    def test_the_track_holds_every_reading(self):
        found = [each for each in self.trace.counters if each.track.name == "GPU memory in use"]
        first = self.program.readings[0][0]
        self.assertEqual([(each.time - found[0].time, each.value) for each in found],
                         [(time - first, used) for time, used in self.program.readings])
        self.assertEqual({perfetto_trace.one(each.track.counter, "unit") for each in found}, {3})

    def test_it_is_on_the_clock_of_the_work(self):
        (gpu,) = self.profile["memory_ledger"]["gpus"]
        stage = self.profile["stages"][0]
        found = [each for each in self.trace.counters if each.track.name == "GPU memory in use"]
        drawn = min(each.start for each in self.trace.slices if each.category == "stage" and each.name == stage["name"])
        start = min(each["start_ns"] for each in stage["instances"] if not each["warmup"])
        self.assertEqual(drawn - found[1].time, start - gpu["start_ns"])


class OfMemoryOnItsOwnAxis(ExportCase):
    """The same log with one of another machine: each starts at 0, here with the first reading."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = cls.folder / "memory.llmtrace"
        cls.program = memory_log.recorded_run(path)
        cls.export(path, DATA / "h200-repeats" / "run-01.llmtrace.gz")

    def test_the_track_and_the_work_share_an_axis(self):
        found = [each for each in self.trace.counters if each.track.name == "GPU memory in use"]
        first = self.program.readings[0][0]
        self.assertEqual([(each.time, each.value) for each in found],
                         [(time - first, used) for time, used in self.program.readings])
        (gpu,) = self.profile["memory_ledger"]["gpus"]
        drawn = {each.start for each in self.trace.slices if each.category == "stage"}
        starts = {each["start_ns"] - gpu["start_ns"] + found[1].time
                  for stage in self.profile["stages"] for each in stage["instances"]}
        self.assertTrue(starts & drawn)


class OfUnrelatedClocks(ExportCase):
    """Logs of two machines, up for 5.6 hours and for 40 seconds: each starts at 0."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        packed = DATA / "h200-repeats" / "run-01.llmtrace.gz"
        plain = cls.folder / "run-01.llmtrace"
        plain.write_bytes(gzip.decompress(packed.read_bytes()))
        cls.export(DATA / "collector_log" / "request.llmtrace", packed)
        log = Log(plain)
        calls = [call["start"] for call in log.calls()]
        work = log.kernels() + [(each["start"], each["end"]) for each in log.memory_operations()]
        cls.first = min(calls + [row[0] for row in work])
        cls.kernels = sorted((row[0], row[1]) for row in log.kernels())

    def test_kernels_keep_their_time_since_the_start_of_their_log(self):
        streams = [each for each in self.trace.slices if each.track.name.startswith("Stream ")]
        found = {(each.start, each.end) for each in streams}
        expected = {(start - self.first, end - self.first) for start, end in self.kernels}
        self.assertEqual(expected - found, set())

    def test_nothing_is_hours_away(self):
        self.assertLess(max(each.end for each in self.trace.slices), 60_000_000)
        self.assertEqual(min(each.start for each in self.trace.slices), 0)


@unittest.skipUnless(SERVING.is_dir(), "needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")
class OfRequests(ExportCase):
    """An engine's log and the requests of its client: each has a track, and each joined token an arrow."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        plain = cls.folder / "server.llmtrace"
        plain.write_bytes(lzma.decompress((SERVING / "hf_continuous_batching.llmtrace.xz").read_bytes()))
        cls.export(plain, SERVING / "hf_continuous_batching.requests.json.gz")
        cls.requests = cls.profile["requests"]
        cls.of_request = collections.defaultdict(list)
        for each in cls.trace.slices:
            if each.category == "request":
                cls.of_request[each.track.name].append(each)

    def test_each_request_with_tokens_has_a_track_from_sent_to_its_last_token(self):
        expected = {f"request {item['id']}": (round(item["sent_ms"] * 1e6),
                                              round(item["sent_ms"] * 1e6) + item["token_ns"][-1])
                    for item in self.requests["items"] if item["token_ns"]}
        self.assertEqual(len(expected), 10)
        found = {}
        for name, slices in self.of_request.items():
            ordered = sorted(slices, key=lambda each: each.start)
            for before, after in zip(ordered, ordered[1:]):
                self.assertEqual(before.end, after.start, name)
            found[name] = (ordered[0].start, ordered[-1].end)
        self.assertEqual(found, expected)

    def test_each_joined_token_has_one_arrow_to_the_step_that_made_it(self):
        joined = sum(batch >= 0 for item in self.requests["items"] for batch in item["token_batches"])
        self.assertEqual(joined, 320)
        of_tokens, of_steps = {}, {}
        for each in self.trace.slices:
            owners = (of_tokens if each.category == "request" else of_steps if each.category == "step" else None)
            for flow in each.flows + each.ends:
                if owners is not None:
                    self.assertNotIn(flow, owners)
                    owners[flow] = each
        self.assertEqual(len(of_tokens), joined)
        self.assertEqual(of_tokens.keys(), of_steps.keys())
        for flow, token in of_tokens.items():
            step = of_steps[flow]
            self.assertIn(flow, token.flows if token.start <= step.start else token.ends)
            self.assertIn(flow, step.ends if token.start <= step.start else step.flows)
            self.assertLess(step.end, token.end)

    def test_gaps_are_named_after_their_largest_part(self):
        self.assertGreater(len(self.requests["slowest_gaps"]), 20)
        named = {(item["id"], wait["chunk"]): wait["part"] for item in self.requests["items"] for wait in item["waits"]}
        found = {}
        for name, slices in self.of_request.items():
            for each in slices:
                found[name.removeprefix("request "), each.arguments.get("chunk")] = each
        for gap in self.requests["slowest_gaps"]:
            if gap["chunk"] == 0:
                continue
            key = self.requests["items"][gap["request"]]["id"], gap["chunk"]
            most = max(gap["parts_ns"].values())
            self.assertEqual(gap["parts_ns"][named.get(key, "own_decode")], most)
            self.assertEqual(found[key].name, named.get(key, "own_decode"))
            for part, ns in gap["parts_ns"].items():
                self.assertEqual(found[key].arguments[f"{part}_ns"], ns)


class OfNsys(ExportCase):
    """Against plain SQL over the same export."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.export(NSYS)
        with contextlib.closing(sqlite3.connect(f"file:{NSYS}?mode=ro", uri=True)) as database:
            texts = dict(database.execute("SELECT id, value FROM StringIds"))
            query = database.execute
            cls.kernels = [
                (start, end, stream, texts[name], correlation)
                for start, end, stream, name, correlation in query(
                    'SELECT start, "end", streamId, demangledName, correlationId '
                    "FROM CUPTI_ACTIVITY_KIND_KERNEL")]
            cls.memory = [tuple(row) for table in ("MEMCPY", "MEMSET") for row in query(
                f'SELECT start, "end", streamId, bytes, correlationId FROM CUPTI_ACTIVITY_KIND_{table}')]
            cls.calls = [
                (start, end, thread & 0xFFFFFF, texts[name], correlation)
                for start, end, thread, name, correlation in query(
                    'SELECT start, "end", globalTid, nameId, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME')]
            cls.ranges = [
                (start, end, thread & 0xFFFFFF, written or texts.get(registered))
                for start, end, thread, written, registered in query(
                    'SELECT start, "end", globalTid, text, textId FROM NVTX_EVENTS WHERE eventType = 59')]

    def streams(self):
        return [each for each in self.trace.slices if each.track.name.startswith("Stream ")]

    def of_threads(self):
        return [each for each in self.trace.slices if each.track.thread is not None]

    def test_kernels_are_slices_of_their_stream(self):
        found = collections.Counter(
            (each.start, each.end, int(each.track.name.removeprefix("Stream ")),
             each.arguments.get("kernel", each.name))
            for each in self.streams() if each.category != "memset/memcpy" or "shape" in each.arguments)
        self.assertEqual(found, collections.Counter(kernel[:4] for kernel in self.kernels))

    def test_copies_and_fills_are_slices_of_their_stream(self):
        found = collections.Counter(
            (each.start, each.end, int(each.track.name.removeprefix("Stream ")), each.arguments["bytes"])
            for each in self.streams() if each.name.startswith(("Memcpy", "Memset")))
        self.assertEqual(found, collections.Counter(row[:4] for row in self.memory))

    def test_calls_and_ranges_are_slices_of_their_thread(self):
        def key(each):
            thread = each.track.thread
            return each.start, each.end, perfetto_trace.one(thread, "tid"), each.name

        ranges = [each for each in self.of_threads() if each.category == "range"]
        calls = [each for each in self.of_threads() if each.category not in ("range", "operator", "module")]
        self.assertEqual(collections.Counter(map(key, calls)),
                         collections.Counter(call[:4] for call in self.calls))
        self.assertEqual(collections.Counter(map(key, ranges)), collections.Counter(self.ranges))

    def test_flows_lead_from_each_launch_to_its_first_work(self):
        launches = {correlation: (start, thread) for start, _, thread, _, correlation in self.calls}
        first = {}
        for start, _, stream, _, correlation in self.kernels + self.memory:
            if correlation in launches:
                first[correlation] = min(first.get(correlation, (start, stream)), (start, stream))
        expected = {(launches[correlation], work) for correlation, work in first.items()}
        begins = {flow: (each.start, perfetto_trace.one(each.track.thread, "tid"))
                  for each in self.of_threads() for flow in each.flows}
        ends = {flow: (each.start, int(each.track.name.removeprefix("Stream ")))
                for each in self.streams() for flow in each.ends}
        self.assertEqual(set(begins), set(ends))
        self.assertEqual({(begins[flow], ends[flow]) for flow in begins}, expected)
        self.assertEqual(len(begins), len(expected))

    def test_tracks_of_a_gpu_are_its_children(self):
        for each in self.streams():
            parent = self.trace.tracks[each.track.parent]
            self.assertIsNotNone(parent.process)
            self.assertTrue(parent.name.startswith("cuda:0"), parent.name)

    def test_stages_steps_and_layers_are_those_of_the_profile(self):
        stages = [(each.start, each.name.removesuffix(" (warm-up)")) for each in self.trace.on("Stages")]
        expected = [(instance["start_ns"], stage["name"])
                    for stage in self.profile["stages"] for instance in stage["instances"]]
        self.assertEqual(sorted(stages), sorted(expected))
        steps = sorted((each.start, each.end - each.start) for each in self.trace.on("Steps"))
        rows = sorted((step["start_ms"], step["wall_ms"]) for step in self.profile["steps"])
        self.assertEqual(len(steps), len(rows))
        for (start, wall), (start_ms, wall_ms) in zip(steps, rows):
            self.assertAlmostEqual(start / 1e6, start_ms, 6)
            self.assertAlmostEqual(wall / 1e6, wall_ms, 6)
        layers = {each.name for each in self.trace.on("Layers")}
        self.assertEqual(layers, {row["name"] for row in self.profile["layers"]
                                  if not row["part"] and not row["outside"]})

    def test_layers_of_kernels_sum_to_those_of_the_profile(self):
        sums = collections.Counter()
        for each in self.streams():
            if "layer" in each.arguments:
                sums[each.arguments["stage"], each.arguments["layer"]] += each.end - each.start
        expected = {(row["stage"], row["name"]): row["total_ns"] for row in self.profile["layers"]
                    if not row["part"] and not row["outside"]}
        self.assertEqual(dict(sums), expected)

    def test_classes_are_those_of_the_profile(self):
        sums = collections.Counter()
        for each in self.streams():
            if "shape" in each.arguments:
                sums[each.category] += each.end - each.start
        expected = collections.Counter()
        for kernel in self.profile["kernels"]:
            expected[kernel["class"]] += kernel["total_ns"]
        self.assertEqual(sums, expected)

    def test_is_small(self):
        self.assertLess(self.trace.bytes / len(self.kernels), BYTES_PER_KERNEL)


class OfTheCollector(ExportCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = cls.folder / "run.llmtrace"
        cls.program = cuda_log.small_run(path)
        cls.export(path)

    def test_counters_hold_what_was_sampled(self):
        """Four samples of 100 us, the last ones of the log; missing values are omitted."""
        found = collections.defaultdict(list)
        for counter in self.trace.counters:
            found[counter.track.name].append((counter.time, counter.value))
        self.assertEqual(set(found), {"dram__bytes_read.sum", "power"})
        read = found["dram__bytes_read.sum"]
        begin, length = read[0][0], 100_000
        samples = self.program.samples
        self.assertEqual(read, [(begin + length * i, values[0]) for i, values in enumerate(samples)]
                         + [(begin + length * len(samples), 0)])
        power = []
        for i in range(0, len(samples), 2):
            power += [(begin + length * i, 300.5), (begin + length * (i + 1), 0)]
        self.assertEqual(found["power"], power)

    def test_units_of_counters(self):
        units = {counter.track.name: counter.track.counter for counter in self.trace.counters}
        self.assertEqual(perfetto_trace.one(units["dram__bytes_read.sum"], "unit"), 3)
        self.assertEqual(perfetto_trace.one(units["power"], "unit_name"), b"W")

    def test_a_graph_launch_has_one_flow_to_its_first_kernel(self):
        replayed = [each for each in self.trace.slices if "graph" in each.arguments]
        by_launch = sum(1 for each in replayed if each.ends)
        launches = [each for each in self.trace.slices if each.category == "graph launch"]
        self.assertGreater(len(replayed), len(launches))
        self.assertEqual(by_launch, len(launches))


class OfNcu(ExportCase):
    """ncu's metrics next to a timeline."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.export(NSYS, DATA / "h200-decoder" / "ncu_raw.csv.gz")
        cls.metrics = {kernel["kernel_name"]: kernel["metrics"] for kernel in cls.profile["kernels"]
                       if kernel["metrics"]}

    def test_metrics_are_arguments_of_the_kernels_measured(self):
        measured = [each for each in self.trace.slices if f"ncu.{COMPUTE_THROUGHPUT}" in each.arguments]
        self.assertEqual(len(measured), self.profile["totals"]["metric_join"]["timeline_kernels_covered"])
        for each in measured:
            name = each.arguments.get("kernel", each.name)
            self.assertEqual(each.arguments[f"ncu.{COMPUTE_THROUGHPUT}"],
                             self.metrics[name][COMPUTE_THROUGHPUT]["mean"])

    def test_each_kernel_and_shape_that_was_measured_is_a_gpu_event_with_its_metrics(self):
        self.assertGreater(len(self.trace.gpu_kernels), 0)
        known = set()
        for kernel in self.trace.gpu_kernels:
            name = kernel.arguments["kernel_demangled_name"].decode()
            self.assertNotIn((name, kernel.grid), known)
            known.add((name, kernel.grid))
            for argument, value in kernel.arguments.items():
                if argument.startswith("ncu."):
                    self.assertEqual(value, self.metrics[name][argument.removeprefix("ncu.")]["mean"])
            self.assertIn(f"ncu.{COMPUTE_THROUGHPUT}", kernel.arguments)
            self.assertIn((kernel.start, kernel.end, name),
                          {(each.start, each.end, each.arguments.get("kernel", each.name))
                           for each in self.trace.slices})

    def test_counters_describe_the_preceding_time(self):
        """0 at a kernel's start, the kernel's value at its end: as Perfetto reads GPU counters."""
        values = {(time, value) for _, time, name, value in self.trace.gpu_counters if name == COMPUTE_THROUGHPUT}
        expected = set()
        for kernel in self.trace.gpu_kernels:
            name = kernel.arguments["kernel_demangled_name"].decode()
            expected.add((kernel.start, 0.0))
            expected.add((kernel.end, self.metrics[name][COMPUTE_THROUGHPUT]["mean"]))
        self.assertEqual(values, expected)
        ordered = sorted((kernel.start, kernel.end) for kernel in self.trace.gpu_kernels)
        for (_, end), (start, _) in zip(ordered, ordered[1:]):
            self.assertLessEqual(end, start)


class OfAHostileName(ExportCase):
    NAME = "<img src=x onerror=alert(1)>\x01\u202e\u0000kernel\n"

    def test_stays_text(self):
        path = self.folder / "hostile.sqlite"
        shutil.copy(DATA / "nsys_sqlite" / "eager.sqlite", path)
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("UPDATE StringIds SET value = ? WHERE id = "
                             "(SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1)", (self.NAME,))
            database.commit()
        self.export(path)
        texts = {text for each in self.trace.slices for text in (each.name, *each.arguments.values())
                 if isinstance(text, str)}
        self.assertTrue(any("onerror" in text for text in texts))
        for text in texts:
            self.assertNotRegex(text, r"[\x00-\x1f]")


class Command(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def test_without_a_timeline_the_reports_are_written_and_the_cause_named(self):
        out = self.folder / "bundle"
        done = run("analyze", DATA / "ncu" / "decode_raw.csv", "--out", out, "--perfetto")
        self.assertEqual(done.returncode, EXIT_INPUT)
        self.assertIn("trace.pftrace: no timeline to export", done.stderr)
        self.assertTrue((out / "report.md").exists())
        self.assertFalse((out / "trace.pftrace").exists())

    def run_folder(self):
        shutil.copytree(DATA / "cpu-llm", self.folder / "run")
        done = run("analyze", self.folder / "run", "--out", self.folder / "run", "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / "run"

    def test_report_reads_the_captures_of_a_run_again(self):
        source = self.run_folder()
        analyzed = self.folder / "analyzed"
        self.assertEqual(run("analyze", source, "--out", analyzed, "--perfetto", "--speedscope").returncode, 0)
        done = run("report", source, "--perfetto", "--speedscope")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("trace.pftrace", "trace.speedscope.json"):
            self.assertIn(name, done.stdout)
            self.assertEqual((source / name).read_bytes(), (analyzed / name).read_bytes(), name)
        # Its output is not a capture.
        again = run("analyze", source, "--out", self.folder / "again")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.folder / "again" / "kernels.md").read_bytes(),
                         (analyzed / "kernels.md").read_bytes())
        kinds = json.loads(run("artifacts", source, "--json").stdout)["files"]
        self.assertEqual({file["name"]: file["kind"] for file in kinds if file["name"].startswith("trace.")},
                         {"trace.pftrace": "timeline for Perfetto",
                          "trace.speedscope.json": "flame graph for speedscope"})

    def test_a_lone_profile_has_no_captures_to_read(self):
        source = self.run_folder()
        lone = self.folder / "profile.json"
        shutil.copy(source / "profile.json", lone)
        before = sorted(self.folder.rglob("*"))
        for option in ("--perfetto", "--speedscope"):
            done = run("report", lone, option)
            self.assertEqual(done.returncode, EXIT_INPUT)
            self.assertIn(str(lone), done.stderr)
            self.assertIn("captures", done.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_captures_are_read_again_while_they_exist(self):
        bundle, capture = self.folder / "bundle", self.folder / "capture.sqlite"
        shutil.copy(DATA / "nsys_sqlite" / "eager.sqlite", capture)
        done = run("analyze", capture, "--out", bundle, "--perfetto", "--stage", "decode")
        self.assertEqual(done.returncode, 0, done.stderr)
        written = (bundle / "trace.pftrace").read_bytes()
        (bundle / "trace.pftrace").unlink()
        self.assertEqual(run("report", bundle, "--perfetto").returncode, 0)
        self.assertEqual((bundle / "trace.pftrace").read_bytes(), written)
        (bundle / "trace.pftrace").unlink()
        capture.unlink()
        done = run("report", bundle, "--perfetto")
        self.assertEqual(done.returncode, EXIT_INPUT)
        self.assertIn("no longer exists", done.stderr)
        self.assertFalse((bundle / "trace.pftrace").exists())


if __name__ == "__main__":
    unittest.main()
