"""`llmprof run` of a program that uses CUDA and should be recorded by the collector: the environment of each recording,
and the result of a run in which nothing was recorded. No GPU: the program only writes its environment."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import LLMPROF, ROOT

FAKE_NSYS = ROOT / "tests" / "fakes" / "nsys_profile" / "nsys"
COLLECTOR = pathlib.Path(LLMPROF).parents[1] / "lib" / "libllmprof_collector.so"

# Writes its environment next to the metrics of its recording, and opens two ranges.
PROGRAM = """
import json, os, pathlib, llmprof_annotate
names = [n for n in os.environ if n.startswith("LLMPROF_") or "INJECTION" in n]
variables = {n: os.environ[n] for n in names}
pathlib.Path(os.environ["LLMPROF_METRICS"]).with_name("environment.json").write_text(json.dumps(variables))
with llmprof_annotate.range("prefill"), llmprof_annotate.range("decode_all"):
    pass
"""


class CollectorRun(unittest.TestCase):
    """llmprof next to a collector with the entry point for CUDA tracing, and a CUPTI that is named."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.home = pathlib.Path(holder.name)
        (cls.home / "bin").mkdir()
        (cls.home / "lib").mkdir()
        shutil.copy(LLMPROF, cls.home / "bin" / "llmprof")
        cls.library = cls.home / "lib" / COLLECTOR.name
        cls.library.write_bytes(COLLECTOR.read_bytes() + b"\0InitializeInjection\0")
        for name in ["python", "workloads", "conf"]:
            (cls.home / name).symlink_to(ROOT / name)
        cls.cupti = cls.home / "libcupti.so.13"
        cls.cupti.write_text("")

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.out = self.folder / "bundle"
        self.program = self.folder / "program.py"
        self.program.write_text(PROGRAM)

    def call(self, *words, env=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LLMPROF_")}
        environment |= {"LLMPROF_CUPTI": str(self.cupti), "LLMPROF_NSYS": "/no/such/nsys", **(env or {})}
        return subprocess.run(
            [self.home / "bin" / "llmprof", "run", *words, "--out", self.out, "--", sys.executable, self.program],
            capture_output=True, text=True, timeout=300, check=False, cwd=self.folder, env=environment,
        )

    def plan(self, *words, env=None):
        result = self.call("--dry-run", *words, env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def environment_of(self, backend):
        return json.loads((self.out / backend / "environment.json").read_text())

    def failing_nsys(self):
        return {"LLMPROF_NSYS": str(FAKE_NSYS), "FAKE_NSYS": "crash"}

    def test_the_plan_names_its_recordings_and_why(self):
        plan = self.plan()
        self.assertIn(f"# timeline: the collector's, with the program's own CUPTI, else {self.cupti}", plan)
        self.assertIn("nsys is skipped (pipeline.nsys.enable=true adds it)", plan)
        self.assertIn(f"CUDA_INJECTION64_PATH={self.library}", plan)
        self.assertIn("\ncollector", plan)
        self.assertNotIn("\nnsys", plan)
        self.assertIn("\nncu", plan)

    def test_light_mode_leaves_ncu_out(self):
        plan = self.plan("--mode", "light")
        self.assertIn("# ncu is skipped in light mode", plan)
        self.assertIn("LLMPROF_COUNTER_HZ=1000", plan)
        self.assertNotIn("\nncu", plan)

    def test_settings_win(self):
        plan = self.plan("pipeline.nsys.enable=true", "pipeline.ncu.enable=false")
        self.assertIn("\nnsys", plan)
        self.assertNotIn("\nncu", plan)
        plan = self.plan("pipeline.collector.enable=false")
        self.assertIn("# timeline: nsys's; pipeline.collector.enable=false", plan)
        self.assertNotIn("CUDA_INJECTION64_PATH", plan)

    def test_without_cuda_tracing_nsys_is_the_timeline(self):
        whole = self.library.read_bytes()
        self.library.write_bytes(whole.replace(b"\0InitializeInjection\0", b"\0InitializeSomething\0"))
        try:
            plan = self.plan()
        finally:
            self.library.write_bytes(whole)
        self.assertIn("# timeline: nsys's; the collector cannot record it: it was built without", plan)
        self.assertIn("LLMPROF_CUPTI_INCLUDE", plan)
        self.assertNotIn("CUDA_INJECTION64_PATH", plan)

    def test_options_reach_the_collector(self):
        plan = self.plan("--duty", "8", "--arm", "LLM@decode_all", "--api")
        for words in ["LLMPROF_DUTY=4/32", "LLMPROF_ARM=LLM@decode_all", "LLMPROF_API=1"]:
            self.assertIn(words, plan)
        self.assertIn("LLMPROF_OVERHEAD_BUDGET=2.5 ", self.plan("--overhead-budget", "2.5%"))
        self.assertIn("records once `llmprof arm PID`", self.plan("--arm", "command"))

    def test_wrong_options_are_refused_before_anything_runs(self):
        for words, message in [
            (["--duty", "x"], "collector.duty must be T/P"),
            (["--overhead-budget", "0%"], "above 0"),
            (["--duty", "8", "--overhead-budget", "2%"], "choose one"),
            (["--arm", "comand"], "did you mean 'command'?"),
            (["--arm", "decode_all@LLM"], "did you mean 'LLM@decode_all'?"),
        ]:
            with self.subTest(words):
                result = self.call(*words)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)
                self.assertFalse(self.out.exists())

    def test_a_foreign_injection_library_is_reported_but_not_named(self):
        plan = self.plan(env={"CUDA_INJECTION64_PATH": "/opt/private/lib.so"})
        self.assertIn("# CUDA_INJECTION64_PATH is set here", plan)
        self.assertNotIn("private", plan)

    def test_only_its_own_recording_loads_it_into_cuda(self):
        result = self.call("pipeline.ncu.enable=false", "--duty", "1/3", env={"LLMPROF_STEPS": "7"})
        self.assertEqual(result.returncode, 4, result.stderr)
        control, own = self.environment_of("stage1"), self.environment_of("collector")
        for variable in ["CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LLMPROF_ARM", "LLMPROF_DUTY"]:
            self.assertNotIn(variable, control)
        self.assertEqual(own["CUDA_INJECTION64_PATH"], str(self.library))
        self.assertEqual(own["NVTX_INJECTION64_PATH"], str(self.library))
        self.assertEqual((own["LLMPROF_DUTY"], own["LLMPROF_ARM"]), ("1/3", "start"))
        self.assertEqual(own["LLMPROF_STEPS"], "", "variables of the shell do not affect the run")

    def test_a_shell_that_loads_it_everywhere_does_not_affect_other_recordings(self):
        """ncu refuses a program with this variable."""
        exported = {"CUDA_INJECTION64_PATH": str(self.library), "NVTX_INJECTION64_PATH": str(self.library)}
        result = self.call("pipeline.ncu.enable=false", env=exported)
        self.assertEqual(result.returncode, 4, result.stderr)
        control, own = self.environment_of("stage1"), self.environment_of("collector")
        for variable in exported:
            self.assertNotIn(variable, control)
            self.assertEqual(own[variable], str(self.library))

    def test_no_kernels_are_a_failure_with_its_cause(self):
        result = self.call("pipeline.ncu.enable=false")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("the collector recorded no GPU kernels", result.stderr)
        self.assertIn("no process that it was loaded into used CUDA", result.stderr)
        self.assertNotIn("nsys:", result.stderr, "an nsys that was not requested is not reported as missing")
        self.assertEqual(len(list((self.out / "collector").glob("*.llmtrace"))), 1)

    def test_nsys_is_then_tried_if_it_is_installed(self):
        result = self.call("pipeline.ncu.enable=false", env=self.failing_nsys())
        self.assertIn("the collector recorded no GPU kernels", result.stderr)
        self.assertIn("nsys crashed", result.stderr)
        shutil.rmtree(self.out)
        result = self.call("pipeline.ncu.enable=false", "pipeline.nsys.enable=false", env=self.failing_nsys())
        self.assertNotIn("nsys crashed", result.stderr)


if __name__ == "__main__":
    unittest.main()
