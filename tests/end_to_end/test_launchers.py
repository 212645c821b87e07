"""Distributed jobs under Open MPI's mpirun, and under a replacement for torchrun: every rank is recorded, and a rank
that dies or never starts is named."""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from job_of_ranks import (CPU_LLM, CPU_LLM_TP, NO_CPU_LLM_TP, SMALL, SMALL_MODEL, Run, call, operators_in, operators_of,
                          write_rank_program)
from program import LLMPROF

CORES = os.cpu_count()
# llmprof itself sets Open MPI's options for root and for more ranks than cores.
NO_OPEN_MPI_OPTIONS = {"OMPI_ALLOW_RUN_AS_ROOT": None, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": None,
                       "OMPI_MCA_rmaps_base_oversubscribe": None}

# torchrun's externally visible behavior: the variables of its ranks, and how it reports failures.
TORCHRUN = """#!%(python)s
import os, subprocess, sys
assert sys.argv[1] == "--nproc-per-node"
size, program = int(sys.argv[2]), sys.argv[3:]
ranks = [subprocess.Popen(program, env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank),
                                        "WORLD_SIZE": str(size)}) for rank in range(size)]
codes = [rank.wait() for rank in ranks]
for rank, code in enumerate(codes):
    if code:
        print(f"Root Cause (first observed failure):\\n[0]:\\n  rank      : {rank} (local_rank: {rank})\\n"
              f"  exitcode  : {code} (pid: {ranks[rank].pid})", file=sys.stderr)
sys.exit(any(codes))
"""


class LauncherCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.program = write_rank_program(self.folder)

    def run_job(self, *launcher, words=(), **environment):
        out = self.folder / "bundle"
        result = call(LLMPROF, "run", "workload.uses_cuda=false", *words, "--out", out, "--", *launcher, self.program,
                      cwd=self.folder, **environment)
        return Run(out, result)

    def assert_totals_are_the_logs(self, run):
        self.assertEqual(operators_of(run.profile), operators_in(run.logs))

    def assert_rank_1_died(self, run, how, size):
        self.assertEqual(run.result.returncode, 4, run.result.stderr)
        self.assertIn(f"rank 1 of {size} died ({how})", run.result.stderr)
        self.assertIn("what the other ranks recorded is kept and analyzed", run.result.stderr)
        states = run.states
        self.assertEqual(states.pop(1), ("died", how))
        self.assertEqual({state for state, _ in states.values()}, {"recorded"})
        self.assertIn(0, run.ranks)
        self.assert_totals_are_the_logs(run)
        report = (run.folder / "report.md").read_text()
        self.assertIn(f"The collector capture is not complete: rank 1 of {size} died", report)
        self.assertNotIn("capture is missing", report)


