"""CUDA programs without a GPU, for tests of the collector: play_tape replays one from a tape, and a fake libcupti
reports it to the collector. Tests compare the log with the tape and with the fake's list of delivered records."""
import collections
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest

from collector_log import Log

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def built(variable, path):
    return os.environ.get(variable, str(BUILD / path))


LIBRARY = built("LLMPROF_COLLECTOR_LIBRARY", "lib/libllmprof_collector.so")
PLAY = built("PLAY_TAPE", "bin/play_tape")
CUPTI = built("FAKE_CUPTI_LIBRARY", "lib/libfake_cupti.so")
CUDA = built("FAKE_CUDA_LIBRARY", "lib/fake_cuda/libcuda.so.1")
MAKE = built("MAKE_TAPE", "bin/make_tape")
SHOW = built("SHOW_TAPE", "bin/show_tape")
LLMPROF = built("LLMPROF", "bin/llmprof")

KERNEL, COPY, FILL, GRAPH, PEER_COPY = 10, 1, 2, 51, 22
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

    def start_round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def next_round(self):
        self.start_round()
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
            self.wait_until(lambda: self.reaches(own, command), "the collector does not listen")
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
