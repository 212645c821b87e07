"""Stages, steps, budgets and utilization of the real binary, against plain SQL, nsys's own reports and manual
calculations."""
import csv
import decimal
import pathlib
import re
import shutil
import sqlite3
import tempfile
import unittest

from program import DATA, H200_CAPTURES, Bundle

DENSE = H200_CAPTURES / "h200-dense-graph"
LLAMA = H200_CAPTURES / "h200-llama-eager"
CHOICES = ((), ("--no-annotations",))
DENSE_MODEL = DATA / "models" / "dense_graph_config.json"

# A process is the upper 40 bits of nsys's global thread id.
WORK_IN_RANGES = """
WITH ranges AS (
  SELECT rowid AS id, start, "end", globalTid,
         coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) AS name
  FROM NVTX_EVENTS WHERE eventType = 59),
work AS (
  SELECT start, "end", correlationId, globalPid, 1 AS kernel FROM CUPTI_ACTIVITY_KIND_KERNEL
  UNION ALL
  SELECT start, "end", correlationId, globalPid, 0 FROM CUPTI_ACTIVITY_KIND_MEMCPY
  UNION ALL
  SELECT start, "end", correlationId, globalPid, 0 FROM CUPTI_ACTIVITY_KIND_MEMSET)
SELECT r.name, r.start, r."end", sum(w.kernel), sum(w.kernel * (w."end" - w.start)), max(w."end")
FROM ranges r
JOIN CUPTI_ACTIVITY_KIND_RUNTIME a
  ON a.globalTid = r.globalTid AND a.start >= r.start AND a.start < r."end"
JOIN work w ON w.correlationId = a.correlationId AND w.globalPid = (a.globalTid & ~0xFFFFFF)
WHERE r.name = ? GROUP BY r.id ORDER BY r.start
"""


def ranges_by_sql(path, name):
    """Each range of that name: (kernels, kernel time in ns, wall time in ns), by launch correlation."""
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    rows = database.execute(WORK_IN_RANGES, (name,)).fetchall()
    database.close()
    return [(kernels, total, max(end, last) - start) for _, start, end, kernels, total, last in rows]


def nanoseconds(milliseconds):
    return int((decimal.Decimal(repr(milliseconds)) * 1000000).to_integral_value())


def stage(bundle, name):
    found = [item for item in bundle.profile["stages"] if item["name"] == name]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} stages {name}")
    return found[0]


def instances(bundle, name):
    """(kernels, kernel time in ns, wall time in ns) of each instance."""
    return [
        (item["kernel_count"], nanoseconds(item["gpu_sum_ms"]), nanoseconds(item["wall_ms"]))
        for item in stage(bundle, name)["instances"]
    ]


def csv_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class BudgetCheck(unittest.TestCase):
    def check_budgets(self, bundle):
        """Each instance's parts sum to its wall time, the stage's to their mean."""
        self.assertTrue(bundle.profile["stages"])
        for item in bundle.profile["stages"]:
            for instance in item["instances"]:
                parts = instance["budget_ns"]
                self.assertTrue(all(isinstance(value, int) and value >= 0 for value in parts.values()))
                self.assertEqual(sum(parts.values()), nanoseconds(instance["wall_ms"]))
            steady = [i for i in item["instances"] if not i["warmup"]]
            self.assertEqual(item["wall_ms"]["count"], len(steady))
            mean = sum(nanoseconds(i["wall_ms"]) for i in steady) / len(steady) / 1e6
            self.assertAlmostEqual(item["wall_ms"]["mean"], mean, delta=1e-6)
            self.assertAlmostEqual(sum(p["ms"] for p in item["budget"]), mean, delta=1e-5)
            self.assertAlmostEqual(sum(p["share"] for p in item["budget"]), 1, delta=1e-6)


