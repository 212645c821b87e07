"""A program's own log alone makes a complete bundle: CPU operators are its kernels. The oracle is plain Python over the
log's content."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import DATA, LLMPROF, ROOT, Bundle, run

RUN = DATA / "cpu-llm"
LOG = RUN / "collector" / "1.llmtrace"
METRICS = RUN / "stage1" / "metrics.json"
DUMP = os.environ.get("DUMP_CAPTURE", str(ROOT / "build" / "bin" / "dump_capture"))
WARM_UP = 1  # requests, as the fixture was recorded


def dump(path):
    done = subprocess.run([DUMP, path], capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


def write_tree(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


class Oracle:
    """Stages and operators from the log, without warm-up requests."""

    def __init__(self):
        log = dump(LOG)
        self.operators = log["operators"]
        self.ranges = log["ranges"]
        self.walls, self.flops, self.bytes, self.counts = {}, {}, {}, {}
        for stage, label in (("prefill", "prefill"), ("decode", "decode_all")):
            rows = [row for row in log["ranges"] if row["name"] == label][WARM_UP:]
            self.walls[stage] = [row["end"] - row["start"] for row in rows]
            inside = [
                [o for o in self.operators if row["start"] <= o["start"] and o["end"] <= row["end"]]
                for row in rows
            ]
            self.flops[stage] = sum(o["flops"] for each in inside for o in each) / len(rows)
            self.bytes[stage] = sum(o["bytes"] for each in inside for o in each) / len(rows)
            self.counts[stage] = sum(len(each) for each in inside) / len(rows)


class CpuLog(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.oracle = Oracle()
        cls.bundle = Bundle(RUN)
        cls.profile = cls.bundle.profile
        cls.stages = {stage["name"]: stage for stage in cls.profile["stages"]}
        cls.device = json.loads(METRICS.read_text(encoding="utf-8"))["device"]

    def test_kernels_are_the_operators(self):
        expected = {}
        for row in self.oracle.operators:
            calls, total, flops, moved = expected.get(row["name"], (0, 0, 0, 0))
            expected[row["name"]] = (
                calls + 1, total + row["end"] - row["start"], flops + row["flops"], moved + row["bytes"]
            )
        found = {
            row["kernel_name"]: (row["calls"], row["total_ns"], row["flops"] or 0, row["bytes"] or 0)
            for row in self.profile["kernels"]
        }
        self.assertEqual(found, expected)
        self.assertEqual({row["device"] for row in self.profile["kernels"]}, {"cpu:0"})
        self.assertNotIn("other", {row["class"] for row in self.profile["kernels"]})
        self.assertEqual(self.profile["coverage"]["kernels_share"], 1)

    def test_operators_have_their_own_time(self):
        kernels = {row["kernel_name"]: row for row in self.profile["kernels"]}
        self.assertEqual(len(self.profile["operators"]), len(kernels))
        for row in self.profile["operators"]:
            total = kernels[row["name"]]["total_ms"]
            self.assertEqual((row["cpu_total_ms"], row["cuda_total_ms"]), (total, total))
            if row["flops"]:
                self.assertAlmostEqual(row["flops_per_s"], row["flops"] / total * 1e3, delta=1)

    def test_walls_are_the_ranges(self):
        for name, walls in self.oracle.walls.items():
            steady = [i for i in self.stages[name]["instances"] if not i["warmup"]]
            self.assertEqual([round(i["wall_ms"] * 1e6) for i in steady], walls)
            self.assertEqual(self.stages[name]["kernel_count"]["mean"], self.oracle.counts[name])

    def test_budgets_sum_to_wall_exactly(self):
        for stage in self.stages.values():
            for instance in stage["instances"]:
                self.assertEqual(
                    sum(instance["budget_ns"].values()), round(instance["wall_ms"] * 1e6)
                )
                self.assertNotIn("unattributed", instance["budget_ns"])

    def test_utilisation_by_hand(self):
        for name, stage in self.stages.items():
            seconds = sum(self.oracle.walls[name]) / len(self.oracle.walls[name]) / 1e9
            recorded = stage["recorded"]
            self.assertAlmostEqual(recorded["flops"], self.oracle.flops[name], delta=1)
            self.assertAlmostEqual(recorded["bytes"], self.oracle.bytes[name], delta=1)
            for figure, work, peak in (
                ("mfu", recorded["flops"], self.device["peak_flops_per_s"]),
                ("mbu", recorded["bytes"], self.device["peak_bytes_per_s"]),
            ):
                self.assertAlmostEqual(recorded[figure]["wall"], work / (seconds * peak), places=9)
            # The model's formula and the program's count agree, except for norms and similar operators.
            self.assertAlmostEqual(recorded["flops_over_model"], 1, delta=0.01)
            self.assertAlmostEqual(
                stage["mfu"]["wall"], stage["flops"] / (seconds * self.device["peak_flops_per_s"]),
                places=9,
            )
        self.assertNotIn("recorded_flops_differ", self.bundle.codes())
        self.assertEqual(self.profile["context"]["cpus"][0]["name"], self.device["name"])
        self.assertEqual(self.profile["context"]["gpus"], [])

    def test_steps_and_layers_are_as_annotated(self):
        steps = [step for step in self.profile["steps"] if step["stage"] == "prefill"]
        self.assertEqual({(s["kind"], s["batch"], s["tokens"]) for s in steps}, {("prefill", 1, 64)})
        steps = [step for step in self.profile["steps"] if step["stage"] == "decode"]
        self.assertEqual(len(steps), sum(row["name"] == "decode_step" for row in self.oracle.ranges))
        self.assertEqual({(s["kind"], s["batch"], s["tokens"]) for s in steps}, {("decode", 1, 1)})
        layers = {(row["stage"], row["name"]) for row in self.profile["layers"]}
        for stage in self.stages:
            for layer in ("layer_00", "layer_01", "layer_02"):
                self.assertIn((stage, layer), layers)

    def test_reports_name_a_cpu(self):
        for name in ("report.md", "stakeholder_summary.md", "kernels.md", "operators.md"):
            text = self.bundle.files[name]
            self.assertEqual(re.findall(r".*\b(?:GPUs?|CUDA|NVTX)\b.*", text), [], name)
        self.assertNotRegex(self.bundle.result.stdout, r"\bGPU")
        self.assertIn("of the CPU's measured peak FLOP/s", self.bundle.files["report.md"])

    def test_every_table_is_filled(self):
        for name in ("report.md", "stakeholder_summary.md", "operators.md"):
            text = self.bundle.files[name]
            self.assertNotRegex(text, r"(?im)^not available|^not known|: not known:|^needs |^none:")

    def test_the_log_alone(self):
        alone = Bundle(LOG)
        stages = {stage["name"]: stage for stage in alone.profile["stages"]}
        self.assertAlmostEqual(stages["prefill"]["flops"], self.oracle.flops["prefill"], delta=1)
        self.assertTrue(stages["prefill"]["from_operators"])
        self.assertIsNone(stages["prefill"]["mfu"]["wall"])
        self.assertIn("metrics.json", stages["prefill"]["why_not"])
        self.assertEqual(alone.profile["workload"]["prompt_tokens"], 64)
        self.assertEqual(
            alone.profile["workload"]["prompt_tokens_source"], "tokens of the prefill steps"
        )
        self.assertEqual(alone.profile["workload"]["batch_source"], "batch of the steps")

    def test_a_model_that_does_not_fit_is_reported(self):
        other = Bundle(RUN, options=("--model", "llm/qwen2_5_0_5b"))
        self.assertIn("recorded_flops_differ", other.codes())


class RunFolder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.run = pathlib.Path(holder.name) / "run"
        shutil.copytree(RUN, self.run)

    def test_model_tokens_and_overhead_come_from_the_run(self):
        bundle = Bundle(self.run)
        self.assertEqual(bundle.profile["model"]["name"], "cpu_llm")
        self.assertEqual(bundle.profile["workload"]["command"], "cpu_llm --layers 3 --hidden 1536")
        control = json.loads(METRICS.read_text(encoding="utf-8"))["aggregates"]["stage_ms"]
        profiled = json.loads((RUN / "collector" / "metrics.json").read_text(encoding="utf-8"))
        rows = bundle.profile["overhead"]["passes"]
        self.assertEqual([row["stage"] for row in rows], ["prefill", "decode", "decode_step"])
        for row in rows:
            other = profiled["aggregates"]["stage_ms"][row["stage"]]["mean"]
            self.assertAlmostEqual(row["ratio"], other / control[row["stage"]]["mean"], places=9)
        self.assertNotIn("run.mode=light", bundle.files["report.md"])  # the collector's recording is light
        self.assertIn("What profiling cost", bundle.files["report.md"])

    def test_without_metrics_tokens_are_the_requested_ones(self):
        shutil.rmtree(self.run / "stage1")
        bundle = Bundle(self.run)
        self.assertEqual(bundle.profile["workload"]["new_tokens_source"], "the run's inputs.yaml")
        self.assertIsNone(bundle.profile["overhead"])

    def test_a_timeline_without_gpu_work_is_skipped(self):
        (self.run / "nsys").mkdir()
        shutil.copy(DATA / "h200-decoder" / "nsys_nvtx_sum.csv", self.run / "nsys" / "run.sqlite")
        bundle = Bundle(self.run)
        self.assertIn("capture_passed_over", bundle.codes())
        self.assertEqual(bundle.profile["totals"]["devices"][0]["device"], "cpu:0")

    def test_a_gpu_timeline_comes_before_cpu_operators(self):
        (self.run / "nsys").mkdir()
        shutil.copy(DATA / "h200-decoder" / "nsys.sqlite", self.run / "nsys" / "run.sqlite")
        bundle = Bundle(self.run)
        self.assertEqual({row["device"] for row in bundle.profile["kernels"]}, {"cuda:0"})
        (note,) = [d for d in bundle.profile["diagnostics"] if d["code"] == "capture_passed_over"]
        self.assertIn("1.llmtrace", note["message"])

    def test_named_files_are_all_read(self):
        gpu = DATA / "h200-decoder" / "nsys.sqlite"
        bundle = Bundle(LOG, gpu)
        self.assertEqual(bundle.kernels(), Bundle(gpu).kernels())
        self.assertIn("cpu_operators_left_aside", bundle.codes())

    def test_torch_next_to_a_timeline_gives_only_operators(self):
        shutil.rmtree(self.run / "collector")
        write_tree(self.run, {"nsys/cmd.txt": "", "torch/cmd.txt": ""})
        decoder = DATA / "h200-decoder"
        shutil.copy(decoder / "nsys.sqlite", self.run / "nsys" / "run.sqlite")
        shutil.copy(decoder / "kineto.json.gz", self.run / "torch" / "trace.json.gz")
        bundle = Bundle(self.run)
        self.assertEqual(bundle.kernels(), Bundle(decoder / "nsys.sqlite").kernels())
        torch = Bundle(decoder / "kineto.json.gz")
        self.assertEqual(bundle.profile["operators"], torch.profile["operators"])
        self.assertEqual(bundle.profile["operators_found"], torch.profile["operators_found"])
        self.assertIn("operators_of_another_pass", bundle.codes())
        self.assertNotIn("runs_mixed", bundle.codes())
        # Without another timeline, the trace is the timeline.
        shutil.rmtree(self.run / "nsys")
        self.assertEqual(Bundle(self.run).kernels(), torch.kernels())


class WithoutOperators(unittest.TestCase):
    def test_ranges_alone_give_nothing_to_rank(self):
        program = os.environ.get("ANNOTATED_PROGRAM", str(ROOT / "build" / "bin" / "annotated_program"))
        library = os.environ.get(
            "LLMPROF_COLLECTOR_LIBRARY", str(ROOT / "build" / "lib" / "libllmprof_collector.so")
        )
        with tempfile.TemporaryDirectory() as folder:
            logs = pathlib.Path(folder) / "logs"
            logs.mkdir()
            subprocess.run(
                [program, "short_threads"], check=True, timeout=60,
                env={"LLMPROF_COLLECTOR": library, "LLMPROF_LOG_DIR": str(logs)},
            )
            done = run("analyze", logs, "--out", pathlib.Path(folder) / "out")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("no operators: record them with llmprof_operator", done.stderr)
            self.assertFalse((pathlib.Path(folder) / "out").exists())


if __name__ == "__main__":
    if not pathlib.Path(LLMPROF).exists():
        raise SystemExit(f"{LLMPROF} is not built")
    unittest.main()
