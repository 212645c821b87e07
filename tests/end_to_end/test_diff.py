"""llmprof diff on real captures and on copies with a known change: it finds, attributes and quantifies that change and
nothing else."""
import copy
import json
import os
import pathlib
import random
import tempfile
import unittest
import xml.etree.ElementTree

from edited_capture import RMS_NORM, fuse_norms, rename, slow_down
from program import H200_CAPTURES, ROOT, run

DENSE = H200_CAPTURES / "h200-dense-graph" / "nsys_node.sqlite"
SHARED = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures"))
GEMM = "nvjet"


def profile_of(capture, folder):
    """The capture's profile.json, analyzed once."""
    out = folder / f"{capture.name}.bundle"
    result = run("analyze", capture, "--out", out)
    assert result.returncode == 0, result.stderr
    return out / "profile.json"


def only_request(profile, stage_name, kept):
    """The profile with all but one of a stage's instances marked as warm-up."""
    profile = copy.deepcopy(profile)
    for stage in profile["stages"]:
        if stage["name"] != stage_name:
            continue
        for number, instance in enumerate(stage["instances"]):
            instance["warmup"] = number != kept
        stage["warmup_count"] = len(stage["instances"]) - 1
    return profile


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.dense = profile_of(DENSE, cls.folder)
        cls.number = 0

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def write(self, profile):
        type(self).number += 1
        path = self.folder / f"profile{self.number}.json"
        path.write_text(json.dumps(profile), encoding="utf-8")
        return path

    def diff(self, base, new, *options, exit_code=0):
        type(self).number += 1
        out = self.folder / f"diff{self.number}"
        result = run("diff", base, new, "--out", out, *options)
        self.assertEqual(result.returncode, exit_code, result.stderr + result.stdout)
        self.markdown = (out / "diff.md").read_text(encoding="utf-8")
        self.stdout = result.stdout
        found = json.loads((out / "diff.json").read_text(encoding="utf-8"))
        self.check_sums(found)
        return found

    def check_sums(self, diff):
        """Rows sum to the stage's differences in whole nanoseconds, whatever was compared."""
        for stage in diff["stages"]:
            self.assertEqual(sum(row["difference_ns"] for row in stage["kernels"]),
                             stage["kernel_difference_ns"])
            self.assertEqual(sum(row["base_ns"] for row in stage["kernels"]), stage["kernel_base_ns"])
            if stage["budget"]:
                self.assertEqual(sum(row["difference_ns"] for row in stage["budget"]),
                                 stage["difference_ns"])
                self.assertEqual(sum(row["difference_ns"] for row in stage["causes"]),
                                 stage["difference_ns"])

    def compared(self, diff, stage, quantity, times="recorded"):
        rows = [row for row in diff["comparisons"]
                if (row["stage"], row["quantity"], row["times"]) == (stage, quantity, times)]
        self.assertEqual(len(rows), 1, (stage, quantity))
        return rows[0]

    def stage(self, diff, name):
        return next(stage for stage in diff["stages"] if stage["stage"] == name)


class SameInputs(Folder):
    def test_identical_inputs_pass_every_gate(self):
        diff = self.diff(self.dense, self.dense, "--gate", "default", "--gate", "class.gemm.ms<=+0%")
        self.assertEqual(diff["verdict"], "pass")
        self.assertTrue(diff["identical"])
        self.assertTrue(all(row["answer"] == "unchanged" for row in diff["comparisons"]))
        self.assertTrue(all(row["change"] == "matched" for stage in diff["stages"] for row in stage["kernels"]))

    def test_a_capture_is_its_profile(self):
        diff = self.diff(DENSE, self.dense)
        self.assertTrue(diff["identical"])
        self.assertEqual(diff["base"][0]["kind"], "capture")
        self.assertEqual(diff["new"][0]["kind"], "profile")

    def test_the_sides_stay_untouched(self):
        before = {path: path.read_bytes() for path in self.dense.parent.rglob("*") if path.is_file()}
        self.diff(self.dense.parent, self.dense)
        self.assertEqual(before, {path: path.read_bytes() for path in self.dense.parent.rglob("*") if path.is_file()})

    def test_rules_exclude_warm_up_and_first_steps_and_say_so(self):
        diff = self.diff(self.dense, self.dense)
        left = {(row["side"], row["what"], row["rule"]): row["count"] for row in diff["left_out"]
                if row["stage"] == "decode"}
        # Three requests of 24 steps, the first a warm-up.
        self.assertEqual(left[("base", "steps", "warm_up")], 24)
        self.assertEqual(left[("new", "steps", "first_step")], 2)
        self.assertEqual(diff["groups"][-1]["base_steps"], 46)
        for rule in ("warm up", "first step"):
            self.assertIn(rule, self.markdown)


