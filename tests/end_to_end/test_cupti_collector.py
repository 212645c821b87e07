"""The collector's CUDA tracing without a GPU: play_tape replays a CUDA program from a tape, a fake libcupti reports it
to the collector, and the log is compared with the tape and with the fake's list of delivered records."""
import collections
import contextlib
import gzip
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from collector_log import LAUNCH_DURATION_BITS, Log

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
RECORDED_TAPES = sorted((ROOT / "tests" / "data" / "cupti-tapes").glob("*.tape.gz"))


def built(variable, path):
    return os.environ.get(variable, str(BUILD / path))


LIBRARY = built("LLMPROF_COLLECTOR_LIBRARY", "lib/libllmprof_collector.so")
PLAY = built("PLAY_TAPE", "bin/play_tape")
CUPTI = built("FAKE_CUPTI_LIBRARY", "lib/libfake_cupti.so")
CUDA = built("FAKE_CUDA_LIBRARY", "lib/fake_cuda/libcuda.so.1")
NVML = built("FAKE_NVML_LIBRARY", "lib/libfake_nvml.so")
RECORDING = built("RECORDING_CUPTI", "lib/librecording_cupti.so")
MAKE = built("MAKE_TAPE", "bin/make_tape")
SHOW = built("SHOW_TAPE", "bin/show_tape")
LLMPROF = built("LLMPROF", "bin/llmprof")

KERNEL, COPY, FILL, GRAPH, PEER_COPY = 10, 1, 2, 51, 22
LAYER = [("attn", 3), ("mlp", 2)]  # kernels of a layer, by their inner range
LONGEST_NAME = 16384  # bytes that the log can hold
PATIENCE = 60  # s, for events that take milliseconds

PLACE = ["device", "context", "stream", "graph", "node"]
Work = collections.namedtuple("Work", ["start", "end", "correlation", *PLACE, "bytes", "name"])


class Tape:
    def __init__(self, path):
        self.path = str(path)
        done = subprocess.run([SHOW, self.path], capture_output=True, text=True, check=True)
        self.items = json.loads("[" + ",".join(done.stdout.splitlines()) + "]")
        self.correlations = 1 + max(i["correlation"] for i in self.items if i["item"] == "api")

    def work(self, kind):
        return [i for i in self.items if i["item"] == "activity" and i["kind"] == kind]

    def follow(self):
        """Each item with the ranges open on its thread, outermost first."""
        stacks = collections.defaultdict(list)
        for item in self.items:
            stack = stacks[item["thread"]]
            if item["item"] == "nvtx" and item["op"] == "push":
                stack.append((item["domain"], item["text"]))
            if item["item"] == "nvtx" and item["op"] == "pop":
                for i in range(len(stack) - 1, -1, -1):
                    if stack[i][0] == item["domain"]:
                        del stack[i]
                        break
            yield item, [name for _, name in stack]

    def ranges_of_launches(self):
        return {
            item["correlation"]: ranges
            for item, ranges in self.follow()
            if item["item"] == "api" and item["site"] == "enter"
        }

    def ranges_of_nodes(self):
        created, cloned = 13, 20  # CUPTI_CBID_RESOURCE_GRAPHNODE_...
        nodes = {}
        for item, ranges in self.follow():
            if item["item"] == "resource" and item["cbid"] == created:
                nodes[item["node"]] = ranges
            if item["item"] == "resource" and item["cbid"] == cloned:
                nodes[item["node"]] = nodes[item["original"]]
        return nodes

    def steps_of_launches(self):
        """The number of the step, from 1, that each launch of the first thread belongs to."""
        steps, step = {}, 0
        for item, ranges in self.follow():
            if item["item"] == "nvtx" and item["op"] == "push" and item["text"] == "decode_step":
                step += 1
            if item["item"] == "api" and item["thread"] == 1 and "decode_step" in ranges:
                steps[item["correlation"]] = step
        return steps


def make_tape(folder, kind, **size):
    path = folder / ("-".join([kind, *map(str, size.values())]) + ".tape")
    options = [f"--{name}={value}" for name, value in size.items()]
    subprocess.run([MAKE, kind, path, *options], check=True)
    return Tape(path)


def read_oracle(path, fate, *kinds):
    """The fake's list of records and their fate. A killed program may leave its last line unfinished."""
    rows = []
    text = path.read_text() if path.exists() else ""
    for line in text[: text.rfind("\n") + 1].splitlines():
        word, kind, numbers = line.split(" ", 2)
        if word == fate and int(kind) in kinds:
            *values, name = numbers.split(" ", 9)
            rows.append(Work(*map(int, values), name[:LONGEST_NAME]))
    return rows


def kernel_rows(log):
    return [
        Work(*times_and_launch, *(of[field] for field in PLACE), 0, of["name"])
        for *times_and_launch, of in log.kernels()
    ]


def memory_rows(log):
    fields = ["start", "end", "correlation", *PLACE, "bytes"]
    return [Work(*(row[field] for field in fields), "") for row in log.memory_operations()]


class PlayedCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for needed in (PLAY, CUPTI, CUDA, MAKE, SHOW):
            if not pathlib.Path(needed).exists():
                raise unittest.SkipTest(f"{needed} is not built: it needs CUPTI's headers")
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.tapes = pathlib.Path(holder.name)

    def setUp(self):
        self.take_fresh_folder()

    def take_fresh_folder(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.oracle_path = self.folder / "oracle"

    @contextlib.contextmanager
    def part(self, *args, **kwargs):
        """A subtest with its own folder."""
        with self.subTest(*args, **kwargs):
            self.take_fresh_folder()
            yield

    def tape(self, kind, **size):
        return make_tape(self.tapes, kind, **size)

    def environment(self, more):
        base = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("LLMPROF_", "FAKE_", "CUDA_", "NVTX_", "RANK", "SLURM_", "OMPI_"))
        }
        ours = {
            "CUDA_INJECTION64_PATH": LIBRARY,
            "NVTX_INJECTION64_PATH": LIBRARY,
            "LLMPROF_LOG_DIR": str(self.folder),
            "LLMPROF_CUPTI": CUPTI,
            "FAKE_CUPTI_LIBRARY": CUPTI,
            "FAKE_CUDA_LIBRARY": CUDA,
            "FAKE_CUPTI_ORACLE": str(self.oracle_path),
            # Programs may end while threads still run.
            "TSAN_OPTIONS": "report_thread_leaks=0",
            # The collector allocates nothing; a leak check takes seconds per program.
            "ASAN_OPTIONS": "detect_leaks=0",
        }
        together = {**base, **ours, **more}
        return {k: v for k, v in together.items() if v is not None}

    def play(self, tape, *options, status=0, limit=None, inside=(), **environment):
        done = subprocess.run(
            [*inside, PLAY, tape.path, *options],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=self.environment(environment),
            preexec_fn=limit,
        )
        self.assertNotIn("Sanitizer", done.stderr, done.stderr)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def analyze(self, tape, **environment):
        """Plays the tape and lets llmprof read the log."""
        if "san" in pathlib.Path(LIBRARY).stem or not pathlib.Path(LLMPROF).exists():
            self.skipTest("llmprof is looked at once, in the plain suite, where it is built")
        self.play(tape, **environment)
        (log,) = self.folder.glob("*.llmtrace")
        command = [LLMPROF, "analyze", log, "--json", "--out", self.folder / "bundle"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def logs(self):
        return [Log(path) for path in sorted(self.folder.glob("*.llmtrace"))]

    def log(self):
        logs = self.logs()
        self.assertEqual(len(logs), 1, [log.path.name for log in logs])
        return logs[0]

    def records_with(self, fate, *kinds):
        return read_oracle(self.oracle_path, fate, *kinds)

    def assert_holds_what_was_delivered(self, log):
        """Every record once, with its times to the nanosecond; if tracing was stopped, only those launched before."""
        launched = {call["correlation"] for call in log.calls()}
        stopped = "paused" in [state for state, _ in log.collections()]
        for found, kinds in ((kernel_rows(log), [KERNEL]), (memory_rows(log), [COPY, FILL, PEER_COPY])):
            delivered = self.records_with("delivered", *kinds)
            if stopped:
                # The second thread may be in the middle of its launches when tracing stops or starts.
                found = [work for work in found if not work.name.startswith("triton_")]
                delivered = [
                    work
                    for work in delivered
                    if work.correlation in launched and not work.name.startswith("triton_")
                ]
            self.assert_same(found, delivered)
        self.assertEqual(len(self.records_with("broken", KERNEL)), 0)
        # Its work had not ended, or CUPTI could not determine that.
        all_kinds = (KERNEL, COPY, FILL, PEER_COPY)
        without_times = [
            work
            for work in self.records_with("delivered", *all_kinds)
            if work.start == 0 and (not stopped or work.correlation in launched)
        ]
        dropped_in_log = sum(row["records"] for row in log.of("cupti_dropped"))
        self.assertEqual(dropped_in_log, len(without_times) + len(self.records_with("dropped", *all_kinds)))

    def assert_same(self, found, delivered):
        found = collections.Counter(found)
        wanted = collections.Counter(work for work in delivered if work.start != 0)
        for what, rows in (("missing", wanted - found), ("not delivered", found - wanted)):
            self.assertEqual(rows.total(), 0, f"{rows.total()} {what}: {list(rows)[:3]}")

    def assert_calls_are_in_their_ranges(self, log, tape):
        expected = tape.ranges_of_launches()
        for call in log.calls():
            self.assertLessEqual(call["start"], call["end"])
            self.assertEqual(call["ranges"], expected[call["correlation"] % tape.correlations], call)

    def assert_every_record_has_its_call(self, log, rows):
        calls = collections.Counter(call["correlation"] for call in log.calls())
        self.assertTrue(all(count == 1 for count in calls.values()))
        starts = {call["correlation"]: call["start"] for call in log.calls()}
        for row in rows:
            self.assertLessEqual(starts[row.correlation], row.start, row)


class Records(PlayedCase):
    def test_kernels_and_memory_operations_are_the_tapes(self):
        tape = self.tape("eager")
        self.assertEqual(self.play(tape), "")
        log = self.log()
        # Computed by hand: 2 layers of 5 kernels in prefill and in each of 8 steps, and 2 on another thread.
        kernels = kernel_rows(log)
        self.assertEqual(len(kernels), 9 * 10 + 2)
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(self.records_with("off", KERNEL, COPY, FILL), [])
        on_tape = tape.work(KERNEL)
        self.assertCountEqual(
            [(k.correlation, k.end - k.start, k.name) for k in kernels],
            [(k["correlation"], k["end"] - k["start"], k["name"]) for k in on_tape],
        )
        shapes = {k["correlation"]: k for k in on_tape}
        for _, _, correlation, definition in log.kernels():
            grid = [definition[f"grid_{axis}"] for axis in "xyz"]
            block = [definition[f"block_{axis}"] for axis in "xyz"]
            wanted = shapes[correlation]
            self.assertEqual((grid, block), (wanted["grid"], wanted["block"]))
            self.assertEqual(definition["registers"], wanted["registers"])
            self.assertEqual(definition["dynamic_shared"], wanted["dynamic_shared"])
        directions = {1: 4096, 2: 8}  # CUpti_ActivityMemcpyKind: host to device, device to host
        copies = [row for row in log.memory_operations() if row["kind"] == 0]
        self.assertEqual(
            collections.Counter((row["direction"], row["bytes"]) for row in copies),
            {(1, directions[1]): 1, (2, directions[2]): 8},
        )
        (fill,) = [row for row in log.memory_operations() if row["kind"] == 1]
        self.assertEqual(fill["bytes"], 65536)

    def test_calls_are_once_in_the_log_with_their_ranges(self):
        tape = self.tape("eager")
        self.play(tape)
        log = self.log()
        self.assertEqual(
            collections.Counter(call["function"] for call in log.calls()),
            {
                "cuLaunchKernel": 90,
                "cuLaunchKernelEx": 2,
                "cuMemcpyAsync": 9,
                "cuMemsetD8Async": 1,
                "cuStreamSynchronize": 9,
            },
        )
        self.assert_calls_are_in_their_ranges(log, tape)
        self.assert_every_record_has_its_call(log, kernel_rows(log) + memory_rows(log))
        launches = [call for call in log.calls() if "Launch" in call["function"]]
        stacks = collections.Counter(tuple(call["ranges"]) for call in launches)
        self.assertEqual(stacks[("decode_all", "decode_step", "layer_01", "attn")], 8 * 3)
        self.assertEqual(stacks[("sampling",)], 2)

    def test_the_log_describes_its_process_and_devices(self):
        self.play(self.tape("eager"), FAKE_CUDA_DEVICES="2", RANK="3", WORLD_SIZE="8")
        log = self.log()
        self.assertEqual(log.path.name, f"rank3-{log.pid}.llmtrace")
        session = log.only("cuda_session")
        self.assertEqual(session["cupti_version"], 130001)
        self.assertEqual(log.strings[session["cupti_path"]], CUPTI)
        self.assertEqual(session["driver_version"], 13000)
        devices = log.of("cuda_device")
        self.assertEqual([d["ordinal"] for d in devices], [0, 1])
        self.assertEqual(devices[1]["name"].rstrip(b"\0"), b"Fake GPU 1")
        self.assertEqual(devices[0]["sm_count"], 132)
        variables = {log.strings[v["name"]]: log.strings[v["value"]] for v in log.of("variable")}
        self.assertEqual(variables, {"RANK": "3", "WORLD_SIZE": "8"})
        self.assertEqual(
            log.collections(), [("tracing", "program_start"), ("detached", "process_end")]
        )
        self.assertEqual(log.only("clean_end")["dropped"], 0)

    def test_a_launcher_leaves_no_log(self):
        """torchrun queries CUDA for its devices; its ranks are other processes."""
        tape = self.tape("eager")
        for name, logs in (("torchrun", 0), ("mpirun", 0), ("a_rank", 1)):
            with self.part(name):
                program = self.folder / name
                program.symlink_to(PLAY)
                done = subprocess.run([program, tape.path], capture_output=True, text=True, timeout=300,
                                      check=True, env=self.environment({"NVTX_INJECTION64_PATH": None}))
                self.assertEqual(done.stderr, "")
                self.assertEqual(len(list(self.folder.glob("*.llmtrace"))), logs)

    def test_the_log_has_the_version_of_the_kernel_driver(self):
        files = [pathlib.Path("/sys/module/nvidia/version"), pathlib.Path("/proc/driver/nvidia/version")]
        versions = [path.read_text() for path in files if path.exists()] or ["580.95.05"]  # the fake NVML's
        for sensors in ("on", "off"):
            with self.part(sensors=sensors):
                program = InteractiveProgram(
                    self, self.tape("eager"), LLMPROF_NVML=NVML, LLMPROF_SENSORS=sensors
                )
                program.wait_until(lambda: self.log().of("cuda_session"), "no session in the log")
                program.end()
                log = self.log()
                version = log.strings.get(log.only("cuda_session")["kernel_driver"], "")
                if sensors == "off" and len(versions) == 1 and versions[0] == "580.95.05":
                    self.assertEqual(version, "")  # NVML is not loaded
                else:
                    self.assertIn(version, versions[0].split())

    def test_threads_and_copies_of_a_program_do_not_mix(self):
        tape = self.tape("eager")
        self.play(tape, "--threads=4", "--rounds=3", FAKE_CUPTI_FLUSH_MS="1")
        log = self.log()
        self.assertEqual(len(kernel_rows(log)), 12 * 92)
        self.assert_holds_what_was_delivered(log)
        self.assert_calls_are_in_their_ranges(log, tape)
        self.assert_every_record_has_its_call(log, kernel_rows(log) + memory_rows(log))
        self.assertEqual(log.only("clean_end")["dropped"], 0)

    def test_extreme_values_of_records(self):
        tape = self.tape("edges")
        self.play(tape, FAKE_CUDA_DEVICES="2")
        log = self.log()
        self.assertEqual(log.only("clean_end")["dropped"], 0)
        self.assert_holds_what_was_delivered(log)
        kernels = {k.name[:100]: k for k in kernel_rows(log)}
        self.assertEqual(len(kernels), 6)
        self.assertNotIn("kernel_without_times", kernels)
        self.assertEqual(log.only("cupti_dropped")["records"], 1)
        long = kernels["kernel_of_five_seconds"]
        self.assertEqual(long.end - long.start, 5_000_000_000)
        self.assertEqual(len(kernels["x" * 100].name), LONGEST_NAME)
        self.assertEqual(kernels["kernel_on_device_1"].device, 1)
        launch = kernels["kernel_of_a_long_launch"].correlation
        (call,) = [c for c in log.calls() if c["correlation"] == launch]
        self.assertGreater(call["end"] - call["start"], 20_000_000)
        # A launch record has no room for it. On a busy machine, others may be as long.
        long_calls = [c for c in log.calls() if c["end"] - c["start"] >= 1 << LAUNCH_DURATION_BITS]
        self.assertEqual(len(log.of("api_call")), len(long_calls))
        (copy,) = log.memory_operations()
        self.assertEqual((copy["bytes"], copy["direction"]), (1 << 20, 10))

    def test_every_call_on_request(self):
        tape = self.tape("eager")
        self.play(tape, LLMPROF_API="1")
        log = self.log()
        functions = collections.Counter(call["function"] for call in log.calls())
        self.assertEqual(
            functions,
            {
                "cudaLaunchKernel": 90,
                "cuLaunchKernelEx": 2,
                "cudaMemcpyAsync": 9,
                "cudaMemsetAsync": 1,
                "cudaStreamSynchronize": 9,
            },
        )
        self.assert_calls_are_in_their_ranges(log, tape)
        self.assert_every_record_has_its_call(log, kernel_rows(log))

    def test_cupti_12(self):
        tape = self.tape("graph")
        self.play(tape, FAKE_CUPTI_VERSION="12")
        log = self.log()
        self.assertEqual(log.only("cuda_session")["cupti_version"], 28)
        self.assertEqual(len(kernel_rows(log)), 80)
        self.assert_holds_what_was_delivered(log)

    def test_buffers_that_come_back_full(self):
        tape = self.tape("eager", steps=600, layers=8)
        self.play(tape, "--rounds=2")
        log = self.log()
        self.assertEqual(len(kernel_rows(log)), 2 * (601 * 40 + 2))
        self.assert_holds_what_was_delivered(log)


class Nvtx(PlayedCase):
    def test_all_kinds(self):
        self.play(self.tape("edges"))
        ranges = self.log().ranges()
        self.assertEqual(
            ranges,
            [
                ("push", "", "plain push", True),
                ("push", "", "attributes push", True),
                ("push", "", "wide push", True),
                ("push", "engine", "domain push", True),
                ("push", "engine", "registered name", True),
                ("mark", "", "plain mark", True),
                ("mark", "", "attributes mark", True),
                ("mark", "", "wide mark", True),
                ("mark", "engine", "domain mark", True),
                ("mark", "engine", "registered name", True),
                ("start", "", "plain start", True),
                ("start", "engine", "domain start", True),
            ],
        )

    def test_names_of_threads(self):
        self.play(self.tape("eager"))
        log = self.log()
        (second,) = [
            serial
            for serial, records in log.threads.items()
            if any(log.strings.get(record.get("name")) == "sampling" for record in records)
        ]
        named = log.only("thread_name")
        self.assertEqual(log.strings[named["name"]], "sampler")
        self.assertEqual(named["thread_id"], log.thread_ids[second])
        self.assertIn(named, log.threads[second])

    def test_a_program_without_cuda(self):
        self.assertEqual(self.play(self.tape("eager"), "--no-cuda"), "")
        log = self.log()
        self.assertEqual(
            collections.Counter(name for _, _, name, _ in log.ranges() if not name.startswith("layer")),
            {"prefill": 1, "decode_all": 1, "decode_step": 8, "attn": 18, "mlp": 18, "sampling": 1},
        )
        self.assertTrue(all(ended for *_, ended in log.ranges()))
        self.assertEqual(log.of("cuda_session", "collection", "launch"), [])

    def test_without_a_folder_nothing_happens(self):
        self.assertEqual(self.play(self.tape("eager"), LLMPROF_LOG_DIR=None), "")
        self.assertEqual(self.logs(), [])
        self.assertEqual(len(self.records_with("off", KERNEL)), 92)


class Graphs(PlayedCase):
    def test_every_replayed_kernel_has_its_layer(self):
        tape = self.tape("graph", steps=8, layers=12)
        self.play(tape, "--threads=2")
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        kernels = kernel_rows(log)
        self.assertEqual(len(kernels), 2 * 8 * 60)
        nodes, expected = log.nodes(), tape.ranges_of_nodes()
        layers = collections.Counter()
        for kernel in kernels:
            self.assertEqual(nodes[kernel.node], expected[kernel.node & ((1 << 40) - 1)])
            layers[tuple(nodes[kernel.node])] += 1
        for layer in range(12):
            for part, count in LAYER:
                self.assertEqual(layers[("warm_up", f"layer_{layer:02}", part)], 2 * 8 * count)
        replays = [call for call in log.calls() if call["function"] == "cuGraphLaunch"]
        self.assertEqual([call["ranges"] for call in replays], 16 * [["decode_all", "decode_step"]])

    def test_a_graph_that_was_built_before_has_no_layers(self):
        self.play(self.tape("graph"), LLMPROF_ARM="LLM@decode_all")
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(len(kernel_rows(log)), 80)
        self.assertEqual(log.nodes(), {})


class ProcessEnds(PlayedCase):
    def assert_nothing_delivered_is_missing(self, log):
        missing = {k for k in self.records_with("delivered", KERNEL) if k.start != 0} - set(kernel_rows(log))
        self.assertEqual(len(missing), 0)

    def test_each_way_at_the_end(self):
        tape = self.tape("eager")
        for way, status in (
            ("return", 3),
            ("exit", 3),
            ("_exit", 3),
            ("abort", -signal.SIGABRT),
            ("kill9", -signal.SIGKILL),
        ):
            with self.part(way):
                self.play(tape, f"--exit={way}", "--status=3", status=status)
                log = self.log()
                self.assert_nothing_delivered_is_missing(log)
                # Calls are in the log as soon as they return, however the process ends.
                self.assertEqual(len(log.calls()), 111)
                if way in ("return", "exit"):
                    self.assertEqual(len(kernel_rows(log)), 92)
                    self.assert_holds_what_was_delivered(log)
                self.assertEqual(len(log.of("clean_end")), 1 if way in ("return", "exit") else 0)

    def test_in_the_middle_with_threads_still_running(self):
        tape = self.tape("eager", steps=200)
        for way, status in (
            ("exit", 3),
            ("_exit", 3),
            ("abort", -signal.SIGABRT),
            ("kill9", -signal.SIGKILL),
        ):
            with self.part(way):
                options = ("--threads=3", f"--exit={way}", "--at=9000", "--status=3")
                self.play(tape, *options, status=status)
                log = self.log()
                self.assert_nothing_delivered_is_missing(log)
                self.assertGreater(len(log.calls()), 1000)
                self.assert_calls_are_in_their_ranges(log, tape)

    def test_work_that_has_not_ended_when_the_program_does(self):
        self.play(self.tape("running"))
        log = self.log()
        self.assertEqual(len(self.records_with("unfinished", KERNEL, COPY, FILL)), 3)
        self.assertEqual([k.name for k in kernel_rows(log)], ["kernel_that_ends"])
        self.assertEqual(log.memory_operations(), [])
        self.assertEqual(sum(r["records"] for r in log.of("cupti_dropped")), 3)

    def has_spare_chunks(self, path):
        log = Log(path)
        return len(log.unused_chunks) == 4 and log.unused_chunks[-1] == log.chunks - 1

    def wait_for_spare_chunks(self, program):
        (path,) = self.folder.glob("*.llmtrace")
        program.wait_until(lambda: self.has_spare_chunks(path), "no chunks are mapped ahead")

    def test_unused_chunks_are_cut_off(self):
        tape = self.tape("eager")
        program = InteractiveProgram(self, tape)
        self.wait_for_spare_chunks(program)
        program.next_round()
        program.end()
        log = self.log()
        self.assertEqual(log.unused_chunks, [])
        self.assertEqual(log.only("clean_end")["chunks"], log.chunks)
        # Chunks of the process, its strings, its two threads in two rounds, and its GPU.
        self.assertLessEqual(log.chunks, 6)
        self.assertEqual(len(kernel_rows(log)), 2 * 92)
        self.assert_holds_what_was_delivered(log)

    def test_a_killed_program_leaves_the_chunks_that_were_mapped_ahead(self):
        program = InteractiveProgram(self, self.tape("eager"))
        self.wait_for_spare_chunks(program)
        program.process.kill()
        program.process.communicate()
        self.assertTrue(self.has_spare_chunks(self.log().path))

    def test_fork(self):
        tape = self.tape("eager", steps=32)
        for child in ("exit", "_exit"):
            for duty in (None, "2/8"):
                with self.part(child=child, duty=duty):
                    self.play(tape, "--fork=600", f"--child={child}", LLMPROF_DUTY=duty)
                    logs = self.logs()
                    self.assertEqual(len(logs), 2)
                    (parent,) = [log for log in logs if log.of("cuda_session")]
                    (other,) = [log for log in logs if not log.of("cuda_session")]
                    self.assert_holds_what_was_delivered(parent)
                    self.assertEqual(other.of("collection", "launch", "kernels", "api_name"), [])
                    steps = [name for _, _, name, _ in other.ranges()].count("decode_step")
                    self.assertGreater(steps, 10)
                    self.assertLess(steps, 32)


class InteractiveProgram:
    """A program that plays rounds on demand."""

    def __init__(self, case, tape, **environment):
        self.case = case
        self.process = subprocess.Popen(
            [PLAY, tape.path, "--rounds=1000", "--interactive"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=case.environment(environment),
        )
        case.addCleanup(self.stop)
        self.wait_for_round()

    def wait_for_round(self):
        line = self.process.stdout.readline()
        if not line.startswith("round "):
            self.case.fail(f"{line}{self.process.stderr.read()}")

    def next_round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.wait_for_round()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self):
        """ProcessEnds by returning from main."""
        _, complaints = self.process.communicate(timeout=PATIENCE)
        self.case.assertNotIn("Sanitizer", complaints, complaints)
        self.case.assertEqual(self.process.returncode, 0, complaints)
        return complaints

    def say(self, command):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
            own.bind("")  # an abstract name of the system's choice
            own.settimeout(PATIENCE)
            self.wait_until(lambda: self.reaches(own, command), "nobody listens")
            return own.recv(200).decode()

    def reaches(self, own, command):
        try:
            own.sendto(command.encode(), f"\0llmprof.{self.process.pid}".encode())
        except ConnectionRefusedError:  # the collector's thread is still starting
            return False
        return True

    def wait_until(self, condition, what):
        until = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > until:
                self.case.fail(what)
            time.sleep(0.01)


class Killed(PlayedCase):
    def test_delivered_records_survive_sigkill(self):
        program = InteractiveProgram(self, self.tape("eager"))
        # The collector's thread requests records from CUPTI by itself.
        program.wait_until(lambda: len(self.records_with("delivered", KERNEL)) == 92, "never handed over")
        program.process.kill()
        program.process.communicate()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(len(kernel_rows(log)), 92)
        self.assertEqual(log.of("clean_end"), [])


class Counters(PlayedCase):
    """Each copy of the tape is a request: it opens `prefill`."""

    def samples(self):
        rows = self.log().of("short_counter_sample")
        return sorted((row["start"], row["start"] + row["duration"]) for row in rows)

    def request_for(self, program, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            program.next_round()
            time.sleep(0.02)

    def longest_hole(self):
        samples = self.samples()
        return max(after[0] - before[1] for before, after in zip(samples, samples[1:]))

    def test_they_start_with_the_first_request(self):
        # So rarely that a collector stalled for seconds by a busy machine loses none.
        program = InteractiveProgram(self, self.tape("eager"), LLMPROF_COUNTER_HZ="10")
        program.wait_until(self.samples, "never sampled")
        program.end()
        log = self.log()
        (request,) = [
            r["time"] for r in log.of("range_push") if log.strings[r["name"]] == "prefill"
        ]
        self.assertGreater(self.samples()[0][0], request)
        self.assertEqual(log.of("counters_lost"), [])

    def test_they_pause_between_rounds(self):
        program = InteractiveProgram(self, self.tape("eager"))
        program.wait_until(self.samples, "never sampled")
        self.request_for(program, 0.5)
        last = self.samples()[-1]
        # At least three times the quarter of a second that the round lasted.
        program.wait_until(lambda: self.samples()[-1][0] > last[1] + 700_000_000, "never again")
        program.end()
        self.assertGreater(self.longest_hole(), 700_000_000)

    def time_until_sampled(self, **environment):
        self.take_fresh_folder()
        program = InteractiveProgram(self, self.tape("edges"), **environment)  # no request
        program.wait_until(self.samples, "never sampled")
        program.end()
        return self.samples()[0][0] - min(row["time"] for row in self.log().of("collection"))

    def test_a_program_without_requests_is_sampled_when_it_has_its_memory(self):
        self.assertGreater(self.time_until_sampled(), 1_000_000_000)
        # Without rounds they are not awaited (tests/collector/counter_rounds_test.cpp has the times).
        for environment in ({"LLMPROF_COUNTER_ROUNDS": "off"}, {"LLMPROF_STEPS": "1000000"}):
            self.assertGreater(self.time_until_sampled(**environment), 0)

    def test_a_budget_has_no_counters(self):
        self.play(self.tape("eager"), LLMPROF_OVERHEAD_BUDGET="90")
        self.assertEqual(self.samples(), [])

    def test_continuous_sampling_on_request(self):
        program = InteractiveProgram(self, self.tape("eager"), LLMPROF_COUNTER_ROUNDS="off")
        program.wait_until(self.samples, "never sampled")
        self.request_for(program, 1.5)
        program.end()
        self.assertLess(self.longest_hole(), 500_000_000)

    def test_kernels_are_handed_over_while_counters_are_taken(self):
        long = 20_000  # ms
        begun = time.monotonic()
        program = InteractiveProgram(self, self.tape("eager"), FAKE_PM_CONFIG_MS=str(long))
        program.wait_until(lambda: len(self.records_with("delivered", KERNEL)) == 92, "never handed over")
        self.assertLess(time.monotonic() - begun, long / 1000)
        self.assertEqual(self.samples(), [])


class Arming(PlayedCase):
    def kernels_of(self, fate, copy, tape):
        return [
            k for k in self.records_with(fate, KERNEL) if k.correlation // tape.correlations == copy
        ]

    def test_never_armed_means_not_attached(self):
        self.play(self.tape("eager"), LLMPROF_ARM="command")
        log = self.log()
        self.assertEqual(len(self.records_with("off", KERNEL)), 92)
        self.assertEqual(log.of("launch", "api_call", "kernels", "collection"), [])
        self.assertEqual([s["cupti_version"] for s in log.of("cuda_session") if s["cupti_version"]], [])
        self.assertEqual(len(log.ranges()), 65)
        self.assertEqual(log.only("waiting")["what"], 1)

    def test_a_start_that_never_came_is_named(self):
        for words, environment in (
            ("`llmprof arm PID`", {"LLMPROF_ARM": "command"}),
            ("'LLM@decode_al'", {"LLMPROF_ARM": "LLM@decode_al"}),
            ("3600000 ms", {"LLMPROF_DELAY_MS": "3600000"}),
        ):
            with self.part(words):
                done = self.analyze(self.tape("eager"), **environment)
                self.assertEqual(done.returncode, 3)
                self.assertIn("never armed", done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)

    def test_by_a_range(self):
        tape = self.tape("eager")
        program = InteractiveProgram(self, tape, LLMPROF_ARM="LLM@decode_all")
        program.next_round()
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        ranges = tape.ranges_of_launches()
        for kernel in kernel_rows(log):
            if (stack := ranges[kernel.correlation % tape.correlations]) != ["sampling"]:
                self.assertEqual(stack[0], "decode_all")
        # Not attached before: CUPTI was not asked for prefill's records.
        self.assertGreaterEqual(len(self.kernels_of("off", 0, tape)), 10)
        for copy in (0, 1):
            missing = [
                k
                for k in self.kernels_of("off", copy, tape)
                if ranges[k.correlation % tape.correlations][0] == "decode_all"
            ]
            self.assertEqual(missing, [])
        self.assertEqual(len(self.records_with("lost", KERNEL, COPY)), 0)
        self.assertEqual(len(self.records_with("unfinished", KERNEL, COPY)), 0)
        states = log.collections()
        self.assertEqual(states[0], ("tracing", "arm_range"))
        self.assertEqual(states[1], ("paused", "arm_range"))
        self.assertEqual(states.count(("tracing", "arm_range")), 2)

    def test_by_command(self):
        for every_call in ("0", "1"):
            with self.part(every_call=every_call):
                self.arm_by_command(LLMPROF_API=every_call)

    def arm_by_command(self, **environment):
        tape = self.tape("eager")
        program = InteractiveProgram(self, tape, LLMPROF_ARM="command", **environment)
        self.assertEqual(program.say("status"), "ok: not attached\n")
        self.assertTrue(program.say("dance").startswith("error: "))
        for copy in (1, 3):
            self.assertTrue(program.say("arm").startswith("ok: "))
            self.assertEqual(program.say("status"), "ok: tracing\n")
            program.next_round()
            self.assertTrue(program.say("disarm").startswith("ok: "))
            program.wait_until(lambda: program.say("status") == "ok: not attached\n", "still attached")
            program.next_round()
            self.assertEqual(len(self.kernels_of("delivered", copy, tape)), 92)
            self.assertEqual(len(self.kernels_of("off", copy + 1, tape)), 92)
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        self.assert_calls_are_in_their_ranges(log, tape)
        self.assert_every_record_has_its_call(log, kernel_rows(log))
        self.assertEqual(len(log.calls()), 2 * 111)
        detached = [("tracing", "command"), ("paused", "command"), ("detached", "command")]
        self.assertEqual(log.collections(), 2 * detached)

    def test_disarmed_while_a_call_waits(self):
        tape = self.tape("edges")
        for every_call in ("0", "1"):
            with self.part(every_call=every_call):
                program = InteractiveProgram(
                    self, tape, LLMPROF_ARM="command", LLMPROF_API=every_call
                )
                program.say("arm")
                # Approximately in the middle of the launch that takes 30 ms.
                program.process.stdin.write("\n")
                program.process.stdin.flush()
                time.sleep(0.015)
                program.say("disarm")
                program.wait_for_round()
                program.wait_until(lambda: program.say("status") == "ok: not attached\n", "attached")
                program.say("arm")
                program.next_round()
                program.end()
                log = self.log()
                kernels = [k for k in kernel_rows(log) if k.correlation // tape.correlations == 2]
                self.assertEqual(len(kernels), 5)
                second = [c for c in log.calls() if c["correlation"] // tape.correlations == 2]
                self.assertEqual(len(second), 8)

    def test_after_a_delay(self):
        tape = self.tape("eager")
        program = InteractiveProgram(self, tape, LLMPROF_DELAY_MS="300")
        program.wait_until(lambda: program.say("status") == "ok: tracing\n", "never armed")
        program.next_round()
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(len(self.kernels_of("delivered", 1, tape)), 92)
        self.assertEqual(log.collections()[0], ("tracing", "delay"))

    def test_by_a_range_that_is_started_and_ended(self):
        self.play(self.tape("edges"), LLMPROF_ARM="plain start")
        log = self.log()
        self.assertEqual(log.collections()[:2], [("tracing", "arm_range"), ("paused", "arm_range")])
        # All of the tape's work is launched after its end.
        self.assertEqual(kernel_rows(log), [])

    def test_detached_where_correlations_start_over(self):
        largest = 2**32 - 1
        tape = self.tape("eager")
        after = largest - 50  # of 111 calls
        program = InteractiveProgram(
            self, tape, LLMPROF_ARM="command", FAKE_CUPTI_CORRELATIONS_AFTER=str(after - tape.correlations)
        )
        program.say("arm")
        program.next_round()
        program.say("disarm")
        program.wait_until(lambda: program.say("status") == "ok: not attached\n", "still attached")
        program.next_round()
        program.end()
        log = self.log()
        self.assertEqual(len(kernel_rows(log)), 92)
        self.assert_every_record_has_its_call(log, kernel_rows(log))
        self.assertEqual(len(self.records_with("lost", KERNEL, COPY)), 0)

    def test_for_a_number_of_steps(self):
        tape = self.tape("graph", steps=12)
        program = InteractiveProgram(self, tape, LLMPROF_STEPS="3")
        program.wait_until(lambda: program.say("status") == "ok: not attached\n", "still attached")
        program.next_round()
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        steps = tape.steps_of_launches()
        traced = collections.Counter(steps[k.correlation] for k in kernel_rows(log))
        self.assertEqual(traced, {1: 10, 2: 10, 3: 10})
        self.assertEqual(len(self.records_with("lost", KERNEL)), 0)
        self.assertEqual(len(self.records_with("unfinished", KERNEL)), 0)
        self.assertEqual(
            log.collections(),
            [("tracing", "program_start"), ("paused", "step_limit"), ("detached", "step_limit")],
        )


class DutyCycle(PlayedCase):
    def test_some_steps_of_every_period(self):
        for kind in ("eager", "graph"):
            with self.part(kind):
                tape = self.tape(kind, steps=32)
                self.play(tape, LLMPROF_DUTY="2/8")
                log = self.log()
                self.assert_holds_what_was_delivered(log)
                steps = tape.steps_of_launches()
                traced = collections.Counter(
                    steps[k.correlation] for k in kernel_rows(log) if k.correlation in steps
                )
                wanted = [1, 2, 9, 10, 17, 18, 25, 26]
                self.assertEqual(traced, {step: 10 for step in wanted})
                if kind == "eager":  # prefill is traced completely
                    ranges = tape.ranges_of_launches()
                    prefill = [k for k in kernel_rows(log) if ranges[k.correlation][:1] == ["prefill"]]
                    self.assertEqual(len(prefill), 10)
                else:  # graphs are tracked, whatever is traced
                    nodes = log.nodes()
                    self.assertTrue(all(k.node in nodes for k in kernel_rows(log)))
                changes = [(s, r) for s, r in log.collections() if r == "duty"]
                self.assertEqual(changes[:2], [("paused", "duty"), ("tracing", "duty")])
                rows = sorted(log.of("collection"), key=lambda row: row["time"])
                at = [row["step"] for row in rows if row["reason"] == 2]
                self.assertEqual(at, [3, 9, 11, 17, 19, 25, 27])

    def test_detached_for_good_after_graphs_ran_untraced(self):
        tape = self.tape("graph", steps=12)
        program = InteractiveProgram(self, tape, LLMPROF_DUTY="2/8", LLMPROF_STEPS="9")
        program.wait_until(lambda: program.say("status") == "ok: not attached\n", "still attached")
        program.next_round()
        program.end()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        steps = tape.steps_of_launches()
        traced = collections.Counter(steps[k.correlation] for k in kernel_rows(log))
        self.assertEqual(traced, {1: 10, 2: 10, 9: 10})
        # None of them is recorded, or fails, in the second round.
        off = [k for k in self.records_with("off", KERNEL) if k.correlation >= tape.correlations]
        self.assertEqual(len(off), 120)

    def test_calls_of_untraced_steps_are_not_recorded(self):
        tape = self.tape("eager", steps=32)
        self.play(tape, LLMPROF_DUTY="2/8")
        log = self.log()
        self.assert_calls_are_in_their_ranges(log, tape)
        steps = tape.steps_of_launches()
        launches = [c for c in log.calls() if c["function"] == "cuLaunchKernel"]
        traced = {steps[c["correlation"]] for c in launches if c["correlation"] in steps}
        self.assertEqual(traced, {1, 2, 9, 10, 17, 18, 25, 26})

    def test_correlations_that_start_over(self):
        """After 4,294,967,295 calls, which a server makes in half a day."""
        largest = 2**32 - 1
        for kind in ("eager", "graph"):
            tape = self.tape(kind, steps=32)
            steps = tape.steps_of_launches()
            # In the first window, between windows, in the second.
            for step in (1, 5, 9):
                with self.part(kind, step=step):
                    last = max(correlation for correlation, of in steps.items() if of == step)
                    after = largest - last
                    self.play(tape, LLMPROF_DUTY="2/8", FAKE_CUPTI_CORRELATIONS_AFTER=str(after))
                    log = self.log()
                    self.assert_holds_what_was_delivered(log)
                    traced = collections.Counter(
                        steps.get((k.correlation - after) % largest) for k in kernel_rows(log)
                    )
                    del traced[None]
                    wanted = [1, 2, 9, 10, 17, 18, 25, 26]
                    self.assertEqual(traced, {number: 10 for number in wanted})
                    correlations = {k.correlation for k in kernel_rows(log)}
                    self.assertLess(min(correlations), 10_000)
                    self.assertGreater(max(correlations), largest - 10_000)

    def test_an_overhead_budget_is_kept(self):
        tape = self.tape("graph", steps=200)
        budget = 0.9
        self.play(tape, "--rounds=10", LLMPROF_OVERHEAD_BUDGET="90")
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        rows = sorted(log.of("collection"), key=lambda row: row["time"])
        # Anything before the first step does not count.
        first = min(
            r["time"] for r in log.of("range_push") if log.strings[r["name"]] == "decode_step"
        )
        kernels = sorted(k.end for k in kernel_rows(log))
        begun = [row for row in rows if row["state"] == 3 and row["reason"] == 3]
        self.assertNotEqual(begun, [], "no second window in a program of seconds")
        cost_of_kernel = 500  # ns in a graph, as the collector estimates
        for row in begun:
            changes = sum(r["cost_ns"] for r in rows if first < r["time"] < row["time"])
            traced = sum(1 for end in kernels if end < row["time"])
            self.assertLessEqual(
                changes + traced * cost_of_kernel, budget * (row["time"] - first)
            )


class RanksOfAJob(PlayedCase):
    """Windows open on all ranks at the same step, whatever else differs."""

    def windows(self, log):
        """The steps at which tracing resumed, and those at which it stopped."""
        rows = sorted(log.of("collection"), key=lambda row: row["time"])
        begun = [row["step"] for row in rows if row["state"] == 3][1:]
        ended = [row["step"] for row in rows if row["state"] == 2]
        return begun, ended

    def begun_when_armed_late(self, rounds, size):
        """Steps at which windows of 2/8 open in a rank that is armed after that many rounds of 7 steps."""
        self.take_fresh_folder()
        program = InteractiveProgram(
            self, self.tape("graph", steps=7), LLMPROF_ARM="command", LLMPROF_DUTY="2/8", RANK="1", WORLD_SIZE=size
        )
        for _ in range(rounds - 1):
            program.next_round()
        program.say("arm")
        for _ in range(6 - rounds):
            program.next_round()
        program.end()
        # The stage of each round also opens one, after its last step.
        return [step for step in self.windows(self.log())[0] if step % 7 != 0]

    def test_a_duty_cycle_counts_from_the_first_step(self):
        self.assertEqual(self.begun_when_armed_late(1, "2"), [9, 17, 25, 33, 41])
        self.assertEqual(self.begun_when_armed_late(3, "2"), [25, 33, 41])
        self.assertEqual(self.begun_when_armed_late(1, "1"), [16, 24, 32, 40], "no job: from where it was armed")

    def test_windows_of_a_budget_open_with_shared_steps(self):
        tape = self.tape("graph", steps=200)
        self.play(tape, "--rounds=10", LLMPROF_OVERHEAD_BUDGET="90", RANK="1", WORLD_SIZE="2")
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        begun, ended = self.windows(log)
        self.assertNotEqual(begun, [], "no second window in a program of seconds")
        # The stage of a round may open one, after its last step.
        self.assertEqual([step for step in begun if step % 16 != 1 and step % 200 != 0], [], begun)
        self.assertEqual([step for step in ended if step % 8 != 1], [], ended)


class Failures(PlayedCase):
    def assert_stood_down(self, reason, complaint, result=None):
        log = self.log()
        self.assertEqual(log.collections()[-1], ("stood_down", reason))
        if result is not None:
            self.assertEqual(log.of("collection")[-1]["result"], result)
        self.assertIn(complaint, self.complaints)
        self.assertEqual(self.complaints.count("\n"), 1)
        # The program's own annotations are still recorded.
        self.assertEqual(len(log.ranges()), 65)
        self.assertEqual(log.only("clean_end")["dropped"], 0)
        return log

    def test_another_subscriber(self):
        self.complaints = self.play(self.tape("eager"), "--other-subscriber", "--status=3", status=3)
        log = self.assert_stood_down("other_subscriber", "another tool uses CUPTI")
        self.assertEqual(log.of("launch", "kernels"), [])

    def test_no_libcupti(self):
        self.complaints = self.play(self.tape("eager"), LLMPROF_CUPTI="/nowhere/libcupti.so")
        self.assert_stood_down("cupti_missing", "libcupti not found")

    def test_libcupti_of_last_resort(self):
        toolkit = pathlib.Path("/usr/local/cuda")
        without_toolkit = []
        if toolkit.exists():
            hide = f'mount -t tmpfs tmpfs {toolkit} && exec "$@"'
            without_toolkit = ["unshare", "--mount", "sh", "-c", hide, "sh"]
            if subprocess.run([*without_toolkit, "true"], capture_output=True, check=False).returncode:
                self.skipTest(f"{toolkit} has a libcupti, which comes first; hiding it needs root")
        environment = {"LLMPROF_CUPTI": None, "LD_LIBRARY_PATH": None}
        self.play(
            self.tape("eager"), inside=without_toolkit, LLMPROF_CUPTI_FALLBACK=CUPTI, **environment
        )
        log = self.log()
        if log.strings[log.only("cuda_session")["cupti_path"]] != CUPTI:
            self.skipTest("a libcupti is on the loader's path here, and comes first")
        self.assertEqual(len(kernel_rows(log)), 92)

    def test_libcupti_of_last_resort_comes_last(self):
        # A toolkit folder whose libcupti is the fake one.
        toolkit = self.folder / "toolkit" / "lib64"
        toolkit.mkdir(parents=True)
        (toolkit / "libcupti.so.13").symlink_to(CUPTI)
        self.play(
            self.tape("eager"),
            LLMPROF_CUPTI=None,
            CUDA_HOME=str(toolkit.parent),
            LLMPROF_CUPTI_FALLBACK="/nowhere/libcupti.so",
        )
        self.assertEqual(len(kernel_rows(self.log())), 92)

    def test_cupti_that_fails(self):
        for function, code in (
            ("subscribe", 999),
            ("timestamp_callback", 1),
            ("register_callbacks", 8),
            ("enable_callback", 27),
            ("activity_enable", 35),
        ):
            with self.part(function):
                self.complaints = self.play(self.tape("eager"), FAKE_CUPTI_FAIL=f"{function}:{code}")
                log = self.assert_stood_down("cupti_failed", "CUPTI failed", code)
                self.assertEqual(log.of("launch", "kernels"), [])
                # It left CUPTI to others.
                self.assertEqual(len(self.records_with("off", KERNEL)), 92)

    def test_cupti_that_fails_later(self):
        # The fourth activity kind of the second window.
        tape = self.tape("eager", steps=32)
        complaints = self.play(tape, LLMPROF_DUTY="2/8", FAKE_CUPTI_FAIL="activity_enable:999:5")
        log = self.log()
        self.assertEqual(log.collections()[-1], ("stood_down", "cupti_failed"))
        self.assertIn("CUPTI failed", complaints)
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(len(self.records_with("lost", KERNEL, COPY, FILL)), 0)
        self.assertGreaterEqual(len(kernel_rows(log)), 30)

    def test_a_collector_that_has_stood_down_cannot_be_armed_again(self):
        # Arming from the start; the second window fails.
        program = InteractiveProgram(
            self,
            self.tape("eager", steps=32),
            LLMPROF_DUTY="2/8",
            FAKE_CUPTI_FAIL="activity_enable:999:5",
        )
        self.assertEqual(program.say("status"), "ok: stood down\n")
        self.assertEqual(program.say("disarm"), "ok: not armed\n")
        self.assertIn("error: the collector has stood down", program.say("arm"))
        self.assertEqual(program.say("status"), "ok: stood down\n")
        self.assertEqual(program.end().count("\n"), 1)

    def test_functions_whose_failure_changes_nothing(self):
        for function in ("flush_all", "activity_disable", "unsubscribe", "finalize"):
            with self.part(function):
                self.play(self.tape("eager"), "--status=3", status=3, FAKE_CUPTI_FAIL=f"{function}:999")
                self.assertEqual(len(self.log().calls()), 111)

    def test_dropped_records_are_counted(self):
        self.play(self.tape("eager"), FAKE_CUPTI_DROP="7")
        log = self.log()
        dropped = self.records_with("dropped", KERNEL, COPY, FILL)
        self.assertEqual(len(dropped), (92 + 10) // 7)
        self.assertEqual(sum(row["records"] for row in log.of("cupti_dropped")), len(dropped))
        self.assert_holds_what_was_delivered(log)

    def test_a_log_that_may_not_grow(self):
        tape = self.tape("eager", steps=200, layers=8)
        complaints = self.play(tape, "--rounds=10", "--status=3", status=3, LLMPROF_LOG_MAX_MB="1")
        self.assert_full_and_readable(complaints)

    def test_a_file_size_limit(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        tape = self.tape("eager", steps=200, layers=8)
        # The oracle is a file too, and larger.
        complaints = self.play(
            tape, "--rounds=10", "--status=3", status=3, limit=limit, FAKE_CUPTI_ORACLE=None
        )
        self.assert_full_and_readable(complaints)

    def assert_full_and_readable(self, complaints):
        log = self.log()
        self.assertLessEqual(log.path.stat().st_size, 1 << 20)
        self.assertEqual(complaints.count("\n"), 1)
        self.assertIn("the log cannot grow any further", complaints)
        self.assertGreater(log.only("clean_end")["dropped"], 0)
        self.assertGreater(len(log.kernels()), 100)
        self.assertGreater(len(log.calls()), 100)


class Recorder(PlayedCase):
    """The proxy that records tapes: recording a played tape yields the same tape."""

    def record(self, tape):
        copy = self.folder / "copy.tape"
        self.play(
            tape,
            LLMPROF_CUPTI=RECORDING,
            LLMPROF_REAL_CUPTI=CUPTI,
            NVTX_INJECTION64_PATH=RECORDING,
            LLMPROF_COLLECTOR=LIBRARY,
            LLMPROF_TAPE=str(copy),
            LLMPROF_TAPE_ALL="1",
        )
        return Tape(copy)

    def test_a_copied_tape_equals_its_source(self):
        if "san" in pathlib.Path(LIBRARY).stem:
            self.skipTest("the recorder is not built with sanitizers")
        for kind in ("eager", "graph"):
            with self.part(kind):
                tape = self.tape(kind)
                copy = self.record(tape)
                for thread in (1, 2):
                    self.assertEqual(self.calls(copy, thread), self.calls(tape, thread))
                self.assertCountEqual(self.durations(copy), self.durations(tape))
                self.assertEqual(copy.ranges_of_nodes(), tape.ranges_of_nodes())
                self.assertEqual(
                    self.paths(copy, KERNEL),
                    self.paths(tape, KERNEL),
                )

    def calls(self, tape, thread):
        keys = "item op form text domain cbid site correlation function graph node original".split()
        kinds = ("api", "resource", "nvtx")
        rows = [i for i in tape.items if i["thread"] == thread and i["item"] in kinds]
        # Thread names are the program's, not the tape's; domain numbers are the tape's own.
        return [
            tuple(row.get(key) if (key, row["item"]) != ("domain", "nvtx") else None for key in keys)
            for row in rows
        ]

    def durations(self, tape):
        return [
            (i["kind"], i["correlation"], i["name"], i["end"] - i["start"], i["node"])
            for i in tape.items
            if i["item"] == "activity" and i["kind"] != GRAPH
        ]

    def paths(self, tape, kind):
        ranges = tape.ranges_of_launches()
        return sorted((i["correlation"], ranges[i["correlation"]]) for i in tape.work(kind))


class AnalyzedLogs(PlayedCase):
    """The log as llmprof reads it. A layer's kernels take 2 + 11 + 7 + 2 + 23 = 45 us."""

    def profile(self, tape, **environment):
        done = self.analyze(tape, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_eager(self):
        profile = self.profile(self.tape("eager"))
        totals = profile["totals"]
        self.assertEqual(totals["kernel_count"], 92)
        self.assertEqual(totals["kernel_sum_ns"], 9 * 2 * 45_000 + 3_000 + 4_000)
        self.assertEqual(totals["memory_operation_count"], 10)
        stages = {stage["name"]: stage["instances"] for stage in profile["stages"]}
        self.assertEqual([i["kernel_count"] for i in stages["prefill"]], [10])
        self.assertEqual([i["kernel_count"] for i in stages["decode"]], [80])
        self.assertEqual([i["steps"] for i in stages["decode"]], [8])

    def test_the_rank_reaches_the_reports(self):
        profile = self.profile(self.tape("eager"), RANK="3")
        (capture,) = profile["context"]["captures"]
        self.assertEqual(capture["rank"], 3)
        report = (self.folder / "bundle" / "report.md").read_text()
        self.assertIn("| tool | rank | driver | CUDA |", report)
        self.assertIn(", rank 3)", (self.folder / "bundle" / "kernels.md").read_text())

    def test_graph(self):
        profile = self.profile(self.tape("graph"))
        self.assertEqual(profile["totals"]["kernel_count"], 80)
        self.assertEqual(profile["totals"]["kernel_sum_ns"], 8 * 2 * 45_000)
        calls = {kernel["kernel_name"]: kernel["calls"] for kernel in profile["kernels"]}
        self.assertEqual(calls["gemm_bf16_qkv_128x64"], 16)
        layers = {layer["name"]: layer["total_ns"] for layer in profile["layers"]}
        self.assertEqual(layers["layer_00"], 8 * 45_000)
        self.assertEqual(layers["layer_01"], 8 * 45_000)


class RecordedPrograms(PlayedCase):
    """Tapes of real programs, recorded on a GPU."""

    def test_tapes_of_real_programs(self):
        self.assertNotEqual(RECORDED_TAPES, [])
        for path in RECORDED_TAPES:
            with self.part(path.name):
                plain = self.folder / path.stem
                plain.write_bytes(gzip.decompress(path.read_bytes()))
                tape = Tape(plain)
                self.play(tape, "--pace", "--finish")
                log = self.log()
                self.assertEqual(log.only("clean_end")["dropped"], 0)
                self.assert_holds_what_was_delivered(log)
                on_tape = [work for work in tape.work(KERNEL) if work["start"] != 0]
                self.assertEqual(len(kernel_rows(log)), len(on_tape))
                nodes, expected = log.nodes(), tape.ranges_of_nodes()
                for kernel in kernel_rows(log):
                    if kernel.node in expected:
                        self.assertEqual(nodes[kernel.node], expected[kernel.node])


if __name__ == "__main__":
    unittest.main()