class DenseGraph(BudgetCheck):
    @classmethod
    def setUpClass(cls):
        cls.path = DENSE / "nsys_node.sqlite"
        cls.bundle = Bundle(
            cls.path, options=("--model", DENSE_MODEL, "--prompt-tokens", "777", "--batch", "1")
        )

    def test_stages_equal_the_launch_correlation_of_plain_sql(self):
        prefill = ranges_by_sql(self.path, "prefill")
        decode = ranges_by_sql(self.path, "decode_all")
        # The README's truth, so that the query itself is checked.
        self.assertEqual([count for count, _, _ in prefill], [462] * 3)
        self.assertEqual([round(total / 1e6, 2) for _, total, _ in prefill], [5.43, 5.41, 5.42])
        self.assertEqual([count for count, _, _ in decode], [12408] * 3)
        self.assertEqual([round(total / 1e6, 2) for _, total, _ in decode], [38.69, 38.72, 38.71])
        self.assertEqual(instances(self.bundle, "prefill"), prefill)
        self.assertEqual(instances(self.bundle, "decode"), decode)

    def test_a_decode_has_24_steps_and_the_first_request_is_warm_up(self):
        self.assertEqual([i["steps"] for i in stage(self.bundle, "decode")["instances"]], [24] * 3)
        for name in ("prefill", "decode"):
            flags = [i["warmup"] for i in stage(self.bundle, name)["instances"]]
            self.assertEqual(flags, [True, False, False], name)
        steps = [s for s in self.bundle.profile["steps"] if s["stage"] == "decode"]
        self.assertEqual([s["kernel_count"] for s in steps], [517] * 72)

    def test_budgets_sum_to_wall_time(self):
        self.check_budgets(self.bundle)

    def test_cost_equals_a_calculation_by_hand(self):
        # A layer's weights: q and o 4096 x 4096, k and v 4096 x 1024, gate, up and down 4096 x 11008.
        layer = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 11008
        head = 4096 * 32000
        tokens = 777
        products = 2 * tokens * 8 * layer + 2 * head  # logits of the last position only
        attention = 4 * 8 * 32 * 128 * tokens * tokens / 2  # causal: half of the square
        flops = stage(self.bundle, "prefill")["flops"]
        self.assertAlmostEqual(flops / (products + attention), 1, delta=0.005)

        # 24 steps: all weights once per step, and the cache of the preceding tokens; bf16 has 2 bytes.
        weights = 2 * (8 * layer + head)
        cache = sum(2 * 8 * 8 * 128 * 2 * (tokens + step) for step in range(24))
        moved = stage(self.bundle, "decode")["bytes"]
        self.assertAlmostEqual(moved / (24 * weights + cache), 1, delta=0.005)

        # H200 SXM: 4,800 GB/s and 989 dense bf16 TFLOP/s.
        decode = stage(self.bundle, "decode")
        wall = decode["wall_ms"]["mean"] / 1e3
        self.assertAlmostEqual(decode["mbu"]["wall"], moved / wall / 4800e9, delta=1e-6)
        prefill = stage(self.bundle, "prefill")
        wall = prefill["wall_ms"]["mean"] / 1e3
        self.assertAlmostEqual(prefill["mfu"]["wall"], flops / wall / 989e12, delta=1e-6)

    def test_the_same_stages_without_annotations(self):
        found = Bundle(self.path, options=("--no-annotations",))
        self.check_budgets(found)
        self.assertEqual(stage(found, "decode")["source"], "detected")
        decodes = [i["steps"] for i in stage(found, "decode")["instances"]]
        self.assertEqual(decodes[-3:], [24] * 3)
        # Two prefills and three steps run before the first request: warm-up and capture.
        self.assertEqual(sum(decodes[:-3]), 3)
        self.assertEqual(len(stage(found, "prefill")["instances"]), 5)

    def test_narrowing(self):
        decode = Bundle(self.path, options=("--stage", "decode", "--steps", "4:12"))
        self.assertEqual([item["name"] for item in decode.profile["stages"]], ["decode"])
        self.assertEqual([i["steps"] for i in stage(decode, "decode")["instances"]], [8] * 3)
        self.assertEqual(decode.profile["totals"]["kernel_count"], 3 * 8 * 517)
        self.check_budgets(decode)


class LlamaEager(BudgetCheck):
    @classmethod
    def setUpClass(cls):
        cls.path = LLAMA / "nsys.sqlite"
        cls.bundle = Bundle(cls.path)

    def test_stages_agree_with_nsys(self):
        projected = {row["Range"]: row for row in csv_rows(LLAMA / "nsys_nvtx_gpu_proj_sum.csv")}
        kernels = {}
        for row in csv_rows(LLAMA / "nsys_nvtx_kern_sum.csv"):
            count, total = kernels.get(row["NVTX Range"], (0, 0))
            kernels[row["NVTX Range"]] = (
                count + int(row["Kern Inst"]),
                total + int(row["Total Time (ns)"]),
            )
        for name, label in (("prefill", ":prefill"), ("decode", ":decode_all")):
            found = instances(self.bundle, name)
            self.assertEqual(len(found), int(projected[label]["Range Instances"]))
            self.assertEqual(
                (sum(count for count, _, _ in found), sum(total for _, total, _ in found)),
                kernels[label],
                name,
            )
        steps = [i["steps"] for i in stage(self.bundle, "decode")["instances"]]
        self.assertEqual(steps, [4, 16])
        self.assertEqual(sum(steps), int(projected[":decode_step"]["Range Instances"]))

    def test_budgets_sum_to_wall_time(self):
        self.check_budgets(self.bundle)

    def test_the_same_stages_without_annotations(self):
        found = Bundle(self.path, options=("--no-annotations",))
        self.assertEqual([i["steps"] for i in stage(found, "decode")["instances"]], [4, 16])
        self.assertEqual(len(stage(found, "prefill")["instances"]), 2)