class EarlierSchema(Folder):
    def test_profiles_without_places_match_by_name(self):
        old = json.loads(self.dense.read_text(encoding="utf-8"))
        del old["kernel_sequences"]
        for step in old["steps"]:
            del step["classes_ns"], step["clocks_lowered"]
        for stage in old["stages"]:
            for instance in stage["instances"]:
                del instance["classes_ns"], instance["clocks_lowered"], instance["cut_off"]
        diff = self.diff(self.write(old), self.dense)
        decode = self.stage(diff, "decode")
        self.assertEqual({row["change"] for row in decode["kernels"]}, {"matched"})
        self.assertEqual({row["matched_by"] for row in decode["kernels"]}, {"name"})
        self.assertEqual(decode["kernel_difference_ns"], 0)


class KnownChanges(Folder):
    def test_a_renamed_product_is_replaced(self):
        decode = next(s for s in json.loads(self.dense.read_text())["kernel_sequences"] if s["stage"] == "decode")
        gemm = max((k for k in decode["kernels"] if k["class"] == "gemm"), key=lambda k: k["total_ns"])
        full = next(k["kernel_name"] for k in json.loads(self.dense.read_text())["kernels"]
                    if k["short_name"] == gemm["short_name"])
        edited = self.folder / "renamed.sqlite"
        self.assertEqual(rename(DENSE, edited, full, "nvjet_tst_512x16_64x3_4x1_v_bz_TNT"), 1)
        diff = self.diff(self.dense, edited)
        decode = self.stage(diff, "decode")
        changed = [row for row in decode["kernels"] if row["change"] != "matched"]
        self.assertTrue(changed)
        self.assertEqual({row["change"] for row in changed}, {"replaced"})
        for row in changed:
            self.assertEqual(row["base_kernels"][0]["short_name"], gemm["short_name"])
            self.assertIn("512x16", row["new_kernels"][0]["short_name"])
            self.assertEqual(row["difference_ns"], 0)

    def test_a_fused_norm_is_fused_and_not_removed(self):
        edited = self.folder / "fused.sqlite"
        self.assertGreater(fuse_norms(DENSE, edited), 1000)
        diff = self.diff(self.dense, edited)
        decode = self.stage(diff, "decode")
        changed = [row for row in decode["kernels"] if row["change"] != "matched"]
        self.assertEqual({row["change"] for row in changed}, {"fused"})
        # Two norms per layer, and the last one after the layers.
        self.assertEqual(sorted(row["block"] for row in changed), ["after_layers", "layer", "layer"])
        for row in changed:
            self.assertEqual(len(row["base_kernels"]), len(RMS_NORM))
            self.assertEqual([kernel["short_name"] for kernel in row["new_kernels"]], ["RMSNorm (rms_norm_kernel)"])
        self.assertRegex(decode["why"], r"-\d\.\d{4} ms from fusing")
        self.assertIn("(24 kernels became 3)", decode["why"])

    def test_slower_products_are_found_attributed_and_quantified(self):
        base = json.loads(self.dense.read_text(encoding="utf-8"))
        found = {}
        for percent in (1, 2, 5):
            edited = self.folder / f"slow{percent}.sqlite"
            self.assertGreater(slow_down(DENSE, edited, GEMM, 1 + percent / 100), 1000)
            new = json.loads(profile_of(edited, self.folder).read_text(encoding="utf-8"))
            # Different requests on each side: their noise differs.
            diff = self.diff(self.write(only_request(base, "decode", 1)),
                             self.write(only_request(new, "decode", 2)),
                             "--threshold", "0.5%")
            gemm = self.compared(diff, "decode", "class.gemm")
            found[percent] = gemm
            self.assertEqual((gemm["answer"], gemm["direction"]), ("changed", "worse"), percent)
            self.assertLessEqual(gemm["relative_low"], percent / 100 + 0.0005)
            self.assertGreaterEqual(gemm["relative_high"], percent / 100 - 0.0005)
            for other in ("copy/cast", "elementwise", "attention", "reduction"):
                row = self.compared(diff, "decode", f"class.{other}")
                self.assertNotEqual(row["direction"], "worse", (percent, other))
            causes = [cause for cause in self.stage(diff, "decode")["causes"]
                      if cause["kind"] in ("same_kernels", "replaced", "added", "removed", "fused", "split")]
            if percent == 5:
                self.assertEqual((causes[0]["kind"], causes[0]["subject"]), ("same_kernels", "gemm"))
        self.assertLess(found[1]["relative"], found[2]["relative"])
        self.assertLess(found[2]["relative"], found[5]["relative"])

    def test_gates_fail_only_beyond_limit_and_noise(self):
        edited = self.folder / "slow_gate.sqlite"
        slow_down(DENSE, edited, GEMM, 1.05)
        new = profile_of(edited, self.folder)
        junit = self.folder / "gate.xml"
        summary = self.folder / "summary.md"
        diff = self.diff(self.dense, new, "--gate", "class.gemm.ms<=+1%", "--gate", "decode.step.p50<=+20%",
                         "--junit", junit, "--summary", summary, exit_code=5)
        self.assertEqual(diff["verdict"], "fail")
        outcomes = {(gate["rule"], gate["stage"]): gate["outcome"] for gate in diff["gates"]}
        self.assertEqual(outcomes[("class.gemm.ms<=+1%", "decode")], "fail")
        self.assertEqual(outcomes[("decode.step.p50<=+20%", "decode")], "pass")
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
        self.assertEqual(int(suite.get("tests")), 1 + len(diff["gates"]))
        self.assertEqual(int(suite.get("failures")), len([o for o in outcomes.values() if o == "fail"]))
        text = summary.read_text(encoding="utf-8")
        self.assertLess(len(text), 60000)
        self.assertIn("Verdict: fail.", text)
        self.diff(self.dense, new, "--gate", "class.gemm.ms<=+6%")
        # With two limits, a rule fails only if both are exceeded.
        self.diff(self.dense, new, "--gate", "decode.class.gemm.mean<=+1%&+1ms")
        # 5 % of the GEMMs is about 2 % of a step: whether it exceeds that is undecided.
        cannot = self.diff(self.dense, new, "--gate", "decode.step.p99<=+2%", exit_code=3)
        self.assertEqual(cannot["verdict"], "cannot_tell")

    def test_a_class_may_be_named_as_reports_show_it(self):
        diff = self.diff(self.dense, self.dense, "--gate", "class.quantization.ms<=+1%", exit_code=3)
        self.assertEqual([gate["outcome"] for gate in diff["gates"]], ["cannot_tell"])

    def test_rules_of_a_file(self):
        conf = self.folder / "conf"
        (conf / "gate").mkdir(parents=True)
        (conf / "gate" / "strict.yaml").write_text("threshold: 0.2%\nrules:\n  - class.gemm.ms<=+0.1%\n")
        diff = self.diff(self.dense, self.dense, "--gate", "strict", "--config-dir", conf)
        self.assertEqual(diff["threshold"], 0.002)
        self.assertEqual([gate["rule"] for gate in diff["gates"]], ["class.gemm.ms<=+0.1%"] * 2)


