"""Recipes of llmprof query: each answers its question on a capture whose answer is computed here from profile.json and
from the capture itself."""
import collections
import json
import math
import pathlib
import tempfile
import unittest

import job_captures
from program import DATA, run
from query_tables import ask, dicts, sqlite_rows

NSYS = DATA / "h200-decoder" / "nsys.sqlite"


def percentile(values, percent):
    """By nearest rank."""
    ordered = sorted(values)
    return ordered[max(1, math.ceil(percent / 100 * len(ordered))) - 1]


def listed(*runs):
    done = run("query", *runs, "--recipes", "--format", "ndjson")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return {row["recipe"]: row for row in map(json.loads, done.stdout.splitlines())}


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = pathlib.Path(cls.holder.name)
        cls.bundle, cls.profile = cls.analyzed("run", NSYS, DATA / "h200-decoder" / "ncu_raw.csv.gz")

    @classmethod
    def analyzed(cls, name, *captures):
        out = cls.folder / name
        done = run("analyze", *captures, "--out", out)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return out, json.loads((out / "profile.json").read_text("utf-8"))

    def ask(self, bundle, recipe, **variables):
        settings = [word for name, value in variables.items() for word in ("--set", f"{name}={value}")]
        done = run("query", bundle, "--recipe", recipe, "--format", "json", *settings)
        self.assertEqual(done.returncode, 0, f"{recipe}: {done.stderr}")
        return dicts(json.loads(done.stdout))

    def test_use_of_memory(self):
        bundle, profile = self.analyzed("memory", DATA / "collector_log" / "memory.llmtrace")
        ledger = profile["memory_ledger"]
        (peak,) = [i for i, moment in enumerate(ledger["moments"]) if moment["kind"] == "peak"]
        wanted = [(row["part"], row["bytes"]) for row in ledger["rows"] if row["moment"] == peak]
        found = self.ask(bundle, "memory_use")
        self.assertCountEqual([(row["part"], row["bytes"]) for row in found], wanted)
        self.assertAlmostEqual(sum(row["share"] for row in found), 1)
        largest, *_ = self.ask(bundle, "largest_allocations", rows=3)
        self.assertEqual((largest["bytes"], largest["library"]), (2 * 1_235_814_400, "/opt/libggml-cuda.so"))

    def test_recipes_are_listed_by_whether_they_can_be_answered(self):
        everything = listed()
        self.assertGreaterEqual(len(everything), 20)
        here = listed(self.bundle)
        self.assertEqual(set(here), set(everything))
        self.assertIsNone(here["top_kernels"]["missing"])
        self.assertIn("llmprof load", here["slowest_requests"]["missing"])
        missing = [row["missing"] is not None for row in here.values()]
        self.assertEqual(missing, sorted(missing))
        for name, row in here.items():
            done = run("query", self.bundle, "--recipe", name)
            self.assertEqual(done.returncode, 3 if row["missing"] else 0, f"{name}: {done.stderr}")
            self.assertTrue(row["question"].endswith("?"), name)

    def test_a_users_recipes_come_first(self):
        conf = self.folder / "conf"
        (conf / "recipes").mkdir(parents=True)
        (conf / "recipes" / "kernels.yaml").write_text(
            "top_kernels:\n  question: Mine?\n  tables: [kernels]\n  sql: SELECT 42 AS answer\n", "utf-8")
        done = run("query", self.bundle, "--recipe", "top_kernels", "--config-dir", conf, "--format", "csv")
        self.assertEqual(done.stdout, "answer\n42\n", done.stderr)
        (conf / "recipes" / "kernels.yaml").write_text("top_kernels:\n  sql: SELECT 1\n", "utf-8")
        done = run("query", self.bundle, "--recipe", "top_kernels", "--config-dir", conf)
        self.assertEqual(done.returncode, 2)
        self.assertIn("kernels.yaml:", done.stderr)

    def stage(self, name):
        return next(stage for stage in self.profile["stages"] if stage["name"] == name)

    def test_stages(self):
        rows = self.ask(self.bundle, "where_time_goes")
        for stage in self.profile["stages"]:
            own = [row for row in rows if row["stage"] == stage["name"]]
            self.assertEqual([row["part"] for row in own], [part["part"] for part in stage["budget"]])
            self.assertAlmostEqual(sum(row["ms"] for row in own), stage["wall_ms"]["mean"], 6)
        rows = self.ask(self.bundle, "idle_by_cause")
        expected = [(stage["name"], part["part"], part["total_ns"] / 1e6) for stage in self.profile["stages"]
                    for part in stage["budget"] if part["idle"]]
        self.assertEqual({(row["stage"], row["cause"], row["total_ms"]) for row in rows}, set(expected))
        rows = self.ask(self.bundle, "how_far_from_the_limit")
        self.assertEqual({row["stage"]: row["wall_ms_mean"] for row in rows},
                         {stage["name"]: stage["wall_ms"]["mean"] for stage in self.profile["stages"]})
        rows = self.ask(self.bundle, "longest_gaps", rows=3)
        self.assertEqual([row["ms"] for row in rows], sorted((gap["ms"] for gap in self.profile["gaps"]), reverse=True)[:3])
        rows = self.ask(self.bundle, "what_to_fix")
        self.assertEqual([row["kind"] for row in rows], [finding["kind"] for finding in self.profile["findings"]])
        rows = self.ask(self.bundle, "slowest_layers", rows=100)
        layers = [layer for layer in self.profile["layers"] if layer["stage"] == "decode" and not layer["part"]]
        self.assertEqual([row["ms_per_step"] for row in rows],
                         sorted((layer["ms_per_step"] for layer in layers), reverse=True))

    def test_steps(self):
        warm = {index for index, instance in enumerate(self.stage("decode")["instances"]) if instance["warmup"]}
        steps = [(index, step) for index, step in enumerate(self.profile["steps"])
                 if step["stage"] == "decode" and step["instance"] not in warm and not step["after_untraced"]]
        slowest = max(steps, key=lambda item: item[1]["wall_ms"])
        rows = self.ask(self.bundle, "slowest_steps", rows=1)
        self.assertEqual((rows[0]["step"], rows[0]["wall_ms"]), (slowest[0], slowest[1]["wall_ms"]))
        rows = self.ask(self.bundle, "why_is_a_step_slow", step=slowest[0])
        classes = collections.Counter()
        for _, step in steps:
            classes.update(step["classes_ns"])
        for row in rows:
            mean = classes[row["class"]] / len(steps)
            self.assertAlmostEqual(row["mean_ms"], mean / 1e6, 9)
            self.assertAlmostEqual(row["longer_ms"], (slowest[1]["classes_ns"].get(row["class"], 0) - mean) / 1e6, 9)
        rows = self.ask(self.bundle, "kernels_of_a_step", step=slowest[0])
        self.assertEqual(len(rows), slowest[1]["kernel_count"])
        self.assertAlmostEqual(sum(row["duration_ns"] for row in rows) / 1e6, slowest[1]["gpu_sum_ms"], 9)
        ends = [row["start_ns"] + row["duration_ns"] for row in rows]
        self.assertEqual([row["after_previous_ns"] for row in rows[1:]],
                         [row["start_ns"] - end for row, end in zip(rows[1:], ends, strict=False)])

    def test_kernels(self):
        rows = self.ask(self.bundle, "time_by_class")
        self.assertEqual([(row["class"], row["calls"]) for row in rows],
                         [(row["class"], row["calls"]) for row in self.profile["classes"]])
        rows = self.ask(self.bundle, "top_kernels", rows=1000)
        expected = {kernel["short_name"]: kernel["stages"]["decode"]["steady_total_ms"]
                    for kernel in self.profile["kernels"] if "decode" in kernel["stages"]}
        expected = {name: time for name, time in expected.items() if time > 0}
        self.assertEqual([row["short_name"] for row in rows], sorted(expected, key=expected.get, reverse=True))
        for row in rows:
            self.assertAlmostEqual(row["total_ms"], expected[row["short_name"]], 9)
        rows = self.ask(self.bundle, "kernels_by_grid")
        longest = self.profile["kernels"][0]
        self.assertEqual({(row["grid"], row["block"]): row["launches"] for row in rows},
                         {(", ".join(map(str, shape["grid"])), ", ".join(map(str, shape["block"]))): shape["calls"]
                          for shape in longest["shapes"]})
        rows = self.ask(self.bundle, "hardware_metrics", metric="sm__throughput.avg.pct_of_peak_sustained_elapsed", rows=1)
        metric = next(kernel["metrics"]["sm__throughput.avg.pct_of_peak_sustained_elapsed"]
                      for kernel in self.profile["kernels"] if kernel["metrics"])
        self.assertEqual(rows[0]["mean"], metric["mean"])

    def test_times_of_launches_are_those_of_the_capture(self):
        (row,) = self.ask(self.bundle, "launch_latency")
        waits = [start - launched for start, launched in sqlite_rows(
            NSYS, "SELECT k.start, r.start FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r "
                  "ON r.correlationId = k.correlationId")]
        self.assertEqual((row["kernels"], row["p50_us"], row["p99_us"]),
                         (len(waits), percentile(waits, 50) / 1e3, percentile(waits, 99) / 1e3))

    def test_the_gpu_over_time(self):
        rows = self.ask(self.bundle, "gpu_busy_over_time", period_ns=50_000_000)
        kernels = sqlite_rows(NSYS, "SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start")
        first = kernels[0][0] - ask(self.bundle, "SELECT min(start_ns) FROM kernels")["rows"][0][0]
        periods = collections.defaultdict(list)
        for start, end in kernels:
            periods[(start - first) // 50_000_000 * 50_000_000].append((start, end))
        self.assertEqual([(row["from_ns"], row["kernels"]) for row in rows],
                         [(period, len(periods[period])) for period in sorted(periods)])
        for row in rows:
            busy, until = 0, 0
            for start, end in periods[row["from_ns"]]:
                busy += max(0, end - max(start, until))
                until = max(until, end)
            self.assertAlmostEqual(row["busy_share"], busy / 50_000_000, 12)

    def test_copies(self):
        rows = self.ask(self.bundle, "copies")
        self.assertEqual([row["bytes"] for row in rows], [row["bytes"] for row in self.profile["copies"]])
        rows = self.ask(self.bundle, "copies_in_decode")
        steady = sum(instance["memory_sum_ms"] for instance in self.stage("decode")["instances"] if not instance["warmup"])
        self.assertAlmostEqual(sum(row["total_ms"] for row in rows), steady, 9)

    def test_operators(self):
        bundle, profile = self.analyzed("pytorch", DATA / "h200-decoder" / "kineto.json.gz")
        rows = self.ask(bundle, "operators", rows=5)
        expected = sorted(profile["operators"], key=lambda row: (-row["cuda_self_ms"], -row["cpu_self_ms"]))[:5]
        self.assertEqual([(row["name"], row["calls"]) for row in rows], [(row["name"], row["calls"]) for row in expected])

    def test_products(self):
        bundle, profile = self.analyzed("products", DATA / "h200-decoder" / "kineto.json.gz")
        rows = self.ask(bundle, "products_above_floor", rows=3)
        expected = sorted(profile["products"], key=lambda row: -row["above_floor_ms"])[:3]
        names = ("stage", "role", "m", "n", "k", "calls", "total_ms", "above_floor_ms", "floor_share")
        self.assertEqual([[row[name] for name in names] for row in rows],
                         [[row[name] for name in names] for row in expected])
        self.assertAlmostEqual(rows[0]["tb_per_s"], expected[0]["bytes_per_s"] / 1e12, 9)

    def test_runs_are_compared(self):
        other, profile = self.analyzed("other", DATA / "h200-decoder" / "kineto.json.gz")
        done = run("query", self.bundle, other, "--recipe", "compare_stages", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {(row["stage"], row["run"]): row for row in dicts(json.loads(done.stdout))}
        for stage in ("prefill", "decode"):
            now = next(item for item in profile["stages"] if item["name"] == stage)["wall_ms"]["mean"]
            self.assertEqual(rows[stage, "run"]["ratio"], 1)
            self.assertAlmostEqual(rows[stage, "other"]["ratio"], now / self.stage(stage)["wall_ms"]["mean"], 9)

    def test_ranks(self):
        captures = self.folder / "ranks"
        captures.mkdir()
        job_captures.pytorch_job(captures, ranks=2, delays=[job_captures.Delay(rank=1, at=(24, 30, 40))])
        bundle, profile = self.analyzed("job", captures)
        rows = self.ask(bundle, "who_waits_for_whom")
        self.assertEqual(rows[0]["rank"], 1)  # the delayed one
        expected = {rank["rank"]: next(part for part in rank["between"] if part["stage"] == "decode")["caused_wait_ms"]
                    for rank in profile["ranks"]}
        self.assertEqual({row["rank"]: row["caused_wait_ms"] for row in rows}, expected)
        rows = self.ask(bundle, "expensive_collectives")
        self.assertEqual([row["total_ms"] for row in rows],
                         sorted((row["total_ms"] for row in profile["job"]["collectives"]), reverse=True))
        by_rank = ask(bundle, "SELECT rank, device, count(*), sum(duration_ns) FROM kernels GROUP BY rank, device")["rows"]
        self.assertEqual([[rank["rank"], rank["device"], rank["totals"]["kernel_count"], rank["totals"]["kernel_sum_ns"]]
                          for rank in profile["ranks"]], by_rank)
        steps = ask(bundle, "SELECT k.rank, k.step, count(*), s.kernel_count FROM kernels k JOIN rank_steps s "
                            "ON s.rank = k.rank AND s.step = k.step GROUP BY 1, 2")["rows"]
        self.assertTrue(steps)
        self.assertTrue(all(row[2] == row[3] for row in steps))

    def test_requests(self):
        bundle, profile = self.analyzed("served", DATA / "collector_log" / "served.llmtrace",
                                        DATA / "requests" / "served.json")
        requests = profile["requests"]
        done = [item for item in requests["items"] if item["status"] == "completed" and not item["warm_up"]]
        rows = self.ask(bundle, "slowest_requests", rows=3)
        self.assertEqual([row["ttft_ms"] for row in rows],
                         sorted((item["ttft_ns"] / 1e6 for item in done), reverse=True)[:3])
        rows = self.ask(bundle, "time_of_requests")
        self.assertEqual({row["part"]: row["ms"] for row in rows},
                         {part: time / 1e6 for part, time in requests["parts_ns"].items()})
        self.assertAlmostEqual(sum(row["share"] for row in rows), 1, 9)
        rows = self.ask(bundle, "who_delays_whom")
        self.assertEqual([row["request_id"] for row in rows], [row["by"] for row in requests["delayers"]])
        (row,) = self.ask(bundle, "token_gaps")
        gaps = [b - a for item in requests["items"] for a, b in zip(item["token_ns"], item["token_ns"][1:], strict=False)]
        self.assertEqual((row["gaps"], row["p99_ms"], row["max_ms"]),
                         (len(gaps), percentile(gaps, 99) / 1e6, max(gaps) / 1e6))


if __name__ == "__main__":
    unittest.main()
