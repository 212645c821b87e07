"""Bundles from `llmprof run` on an H200, analyzed again here."""
import collections
import csv
import json
import pathlib
import re
import sqlite3
import tempfile
import unittest

from program import DATA, run

RUNS = DATA / "h200-runs"


def analyzed(name):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "bundle"
        result = run("analyze", RUNS / name, "--out", out)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        return json.loads((out / "profile.json").read_text(encoding="utf-8"))


def timeline(name):
    return sqlite3.connect(f"file:{RUNS / name / 'nsys' / 'run.sqlite'}?mode=ro", uri=True)


def ncu_kernels(name):
    """Kernel names of the launches that ncu measured."""
    with open(RUNS / name / "ncu" / "raw.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    column = rows[0].index("Kernel Name")
    return collections.Counter(row[column] for row in rows[2:])


def ncu_commands(name):
    """Arguments of the runs that measured."""
    rows = json.loads((RUNS / name / "ncu" / "status.json").read_text(encoding="utf-8"))
    return [row["argv"] for row in rows if "--kernel-name" in row["argv"]]


def stage(profile, name):
    return next(item for item in profile["stages"] if item["name"] == name)


def launched_in(database, label):
    """Kernels launched while a range was open on the launching thread, and their time."""
    return database.execute(
        """SELECT COUNT(*), SUM(k.end - k.start)
           FROM CUPTI_ACTIVITY_KIND_KERNEL k
           JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId
           JOIN NVTX_EVENTS n ON n.globalTid = r.globalTid AND r.start >= n.start AND r.start < n.end
           WHERE COALESCE(n.text, (SELECT value FROM StringIds WHERE id = n.textId)) = ?""",
        (label,),
    ).fetchone()


class GpuRuns(unittest.TestCase):
    def assert_stage(self, name, profile, stage_name, label, steps):
        count, total = launched_in(timeline(name), label)
        found = stage(profile, stage_name)
        self.assertEqual(len(found["instances"]), 1)
        instance = found["instances"][0]
        self.assertEqual(instance["kernel_count"], count)
        self.assertEqual(round(instance["gpu_sum_ms"] * 1e6), total)
        self.assertEqual(instance["steps"], steps)
        self.assertEqual(found["source"], "nvtx")

    def assert_ncu_is_what_the_timeline_chose(self, name, profile):
        """Each measured kernel matches a run's exact expression, and has counters here."""
        expressions = []
        for argv in ncu_commands(name):
            word = argv[argv.index("--kernel-name") + 1]
            expressions.append(re.compile(word.removeprefix("regex:")))
        measured = ncu_kernels(name)
        for kernel in measured:
            self.assertTrue(any(e.search(kernel) for e in expressions), kernel)
        with_counters = [row for row in profile["kernels"] if row["metrics"]]
        self.assertEqual(len(with_counters), len(measured))
        for row in with_counters:
            self.assertIn("gpu__time_duration.sum", row["metrics"])

    def test_llama_gated_by_nvtx(self):
        profile = analyzed("llama_1b")
        self.assertEqual(profile["model"]["name"], "meta-llama/Llama-3.2-1B")
        self.assert_stage("llama_1b", profile, "prefill", "prefill", 0)
        self.assert_stage("llama_1b", profile, "decode", "decode_all", 16)
        self.assert_ncu_is_what_the_timeline_chose("llama_1b", profile)
        for argv in ncu_commands("llama_1b"):
            self.assertIn(argv[argv.index("--nvtx-include") + 1], ["LLM@decode_all/", "LLM@prefill/"])
        # Reading the weights of 1.24 G parameters once per step at 4.8 TB/s takes 0.51 ms; the steps take 20 ms.
        self.assertAlmostEqual(
            stage(profile, "decode")["mbu"]["wall"]
            * stage(profile, "decode")["wall_ms"]["mean"]
            / 16
            * 4.8e9,
            1235814400 * 2,
            delta=0.03 * 1235814400 * 2,
        )

    def test_a_vision_language_model_without_code_change(self):
        profile = analyzed("deepseek_ocr2")
        self.assertEqual(profile["model"]["variant"], "deepseek_ocr2")
        self.assert_stage("deepseek_ocr2", profile, "decode", "decode_all", 8)
        notes = {note["name"]: note for note in profile["stage_notes"]}
        for name in ["sam", "clip", "projector"]:
            count, total = launched_in(timeline("deepseek_ocr2"), name)
            self.assertEqual(notes[name]["stage"], "prefill")
            self.assertEqual(notes[name]["kernel_count"], count)
            self.assertEqual(round(notes[name]["gpu_sum_ms"] * 1e6), total)

    def test_a_gated_timeline_and_ncu_by_launch_counts(self):
        profile = analyzed("llama_1b_ungated")
        self.assertEqual([item["name"] for item in profile["stages"]], ["decode"])
        for argv in ncu_commands("llama_1b_ungated"):
            self.assertNotIn("--nvtx-include", argv)
            self.assertIn("--launch-count", argv)
        self.assert_ncu_is_what_the_timeline_chose("llama_1b_ungated", profile)

    def test_the_cost_of_each_recording_is_disclosed(self):
        profile = analyzed("llama_1b")
        own = {
            folder: json.loads((RUNS / "llama_1b" / folder / "metrics.json").read_text())
            for folder in ["stage1", "nsys"]
        }
        control, profiled = (
            own[folder]["aggregates"]["stage_ms"]["decode"]["mean"] for folder in ["stage1", "nsys"]
        )
        row = next(
            item
            for item in profile["overhead"]["passes"]
            if (item["pass"], item["stage"]) == ("nsys", "decode")
        )
        self.assertAlmostEqual(row["ratio"], profiled / control, places=9)
        self.assertGreater(row["ratio"], 1.25)


if __name__ == "__main__":
    unittest.main()
