"""`llmprof run` with an nsys and an ncu that need no GPU: what it reads, and each of their failures."""
import contextlib
import os
import pathlib
import shutil
import sqlite3
import stat
import sys
import tempfile
import unittest

from file_events import FileEvents
from program import ROOT, run
from run_case import PROVENANCE, REPORTS, RunCase, profile_of

FAKES = ROOT / "tests" / "fakes"


class FakeTools(RunCase):
    """Runs of a program with an nsys and an ncu that need no GPU."""

    # A program that uses our annotation API and ends at once.
    PROGRAM = (
        "import llmprof_annotate as a\n"
        "with a.range('prefill'):\n"
        "    now = a.now_ns()\n"
        "    a.operator('gemm', now, now + 1000, 100, 100)\n"
    )

    def setUp(self):
        super().setUp()
        self.program = self.folder / "program.py"
        self.program.write_text(self.PROGRAM)

    def fake_ncu(self, behavior):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "ncu").symlink_to(FAKES / "ncu_profile" / "ncu")
        (folder / "behavior").write_text(behavior)
        return {"LLMPROF_NCU": str(folder / "ncu")}

    def fake_nsys(self, behavior):
        return {
            "LLMPROF_NSYS": str(FAKES / "nsys_profile" / "nsys"),
            "LLMPROF_QDSTRM_IMPORTER": str(FAKES / "QdstrmImporter"),
            "FAKE_NSYS": behavior,
        }

    def nsys_exporting(self, behavior, *tables):
        """A fake nsys whose export is a database with these tables, not a short text."""
        database = self.folder / "exported.sqlite"
        database.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
            for table in tables:
                connection.execute(table)
            connection.commit()
        tool = self.folder / "nsys"
        tool.write_text(
            "#!/bin/sh\n"
            f'[ "$1" != export ] || exec cp "{database}" "$5"\n'
            f'exec "{FAKES}/nsys_profile/nsys" "$@"\n'
        )
        tool.chmod(stat.S_IRWXU)
        return {**self.fake_nsys(behavior), "LLMPROF_NSYS": str(tool)}

    def run_with(self, environment, *words, uses_cuda="false"):
        shutil.rmtree(self.out, ignore_errors=True)
        return self.profile_run(
            f"workload.uses_cuda={uses_cuda}",
            *words,
            env=environment,
            program=[sys.executable, self.program],
        )


