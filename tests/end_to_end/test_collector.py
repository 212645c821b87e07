"""Programs that use our annotation API, and the content of their logs, however they ended; the collector's library."""
import collections
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from collector_case import LIBRARY, PROGRAM, ROOT, CollectorCase, codes, dump, names, python
from collector_log import Log

MARK, START_END, PUSH_POP = 3, 1, 0


class AnnotatedPrograms(CollectorCase):
    def test_one_request(self):
        before = time.time_ns()
        done = self.run_program("request")
        self.assertEqual(done.stdout + done.stderr, "")
        log = self.only_log()
        self.assertEqual(codes(log), {})
        self.assertEqual(log["process"]["name"], "annotated_program")
        self.assertTrue((self.folder / f"{log['process']['pid']}.llmtrace").exists())
        self.assertEqual(
            names(log), {"request": 1, "prefill": 1, "decode_all": 1, "decode_step": 4, "done": 1}
        )
        self.assertEqual({row["domain"] for row in log["ranges"]}, {"LLM"})
        rows = {row["name"]: row for row in log["ranges"]}
        self.assertEqual(rows["request"]["kind"], START_END)
        self.assertEqual(rows["prefill"]["kind"], PUSH_POP)
        self.assertEqual(rows["done"]["kind"], MARK)
        for row in log["ranges"]:
            self.assertLessEqual(row["start"], row["end"])
            if row["name"] == "decode_step":
                self.assertLessEqual(rows["decode_all"]["start"], row["start"])
                self.assertLessEqual(row["end"], rows["decode_all"]["end"])
        start = log["wall_clock_ns"] + rows["request"]["start"]
        self.assertLess(before, start)
        self.assertLess(start, time.time_ns())
        steps = [(row["kind"], row["batch"], row["tokens"]) for row in log["steps"]]
        self.assertEqual(steps, [(0, 2, 64)] + 4 * [(1, 2, 2)])
        self.assertEqual(
            [(o["name"], o["end"] - o["start"], o["flops"], o["bytes"]) for o in log["operators"]],
            [("gemm", 1000, 2000000, 4096), ("softmax", 500, 0, 512)],
        )

    def test_threads(self):
        self.run_program("threads")
        log = self.only_log()
        self.assertEqual(codes(log), {})
        expected = {f"worker_{i}": 5000 for i in range(8)} | {"inner": 40000, "handed over": 1}
        self.assertEqual(names(log), expected)
        per_thread = collections.Counter(
            (row["thread"], row["name"].startswith("worker_")) for row in log["ranges"]
        )
        self.assertEqual(sorted(per_thread.values()), [1] + 16 * [5000])
        self.assertTrue(all(row["end"] is not None for row in log["ranges"]))

    def test_threads_that_come_and_go_share_chunks(self):
        self.run_program("short_threads")
        log = self.only_log()
        self.assertEqual(codes(log), {})
        self.assertEqual(names(log), {"short": 500})
        self.assertEqual(len(log["threads"]), 501)
        (path,) = self.folder.glob("*.llmtrace")
        self.assertLessEqual(path.stat().st_size, 5 * 65536)

    def test_a_forked_child_has_its_own_log(self):
        self.run_program("fork")
        logs = self.logs()
        self.assertEqual(len(logs), 3)
        self.assertEqual(
            sorted(sorted(names(log)) for log in logs),
            [["before", "child"], ["before", "child"], ["before", "parent"]],
        )
        closed = [log for log in logs if "collector_log_not_closed" not in codes(log)]
        self.assertEqual(len(closed), 2)  # one child exits with _exit

    def test_a_child_that_no_fork_handler_saw_leaves_its_parents_log_alone(self):
        self.run_program("silent_fork")
        self.assertEqual(sorted(names(self.only_log())), ["after", "before"])
        (path,) = self.folder.glob("*.llmtrace")
        self.assertEqual(len(Log(path).of("clean_end")), 1)

    def test_a_killed_program_leaves_all_it_recorded(self):
        with subprocess.Popen(
            [PROGRAM, "endless"], stdout=subprocess.PIPE, text=True, env=self.environment()
        ) as program:
            done = 0
            while done < 20000:
                done = int(program.stdout.readline())
            program.send_signal(signal.SIGKILL)
            rest = program.stdout.read().split("\n")[:-1]
        done = max([done] + [int(line) for line in rest if line])
        log = self.only_log()
        steps = [r for r in log["ranges"] if r["name"] == "decode_step" and r["end"] is not None]
        self.assertGreaterEqual(len(steps), done)
        self.assertLess(len(steps), done + 1001)
        found = codes(log)
        self.assertEqual(found.pop("collector_log_not_closed"), 1)
        self.assertIn(found.pop("collector_log_open_ranges"), (1, 2))
        found.pop("collector_log_unfinished", None)
        self.assertEqual(found, {})

    def test_names(self):
        self.run_program("names")
        log = self.only_log()
        self.assertEqual(codes(log), {"collector_log_cut_names": 1})
        self.assertEqual(log["ranges"][0]["name"], "n" * 16384)
        found = names(log)
        self.assertEqual(sum(found[f"unique name {i}"] for i in range(40000)), 40000)
        self.assertEqual(found[""], 1)
        self.assertEqual(found["bad \ufffd  bytes"], 1)

    def test_ranges_left_open_and_ends_without_start(self):
        self.run_program("unbalanced")
        log = self.only_log()
        self.assertEqual(codes(log), {"collector_log_open_ranges": 1})
        self.assertEqual({r["name"]: r["end"] is None for r in log["ranges"]}, {"open": True, "closed": False})

    def test_annotations_in_a_signal_handler(self):
        self.run_program("signals")
        log = self.only_log()
        self.assertLessEqual(set(codes(log)), {"collector_log_dropped"})
        self.assertLessEqual(set(names(log)), {"loaded", "interrupted", "in handler"})

    def check_stopped(self, done, words):
        self.assertEqual(done.stdout, "still here\n")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(words, done.stderr)
        log = self.only_log()
        found = codes(log)
        # A pop that was recorded although its push was dropped may be among them.
        self.assertEqual(set(found) - {"collector_log_open_ranges"}, {"collector_log_dropped"})
        complete = sum(row["end"] is not None for row in log["ranges"])
        pairs = 2 * complete + found.get("collector_log_open_ranges", 0)
        self.assertEqual(pairs + found["collector_log_dropped"], 400000)
        self.assertGreater(complete, 1000)

    def test_a_size_limit_stops_recording_not_the_program(self):
        self.check_stopped(self.run_program("many", LLMPROF_LOG_MAX_MB="1"), "File too large")

    def test_a_system_limit_does_not_kill_the_program(self):
        self.check_stopped(self.run_program("limited"), "File too large")

    def test_a_full_disk_stops_recording_not_the_program(self):
        if os.geteuid() != 0 or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.folder], capture_output=True, check=False
        ).returncode != 0:
            self.skipTest("needs the right to mount a small file system")
        try:
            self.check_stopped(self.run_program("many"), "No space left on device")
        finally:
            subprocess.run(["umount", self.folder], check=True)

    def test_a_folder_is_made_with_the_first_log(self):
        for name in ("absent", "absent too/", "./in the program's folder//"):
            with self.subTest(name):
                # A relative path refers to the working directory at load time.
                done = self.python(
                    f"""
                    import ctypes, os
                    os.chdir({str(self.folder)!r})
                    ctypes.CDLL(os.environ["LLMPROF_COLLECTOR"])
                    os.chdir("/")
                    import llmprof_annotate
                    llmprof_annotate.mark("moved")
                    """,
                    LLMPROF_LOG_DIR=name,
                )
                self.assertEqual(done.stderr, "")
                (log,) = (self.folder / name).glob("*.llmtrace")
                self.assertEqual(names(dump(log)), {"moved": 1})

    def test_no_folder_is_made_without_need(self):
        code = "import ctypes, os; ctypes.CDLL(os.environ['LLMPROF_COLLECTOR'])"
        self.python(code, LLMPROF_LOG_DIR=str(self.folder / "absent"))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_folder_that_cannot_be_written(self):
        done = self.run_program("many", LLMPROF_LOG_DIR=str(self.folder / "absent" / "below"))
        self.assertFalse((self.folder / "absent").exists())
        self.assertEqual(done.stdout, "still here\n")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("No such file or directory", done.stderr)

    def test_a_program_that_closes_all_descriptors(self):
        done = self.run_program("closes_all")
        self.assertIn("own file has 3 bytes", done.stdout)
        log = self.only_log()
        self.assertEqual(codes(log), {})
        self.assertEqual(names(log)["many"], 200000)

    def test_nothing_to_do_without_collector_or_folder(self):
        done = self.run_program("request", LLMPROF_COLLECTOR="")
        self.assertEqual(done.stdout + done.stderr, "")
        done = self.run_program("request", LLMPROF_LOG_DIR="")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertEqual(list(self.folder.iterdir()), [])
        done = self.run_program("request", LLMPROF_COLLECTOR="/absent.so")
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("annotations are off", done.stderr)

    def test_a_reused_process_id(self):
        # exec keeps the process id: the second program finds the first one's log.
        subprocess.run(
            ["sh", "-c", f'exec "{PROGRAM}" request'], env=self.environment(), check=True
        )
        (first,) = self.folder.iterdir()
        code = (
            "import os, sys; sys.path.insert(0, sys.argv[1]); import llmprof_annotate as a;"
            "a.mark('before'); os.execv(sys.argv[2], [sys.argv[2], 'request'])"
        )
        subprocess.run(
            [sys.executable, "-c", code, str(ROOT / "python"), PROGRAM],
            env=self.environment(),
            check=True,
        )
        later = sorted(path.name for path in self.folder.iterdir() if path != first)
        self.assertEqual(len(later), 2)
        self.assertEqual(later[0].replace("-2.llmtrace", ".llmtrace"), later[1])

    def python(self, code, **more):
        return python(self.environment(**more), code)

    PYTHON = """
        import llmprof_annotate as annotate
        with annotate.range("prefill"):
            annotate.step("prefill", batch=3, tokens=9)
            start = annotate.now_ns()
            annotate.operator("gemm", start, start + 7, flops=5, bytes_moved=6)
        started = annotate.range_start("request")
        annotate.mark("m\\u00fctze")
        annotate.range_end(started)
        try:
            annotate.step("decoding", 1, 1)
        except ValueError as error:
            print(annotate.enabled(), error)
    """

    def test_python(self):
        done = self.python(self.PYTHON)
        self.assertEqual(done.stdout, "True unknown kind of step 'decoding'; available: prefill, decode, mixed\n")
        self.assertEqual(done.stderr, "")
        log = self.only_log()
        self.assertEqual(codes(log), {})
        self.assertEqual(names(log), {"prefill": 1, "request": 1, "m\u00fctze": 1})
        self.assertEqual([(s["kind"], s["batch"], s["tokens"]) for s in log["steps"]], [(0, 3, 9)])
        (call,) = log["operators"]
        self.assertEqual((call["end"] - call["start"], call["flops"], call["bytes"]), (7, 5, 6))

    def test_python_without_the_collector(self):
        done = self.python(self.PYTHON, LLMPROF_COLLECTOR="")
        self.assertIn("False", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])


