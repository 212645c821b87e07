"""`llmprof run --repeat N [--against COMMAND]`: repeats of the workload that needs no GPU, alternating with another
program, and their differences."""
import json
import pathlib
import re
import statistics
import tempfile
import unittest

from program import LLMPROF, run
from run_case import SMALL

CPU_LLM = pathlib.Path(LLMPROF).with_name("cpu_llm")


def command(layers):
    return [str(CPU_LLM), "--hidden", "64", "--intermediate", "128", "--layers", str(layers), "--heads", "4",
            "--kv-heads", "2", "--vocabulary", "512", "--prompt-tokens", "8", "--new-tokens", "12",
            "--requests", "2", "--warm-up", "1", "--threads", "1", "--no-peaks"]


class Repeats(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.out = self.folder / "runs"

    def test_repeats_are_separate_runs(self):
        result = run("run", "--repeat", 2, *SMALL, "--out", self.out, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["run-1", "run-2"])
        for path in self.out.iterdir():
            self.assertTrue((path / "profile.json").exists())
            self.assertTrue(list((path / "collector").glob("*.llmtrace")))
            self.assertFalse(list((path / "ncu").glob("*.csv")))
            self.assertIn(f"Recorded: {path}", result.stdout)
        self.check_spread(result.stdout)
        self.check_folder()

    def check_folder(self):
        """The folder stands for its runs, and is not one capture."""
        asked = run("query", self.out, "SELECT run FROM runs", "--format", "csv", cwd=self.folder)
        self.assertEqual(asked.stdout.split(), ["run", "run-1", "run-2"], asked.stderr)
        compared = run("diff", self.out / "run-1", self.out, "--out", self.folder / "diff", "--json", cwd=self.folder)
        sides = json.loads(compared.stdout)
        self.assertEqual([len(sides["base"]), len(sides["new"])], [1, 2])
        self.assertEqual({side["kind"] for side in sides["base"] + sides["new"]}, {"run"})
        refused = run("analyze", self.out, cwd=self.folder)
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn(f"it holds 2 runs of `llmprof run --repeat`, which are not one profile; name one of them, such as "
                      f"{self.out / 'run-1'}", refused.stderr)

    def check_spread(self, stdout):
        """Mean and deviation of the runs' steps, from the profiles' own values."""
        means = []
        for path in sorted(self.out.glob("run-*")):
            profile = json.loads((path / "profile.json").read_text(encoding="utf-8"))
            decode = next(stage for stage in profile["stages"] if stage["name"] == "decode")
            steps = [step["wall_ms"] for step in profile["steps"]
                     if step["stage"] == "decode" and step["step_of_instance"] > 0
                     and not decode["instances"][step["instance"]]["warmup"]]
            means.append(statistics.mean(steps))
        self.assertIn("Spread of 2 runs", stdout)
        (row,) = [line for line in stdout.splitlines() if "decode" in line and "wall time per step" in line]
        mean, std, low, high = statistics.mean(means), statistics.stdev(means), min(means), max(means)
        figures = re.findall(r"[\d.]+", row.split("per step")[1])
        for shown, value in zip(figures, (mean, std, 100 * std / mean, low, high)):
            self.assertAlmostEqual(float(shown), value, delta=0.051 if shown == figures[2] else 0.0001)
        self.assertNotIn("GPU", stdout)

    def test_a_cpu_program_gets_the_hint(self):
        result = run("run", "--repeat", 2, "--out", self.out, "--", *command(2), cwd=self.folder)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("workload.uses_cuda=false", result.stderr)

    def test_two_programs_are_recorded_alternately_and_compared(self):
        words = command(9)
        result = run("run", "--repeat", 2, "--against", " ".join(words), "workload.uses_cuda=false", "--out", self.out,
                     "--", *command(8),
                     cwd=self.folder)
        self.assertIn(result.returncode, (0, 3), result.stderr)
        begun = sorted((path.stat().st_mtime_ns, path.parent.name)
                       for path in self.out.glob("*/config.yaml"))
        self.assertEqual([name for _, name in begun], ["base-1", "new-1", "base-2", "new-2"])
        diff = json.loads((self.out / "diff" / "diff.json").read_text(encoding="utf-8"))
        self.assertEqual((len(diff["base"]), len(diff["new"])), (2, 2))
        self.assertNotEqual(diff["verdict"], "not_comparable", diff["aspects"])
        step = next(row for row in diff["comparisons"]
                    if (row["stage"], row["quantity"], row["times"]) == ("decode", "step", "recorded"))
        self.assertEqual((step["noise_of"], step["method"], step["base_runs"]), ("runs", "welch", 2))
        # One more layer: an eighth more launches of the same operators.
        decode = next(stage for stage in diff["stages"] if stage["stage"] == "decode")
        calls = [sum(kernel["calls_per_unit"] for row in decode["kernels"] for kernel in row[side])
                 for side in ("base_kernels", "new_kernels")]
        self.assertGreater(calls[1], calls[0])
        self.assertGreater(sum(cause["difference_ns"] for cause in decode["causes"]
                               if cause["kind"] == "launches"), 0)
        refused = run("diff", self.out / "base-1", self.out, cwd=self.folder)
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn(f"it holds both sides of a comparison, whose result is in {self.out / 'diff'}", refused.stderr)

    def test_a_failing_command_is_reported_and_other_runs_are_kept(self):
        result = run("run", "--repeat", 1, "--against", "/bin/false", "workload.uses_cuda=false", "--out",
                     self.out, "--", *command(2),
                     cwd=self.folder)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("new-1", result.stderr)
        self.assertTrue((self.out / "base-1" / "profile.json").exists())
        self.assertFalse((self.out / "diff").exists())

    def test_a_folder_that_is_not_empty_is_refused(self):
        self.out.mkdir()
        (self.out / "mine").write_text("kept", encoding="utf-8")
        result = run("run", "--repeat", 1, *SMALL, "--out", self.out, cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertEqual([path.name for path in self.out.iterdir()], ["mine"])


if __name__ == "__main__":
    unittest.main()
