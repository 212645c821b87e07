"""`llmprof run` that is interrupted or runs out of disk space: what was captured is kept."""
import os
import pathlib
import shlex
import shutil
import signal
import stat
import subprocess
import time
import unittest

from job_of_ranks import CPU_LLM
from job_of_ranks import SMALL as CPU_LLM_WORDS
from program import LLMPROF, run
from run_case import SMALL, RunCase, profile_of


# Ends at once in the control run, and not before it is killed while it is recorded.
PROGRAM = """#!/bin/sh
requests=1
[ -z "$LLMPROF_LOG_DIR" ] || requests=1000000
exec {words} --requests $requests
"""
PATIENCE = 60  # s, for events that take milliseconds


class InterruptedRuns(RunCase):
    def start(self):
        program = self.folder / "program"
        program.write_text(PROGRAM.format(words=shlex.join(map(str, [CPU_LLM, *CPU_LLM_WORDS]))))
        program.chmod(stat.S_IRWXU)
        return subprocess.Popen(
            [LLMPROF, "run", "workload.uses_cuda=false", "--out", self.out, "--", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )

    def wait_for(self, condition, what):
        until = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > until:
                self.fail(f"waited in vain for {what}")
            time.sleep(0.05)

    def workloads(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                cwd = os.readlink(entry / "cwd")
            except OSError:
                continue
            if words[0].endswith(b"cpu_llm") and cwd == str(self.folder):
                found.append(int(entry.name))
        return found

    def log_has_grown(self):
        logs = list((self.out / "collector").glob("*.llmtrace"))
        return bool(logs) and logs[0].stat().st_size > 300_000

    def test_signals_end_the_workload_and_leave_a_readable_bundle(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            with self.subTest(number):
                shutil.rmtree(self.out, ignore_errors=True)
                process = self.start()
                self.wait_for(self.log_has_grown, "the log to grow")
                process.send_signal(number)
                _, errors = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, 4, errors)
                self.assertIn("interrupted", errors)
                self.assertEqual(self.workloads(), [])
                self.assertTrue(profile_of(self.out)["kernels"])
                self.assert_complete(self.out)

    def test_sigkill_of_llmprof_loses_nothing_captured(self):
        process = self.start()
        self.wait_for(self.log_has_grown, "the log to grow")
        process.kill()
        process.communicate(timeout=PATIENCE)
        self.wait_for(lambda: not self.workloads(), "the workload to end")
        self.assert_complete(self.out)
        again = run("analyze", self.out, "--out", self.folder / "again")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertTrue(profile_of(self.folder / "again")["kernels"])

    def test_sigkill_of_the_workload_keeps_its_log(self):
        process = self.start()
        self.wait_for(self.log_has_grown, "the log to grow")
        for pid in self.workloads():
            os.kill(pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 4)
        self.assertIn("signal 9", errors)
        self.assertTrue(profile_of(self.out)["kernels"])

    def test_a_full_disk_is_reported_and_captures_are_kept(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk],
            capture_output=True,
            check=False,
        )
        if mounted.returncode != 0:
            self.skipTest("cannot mount a small disk here")
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        self.out = disk / "bundle"
        model = [word for word in SMALL if not word.startswith("workload.")]
        result = self.profile_run(*model, "workload.requests=20")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("No space left on device", result.stderr)
        self.assert_complete(self.out)
        self.assertTrue((self.out / "inputs.yaml").is_file())


if __name__ == "__main__":
    unittest.main()