class NotComparable(Folder):
    def changed(self, edit):
        profile = json.loads(self.dense.read_text(encoding="utf-8"))
        edit(profile)
        return self.write(profile)

    def test_another_gpu_is_not_comparable(self):
        def edit(profile):
            for gpu in profile["context"]["gpus"]:
                gpu["name"] = "NVIDIA A100"
        diff = self.diff(self.dense, self.changed(edit), "--gate", "decode.step.p50<=+2%", exit_code=3)
        self.assertEqual(diff["verdict"], "not_comparable")
        self.assertEqual([row["aspect"] for row in diff["aspects"] if row["blocking"]], ["gpu"])
        self.assertIn("Not comparable: the processor: base NVIDIA H200, new NVIDIA A100.", self.stdout)
        self.assertEqual([gate["outcome"] for gate in diff["gates"]], ["cannot_tell"])
        # Shown next to each other: figures, kernels and budgets, without any claim.
        self.assertEqual({row["why_not"] for row in diff["comparisons"]}, {"not_comparable"})
        self.assertEqual({(row["answer"], row["direction"], row["low"]) for row in diff["comparisons"]},
                         {("cannot_tell", None, None)})
        decode = self.stage(diff, "decode")
        self.assertTrue(decode["budget"] and decode["kernels"])
        self.assertEqual(self.stdout.splitlines()[0],
                         "The sides are not comparable; their figures are only listed side by side.")
        for words in ("better", "worse", "faster", "slower", "changed cannot"):
            self.assertNotIn(words, self.stdout.split("Times are in ms")[0])

    def test_another_driver_is_a_note(self):
        def edit(profile):
            for capture in profile["context"]["captures"]:
                capture["driver"] = "999.1"
        before = self.changed(lambda profile: [c.update(driver="580.1") for c in profile["context"]["captures"]])
        diff = self.diff(before, self.changed(edit))
        self.assertEqual([(row["aspect"], row["blocking"]) for row in diff["aspects"]], [("driver", False)])

    def test_steps_of_another_batch_are_excluded(self):
        def edit(profile):
            for step in profile["steps"]:
                step["batch"] = 4 if step["step_of_instance"] >= 12 else 1
        diff = self.diff(self.changed(edit),
                         self.changed(lambda profile: [step.update(batch=1) for step in profile["steps"]]))
        group = next(group for group in diff["groups"] if group["stage"] == "decode")
        self.assertEqual((group["batch"], group["context_low"], group["context_high"]), (1, 1, 11))
        rules = {(row["side"], row["rule"]): row["count"] for row in diff["left_out"]
                 if row["stage"] == "decode" and row["what"] == "steps"}
        self.assertEqual(rules[("base", "no_counterpart")], 24)
        self.assertEqual(rules[("new", "outside_context_range")], 24)

    def test_wrong_usage_is_refused_before_anything_is_read(self):
        for options, words in ((["--gate", "decode.step<=2%"], "no sign"),
                               (["--gate", "nothing"], "available: default"),
                               (["--gate", "decode.step<=+nan%"], "not a limit"),
                               (["--gate", "decode.step<=+inf%"], "not a limit"),
                               (["--gate", "class.gem.ms<=+1%"], "unknown class 'gem'; available: gemm, gemv"),
                               (["--gate", "decode.class.gem.p50<=+1%"], "unknown class 'gem'"),
                               (["--threshold", "nan%"], "not a percentage"),
                               (["--threshold", "many"], "not a percentage")):
            result = run("diff", self.dense, self.dense, *options)
            self.assertEqual(result.returncode, 2, options)
            self.assertIn(words, result.stderr)
        result = run("diff", self.dense, self.folder / "absent")
        self.assertEqual(result.returncode, 3)


