"""A folder belongs to one run, and one process writes into it at a time."""
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from program import DATA, H200_CAPTURES, LLMPROF, ROOT, run

CAPTURE = DATA / "nsys_sqlite" / "eager.sqlite"
LONGER = H200_CAPTURES / "h200-llama-eager" / "nsys.sqlite"
FAKE_NCU = ROOT / "tests" / "fakes" / "ncu_profile" / "ncu"

# As many operators as its argument says, in each of two stages.
PROGRAM = """
import sys, llmprof_annotate as a
for stage in ("prefill", "decode_all"):
    with a.range(stage):
        for _ in range(int(sys.argv[1])):
            now = a.now_ns()
            a.operator("gemm", now, now + 1000, 100, 100)
"""


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.out = self.folder / "x"
        self.program = self.folder / "program.py"
        self.program.write_text(PROGRAM)

    def run_program(self, operators, *words, env=None):
        return run("run", "workload.uses_cuda=false", *words, "--", sys.executable, self.program, operators,
                   env=env, cwd=self.folder)

    def succeeds(self, *arguments, **more):
        done = self.run_program(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    @staticmethod
    def operators_in(folder):
        profile = json.loads((folder / "profile.json").read_text(encoding="utf-8"))
        return sum(row["calls"] for row in profile["kernels"]) // 2


class SecondRuns(Folder):
    def test_hold_only_their_own_recordings(self):
        for where in (["--out", "x"], ["hydra.run.dir=y"]):
            folder = self.folder / where[-1].split("=")[-1]
            self.succeeds(3, *where)
            (folder / "notes.txt").write_text("mine")
            refused = self.run_program(4, *where)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("--force", refused.stderr)
            for number, operators in ((1, 4), (2, 5)):
                done = self.succeeds(operators, *where, "--force")
                self.assertIn(f"previous-{number}", done.stderr)
                self.assertEqual(self.operators_in(folder), operators)
                self.assertEqual(self.operators_in(folder / f"previous-{number}"), operators - 1)
                self.assertEqual(len(list((folder / "collector").glob("*.llmtrace"))), 1)
                self.assertEqual(len(json.loads((folder / "collector/status.json").read_text())), 1)
            self.assertEqual((folder / "notes.txt").read_text(), "mine")

    def test_are_the_only_ones_that_commands_read(self):
        self.succeeds(3, "--out", "x")
        self.succeeds(4, "--out", "x", "--force")
        listed = run("artifacts", self.out)
        self.assertNotIn("previous", listed.stdout)
        for read in (self.out, self.folder):
            again = self.folder / f"again-{read.name}"
            done = run("analyze", read, "--out", again)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.operators_in(again), 4, read)
        self.assertEqual(run("report", self.out / "previous-1", "--out", self.folder / "old").returncode, 0)
        self.assertEqual(self.operators_in(self.folder / "old"), 3)

    def test_a_folder_without_a_run_stays_unchanged(self):
        self.out.mkdir()
        (self.out / "source.py").write_text("mine")
        (self.out / "data").mkdir()
        self.succeeds(3, "--out", "x", "--force")
        self.assertFalse((self.out / "previous-1").exists())
        self.assertEqual((self.out / "source.py").read_text(), "mine")

    def test_of_other_kinds(self):
        """Recordings of torch.profiler and nsys from an earlier run do not belong to this one."""
        self.succeeds(3, "--out", "x")
        (self.out / "torch").mkdir()
        (self.out / "torch" / "trace.json").write_bytes((DATA / "kineto" / "h200_graph_small.json").read_bytes())
        (self.out / "nsys" / "run.sqlite").write_bytes(CAPTURE.read_bytes())
        self.succeeds(4, "--out", "x", "--force")
        self.assertEqual(self.operators_in(self.out), 4)
        self.assertTrue((self.out / "previous-1" / "nsys" / "run.sqlite").exists())

    def test_links_of_an_earlier_run_are_not_followed(self):
        self.out.mkdir()
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "kept").write_text("mine")
        (self.out / "collector").symlink_to(elsewhere)
        self.succeeds(3, "--out", "x", "--force")
        self.assertEqual([path.name for path in elsewhere.iterdir()], ["kept"])
        self.assertFalse((self.out / "collector").is_symlink())

    def test_repeated(self):
        for _ in range(2):
            self.succeeds(3, "--out", "x", "--repeat", "2", "--force")
        names = {path.name for path in self.out.iterdir()}
        self.assertEqual(names, {"run-1", "run-2", "previous-1"})
        self.assertEqual(self.operators_in(self.out / "run-1"), 3)

    def test_ranks_of_a_smaller_job(self):
        def job(ranks, operators, *words):
            for rank in reversed(range(ranks)):
                env = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank)}
                self.succeeds(operators, "--rank-folder", "x", *words, env=env)
        job(3, 3)
        job(2, 4, "--force")
        merged = run("analyze", self.out, "--out", self.folder / "job")
        self.assertEqual(merged.returncode, 0, merged.stderr)
        profile = json.loads((self.folder / "job" / "profile.json").read_text())
        self.assertEqual([rank["rank"] for rank in profile["ranks"]], [0, 1])
        self.assertEqual(self.operators_in(self.folder / "job"), 8)
        self.assertTrue((self.out / "previous-1" / "rank2" / "collector").is_dir())
        self.assertTrue((self.out / "rank1" / "previous-1" / "collector").is_dir())

    def test_continue_only_an_interrupted_ncu_capture(self):
        tool = self.folder / "tool"
        tool.mkdir()
        (tool / "ncu").symlink_to(FAKE_NCU)
        env = {"LLMPROF_NCU": str(tool / "ncu")}
        words = ["--out", "x", "pipeline.ncu.enable=true"]

        def profiled():
            calls = (tool / "calls").read_text()
            return calls.count("--target-processes")

        def notes():
            return {note["code"] for note in json.loads((self.out / "captures.json").read_text())["notes"]}
        (tool / "behavior").write_text("prefill_fails")
        failed = self.run_program(3, *words, env=env)
        self.assertEqual(failed.returncode, 4, failed.stderr)
        attempts = profiled()
        self.assertTrue((self.out / "ncu" / "finished.txt").exists())
        (tool / "behavior").write_text("well")
        self.succeeds(3, *words, "--force", env=env)
        self.assertIn("ncu_resumed", notes())
        continued = profiled() - attempts  # of the stage that had failed
        self.assertEqual(self.operators_in(self.out), 3)
        # That run was complete: nothing from it is reused.
        attempts = profiled()
        self.succeeds(3, *words, "--force", env=env)
        self.assertNotIn("ncu_resumed", notes())
        self.assertEqual(profiled() - attempts, 2 * continued)


