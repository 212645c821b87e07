"""Distributed jobs under a real Slurm on this machine: `llmprof run -- srun`, `srun llmprof run --rank-folder`, and
the scripts of packaging/slurm."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from job_of_ranks import (CPU_LLM_TP, NO_CPU_LLM_TP, SMALL_MODEL, Run, call, operators_in, operators_of,
                          write_rank_program)
from program import LLMPROF, ROOT
from slurm_cluster import SlurmCluster

SCRIPTS = ROOT / "packaging" / "slurm"


class UnderSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = SlurmCluster()
        cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.program = write_rank_program(self.folder)

    def call(self, *words, **environment):
        return call(*words, cwd=self.folder, **{**self.cluster.variables, **environment})

    def run_job(self, *launcher, **environment):
        result = self.call(LLMPROF, "run", "workload.uses_cuda=false", "--out", "bundle", "--", *launcher, self.program,
                           **environment)
        return Run(self.folder / "bundle", result)

    def record(self, *launcher, words=(), **environment):
        result = self.call(*launcher, LLMPROF, "run", "workload.uses_cuda=false", "--rank-folder", "job", *words, "--",
                           self.program, **environment)
        return Run(self.folder / "job", result)

    def assert_totals_are_the_logs(self, run):
        self.assertEqual(operators_of(run.profile), operators_in(run.logs))

    def srun(self, ranks, *words):
        return ["srun", "--overcommit", "-n", str(ranks), *words]

    def test_llmprof_starts_srun(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                run = self.run_job(*self.srun(ranks))
                self.assertEqual(run.result.returncode, 0, run.result.stderr)
                self.assertEqual(run.ranks, list(range(ranks)))
                self.assertEqual(run.states, {rank: ("recorded", None) for rank in range(ranks)})
                self.assert_totals_are_the_logs(run)

    def test_a_killed_task_is_named(self):
        """If Slurm keeps the others, and if it ends them."""
        for bad_exit in (0, 1):
            with self.subTest(kill_on_bad_exit=bad_exit), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                run = self.run_job(*self.srun(3, f"--kill-on-bad-exit={bad_exit}"), FATE="kill",
                                   REQUESTS="2" if bad_exit == 0 else "1000000")
                self.assertEqual(run.result.returncode, 4, run.result.stderr)
                self.assertIn("rank 1 of 3 died (signal 9 (Killed))", run.result.stderr)
                states = run.states
                self.assertEqual(states.pop(1), ("died", "signal 9 (Killed)"))
                detail = None if bad_exit == 0 else "ended by srun after rank 1 died"
                self.assertEqual(states, {rank: ("recorded", detail) for rank in (0, 2)})
                self.assert_totals_are_the_logs(run)

    def test_a_failing_task_is_named(self):
        run = self.run_job(*self.srun(2, "--kill-on-bad-exit=0"), FATE="exit")
        self.assertEqual(run.result.returncode, 4, run.result.stderr)
        self.assertEqual(run.states, {0: ("recorded", None), 1: ("died", "exit code 3")})

    def test_srun_starts_llmprof(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                run = self.record(*self.srun(ranks), words=["--wait-for-ranks", "120"])
                self.assertEqual(run.result.returncode, 0, run.result.stderr)
                self.assertEqual(run.ranks, list(range(ranks)))
                self.assertEqual(run.states, {rank: ("recorded", None) for rank in range(ranks)})
                self.assert_totals_are_the_logs(run)

    def test_rank_0_names_the_one_that_was_killed(self):
        run = self.record(*self.srun(3, "--kill-on-bad-exit=0"), words=["--wait-for-ranks", "120"], FATE="kill")
        self.assertNotEqual(run.result.returncode, 0)
        self.assertIn("rank 1 of 3 died (killed by signal 9 (Killed)); the recordings of the others are analyzed",
                      run.result.stderr)
        self.assert_totals_are_the_logs(run)

    @unittest.skipUnless(CPU_LLM_TP.exists(), NO_CPU_LLM_TP)
    def test_a_real_mpi_program(self):
        plugins = self.call("srun", "--mpi=list")
        if "pmix" not in plugins.stdout + plugins.stderr:
            self.skipTest("this Slurm has no PMIx plugin, by which Open MPI's programs find each other")
        result = self.call("srun", "--overcommit", "-n", "2", "--mpi=pmix", LLMPROF, "run", "--rank-folder", "job",
                           "workload=cpu_llm_tp", *SMALL_MODEL)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(Run(self.folder / "job", result).ranks, [0, 1])

    def wait_for_batch(self, script, *words, **variables):
        """Submits the script and waits for its end; returns its output."""
        exported = ",".join(["ALL", *(f"{name}={value}" for name, value in variables.items())])
        output = self.folder / f"{script.stem}-%A-%a.out"
        result = self.call("sbatch", "--wait", f"--output={output}", f"--export={exported}", *words, script)
        said = "".join(path.read_text() for path in sorted(self.folder.glob(f"{script.stem}-*.out")))
        self.assertEqual(result.returncode, 0, result.stderr + said)
        return said

    def test_the_scripts_record_reduce_and_merge(self):
        job = self.folder / "job"
        variables = {"LLMPROF": LLMPROF, "JOB_FOLDER": job}
        record = self.wait_for_batch(SCRIPTS / "record.sbatch", "--ntasks=2", "--overcommit", "--nodes=1",
                                     PROGRAM=self.program, LLMPROF_OPTIONS="workload.uses_cuda=false", **variables)
        run = Run(job, None)
        self.assertEqual(run.ranks, [0, 1], record)
        self.wait_for_batch(SCRIPTS / "partial.sbatch", "--array=0-1", **variables)
        self.assertEqual(len(list(job.glob("partials/*.llmpart"))), 2)
        self.wait_for_batch(SCRIPTS / "merge.sbatch", **variables)
        profile = json.loads((job / "report" / "profile.json").read_text())
        self.assertEqual(operators_of(profile), operators_in(run.logs))
        self.assertEqual(sorted(rank["rank"] for rank in profile["ranks"]), [0, 1])
        at_once = self.call(LLMPROF, "analyze", job, "--out", self.folder / "at_once")
        self.assertEqual(at_once.returncode, 0, at_once.stderr)
        self.assertEqual((self.folder / "at_once" / "profile.json").read_text(),
                         (job / "report" / "profile.json").read_text())


class Scripts(unittest.TestCase):
    def test_they_are_valid_shell(self):
        scripts = sorted(SCRIPTS.glob("*.sbatch")) + sorted(SCRIPTS.glob("*.sh"))
        self.assertNotEqual(scripts, [])
        for script in scripts:
            checked = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
            self.assertEqual(checked.returncode, 0, checked.stderr)


if __name__ == "__main__":
    unittest.main()