class Repeats(Folder):
    """Runs made from one run's steps by adding noise per run: only runs vary."""

    def run_like(self, base, factor, seed):
        profile = copy.deepcopy(base)
        noise = 1 + random.Random(seed).gauss(0, 0.002)
        for step in profile["steps"]:
            for field in ("wall_ms", "gpu_busy_ms", "gpu_sum_ms"):
                step[field] *= factor * noise
        return self.write(profile)

    def test_five_runs_per_side_find_two_percent_and_no_false_change(self):
        base = json.loads(self.dense.read_text(encoding="utf-8"))
        for factor, answer in ((1.02, "changed"), (1.0, "unchanged")):
            olds = [self.run_like(base, 1, seed) for seed in range(5)]
            news = [self.run_like(base, factor, 100 + seed) for seed in range(5)]
            options = [word for path in olds[1:] for word in ("--base", path)]
            options += [word for path in news[1:] for word in ("--new", path)]
            step = self.compared(self.diff(olds[0], news[0], *options), "decode", "step")
            self.assertEqual((step["method"], step["noise_of"]), ("rank_interval", "runs"))
            self.assertEqual(step["answer"], answer, step)
            self.assertLessEqual(step["relative_low"], factor - 1)
            self.assertGreaterEqual(step["relative_high"], factor - 1)