class ReadsOnce(FakeTools):
    """A run opens each capture as often as one analysis of its folder, puts each report in place once, and has the same
    results as that analysis."""

    KERNELS = [
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, "
        "demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, "
        "blockZ INT)",
        "INSERT INTO StringIds VALUES (1, 'norm(float *)')",
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 19, 0, 7, 1, 1, 4, 1, 1, 32, 1, 1)",
    ]

    def counted_run(self, environment, *words):
        """How often the run read files, and how often the analysis of its folder did."""
        folders = [self.out / name for name in ["", "collector", "nsys", "ncu", "stage1"]]
        for folder in folders:
            folder.mkdir(exist_ok=True)
        events = FileEvents(*folders)
        self.addCleanup(events.close)
        # The kernel merges equal consecutive events, which occur if two threads open one file at once: on one core each
        # open is an event.
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, {min(cores)})
        result = self.profile_run(
            "--force", *words, env=environment, program=[sys.executable, self.program]
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        by_run, placed = events.take()
        for name in REPORTS:
            self.assertEqual(placed[self.out / name], 1, name)
        again = self.folder / "again"
        self.assertEqual(run("analyze", self.out, "--out", again).returncode, 0)
        by_analysis, _ = events.take()
        for name in REPORTS:
            self.assertEqual((self.out / name).read_text(), (again / name).read_text(), name)
        return by_run, by_analysis

    def test_the_log_of_a_run_with_ncu(self):
        by_run, by_analysis = self.counted_run(
            self.fake_ncu("ok"), "workload.uses_cuda=false", "pipeline.ncu.enable=true"
        )
        (log,) = (self.out / "collector").glob("*.llmtrace")
        self.assertGreater(by_analysis[log], 0)
        self.assertEqual(by_run[log], by_analysis[log])

    def test_the_export_of_nsys(self):
        environment = {**self.nsys_exporting("ok", *self.KERNELS), **self.fake_ncu("ok")}
        by_run, by_analysis = self.counted_run(environment, "workload.uses_cuda=true")
        export = self.out / "nsys" / "run.sqlite"
        self.assertGreater(by_analysis[export], 0)
        # nsys writes it, scrubbing copies it without its secrets, and a one-row query checks whether it contains any
        # kernel.
        self.assertEqual(by_run[export], by_analysis[export] + 3)
        measured = {row["kernel_name"] for row in profile_of(self.out)["kernels"] if row["metrics"]}
        self.assertIn("norm(float *)", measured)


class FailingTools(FakeTools):
    """All failures of nsys and ncu: each is reported in its own words, and nothing else is lost."""

    def assert_the_rest_is_kept(self, result, backends):
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual(len(list((self.out / "collector").glob("*.llmtrace"))), 1)
        for name in [*REPORTS, *PROVENANCE]:
            self.assertTrue((self.out / name).is_file(), name)
        profile = profile_of(self.out)
        self.assertEqual([row["kernel_name"] for row in profile["kernels"]], ["gemm"])
        self.assertEqual([item["backend"] for item in profile["captures_failed"]], backends)
        report = (self.out / "report.md").read_text(encoding="utf-8")
        for backend in backends:
            self.assertIn(backend, report)
            self.assertTrue((self.out / backend / "status.json").is_file())
        for path in self.out.rglob("*"):
            self.assertNotRegex(path.name, r"\.(tmp|part)\b")
        self.assert_complete(self.out)
        again = self.folder / "again"
        shutil.rmtree(again, ignore_errors=True)
        self.assertEqual(run("analyze", self.out, "--out", again).returncode, 0)
        self.assertEqual(profile_of(again)["captures_failed"], profile["captures_failed"])

    def test_nsys(self):
        for behavior, words, settings in [
            ("crash", "nsys crashed and left no report: killed by signal 11", []),
            ("huge", "nsys wrote more than 5 MB", ["run.max_trace_mb=5"]),
            ("nothing", "nsys reported success but left no report", []),
            ("empty", "nsys left an empty report", []),
            ("garbage", "not an Nsight Systems report", []),
            ("permission", "nsys is not permitted to profile here", []),
            ("refused", "Illegal --trace argument", []),
            ("bad_stream", "QdstrmImporter could not convert it", []),
            ("bad_export", "nsys export --type sqlite", []),
        ]:
            with self.subTest(behavior):
                result = self.run_with(
                    self.fake_nsys(behavior), "pipeline.nsys.enable=true", *settings
                )
                self.assertIn(words, result.stderr)
                self.assert_the_rest_is_kept(result, ["nsys"])

    def test_a_hanging_nsys_is_stopped_and_its_report_kept(self):
        result = self.run_with(
            self.nsys_exporting("hang"), "pipeline.nsys.enable=true", "run.timeout_s=5"
        )
        self.assertIn("not finished after 5 s", result.stderr)
        self.assert_the_rest_is_kept(result, ["nsys"])
        self.assertTrue((self.out / "nsys" / "run.nsys-rep").is_file())

    def test_a_stream_that_nsys_did_not_import_is_not_a_failure(self):
        result = self.run_with(self.nsys_exporting("stream"), "pipeline.nsys.enable=true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.out / "nsys" / "run.nsys-rep").is_file())
        self.assertTrue((self.out / "nsys" / "run.sqlite").is_file())

    def test_a_timeline_without_kernels_is_a_failure_if_the_workload_uses_cuda(self):
        result = self.run_with(
            self.nsys_exporting("ok"), "pipeline.ncu.enable=false", uses_cuda="true"
        )
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("the timeline contains no GPU kernels", result.stderr)
        for cause in ["computed on the CPU", "forked", "CUPTI"]:
            self.assertIn(cause, result.stderr)
        self.assertNotIn("while the capture was open", result.stderr)

    def test_kernels_in_the_timeline_are_not_a_failure(self):
        result = self.run_with(
            self.nsys_exporting(
                "ok",
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, "
                "streamId INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, "
                "blockX INT, blockY INT, blockZ INT)",
                "INSERT INTO StringIds VALUES (1, 'gemm')",
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 9, 0, 7, 1, 1, 1, 1, 1, 32, 1, 1)",
            ),
            "pipeline.ncu.enable=false",
            uses_cuda="true",
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([row["calls"] for row in profile_of(self.out)["kernels"]][:1], [1])

    def test_ncu(self):
        for behavior, words, settings in [
            ("crash", "ncu crashed: killed by signal 11", []),
            ("hang", "ncu did not finish", ["run.timeout_s=5"]),
            ("endless", "grew beyond the size limit", ["run.max_trace_mb=5"]),
            ("silent", "ncu ended without a report", []),
            ("garbage", "gave no table", []),
            ("permission", "NVreg_RestrictProfilingToAdminUsers=0", []),
            ("in_use", "another tool uses them, most often DCGM", []),
            ("no_driver", "ncu found no CUDA driver", []),
            ("nothing", "profiled no kernel", []),
            ("babble", "ncu failed: exit code 3", []),
        ]:
            with self.subTest(behavior):
                result = self.run_with(
                    self.fake_ncu(behavior), "pipeline.ncu.enable=true", *settings
                )
                self.assertIn(words, result.stderr)
                self.assert_the_rest_is_kept(result, ["ncu"])

    def test_kernels_that_ncu_loses_are_measured_once_more(self):
        kernels = ['void gemm<(int)8>(T1 *, "quoted")', "norm(float *)"]
        tables = [
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, "
            "streamId INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, "
            "blockX INT, blockY INT, blockZ INT)"
        ]
        for number, name in enumerate(kernels, 1):
            tables.append(f"INSERT INTO StringIds VALUES ({number}, '{name}')")
            tables.append(
                f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({number}0, {number}9, 0, 7, "
                f"{number}, {number}, 1, 1, 1, 32, 1, 1)"
            )
        for behavior, measured, lost in [("loses", 2, 0), ("loses_always", 1, 1)]:
            with self.subTest(behavior):
                result = self.run_with(
                    {**self.nsys_exporting("ok", *tables), **self.fake_ncu(behavior)},
                    uses_cuda="true",
                )
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue((self.out / "ncu" / "all_lost_raw.csv").is_file())
                union = (self.out / "ncu" / "raw.csv").read_text(encoding="utf-8")
                self.assertEqual(len(union.splitlines()), 2 + measured, union)
                again = self.folder / behavior
                self.assertEqual(run("analyze", self.out, "--out", again).returncode, 0)
                for folder in [self.out, again]:
                    codes = [item["code"] for item in profile_of(folder)["diagnostics"]]
                    self.assertEqual(codes.count("ncu_kernel_not_seen"), lost, codes)

    def test_ranges_without_kernels_are_named(self):
        self.program.write_text("import llmprof_annotate as a\nwith a.range('prefill'): pass\n")
        result = self.run_with(
            self.fake_nsys("nothing"), "pipeline.ncu.enable=false", uses_cuda="true"
        )
        self.assertEqual(result.returncode, 4, result.stderr)
        # One log: each attempt replaces the previous one's.
        (log,) = (self.out / "nsys" / "annotations").iterdir()
        again = run("analyze", self.out, "--out", self.folder / "again")
        self.assertEqual(again.returncode, 3, again.stderr)
        for words in [str(log), "holds ranges but no", "nsys reported success but left no report"]:
            self.assertIn(words, again.stderr)
            self.assertIn(words, result.stderr)

    def test_a_cpu_program_is_analyzed_from_the_log_of_a_failed_nsys_recording(self):
        result = self.run_with(
            self.fake_nsys("nothing"), "pipeline.nsys.enable=true", "pipeline.collector.enable=false"
        )
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual([row["kernel_name"] for row in profile_of(self.out)["kernels"]], ["gemm"])

    def test_both(self):
        result = self.run_with(
            {**self.fake_nsys("crash"), **self.fake_ncu("permission")},
            "pipeline.nsys.enable=true",
            "pipeline.ncu.enable=true",
        )
        self.assertIn("nsys crashed", result.stderr)
        self.assertIn("ERR_NVGPUCTRPERM", result.stderr)
        self.assert_the_rest_is_kept(result, ["nsys", "ncu"])


if __name__ == "__main__":
    unittest.main()
