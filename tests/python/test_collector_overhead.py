"""The benchmark of the collector's overhead: its arithmetic by hand, its runs with stand-ins."""
import contextlib
import io
import json
import pathlib
import sqlite3
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import collector_overhead as bench  # noqa: E402
import collector_overhead_captures as captures  # noqa: E402


def decode(turn, variant, *times):
    return {"round": turn, "variant": variant, "seconds": 1, "messages": [], "decode_ms": list(times),
            "prefill_ms": [1.0] * len(times)}


def launch(turn, variant, nanoseconds):
    """As the program prints it: other threads take a tenth of the launching thread's time."""
    printed = {"median_ns": nanoseconds, "thread_cpu_ns": nanoseconds, "other_threads_cpu_ns": nanoseconds / 10,
               "set_up_cpu_ms": 300.0}
    return {"round": turn, "variant": variant, "seconds": 1, "messages": [],
            **bench.launch_figures("a line\n" + json.dumps(printed))}


class Figures(unittest.TestCase):
    def test_ratios_use_the_same_round(self):
        """Round 1 is a fast machine, round 2 a slow one: 11/10 and 24/20, whose median is 1.15."""
        results = {"runs": [decode(1, "none", 9, 10, 11), decode(1, "ours", 11, 11, 30),
                            decode(2, "none", 20, 20, 20), decode(2, "ours", 24, 24, 1)]}
        self.assertAlmostEqual(bench.over_none(results, "ours", "decode_ms"), 1.15)
        self.assertIsNone(bench.over_none(results, "loaded", "decode_ms"))
        table = bench.decode_table(results)
        self.assertIn("| ours | 2 | 17.500 | +15.00 % | 11.000 to 24.000 |", table)

    def test_share_of_what_nsys_adds(self):
        """none 4000, ours 5000, nsys 6000: half of what nsys adds."""
        runs = [launch(turn, variant, median) for turn in (1, 2, 3)
                for variant, median in [("none", 4000), ("ours", 5000), ("nsys", 6000)]]
        table = bench.launch_table({"runs": runs})
        self.assertIn("| ours | 3 | 5000 | +1000 | 5000 | +1000 | 5500 | +1100 | 300 | +0 |", table)
        self.assertIn("ours: share of what nsys adds per launch: median_ns 50 %, thread_cpu_ns 50 %, all_cpu_ns 50 %", table)

    def test_captures_are_compared(self):
        ours = {"kernels": {"gemm": [10, 1010], "norm": [5, 100]}, "kernel_count": 15, "stages": {"decode": 12}}
        nsys = {"kernels": {"gemm": [10, 1000], "norm": [6, 100]}, "kernel_count": 16, "stages": {"decode": 12}}
        text = "\n".join(bench.compare_captures(ours, nsys))
        self.assertIn("kernels: ours 15, nsys 16 (DIFFERENT)", text)
        self.assertIn("with differing counts: 1", text)
        self.assertIn("norm: ours 5, nsys 6", text)
        self.assertRegex(text, r"\+1.00 % \(0.00 %, 0.00 %\) +10 calls  gemm")

    def test_times_are_medians_of_processes(self):
        """100, 104 and 101: median 101, and a spread of 4 over 101."""
        runs = [{"variant": "nsys_node", "capture": {"kernels": {"gemm": [2, total]}, "kernel_count": 2}}
                for total in (100, 104, 101)]
        typical = bench.typical_capture({"runs": runs}, "nsys_node")
        self.assertEqual(typical["kernels"], {"gemm": [2, 101]})
        self.assertEqual(typical["processes"], 3)
        self.assertAlmostEqual(typical["apart"]["gemm"], 4 / 101)

    def test_a_kernel_that_only_nsys_has_is_reported(self):
        ours = {"kernels": {"gemm": [1, 50]}, "kernel_count": 1, "stages": {}}
        nsys = {"kernels": {"gemm": [1, 50], "norm": [1, 50]}, "kernel_count": 2, "stages": {}}
        self.assertIn("NOT COMPARED: ours has no norm, 1 calls", "\n".join(bench.compare_captures(ours, nsys)))

    def test_functions_match_however_they_are_demangled(self):
        for names in (
            ("void at::native::(anonymous namespace)::cat<at::Opaque<2u>, 4>(int*)",
             "void at::native::<unnamed>::cat<at::Opaque<(unsigned int)2>, (int)4>(int *)"),
            ("void scale<4, f(int)::{lambda(float)#1}>(int)", "void scale<(int)4, f(int)::[lambda(float)]>(T1)"),
            ("nvjet_sm90_tst", "nvjet_sm90_tst"),
        ):
            self.assertEqual(*map(captures.function_of, names))
        self.assertEqual(captures.function_of("void ns::<unnamed>::cat<(int)4>(int)"), "ns::@::cat")
        self.assertNotEqual(captures.function_of("void a<1>()"), captures.function_of("void b<1>()"))

    def test_nsys_is_read_by_plain_sql(self):
        with tempfile.TemporaryDirectory() as name:
            report = pathlib.Path(name) / "run.nsys-rep"
            report.write_text("report")
            with contextlib.closing(sqlite3.connect(report.with_suffix(".sqlite"))) as database:
                database.executescript(
                    """CREATE TABLE StringIds (id INT, value TEXT);
                    INSERT INTO StringIds VALUES (1, 'gemm <int >'), (2, 'decode_all');
                    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL
                      (start INT, end INT, demangledName INT, correlationId INT, globalPid INT);
                    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
                      (0, 7, 1, 1, 0x5000000), (10, 15, 1, 2, 0x5000000);
                    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, correlationId INT, globalTid INT);
                    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 1, 0x5000009), (9, 2, 0x5000009);
                    CREATE TABLE NVTX_EVENTS (start INT, end INT, globalTid INT, text TEXT, textId INT);
                    INSERT INTO NVTX_EVENTS VALUES (0, 5, 0x5000009, NULL, 2), (0, 99, 0x5000001, NULL, 2);"""
                )
            read = captures.read_nsys("true", report)
        self.assertEqual(read["kernels"], {"gemm": [2, 12]})
        self.assertEqual(read["stages"], {"prefill": 0, "decode": 1})