class WithoutAnnotations(BudgetCheck):
    def test_a_pytorch_trace_of_two_requests(self):
        found = Bundle(DENSE / "kineto_graph.json.gz")
        self.assertEqual(len(stage(found, "prefill")["instances"]), 2)
        self.assertEqual([i["steps"] for i in stage(found, "decode")["instances"]], [24, 24])
        self.check_budgets(found)

    def test_continuous_batching_fits_24_new_tokens_per_request(self):
        found = Bundle(H200_CAPTURES / "h200-hf" / "hf_continuous_batching.sqlite")
        self.check_budgets(found)
        steps = [(s["kind"], s["batch"], s["tokens"]) for s in found.profile["steps"]]
        # Its program's requests: two of 900 and 60 tokens, then ten of 5,420 together. Each call processes all its
        # prompts in one pass, so none is mixed (h200-serving has mixed passes).
        self.assertEqual(
            steps,
            [("prefill", 2, 960)] + [("decode", 2, 2)] * 23
            + [("prefill", 10, 5420)] + [("decode", 10, 10)] * 23,
        )
        self.assertEqual(sum(batch for _, batch, _ in steps), 24 * 2 + 24 * 10)

    def test_two_models_and_an_image_encoder(self):
        path = H200_CAPTURES / "h200-hf" / "deepseek_ocr2.sqlite"
        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        # The encoder starts with its patch convolution; the program then fills the next model's weights.
        kernels, total, span = database.execute(
            """WITH k AS (SELECT start, "end", (SELECT value FROM StringIds WHERE id = demangledName) AS name
                 FROM CUPTI_ACTIVITY_KIND_KERNEL),
               first AS (SELECT min(start) AS start FROM k WHERE name LIKE '%convolve%'),
               next AS (SELECT min(k.start) AS start FROM k, first
                 WHERE k.start > first.start AND name LIKE '%distribution_elementwise%')
               SELECT count(*), sum(k."end" - k.start), max(k."end") - min(k.start) FROM k, first, next
               WHERE k.start >= first.start AND k.start < next.start""").fetchone()
        database.close()
        bundle = Bundle(path)
        (note,) = bundle.profile["stage_notes"]
        self.assertEqual((note["stage"], note["name"], note["instances"]), ("prefill", "vision", 1))
        self.assertEqual(note["kernel_count"], kernels)
        self.assertEqual(nanoseconds(note["gpu_sum_ms"]), total)
        self.assertEqual(nanoseconds(note["range_ms"]), span)
        self.assertIn(
            "vision (for prefill, excluded from its figures): 1 detected pass", bundle.files["report.md"]
        )

        self.assertEqual([s["layers"] for s in bundle.profile["steps"]], [12] * 5 + [8] * 12)
        (diagnostic,) = [d for d in bundle.profile["diagnostics"] if d["code"] == "several_models"]
        self.assertIn("12 of 8 attention layers, 5 of 12 attention layers", diagnostic["message"])
        summaries = {
            (s["stage"], s["model_layers"]): (s["layers"], s["passes"])
            for s in bundle.profile["layer_summary"]["stages"]
        }
        # Without the first prefill, which is warm-up, and the first decode step.
        self.assertEqual(summaries[("prefill", 8)], (8, 1))
        self.assertEqual(summaries[("prefill", 12)], (12, 1))
        self.assertEqual(summaries[("decode", 8)], (8, 11))
        self.assertEqual(summaries[("decode", 12)][0], 12)
        self.assertIn("Layers in decode, model of 8 attention layers", bundle.files["report.md"])


def cut(source, target, after=None, before=None):
    """A copy of the capture as if it had been attached at `after`, or ended at `before` (ns)."""
    shutil.copy(source, target)
    target.chmod(0o644)
    database = sqlite3.connect(target)
    for table in ("RUNTIME", "KERNEL", "MEMCPY", "MEMSET"):
        name = f"CUPTI_ACTIVITY_KIND_{table}"
        if after is not None:
            database.execute(f"DELETE FROM {name} WHERE start < ?", (after,))
        if before is not None:
            database.execute(f'DELETE FROM {name} WHERE start >= ? OR "end" > ?', (before, before))
    if after is not None:
        database.execute("DELETE FROM NVTX_EVENTS WHERE eventType = 59 AND start < ?", (after,))
    if before is not None:
        database.execute("DELETE FROM NVTX_EVENTS WHERE eventType = 59 AND start >= ?", (before,))
        database.execute('UPDATE NVTX_EVENTS SET "end" = NULL WHERE "end" > ?', (before,))
    database.commit()
    database.close()