class Library(unittest.TestCase):
    def test_needs_only_libc(self):
        done = subprocess.run(
            ["readelf", "--dynamic", "--wide", LIBRARY], capture_output=True, text=True, check=True
        )
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout))
        if any("asan" in name or "tsan" in name for name in needed):
            self.skipTest("needs a collector without sanitizers, whose libraries it links")
        self.assertEqual({name for name in needed if not name.startswith("ld-linux")}, {"libc.so.6"})

    def test_needs_no_newer_system(self):
        done = subprocess.run(["readelf", "-V", "--wide", LIBRARY], capture_output=True, text=True, check=True)
        versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", done.stdout)}
        self.assertTrue(versions)
        self.assertLessEqual(max(versions), (2, 34))

    def test_exports_only_what_programs_and_nvidia_call(self):
        done = subprocess.run(
            ["nm", "--dynamic", "--defined-only", LIBRARY], capture_output=True, text=True, check=True
        )
        exported = {line.split()[-1] for line in done.stdout.splitlines()}
        # If it was built without the headers of NVTX or CUPTI, it does not use theirs.
        by_headers = {"InitializeInjection", "InitializeInjectionNvtx2"}
        # Replaced if the library is preloaded, to record launches (docs/collector.md, The launch interceptor) ...
        replaced = {
            "cudaLaunchKernel", "cudaLaunchKernel_ptsz", "__cudaLaunchKernel", "__cudaLaunchKernel_ptsz",
            "cudaLaunchKernelExC", "cudaLaunchKernelExC_ptsz",
            "cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernel_ptsz",
            "cudaGraphLaunch", "cudaGraphLaunch_ptsz",
            "cudaStreamSynchronize", "cudaStreamSynchronize_ptsz", "cudaEventSynchronize",
            "cudaDeviceSynchronize", "cudaMemcpy", "cudaMemcpy_ptds",
        }
        # ... and to record GPU memory (GPU memory without CUPTI).
        by_stream = {"cudaMallocAsync", "cudaMallocFromPoolAsync", "cuMemAllocAsync", "cuMemAllocFromPoolAsync",
                     "cuMemFreeAsync", "cuLaunchKernel", "cuLaunchKernelEx", "cuGraphInstantiateWithParams"}
        of_memory = {
            "cudaMalloc", "cudaMallocManaged", "cudaMallocPitch", "cudaMallocHost", "cudaHostAlloc",
            "cuMemAlloc_v2", "cuMemAllocPitch_v2", "cuMemFree_v2", "cuMemAllocManaged", "cuMemHostAlloc",
            "cuMemAllocHost_v2", "cuMemFreeHost", "cuMemCreate", "cuMemMap", "cuMemUnmap", "cuMemRelease",
            "cuMemRetainAllocationHandle", "cuMemPoolCreate", "cuMemPoolDestroy", "cuMemPoolTrimTo",
            "cuModuleLoad", "cuModuleLoadData", "cuModuleLoadDataEx", "cuModuleLoadFatBinary", "cuModuleGetFunction",
            "cuLibraryLoadData", "cuLibraryLoadFromFile", "cuLibraryGetModule", "cuKernelGetFunction",
            "cuGraphInstantiateWithFlags", "cuGetProcAddress", "cuGetProcAddress_v2", "dlsym",
            *by_stream, *(f"{name}_ptsz" for name in by_stream),
        }
        if "InitializeInjection" in exported:
            replaced |= of_memory
        self.assertEqual(exported - by_headers, {"llmprof_annotation_functions"} | replaced)


