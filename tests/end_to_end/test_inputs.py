"""No input of `llmprof analyze` is silently ignored: it is read, or named with the reason."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from program import DATA, LLMPROF, Bundle, kernel_summary, run

DECODER = DATA / "h200-decoder"
SUMMARY = DECODER / "nsys_cuda_gpu_kern_sum.csv"
FAILED_NCU = (
    "==PROF== Connected to process 1 (/usr/bin/python3)\n"
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU"
    " Performance Counters on the target device 0.\n"
    "==PROF== Disconnected from process 1\n"
)
NOBODY = 65534


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.folder = self.root / "captures"
        self.folder.mkdir()

    def analyze(self, *arguments, **options):
        return run("analyze", *arguments, "--out", self.root / "out", **options)

    def profile(self):
        return json.loads((self.root / "out" / "profile.json").read_text(encoding="utf-8"))


class Folders(Folder):
    def test_a_failed_ncu_file_is_reported_and_fails_the_command(self):
        shutil.copy(SUMMARY, self.folder)
        (self.folder / "ncu.csv").write_text(FAILED_NCU)
        result = self.analyze(self.folder)
        self.assertEqual(result.returncode, 3)
        self.assertIn("ERR_NVGPUCTRPERM", " ".join((result.stdout + result.stderr).split()))
        self.assertGreater(self.profile()["totals"]["kernel_count"], 0)

    def test_another_file_is_only_a_note(self):
        shutil.copy(SUMMARY, self.folder)
        (self.folder / "notes.txt").write_text("some words\n")
        self.assertEqual(self.analyze(self.folder).returncode, 0)
        notes = [d["message"] for d in self.profile()["diagnostics"]]
        self.assertTrue(any("notes.txt" in note for note in notes), notes)

    def test_files_too_deep_are_named(self):
        shutil.copy(SUMMARY, self.folder)
        deep = self.folder / "a" / "b" / "c" / "d"
        deep.mkdir(parents=True)
        shutil.copy(SUMMARY, deep)
        result = self.analyze(self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertIn("a/b/c/d", "".join(result.stdout.split()))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become a user without permission")
    def test_a_closed_subfolder_does_not_fail_its_parent(self):
        shutil.copy(SUMMARY, self.folder)
        closed = self.folder / "closed"
        closed.mkdir(mode=0o700)
        os.chmod(self.root, 0o777)
        os.chmod(self.folder, 0o755)
        binary = self.root / "llmprof"
        shutil.copy(LLMPROF, binary)
        result = subprocess.run(
            [binary, "analyze", self.folder, "--out", self.root / "out"],
            capture_output=True, text=True, check=False, timeout=300, user=NOBODY, group=NOBODY,
            cwd=self.root,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("captures/closed", "".join(result.stdout.split()))


class Files(Folder):
    def test_a_pipe_is_refused_at_once(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        result = self.analyze(pipe)
        self.assertEqual(result.returncode, 3)
        self.assertIn("is a pipe, not a file", result.stderr)

    def test_utf16_is_named(self):
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            path = self.folder / f"{encoding}.csv"
            path.write_text(SUMMARY.read_text(encoding="utf-8"), encoding=encoding)
            result = self.analyze(path)
            self.assertEqual(result.returncode, 3)
            self.assertIn("UTF-16", result.stderr)
            self.assertIn("iconv -f UTF-16 -t UTF-8", result.stderr)

    def test_a_file_may_be_called_like_an_option(self):
        shutil.copy(SUMMARY, self.folder / "-f")
        result = self.analyze("--", "-f", cwd=self.folder)
        self.assertEqual(result.returncode, 3)  # --out is after `--`, too: there is no such file
        self.assertIn("--out", result.stderr)
        result = run("analyze", "--out", self.root / "out", "--", "-f", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_an_unknown_gpu_is_refused(self):
        result = self.analyze(SUMMARY, "--gpu", "H2000")
        self.assertEqual(result.returncode, 2)
        self.assertIn("unknown value 'H2000' for --gpu; available: ", result.stderr)
        self.assertIn("H200", result.stderr)
        self.assertEqual(self.analyze(SUMMARY, "--gpu", "nvidia h200").returncode, 0)


class Sources(Folder):
    def test_a_summary_is_kept_next_to_ncu(self):
        ncu = self.folder / "ncu.csv"
        name = next(iter(kernel_summary(SUMMARY)))
        quoted = name.replace('"', '""')
        ncu.write_text(
            '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
            '"Block Size","Grid Size","Device","CC","gpu__time_duration.sum",'
            '"sm__throughput.avg.pct_of_peak_sustained_elapsed"\n'
            '"","","","","","","","","","","","ns","%"\n'
            f'"0","1","p","h","{quoted}","1","7","(128, 1, 1)","(1, 1, 1)","0","9.0","1000","40"\n'
            '"1","1","p","h","not_in_the_summary","1","7","(128, 1, 1)","(1, 1, 1)","0","9.0",'
            '"1000","50"\n'
        )
        alone = Bundle(SUMMARY).profile
        profile = Bundle(SUMMARY, ncu).profile
        self.assertEqual(profile["totals"]["source"], "summary")
        for key in ("kernel_count", "kernel_sum_ns"):
            self.assertEqual(profile["totals"][key], alone["totals"][key])
        join = profile["totals"]["metric_join"]
        self.assertEqual((join["profiled_launches"], join["joined"]), (2, 1))
        measured = [row for row in profile["kernels"] if row["metrics"]]
        self.assertEqual([row["kernel_name"] for row in measured], [name])
        self.assertIn("profiled_launches_unjoined", {d["code"] for d in profile["diagnostics"]})

    def test_a_cpu_only_torch_trace_gives_its_operators(self):
        path = self.folder / "trace.json"
        operators = [
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur,
             "args": {"External id": i + 1}}
            for i, (name, ts, dur) in enumerate([("aten::linear", 0, 50), ("aten::mm", 10, 30)])
        ]
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": operators}))
        result = self.analyze(path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ProfilerActivity.CUDA", result.stdout)
        self.assertIn("aten::mm", result.stdout)
        self.assertEqual({row["name"]: row["calls"] for row in self.profile()["operators"]},
                         {"aten::linear": 1, "aten::mm": 1})
        report = (self.root / "out" / "report.md").read_text(encoding="utf-8")
        self.assertIn("ProfilerActivity.CUDA", report)

    def test_metrics_without_a_roofline_are_counted(self):
        ncu = self.folder / "ncu.csv"
        ncu.write_text(
            '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
            '"Block Size","Grid Size","Device","CC","gpu__time_duration.sum",'
            '"launch__occupancy_limit_registers"\n'
            '"","","","","","","","","","","","ns","block"\n'
            '"0","1","p","h","gemm","1","7","(128, 1, 1)","(1, 1, 1)","0","9.0","1000","4"\n'
        )
        roofline = Bundle(ncu).profile["roofline"]
        self.assertGreater(roofline["metrics_read"], 0)
        self.assertIn("metrics were read", roofline["why_not"])
        self.assertIn("sm__throughput.avg.pct_of_peak_sustained_elapsed", roofline["why_not"])
        self.assertNotIn("no kernel metrics", roofline["why_not"])


if __name__ == "__main__":
    unittest.main()
