"""The program as started by a user and by `llmprof run`: output, exit codes, metrics.json, the log.

CPU_LLM names the program, LLMPROF_COLLECTOR the collector's library.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["CPU_LLM"]
COLLECTOR = os.environ["LLMPROF_COLLECTOR"]
SMALL = ["--hidden", "64", "--intermediate", "128", "--layers", "2", "--heads", "4", "--kv-heads", "2",
         "--vocabulary", "256", "--prompt-tokens", "12", "--new-tokens", "5", "--batch", "2"]


def run(*arguments, **environment):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120,
                          env={"PATH": os.environ["PATH"], **environment}, check=False)


def tokens_hash(*arguments):
    done = run(*SMALL, *arguments)
    return re.search(r"tokens hash +([0-9a-f]{16})", done.stdout).group(1)


class CommandLine(unittest.TestCase):
    def test_wrong_usage_exits_with_2_and_says_why(self):
        done = run("--layers", "none")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertIn("--layers", done.stderr)

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--kv-heads", done.stdout)

    def test_prints_stages(self):
        done = run(*SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        for words in ("prefill ", "decode ", "decode step ", "tokens/s"):
            self.assertIn(words, done.stdout)
        self.assertNotIn("peaks", done.stdout)

    def test_tokens_are_the_seeds_whatever_the_threads(self):
        one = tokens_hash("--threads", "1")
        self.assertEqual(tokens_hash("--threads", "2"), one)
        self.assertEqual(tokens_hash("--threads", "3"), one)
        self.assertNotEqual(tokens_hash("--threads", "1", "--seed", "2"), one)

    def test_sigterm_ends_it(self):
        with subprocess.Popen([PROGRAM, "--requests", "100000"], stdout=subprocess.DEVNULL) as process:
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=20), -signal.SIGTERM)


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)


class Metrics(InAFolder):
    def metrics(self, *arguments):
        target = self.path / "metrics.json"
        done = run(*SMALL, "--requests", "4", "--warm-up", "2", *arguments, LLMPROF_METRICS=str(target))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([target], list(self.path.iterdir()))
        return json.loads(target.read_text(encoding="utf-8"))

    def test_stages_add_up(self):
        metrics = self.metrics("--no-peaks", "--name", "small")
        self.assertEqual(metrics["model"], "small")
        self.assertEqual((metrics["requests"], metrics["batch"]), (4, 2))
        stages = metrics["aggregates"]["stage_ms"]
        self.assertEqual({name: stage["count"] for name, stage in stages.items()},
                         {"prefill": 4, "decode": 4, "decode_step": 4 * 4})
        steps = stages["decode_step"]["mean"] * 4
        self.assertLessEqual(steps, stages["decode"]["mean"])
        self.assertNotIn("peak_flops_per_s", metrics["device"])

    def test_peaks(self):
        device = self.metrics("--peak-seconds", "0.2")["device"]
        self.assertEqual((device["kind"], device["number_format"]), ("cpu", "f32"))
        # No machine that runs this is a thousand times slower or faster.
        self.assertTrue(1e8 < device["peak_flops_per_s"] < 1e15)
        self.assertTrue(1e8 < device["peak_bytes_per_s"] < 1e14)
        # Not compared with reading: other programs may have taken the processors from either.
        self.assertTrue(1e8 < device["peak_copy_bytes_per_s"] < 1e14)
        self.assertIn("passes that read", device["method"])

    def peaks_of(self, **environment):
        """What metrics.json says of a run with these variables."""
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder) / "metrics.json"
            done = run(*SMALL, "--threads", "1", "--peak-seconds", "0.2", LLMPROF_METRICS=str(target), **environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return json.loads(target.read_text(encoding="utf-8"))["device"]

    def kept(self, folder):
        (machine,) = json.loads((folder / "llmprof" / "cpu_peaks.json").read_text(encoding="utf-8"))["machines"]
        return machine

    def test_peaks_are_kept_and_a_lower_measurement_is_not_used(self):
        cache = self.path / "cache"
        for _ in range(30):  # one that other programs disturb is not kept
            own = self.peaks_of(XDG_CACHE_HOME=str(cache))
            if "peaks_note" not in own:
                break
        else:
            self.skipTest("other programs used the CPUs all the time")
        self.assertEqual(own["peaks_from"], "this_run")
        machine = self.kept(cache)
        self.assertEqual(machine["flops"]["per_second"], own["own_peak_flops_per_s"])
        self.assertEqual(set(machine), {"cpu", "cpus", "threads", "last_level_cache_bytes", "library", "flops",
                                        "read_bytes", "copied_bytes"})
        file = cache / "llmprof" / "cpu_peaks.json"
        text = json.loads(file.read_text(encoding="utf-8"))
        text["machines"][0]["flops"]["per_second"] *= 3
        file.write_text(json.dumps(text), encoding="utf-8")
        again = self.peaks_of(XDG_CACHE_HOME=str(cache))
        self.assertEqual(again["peak_flops_per_s"], text["machines"][0]["flops"]["per_second"])
        self.assertLess(again["own_peak_flops_per_s"], again["peak_flops_per_s"])
        self.assertIn(again["peaks_from"], ("kept", "both"))
        self.assertTrue(again["peaks_note"])

    def test_a_cache_that_cannot_be_used_fails_no_run(self):
        file = self.path / "file"
        file.write_text("kept", encoding="utf-8")
        for environment in ({}, {"HOME": ""}, {"HOME": str(file)}, {"XDG_CACHE_HOME": "/proc"},
                            {"XDG_CACHE_HOME": str(file / "in")}):
            self.assertEqual(self.peaks_of(**environment)["peaks_from"], "this_run", environment)
        self.assertEqual(list(self.path.iterdir()), [file])

    def test_runs_at_the_same_time_keep_one_list(self):
        cache = self.path / "cache"
        environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(cache),
                       "LLMPROF_METRICS": str(self.path / "metrics.json")}
        command = [PROGRAM, *SMALL, "--peak-seconds", "0.1", "--threads", "1"]
        runs = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for _ in range(6)]
        self.assertEqual([each.wait(timeout=60) for each in runs], [0] * len(runs))
        if (cache / "llmprof" / "cpu_peaks.json").exists():  # unless each disturbed the others
            self.kept(cache)
        self.assertEqual([path.name for path in cache.rglob("*.tmp")], [])

    def test_a_folder_that_is_not_there_is_named(self):
        target = self.path / "none" / "metrics.json"
        done = run(*SMALL, "--no-peaks", LLMPROF_METRICS=str(target))
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(target.parent), done.stderr)


class Annotations(InAFolder):
    def test_are_recorded(self):
        done = run(*SMALL, "--layers", "1", "--no-peaks", LLMPROF_COLLECTOR=COLLECTOR,
                   LLMPROF_LOG_DIR=str(self.path))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (log,) = self.path.iterdir()
        content = log.read_bytes()
        for name in (b"prefill", b"decode_all", b"decode_step", b"layer_00", b"cpu::gemm_qkv"):
            self.assertIn(name, content)
        self.assertNotIn(b"layer_01", content)


if __name__ == "__main__":
    unittest.main()