PROGRAM = """
import json, os, sys
assert sys.argv[1:] == ["--reqs", "2", "--graph"], sys.argv
loaded = os.environ.get("CUDA_INJECTION64_PATH", "")
print("noise")
print("RESULT", json.dumps({"truth": [{"prefill_ms": 1, "decode_ms": 20 if loaded else 10}] * 2}))
if os.environ.get("LLMPROF_ARM"):
    print("llmprof: not armed", file=sys.stderr)
"""


class Runs(unittest.TestCase):
    def call(self, *words):
        printed = io.StringIO()
        with mock.patch.object(sys, "argv", ["bench", *map(str, words)]):
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                bench.main()
        return printed.getvalue()

    def test_calls_add_to_the_results(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program = folder / "program.py"
            program.write_text(PROGRAM)
            (folder / "lib").mkdir()
            (folder / "lib" / bench.LIBRARY).write_text("")
            results = folder / "results.json"
            words = ["decode", "--program", program, "--results", results, "--home", folder, "--requests", 2,
                     "--only", "none,loaded", "--rounds", 1]
            with mock.patch.dict("os.environ", {"LLMPROF_ARM": "start"}):
                self.call(*words, "--", "--graph")
            text = self.call(*words, "--", "--graph")
            runs = json.loads(results.read_text())["runs"]
        self.assertEqual([(run["round"], run["variant"]) for run in runs],
                         [(1, "none"), (1, "loaded"), (2, "none"), (2, "loaded")])
        self.assertEqual(runs[0]["messages"], [], "variables of the user's shell are removed")
        self.assertIn("| loaded | 2 | 20.000 | +100.00 % |", text)
        self.assertIn("messages in loaded: llmprof: not armed", text)

    def test_a_missing_tool_is_named(self):
        with mock.patch.dict("os.environ", {"LLMPROF_NSYS": "", "PATH": ""}):
            with self.assertRaisesRegex(SystemExit, "nsys: no nsys: set LLMPROF_NSYS"):
                self.call("launch", "--program", "x", "--results", "/nonexistent/r", "--only", "none,nsys")


if __name__ == "__main__":
    unittest.main()
