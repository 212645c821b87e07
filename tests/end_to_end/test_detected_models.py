"""Detected passes and stages in captures of many models, against what ran (tests/data/h200-detection).

labels.json says for each capture what ran, and what is detected if that differs: a known miss. A miss that becomes
correct and a capture that becomes wrong both fail: `bench/detection/calibrate.py --record` writes the current result,
which determines the confidence of each level (measured_confidence)."""
import collections
import concurrent.futures
import json
import pathlib
import re
import tempfile
import unittest

from program import DATA, Bundle

FOLDER = DATA / "h200-detection"
FILE = json.loads((FOLDER / "labels.json").read_text(encoding="utf-8"))
LABELS, GROUPS = FILE["captures"], FILE["groups"]
LIMITS = pathlib.Path(__file__).parents[2] / "src" / "analysis" / "stages" / "thresholds.h"
KINDS = ("prefill", "decode", "mixed", "forward")
# Only a model that generates tokens has these.
OF_TOKENS = {"token_selection", "expert_routing"}
WORDS_OF_TOKENS = ("token", "KV cache", "prompt", "prefill", "decode", "speculative")


def claims_llm(found):
    return found["prefill"] + found["decode"] + found["mixed"] > 0


def is_right(label, found):
    if found["level"] is None:
        return not any(label["truth"][kind] for kind in ("prefill", "decode", "forward"))
    return claims_llm(found) == label["truth"]["llm"] and all(
        found[kind] == label["truth"].get(kind, 0) for kind in KINDS
    )


def is_found_llm(label):
    return label["truth"]["llm"] and "miss" not in label


def found_in(profile):
    kinds = collections.Counter(step["kind"] for step in profile["steps"])
    return {"level": profile["stages_found"]["confidence_level"], **{kind: kinds[kind] for kind in KINDS}}


class DetectedModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.committed = {label["name"]: label for label in LABELS if label["file"]}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            bundles = pool.map(
                lambda label: Bundle(FOLDER / label["file"], options=["--no-annotations"]), cls.committed.values()
            )
            cls.bundles = dict(zip(cls.committed, bundles))
            cls.profiles = {name: bundle.profile for name, bundle in cls.bundles.items()}
        # Of captures that are not in the repository: what was found last.
        cls.found = {label["name"]: label["found"] for label in LABELS}
        cls.found.update({name: found_in(profile) for name, profile in cls.profiles.items()})

    def analyzed(self, wanted=lambda label: True):
        return [(label, self.profiles[name]) for name, label in self.committed.items() if wanted(label)]

    def calibration(self, level):
        """By Laplace's rule of succession, over the captures that no rule was tuned on."""
        right = [is_right(label, self.found[label["name"]]) for label in LABELS
                 if label["split"] == "held_out" and self.found[label["name"]]["level"] == level]
        return round((sum(right) + 1) / (len(right) + 2), 2)

    def test_every_log_is_labeled(self):
        files = {path.name for path in FOLDER.glob("*.llmtrace.gz")}
        self.assertEqual(files, {label["file"] for label in self.committed.values()})

    def test_everything_that_ran_is_found_except_known_misses(self):
        for label, _ in self.analyzed():
            with self.subTest(label["name"]):
                found = self.found[label["name"]]
                self.assertEqual(is_right(label, found), "miss" not in label, f"{label['truth']}, found: {found}")
                self.assertEqual(found, label["found"])

    def test_known_misses_are_those_that_labels_record(self):
        for label in LABELS:
            with self.subTest(label["name"]):
                self.assertEqual(is_right(label, label["found"]), "miss" not in label)

    def test_limits_hold_on_captures_that_they_were_not_set_on(self):
        """A limit in src/analysis/stages/thresholds.h that fits only the captures it was set on fails here."""
        right = collections.defaultdict(list)
        for label in LABELS:
            right[label["split"]].append(is_right(label, self.found[label["name"]]))
        self.assertEqual(set(right), {"tuning", "held_out"})
        share = {split: sum(found) / len(found) for split, found in right.items()}
        self.assertGreaterEqual(share["held_out"], share["tuning"], share)

    def test_limits_were_set_on_tuning_captures_alone(self):
        """What brackets in comments of thresholds.h name: [GROUP], or [tuning: CAPTURE, ...]."""
        tuning = {each["name"] for each in LABELS + GROUPS if each["split"] == "tuning"}
        named = re.findall(r"\[([^\]]+)\]", re.sub(r"\n// ", " ", LIMITS.read_text(encoding="utf-8")))
        self.assertGreater(len(named), 40)
        for group, _, captures in (name.partition(": ") for name in named):
            self.assertLessEqual({group, *captures.split(", ")} - {"", "tuning"}, tuning)

    def test_passes_of_other_groups_are_found(self):
        captures = [capture for group in GROUPS for capture in group["captures"]]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            bundles = pool.map(lambda each: Bundle(DATA / each["file"], options=["--no-annotations"]), captures)
            for capture, bundle in zip(captures, bundles):
                with self.subTest(capture["file"]):
                    passes = found_in(bundle.profile)
                    self.assertEqual({kind: passes[kind] for kind in KINDS if passes[kind]}, capture["truth"])

    def test_models_other_than_llms_have_passes_but_no_tokens(self):
        for label, profile in self.analyzed(lambda label: not label["truth"]["llm"]):
            with self.subTest(label["name"]):
                self.assertLessEqual({stage["name"] for stage in profile["stages"]}, {"forward"})
                for of in (profile["token_times"], profile["token_times"]["shown"]):
                    no_times = ("gpu_busy_share_of_wall", "shown", "revision")
                    times = {key: value for key, value in of.items() if key not in no_times}
                    self.assertFalse(any(times.values()), times)
                for stage in profile["stages"]:
                    self.assertIsNone((stage["measured"] or {}).get("tokens"))
                for row in profile["recoverable"]:
                    self.assertIsNone(row["tokens"])
                for finding in profile["findings"]:
                    self.assertNotIn(finding["kind"], OF_TOKENS)
                    self.assertIsNone(finding["recoverable_ms_per_token"])
                    self.assertIsNone(finding["recoverable_ms_per_output_token"])
                    for word in WORDS_OF_TOKENS:
                        self.assertNotIn(word, finding["advice"])

    def test_reports_of_other_models_have_no_token_tables(self):
        for label, profile in self.analyzed(lambda label: label["found"]["forward"] > 0):
            with self.subTest(label["name"]):
                report = self.bundles[label["name"]].files["report.md"]
                self.assertIn("\n## Steps\n", report)
                for row in report[report.index("\n## Per-stage timings") :].splitlines():
                    self.assertFalse(row.startswith("| ") and "token" in row and "known to generate" not in row, row)

    def test_llms_have_token_times(self):
        for label, profile in self.analyzed(is_found_llm):
            with self.subTest(label["name"]):
                self.assertGreater(profile["token_times"]["time_to_first_token_ms"]["mean"], 0)
                per_token = profile["token_times"]["time_per_output_token_ms"]
                if label.get("speculative"):  # the number of accepted drafts is not recorded
                    self.assertIsNone(per_token)
                else:
                    self.assertGreater(per_token["mean"], 0)

    def test_a_request_with_a_draft_model_is_one_prefill_and_one_decode(self):
        for label, profile in self.analyzed(lambda label: label.get("speculative")):
            with self.subTest(label["name"]):
                self.assertEqual([(stage["name"], len(stage["instances"])) for stage in profile["stages"]],
                                 [("prefill", 4), ("decode", 4)])
                for stage in profile["stages"]:
                    self.assertEqual([instance["warmup"] for instance in stage["instances"]], [True] + 3 * [False])

    def test_only_the_first_request_is_warm_up(self):
        for label, profile in self.analyzed(is_found_llm):
            with self.subTest(label["name"]):
                for stage in profile["stages"]:
                    later = stage["instances"][1:]
                    self.assertGreater(len(later), 0)
                    self.assertFalse(any(instance["warmup"] for instance in later), stage["name"])

    def test_confidence_is_the_measured_share_of_its_level(self):
        levels = set()
        for label, profile in self.analyzed():
            with self.subTest(label["name"]):
                level = profile["stages_found"]["confidence_level"]
                if level is None:
                    self.assertIsNone(profile["stages_found"]["confidence"])
                    continue
                levels.add(level)
                self.assertEqual(profile["stages_found"]["confidence"], self.calibration(level), level)
        self.assertEqual(levels, {"high", "medium", "low"})


