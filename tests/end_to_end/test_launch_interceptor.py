"""The launch interceptor: a program's launches and waits as the preloaded collector records them, with a CUDA runtime
that needs no GPU; the program behaves as without it."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from collector_log import Log
from preloaded import BUILD, LIBRARY, NEEDS_FIRST_PLACE, environment_without_llmprof, needs_a_sanitizer

PROGRAM = os.environ.get("LAUNCHING_PROGRAM", str(BUILD / "bin" / "launching_program"))
LOADED = os.environ.get("LAUNCHING_LIBRARY", str(BUILD / "lib" / "liblaunching_library.so"))
DUMP = os.environ.get("DUMP_CAPTURE", str(BUILD / "bin" / "dump_capture"))

KERNEL, GRAPH, WAIT = 1, 2, 3
# The launches and waits of one run, in order: kind and handle. A copy includes its own wait.
CALLS = [
    (KERNEL, 11), (KERNEL, 12), (KERNEL, 13), (WAIT, 0),
    (GRAPH, 21), (WAIT, 0),
    (GRAPH, 21), (WAIT, 0),
    (KERNEL, 14), (WAIT, 0), (WAIT, 0),
]  # fmt: skip
RESULT = 11 + 12 + 13 + 8 + 2 * 21 + 14 + 9
STREAM_NS = 2_000_000  # minimum wait for a stream
STREAM_WAITS = 3  # the first of the waits: for a stream, or a copy that waits for it


class LaunchInterceptor(unittest.TestCase):
    def setUp(self):
        if needs_a_sanitizer():
            self.skipTest(NEEDS_FIRST_PLACE)
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def run_command(self, command, **variables):
        base = environment_without_llmprof()
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, env={**base, **variables}
        )

    def run_preloaded(self, command, watch="only"):
        return self.run_command(
            command, LD_PRELOAD=LIBRARY, LLMPROF_LOG_DIR=str(self.folder), LLMPROF_WATCH=watch
        )

    def only_log(self):
        (path,) = self.folder.glob("*.llmtrace")
        return path

    def check_calls(self, rows):
        self.assertEqual([(row["kind"], row["handle"]) for row in rows], CALLS)
        waits = [row for row in rows if row["kind"] == WAIT]
        for row in waits[:STREAM_WAITS]:
            self.assertGreaterEqual(row["duration"], STREAM_NS)
        self.assertEqual({row["duration"] for row in rows if row["kind"] != WAIT}, {0})
        for row, after in zip(rows, rows[1:]):
            self.assertLessEqual(row["start"] + row["duration"], after["start"])

    def test_the_program_is_the_same(self):
        without = self.run_command([PROGRAM])
        self.assertEqual(without.returncode, RESULT % 256)
        self.assertIn("kernel 11: 1x2x3 blocks of 4x5x6, 4096 bytes, stream 8, argument 1011\n", without.stdout)
        self.assertIn("token 42!\n", without.stdout)
        for watch in ("only", "on"):
            preloaded = self.run_preloaded([PROGRAM], watch)
            self.assertEqual(preloaded.stdout, without.stdout)
            self.assertEqual(preloaded.stderr, "")
            self.assertEqual(preloaded.returncode, without.returncode)

    def test_launches_and_waits_are_recorded_in_order(self):
        self.run_preloaded([PROGRAM])
        log = Log(self.only_log())
        self.check_calls(log.of("host_call"))
        self.assertEqual(len(log.threads), 1)
        self.assertEqual(log.of("cuda_session", "launch", "kernels"), [])  # no tracing

    def test_llmprof_reads_the_same_calls(self):
        self.run_preloaded([PROGRAM])
        done = subprocess.run([DUMP, self.only_log()], capture_output=True, text=True, timeout=60, check=True)
        capture = json.loads(done.stdout)
        # Nothing in it can be analyzed separately, and nothing is wrong with it.
        self.assertEqual(capture["diagnostics"], [{"code": "collector_log_empty", "count": 1}])
        rows = Log(self.only_log()).of("host_call")
        origin = rows[0]["start"] - capture["host_calls"][0]["start"]
        self.assertEqual(
            [(row["kind"] + 1, row["handle"], row["start"], row["end"]) for row in capture["host_calls"]],
            [
                (row["kind"], row["handle"], row["start"] - origin, row["start"] - origin + row["duration"])
                for row in rows
            ],
        )

    def test_each_thread_has_its_own(self):
        done = self.run_preloaded([PROGRAM, "threads"])
        self.assertEqual(done.returncode, 0)
        log = Log(self.only_log())
        handles = [
            collections.Counter(row["handle"] for row in records if row["type"] == "host_call")
            for records in log.threads.values()
        ]
        self.assertCountEqual([counts for counts in handles if counts], [{41: 1000}, {42: 1000}])

    def test_a_runtime_loaded_with_another_library(self):
        command = [sys.executable, "-c", f"import ctypes; print(ctypes.CDLL({LOADED!r}).run_launches())"]
        without = self.run_command(command)
        self.assertIn(f"{RESULT}\n", without.stdout)
        preloaded = self.run_preloaded(command)
        self.assertEqual((preloaded.returncode, preloaded.stdout, preloaded.stderr), (0, without.stdout, ""))
        self.check_calls(Log(self.only_log()).of("host_call"))

    def test_nothing_is_recorded_unless_requested(self):
        without = self.run_command([PROGRAM])
        preloaded = self.run_command([PROGRAM], LD_PRELOAD=LIBRARY, LLMPROF_LOG_DIR=str(self.folder))
        self.assertEqual((preloaded.returncode, preloaded.stdout), (without.returncode, without.stdout))
        for path in self.folder.glob("*.llmtrace"):
            self.assertEqual(Log(path).of("host_call"), [])


if __name__ == "__main__":
    unittest.main()