def splits(profile, stage_name, count, seed):
    """Two profiles with `count` stages each: every stage is another random split of one run's steps, in blocks of
    consecutive steps, into a base and a new half."""
    choose = random.Random(seed)
    stage = next(stage for stage in profile["stages"] if stage["name"] == stage_name)
    steps = [step for step in profile["steps"]
             if step["stage"] == stage_name and not stage["instances"][step["instance"]]["warmup"]
             and step["step_of_instance"] > 0 and not step["after_untraced"]]
    sides = [{**profile, "stages": [], "steps": [], "kernels": [], "findings": [], "kernel_sequences": []}
             for _ in range(2)]
    for number in range(count):
        halves = [[], []]
        at = 0
        while at < len(steps):
            length = choose.randint(4, 12)
            # The half with fewer, or either: both are about as long.
            fewer = min((0, 1), key=lambda side: len(halves[side]))
            side = fewer if choose.random() < 0.6 else 1 - fewer
            halves[side] += steps[at:at + length]
            at += length
        for side, half in zip(sides, halves):
            name = f"split_{number:03}"
            side["stages"].append({"name": name, "instances": [{"steps": len(half)}], "instance_count": 1,
                                   "step_count": len(half)})
            # Only wall times: comparing the others takes as long.
            side["steps"] += [{**step, "stage": name, "instance": 0, "classes_ns": {}, "gpu_busy_ms": 0.0,
                               "gpu_sum_ms": 0.0} for step in half]
    return sides


class Calibration(Folder):
    """Equal sides are rarely called different."""

    SPLITS = 200
    AT_ONCE = 25

    def check(self, name, profile, stage):
        rows = []
        for part in range(self.SPLITS // self.AT_ONCE):
            base, new = splits(profile, stage, self.AT_ONCE, f"{name} {part}")
            rows += [row for row in self.diff(self.write(base), self.write(new))["comparisons"]
                     if row["quantity"] == "step"]
        # A split without a common context range has no answer.
        self.assertGreaterEqual(len(rows), 0.95 * self.SPLITS)
        changed = sum(row["answer"] == "changed" for row in rows)
        differs = sum(row["differs"] for row in rows)
        print(f"{name}: {changed} of {len(rows)} changed, {differs} intervals without 0")
        self.assertLessEqual(changed, 0.05 * len(rows), name)
        # The intervals themselves: 5 % may miss, plus four standard deviations, which are 12.
        self.assertLessEqual(differs, 0.05 * len(rows) + 12, name)

    def test_splits_of_a_decode_in_one_graph(self):
        self.check("h200-dense-graph", json.loads(self.dense.read_text(encoding="utf-8")), "decode")

    def test_splits_of_engines(self):
        engines = SHARED / "engines"
        if not engines.is_dir():
            self.skipTest("needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")
        for name in ("llama_cpp_bench_f16", "gpt_fast_compiled"):
            profile = profile_of(engines / f"{name}.llmtrace.gz", self.folder)
            self.check(name, json.loads(profile.read_text(encoding="utf-8")), "decode")


class PublicPair(unittest.TestCase):
    def test_the_known_change_between_two_public_captures(self):
        public = SHARED / "public"
        if not public.is_dir():
            self.skipTest("needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "diff"
            result = run("diff", public / "GindaChen+nsys-ai__mfu_2gpu_before.sqlite",
                         public / "GindaChen+nsys-ai__mfu_2gpu_after.sqlite.gz", "--out", out)
            self.assertEqual(result.returncode, 0, result.stderr)
            diff = json.loads((out / "diff.json").read_text(encoding="utf-8"))
        # Windows of equal length in the same program: the same kernels with the same duration, except NCCL's, which
        # take longer; so fewer other kernels fit, and the GPUs are idle for longer.
        whole = diff["stages"][0]
        self.assertEqual(whole["stage"], "all kernels")
        self.assertLess(abs(whole["relative"]), 0.001)
        by_kind = {}
        for row in whole["kernels"]:
            by_kind[row["change"]] = by_kind.get(row["change"], 0) + row["base_ns"] + row["new_ns"]
        self.assertGreater(by_kind["matched"], 0.99 * sum(by_kind.values()))
        causes = {(cause["kind"], cause["subject"]): cause["points"] for cause in whole["causes"]}
        self.assertLess(causes[("launches", "attention")], -0.04)
        self.assertLess(abs(causes[("same_kernels", "attention")]), 0.005)
        self.assertGreater(causes[("same_kernels", "communication")], 0.01)
        self.assertGreater(sum(points for (kind, _), points in causes.items() if kind == "idle"), 0.04)


if __name__ == "__main__":
    unittest.main()