class SeveralProcesses(Folder):
    def start(self, *arguments):
        process = subprocess.Popen([LLMPROF, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.folder)
        self.addCleanup(process.communicate)
        return process

    @unittest.skipUnless(LONGER.exists(), "needs the unpacked captures of the build")
    def test_only_one_of_several_analyses_gets_the_folder(self):
        for options in ([], ["--force"]):
            out = self.folder / f"out{len(options)}"
            processes = [self.start("analyze", LONGER, "--out", out, *options) for _ in range(3)]
            ended = [(process.communicate(timeout=120), process.returncode) for process in processes]
            codes = sorted(code for _, code in ended)
            self.assertEqual(codes, [0, 2, 2], ended)
            for (_, errors), code in ended:
                if code:
                    self.assertIn(str(out), errors)

    def test_a_folder_that_is_in_use(self):
        self.out.mkdir()
        partial = self.folder / "bundle"
        self.assertEqual(run("analyze", CAPTURE, "--out", partial).returncode, 0)
        folder = os.open(self.out, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        for words in (["analyze", CAPTURE, "--out", self.out, "--force"],
                      ["diff", partial, partial, "--out", self.out],
                      ["report", partial, "--out", self.out],
                      ["run", "workload.uses_cuda=false", "--out", self.out, "--force", "--", "true"]):
            done = run(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("another llmprof is writing into this folder", done.stderr)
            self.assertEqual(list(self.out.iterdir()), [])

    def test_a_process_that_was_killed_blocks_nothing(self):
        process = self.start("run", "workload.uses_cuda=false", "--out", "x", "--", "sleep", "60")
        deadline = time.monotonic() + 20
        while not (self.out / "stage1" / "control.log").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        refused = self.run_program(3, "--out", "x", "--force")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.succeeds(3, "--out", "x", "--force")
        self.assertEqual(self.operators_in(self.out), 3)

    def test_a_failed_analysis_leaves_no_folder(self):
        done = run("analyze", ROOT / "Makefile", "--out", self.folder / "a" / "b")
        self.assertEqual(done.returncode, 3)
        self.assertFalse((self.folder / "a").exists())

    def test_partial_profiles_share_a_folder(self):
        env = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0"}
        self.succeeds(3, "--out", "x", env=env)
        processes = [self.start("analyze", "--partial", "x", "--out", "parts") for _ in range(4)]
        codes = sorted(process.wait(60) for process in processes)
        self.assertEqual(codes[0], 0)
        self.assertNotIn(0, codes[1:], "one file, written by several")
        self.assertEqual([path.name for path in (self.folder / "parts").iterdir()], ["rank0.llmpart"])


if __name__ == "__main__":
    unittest.main()