def importer():
    found = sorted(pathlib.Path("/usr/lib/nsight-systems").glob("host-linux-*/QdstrmImporter"))
    return found[0] if found else None


class UnderNsys(CollectorCase):
    """The same ranges as nsys reports them."""

    @unittest.skipUnless(shutil.which("nsys"), "needs nsys, which is not here")
    def test_nsys_sees_the_same_ranges(self):
        report = self.folder / "run"
        command = ["nsys", "profile", "-t", "nvtx", "--sample=none", "--cpuctxsw=none", "-o", report]
        subprocess.run([*command, PROGRAM, "request"], env=self.environment(), capture_output=True, timeout=300, check=False)
        if report.with_suffix(".qdstrm").exists():
            if importer() is None:
                self.skipTest("nsys left a .qdstrm, and there is no QdstrmImporter")
            subprocess.run(
                [importer(), "-i", report.with_suffix(".qdstrm"), "-o", report.with_suffix(".nsys-rep")],
                capture_output=True, timeout=300, check=False,
            )
        subprocess.run(
            ["nsys", "export", "-t", "sqlite", "-o", report.with_suffix(".sqlite"), report.with_suffix(".nsys-rep")],
            capture_output=True, timeout=300, check=False,
        )
        if not report.with_suffix(".sqlite").exists():
            self.skipTest("needs an nsys that exports its report here")
        database = sqlite3.connect(report.with_suffix(".sqlite"))
        domains = database.execute("SELECT text FROM NVTX_EVENTS WHERE eventType = 75").fetchall()
        if ("LLM",) not in domains:
            self.skipTest("the collector was built without NVTX's headers")
        rows = database.execute(
            "SELECT coalesce(text, (SELECT value FROM StringIds WHERE id = textId)), count(*)"
            " FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) GROUP BY 1"
        ).fetchall()
        database.close()
        self.assertEqual(dict(rows), names(self.only_log()))


if __name__ == "__main__":
    unittest.main()