class OnePrefill(unittest.TestCase):
    """A PyTorch trace of one prefill of a C++ engine with its own style of kernel names."""

    LAYERS, TOKENS = 16, 512
    LAYER = [("RmsNormKernel", "norm"), ("nvjet_tst_128x128_64x4_2x1_v_bz_TNT", "gemm"), ("RopeFromCacheKernel", "rope"),
             ("PagedFlashKernel", "attention"), ("nvjet_tst_64x128_64x4_2x1_v_bz_TNT", "gemm"),
             ("AddRmsNormKernel", "norm"), ("nvjet_tst_192x128_64x4_2x1_v_bz_TNT", "gemm"),
             ("SiluMulKernel", "elementwise"), ("CastBf16Kernel", "copy/cast"),
             ("nvjet_tst_192x128_64x4_2x1_v_bz_TNN", "gemm")]

    def launches(self):
        yield "EmbeddingGatherKernel", self.TOKENS
        yield "PagedFlashBuildTiles", 1
        for name, kind in self.LAYERS * self.LAYER:
            yield name, 96 if kind in ("gemm", "attention") else self.TOKENS
        for name in ("RmsNormKernel", "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "ArgmaxKernel"):
            yield name, 1

    def trace(self):
        events = []
        for number, (name, blocks) in enumerate(self.launches(), 1):
            arguments = {"correlation": number, "device": 0, "context": 1, "stream": 7, "grid": [blocks, 1, 1],
                         "block": [128, 1, 1]}
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                           "ts": 40 * number, "dur": 3, "args": {"correlation": number}})
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 40 * number + 5, "dur": 30,
                           "args": arguments})
        return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": events}

    def test_it_is_found_and_its_kernels_have_classes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "prefill.json"
            file.write_text(json.dumps(self.trace()), encoding="utf-8")
            profile = Bundle(file).profile
        classes = {kernel["kernel_name"]: kernel["class"] for kernel in profile["kernels"]}
        for name, wanted in self.LAYER + [("EmbeddingGatherKernel", "embedding/gather"),
                                          ("PagedFlashBuildTiles", "attention"), ("ArgmaxKernel", "sampling/top-k")]:
            self.assertEqual(classes[name], wanted, name)
        (step,) = profile["steps"]
        self.assertEqual((step["kind"], step["layers"]), ("prefill", self.LAYERS))
        self.assertEqual(profile["coverage"]["kernels_in_stages"], len(list(self.launches())))


if __name__ == "__main__":
    unittest.main()