def range_times(path, name):
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    rows = database.execute(
        'SELECT start, "end" FROM NVTX_EVENTS WHERE eventType = 59 AND '
        "coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) = ? ORDER BY start",
        (name,),
    ).fetchall()
    database.close()
    return rows


class CutCaptures(unittest.TestCase):
    """Three requests of 24 steps; recording starts or ends within one."""

    @classmethod
    def setUpClass(cls):
        cls.path = DENSE / "nsys_node.sqlite"
        cls.whole = {options: Bundle(cls.path, options=options) for options in CHOICES}

    def analyze_cut(self, options, **times):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder) / "cut.sqlite"
            cut(self.path, target, **times)
            return Bundle(target, options=options)

    def check(self, bundle, name, cut_one, options):
        """Measured instances are complete; the cut instance is not."""
        whole = {
            (item["kernel_count"], item["wall_ms"])
            for item in stage(self.whole[options], name)["instances"]
        }
        found = stage(bundle, name)["instances"]
        measured = [i for i in found if not i["warmup"]]
        self.assertGreater(len(measured), 0)
        for item in measured:
            self.assertIn((item["kernel_count"], item["wall_ms"]), whole, options)
        if (found[cut_one]["kernel_count"], found[cut_one]["wall_ms"]) not in whole:
            self.assertTrue(found[cut_one]["warmup"], options)
            self.assertLess(found[cut_one]["kernel_count"], measured[0]["kernel_count"])
        mean = sum(item["wall_ms"] for item in measured) / len(measured)
        self.assertAlmostEqual(stage(bundle, name)["wall_ms"]["mean"], mean, 5)

    def test_a_capture_attached_within_a_decode(self):
        start, end = range_times(self.path, "decode_all")[0]
        for options in CHOICES:
            bundle = self.analyze_cut(options, after=(start + end) // 2)
            # Launched before recording started, its kernels are in no range, but still form passes.
            self.check(bundle, "decode", 0, options)
            said = {"warmup_set_apart", "stage_cut_off"} if options else {"kernels_without_launch"}
            self.assertTrue(said & bundle.codes(), options)

    def test_a_capture_that_ends_within_a_decode(self):
        start, end = range_times(self.path, "decode_all")[-1]
        for options in CHOICES:
            bundle = self.analyze_cut(options, before=(start + end) // 2)
            self.check(bundle, "decode", -1, options)
            self.assertIn("stage_cut_off", bundle.codes(), options)
            self.assertIn("is cut off by the end of the capture", bundle.files["report.md"])

    def test_a_capture_that_ends_within_a_prefill(self):
        start, end = range_times(self.path, "prefill")[-1]
        bundle = self.analyze_cut((), before=(start + end) // 2)
        self.check(bundle, "prefill", -1, ())
        self.assertIn("stage_cut_off", bundle.codes())


class OwnCaptures(BudgetCheck):
    """Captures in the repository, so that these tests run everywhere."""

    def test_a_decoder_equals_plain_sql(self):
        path = DATA / "h200-decoder" / "nsys.sqlite"
        for options in ((), ("--no-annotations",)):
            bundle = Bundle(path, options=options)
            self.check_budgets(bundle)
            self.assertEqual([i["steps"] for i in stage(bundle, "decode")["instances"]], [8, 8])
            for name, label in (("prefill", "prefill"), ("decode", "decode_all")):
                truth = ranges_by_sql(path, label)
                found = instances(bundle, name)
                self.assertEqual([item[:2] for item in found], [item[:2] for item in truth], options)
                if not options:
                    self.assertEqual(found, truth)

    def test_mixed_steps_are_what_the_engine_says(self):
        path = DATA / "h200-serving" / "nsys.sqlite"
        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        labels = [
            re.fullmatch(r"execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\)", text)
            for (text,) in database.execute(
                "SELECT coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) FROM NVTX_EVENTS "
                "WHERE eventType = 59 ORDER BY start"
            )
        ]
        database.close()
        truth = []
        for label in labels:
            prompts, prompt_tokens, going_on, new_tokens = map(int, label.groups())
            kind = "mixed" if prompts and going_on else "prefill" if prompts else "decode"
            truth.append((kind, prompts + going_on, prompt_tokens + new_tokens))
        self.assertEqual({kind for kind, _, _ in truth}, {"prefill", "mixed", "decode"})
        for options in ((), ("--no-annotations",)):
            bundle = Bundle(path, options=options)
            self.check_budgets(bundle)
            found = [(s["kind"], s["batch"], s["tokens"]) for s in bundle.profile["steps"]]
            self.assertEqual(found, truth, options)


if __name__ == "__main__":
    unittest.main()