class Mpirun(LauncherCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("mpirun") is None:
            raise unittest.SkipTest("mpirun is not installed: scripts/setup.sh test installs openmpi-bin")

    def test_every_rank_is_recorded_and_the_launcher_is_not(self):
        for size in (2, 4):
            with self.subTest(size=size):
                shutil.rmtree(self.folder / "bundle", ignore_errors=True)
                run = self.run_job("mpirun", "-n", size)
                self.assertEqual(run.result.returncode, 0, run.result.stderr)
                self.assertEqual(run.ranks, list(range(size)))
                self.assertEqual(run.states, {rank: ("recorded", None) for rank in range(size)})
                self.assertEqual(json.loads((run.folder / "ranks.json").read_text())["world_size"], size)
                self.assert_totals_are_the_logs(run)

    def test_a_killed_rank_is_named_and_the_others_are_analyzed(self):
        run = self.run_job("mpirun", "-n", "3", FATE="kill", REQUESTS="300")
        self.assert_rank_1_died(run, "signal 9 (Killed)", 3)

    def test_a_rank_that_fails_is_named(self):
        run = self.run_job("mpirun", "-n", "2", FATE="exit")
        self.assert_rank_1_died(run, "exit code 3", 2)

    def test_a_killed_rank_that_the_launcher_ignores(self):
        """mpirun itself then succeeds; only the log without an end shows the failure."""
        run = self.run_job("mpirun", "--enable-recovery", "-n", "2", FATE="kill")
        self.assert_rank_1_died(run, "its log has no end: it was killed, or left without exit()", 2)

    def test_a_rank_without_a_log_is_named(self):
        run = self.run_job("mpirun", "-n", "2", FATE="silent")
        self.assertEqual(run.result.returncode, 4, run.result.stderr)
        self.assertIn("rank 1 of 2 is missing (it left no log)", run.result.stderr)
        self.assertEqual(run.states[1], ("missing", "it left no log"))
        self.assert_totals_are_the_logs(run)

    def test_a_script_around_the_launcher(self):
        """Only the ranks' logs then show how many there should be."""
        out = self.folder / "bundle"
        result = call(LLMPROF, "run", "workload.uses_cuda=false", "--out", out, "--", "sh", "-c",
                      f"mpirun -n 3 {self.program}", FATE="silent")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("rank 1 of 3 is missing (it left no log)", result.stderr)
        self.assertEqual(Run(out, result).profile["job"]["missing"], [1])

    def test_a_program_that_does_not_start_is_not_a_missing_rank(self):
        out = self.folder / "bundle"
        result = call(LLMPROF, "run", "workload.uses_cuda=false", "--out", out, "--", "mpirun", "-n", "2", "/no/such/llm")
        self.assertEqual(result.returncode, 4)
        self.assertIn("the workload itself failed", result.stderr)
        self.assertNotIn("missing", result.stderr)

    def test_ranks_on_named_hosts_get_the_variables(self):
        plan = call(LLMPROF, "run", "workload.uses_cuda=false", "--dry-run", "--", "mpirun", "--host", "localhost:2",
                    "-n", "2", self.program)
        self.assertIn("mpirun -x LLMPROF_METRICS", plan.stdout)
        self.assertIn("-x LLMPROF_LOG_DIR", plan.stdout)
        run = self.run_job("mpirun", "--host", "localhost:2", "-n", "2")
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        self.assertEqual(run.ranks, [0, 1])

    def test_a_workload_of_ranks_starts_mpirun_by_itself(self):
        words = ["workload=cpu_llm", "workload.ranks=2", "workload.threads=1", *SMALL_MODEL]
        out = self.folder / "bundle"
        result = call(LLMPROF, "run", *words, f"workload.ranks={CORES + 1}", "--out", out, **NO_OPEN_MPI_OPTIONS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(Run(out, result).ranks, list(range(CORES + 1)))
        nowhere = call(LLMPROF, "run", *words, "--out", self.folder / "other", PATH="/no/such/folder")
        self.assertEqual(nowhere.returncode, 4)
        self.assertIn("openmpi-bin", nowhere.stderr)
        self.assertFalse((self.folder / "other").exists())

    @unittest.skipUnless(CPU_LLM_TP.exists(), NO_CPU_LLM_TP)
    def test_a_model_split_among_ranks(self):
        out = self.folder / "bundle"
        result = call(LLMPROF, "run", "workload=cpu_llm_tp", "workload.ranks=4", *SMALL_MODEL, "--out", out,
                      **NO_OPEN_MPI_OPTIONS)
        run = Run(out, result)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(run.ranks, [0, 1, 2, 3])
        self.assertEqual([rank["rank"] for rank in run.profile["ranks"]], [0, 1, 2, 3])
        self.assertTrue((out / "stage1" / "metrics.json").exists(), "rank 0's own times")


class RankFolders(LauncherCase):
    """The launcher starts llmprof: `mpirun llmprof run --rank-folder DIR -- program`."""

    setUpClass = Mpirun.setUpClass

    def record(self, *words, size=2, **environment):
        result = call("mpirun", "-n", size, LLMPROF, "run", "workload.uses_cuda=false", "--rank-folder", "job", *words,
                      "--", self.program, cwd=self.folder, **environment)
        return Run(self.folder / "job", result)

    def test_each_rank_has_a_folder_and_nothing_is_analyzed(self):
        run = self.record(size=4)
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        self.assertEqual(sorted(path.name for path in run.folder.iterdir()), ["rank0", "rank1", "rank2", "rank3"])
        for rank in range(4):
            own = Run(run.folder / f"rank{rank}", run.result)
            self.assertEqual((own.ranks, own.states), ([rank], {rank: ("recorded", None)}))
        analyzed = call(LLMPROF, "analyze", run.folder, "--out", self.folder / "out")
        self.assertEqual(analyzed.returncode, 0, analyzed.stderr)
        profile = json.loads((self.folder / "out" / "profile.json").read_text())
        self.assertEqual(operators_of(profile), operators_in(run.logs))

    def test_rank_0_writes_the_reports_if_it_waits(self):
        run = self.record("--wait-for-ranks", "60")
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        self.assertEqual(run.states, {0: ("recorded", None), 1: ("recorded", None)})
        self.assert_totals_are_the_logs(run)

    @unittest.skipUnless(CPU_LLM_TP.exists(), NO_CPU_LLM_TP)
    def test_a_real_mpi_program_finds_its_launcher_through_llmprof(self):
        result = call("mpirun", "-n", 2, LLMPROF, "run", "--rank-folder", "job", "workload=cpu_llm_tp", *SMALL_MODEL,
                      cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(Run(self.folder / "job", result).ranks, [0, 1])

    def test_recordings_are_not_overwritten(self):
        self.record()
        before = {path: path.read_bytes() for path in self.folder.glob("job/**/*.llmtrace")}
        again = self.record().result
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("exists: another process is or was this rank", again.stderr)
        self.assertEqual(before, {path: path.read_bytes() for path in self.folder.glob("job/**/*.llmtrace")})

    def test_a_killed_rank_says_how_it_ended(self):
        run = self.record(FATE="kill")
        self.assertNotEqual(run.result.returncode, 0)
        own = Run(run.folder / "rank1", run.result)
        self.assertEqual(own.states, {1: ("died", "killed by signal 9 (Killed)")})
        self.assertIn("rank 1: the workload itself failed: killed by signal 9", run.result.stderr)

    def test_it_is_refused_without_a_launcher(self):
        result = call(LLMPROF, "run", "workload.uses_cuda=false", "--rank-folder", self.folder / "job", "--", self.program)
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot find this process's rank", result.stderr)
        self.assertFalse((self.folder / "job").exists())
        # A Slurm batch script has these too, before it starts any task.
        batch = call(LLMPROF, "run", "--rank-folder", self.folder / "job", "--", self.program, SLURM_PROCID="0",
                     SLURM_NTASKS="4")
        self.assertEqual(batch.returncode, 2)

    def test_options_that_do_not_fit_are_refused(self):
        for words, message in ((["--out", "x"], "--rank-folder already names the folder"),
                               (["--repeat", "2"], "--rank-folder records one run")):
            result = call(LLMPROF, "run", "--rank-folder", self.folder / "job", *words, "--", self.program, RANK="0")
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(message, result.stderr)
        result = call(LLMPROF, "run", "--wait-for-ranks", "5", "--", self.program)
        self.assertEqual(result.returncode, 2)

    def test_a_rank_that_never_starts_is_missing(self):
        result = call(LLMPROF, "run", "workload.uses_cuda=false", "--rank-folder", "job", "--wait-for-ranks", "1", "--",
                      self.program, cwd=self.folder, RANK="0", WORLD_SIZE="3")
        run = Run(self.folder / "job", result)
        self.assertEqual(result.returncode, 4)
        self.assertIn("rank 1 of 3 is missing (it has no folder: it never started)", result.stderr)
        self.assertEqual({rank: state for rank, (state, _) in run.states.items()},
                         {0: "recorded", 1: "missing", 2: "missing"})
        self.assert_totals_are_the_logs(run)


class Torchrun(LauncherCase):
    """A replacement with torchrun's variables and messages: the tests do not need PyTorch."""

    def setUp(self):
        super().setUp()
        self.launcher = self.folder / "torchrun"
        self.launcher.write_text(TORCHRUN % {"python": sys.executable})
        self.launcher.chmod(0o755)

    def test_every_rank_is_recorded(self):
        run = self.run_job(self.launcher, "--nproc-per-node", "2")
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        self.assertEqual(run.ranks, [0, 1])
        self.assert_totals_are_the_logs(run)

    def test_a_killed_rank_is_named(self):
        run = self.run_job(self.launcher, "--nproc-per-node", "2", FATE="kill")
        self.assert_rank_1_died(run, "signal 9 (Killed)", 2)


class NoLauncher(LauncherCase):
    def test_one_process_is_not_a_job(self):
        out = self.folder / "bundle"
        result = call(LLMPROF, "run", "workload.uses_cuda=false", "--out", out, "--", CPU_LLM, *SMALL, "--requests", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse((out / "ranks.json").exists())


if __name__ == "__main__":
    unittest.main()
