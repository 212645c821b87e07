"""What `llmprof diff` claims, and what it must not claim: nothing about a damaged side, nothing that single runs cannot
show, one percentage per change, utilization against one peak, and nothing about GPUs if there are none."""
import copy
import gzip
import json
import re
import sqlite3
import unittest

import equal_runs
from edited_capture import KERNELS
from program import DATA, run
from terminal import run_on_terminal
from test_diff import DENSE, Folder

CPU_RUNS = sorted((DATA / "cpu-repeats").glob("*.json.gz"))
GPU_RUNS = sorted((DATA / "h200-repeats").glob("*.llmtrace.gz"))
CLAIMS = re.compile(r"\b(better|worse|faster|slower|twice as|times as)\b")


def slowed(profile, stage_name, factor):
    """The profile with one stage slower, in all its times."""
    profile = copy.deepcopy(profile)
    for step in profile["steps"]:
        if step["stage"] == stage_name:
            for name in ("wall_ms", "gpu_busy_ms", "gpu_sum_ms"):
                step[name] *= factor
            step["classes_ns"] = {name: round(time * factor) for name, time in step["classes_ns"].items()}
    for stage in profile["stages"]:
        if stage["name"] != stage_name:
            continue
        for instance in stage["instances"]:
            for name in ("wall_ms", "gpu_busy_ms", "gpu_sum_ms"):
                instance[name] *= factor
            instance["classes_ns"] = {name: round(time * factor) for name, time in instance["classes_ns"].items()}
        for part in stage["budget"] or []:
            part["total_ns"] = round(part["total_ns"] * factor)
        for name in ("mfu", "mbu"):
            if stage[name]["wall"] is not None:
                stage[name]["wall"] /= factor
    return profile


def with_peaks(profile, flops, bandwidth):
    """The profile as if these peaks had been measured."""
    profile = copy.deepcopy(profile)
    for stage in profile["stages"]:
        stage["mfu"]["wall"] *= stage["peak_flops_per_s"] / flops
        stage["mbu"]["wall"] *= stage["peak_bandwidth_bytes_per_s"] / bandwidth
        stage["peak_flops_per_s"], stage["peak_bandwidth_bytes_per_s"] = flops, bandwidth
    profile["utilization"]["cpu"].update(flops_per_s=flops, memory_bandwidth_bytes_per_s=bandwidth)
    return profile


class Sides(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cpu = [equal_runs.load(path) for path in CPU_RUNS]
        cls.gpu = json.loads(cls.dense.read_text(encoding="utf-8"))


class Damage(Sides):
    def check(self, base, new, code, sides=("new",), verdict="cannot_tell"):
        for paths, names in (((base, new), sides), ((new, base), tuple({"new": "base"}.get(s, "new") for s in sides))):
            diff = self.diff(*paths, "--gate", "default", "--gate", "class.gemm.ms<=+1000%", exit_code=3)
            self.assertEqual(diff["verdict"], verdict)
            self.assertIn(code, {row["code"] for row in diff["damage"]})
            self.assertEqual({row["side"] for row in diff["damage"]}, set(names))
            self.assertEqual({gate["outcome"] for gate in diff["gates"]}, {"cannot_tell"})
            self.assertEqual({row["answer"] for row in diff["comparisons"]} - {"cannot_tell"}, set())
            first = self.stdout.splitlines()[0]
            self.assertRegex(first, f"^The {names[0]} side is damaged")
            for text in (self.stdout, self.markdown):
                self.assertIsNone(CLAIMS.search(text.replace("Better and worse: the interval", "")), text[:3000])
                self.assertIn(f"Diagnostic: {code}.", text)
        # Also without a gate.
        self.diff(base, new, exit_code=3)

    def test_a_half_zeroed_export(self):
        damaged = self.folder / "zeroed.sqlite"
        content = bytearray(DENSE.read_bytes())
        half = len(content) // 2
        content[half:] = bytes(len(content) - half)
        damaged.write_bytes(content)
        analyzed = run("analyze", damaged, "--out", self.folder / "zeroed")
        self.assertEqual(analyzed.returncode, 0, analyzed.stderr)
        read = json.loads((self.folder / "zeroed" / "profile.json").read_text(encoding="utf-8"))
        self.assertLess(read["totals"]["kernel_count"], self.gpu["totals"]["kernel_count"])
        # The remaining data contains no stage.
        self.check(self.dense, self.folder / "zeroed" / "profile.json", "nsys_damaged_table", verdict="not_comparable")

    def test_an_export_with_few_kernels_left(self):
        damaged = self.folder / "few.sqlite"
        content = bytearray(DENSE.read_bytes())
        with sqlite3.connect(f"file:{DENSE}?mode=ro", uri=True) as database:
            (page,) = database.execute("PRAGMA page_size").fetchone()
            (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (KERNELS,)).fetchone()
        # The right-most pointer of the table's root page, which leads to a part of its rows.
        at = (root - 1) * page
        content[at + 8:at + 12] = (0).to_bytes(4, "big")
        damaged.write_bytes(content)
        self.check(self.dense, damaged, "nsys_damaged_table")

    def test_a_truncated_log(self):
        whole = gzip.decompress(GPU_RUNS[0].read_bytes())
        cut = self.folder / "cut.llmtrace"
        cut.write_bytes(whole[: len(whole) * 6 // 10])
        self.check(GPU_RUNS[1], cut, "collector_log_truncated")

    def test_a_profile_of_an_earlier_version(self):
        for code, severity in (("collector_cupti_dropped", "warning"), ("kineto_truncated", "warning"),
                               ("rank_missing", "warning"), ("launches_without_kernels", "warning"),
                               ("of_a_later_version", "error")):
            old = copy.deepcopy(self.gpu)
            del old["context"]["load"]
            old["diagnostics"].append({"severity": severity, "code": code, "message": "why", "count": 7})
            self.check(self.dense, self.write(old), code)

    def test_a_recording_that_was_interrupted(self):
        broken = copy.deepcopy(self.gpu)
        broken["captures_failed"] = [{"backend": "collector", "message": "interrupted"}]
        self.check(self.dense, self.write(broken), "capture_failed")

    def test_a_stage_without_its_end(self):
        cut = copy.deepcopy(self.gpu)
        prefill = next(stage for stage in cut["stages"] if stage["name"] == "prefill")
        for instance in prefill["instances"]:
            instance["cut_off"] = True
        self.check(self.dense, self.write(cut), "stage_cut_off")

    def test_problems_that_lose_no_data_are_not_damage(self):
        fine = copy.deepcopy(self.gpu)
        fine["diagnostics"] += [{"severity": "info", "code": "launches_without_kernels", "message": "few", "count": 1},
                                {"severity": "error", "code": "nsys_says", "message": "might", "count": 1},
                                {"severity": "warning", "code": "ncu_bad_rows", "message": "beside", "count": 1}]
        fine["captures_failed"] = [{"backend": "ncu", "message": "not installed"},
                                   {"backend": "torch", "message": "no torch"}]
        self.assertEqual(self.diff(self.dense, self.write(fine), "--gate", "default")["damage"], [])

    def test_kernels_hidden_in_graphs_are_not_removed_ones(self):
        untraced = {"source": "workload_clock", "wall_ms": 45.0, "wall_ms_per_step": 1.8, "idle_share_of_wall": 0.1,
                     "idle_ms": 4.5, "gpu_busy_ms": 40.5, "budget": []}
        sides = []
        for hidden in (False, True):
            profile = copy.deepcopy(self.gpu)
            profile["stages"] = [{**stage, "unwatched": untraced} for stage in profile["stages"]
                                 if stage["name"] == "decode"]
            if hidden:
                profile["totals"]["hidden_graphs"] = {"replays": 72, "ms": 100.0, "share": 0.7, "launched_in": None}
                for step in profile["steps"]:
                    step["classes_ns"] = {}
                profile["kernel_sequences"] = []
            sides.append(self.write(profile))
        diff = self.diff(*sides, "--gate", "class.gemm.ms<=+1%", exit_code=3)
        self.assertEqual([gate["outcome"] for gate in diff["gates"]], ["cannot_tell"])
        for row in diff["comparisons"]:
            if row["times"] == "recorded":
                self.assertEqual((row["answer"], row["why_not"]), ("cannot_tell", "recorded_differently"), row)
        self.assertEqual(self.stage(diff, "decode")["kernels"], [])


class SingleRuns(Sides):
    def test_equal_cpu_runs_are_not_called_faster_or_slower(self):
        # With another program on one of two cores, which doubles all times; and without knowing about it.
        for profiles in (self.cpu, [equal_runs.without_load(profile) for profile in self.cpu]):
            pairs = equal_runs.compare_all(profiles)
            self.assertEqual(len(pairs), 42)
            self.assertGreater(max(abs(row["relative"]) for pair in pairs for row in pair.headlines.values()), 0.9)
            self.assertLessEqual(sum(bool(pair.called) for pair in pairs), 2)
            self.assertLessEqual(sum(pair.failed_gate for pair in pairs), 2)

    def test_equal_gpu_runs_are_not_called_faster_or_slower(self):
        profiles = []
        for number, log in enumerate(GPU_RUNS[:7]):
            out = self.folder / f"gpu{number}"
            self.assertEqual(run("analyze", log, "--out", out).returncode, 0)
            profiles.append(equal_runs.load(out / "profile.json"))
        pairs = equal_runs.compare_all(profiles)
        self.assertGreater(max(abs(row["relative"]) for pair in pairs for row in pair.headlines.values()), 0.1)
        self.assertLessEqual(sum(bool(pair.quantities) for pair in pairs), 2)
        self.assertLessEqual(sum(pair.failed_gate for pair in pairs), 2)

    def test_twice_as_slow_is_reported_in_the_first_line(self):
        for base, new in ((self.cpu[0], slowed(self.cpu[1], "decode", 2)), (self.gpu, slowed(self.gpu, "decode", 2))):
            diff = self.diff(self.write(base), self.write(new), "--gate", "decode.step<=+20%", exit_code=5)
            first, _, second = self.stdout.splitlines()[:3]
            self.assertRegex(first, "^decode is twice as slow; ")
            self.assertEqual(first, diff["summary"])
            self.assertIn("Verdict: fail.", second)
            diff = self.diff(self.write(new), self.write(base), "--gate", "decode.step<=+20%")
            self.assertRegex(self.stdout.splitlines()[0], "^decode is twice as fast; ")

    def test_other_programs_invalidate_the_claim(self):
        base, new = self.cpu[0], slowed(self.cpu[1], "decode", 2)
        for load in new["context"]["load"]:
            load["others"] = 1.0
        diff = self.diff(self.write(base), self.write(new), "--gate", "decode.step<=+20%", exit_code=3)
        self.assertIsNone(CLAIMS.search(diff["summary"]))
        self.assertIn("shared_cpus", {row["aspect"] for row in diff["aspects"]})

    def test_five_runs_per_side_need_no_assumption(self):
        base = [self.write(slowed(self.cpu[0], "decode", 1 + n / 1000)) for n in range(5)]
        new = [self.write(slowed(self.cpu[0], "decode", 1.1 + n / 1000)) for n in range(5)]
        options = [word for path in base[1:] for word in ("--base", path)]
        options += [word for path in new[1:] for word in ("--new", path)]
        step = self.compared(self.diff(base[0], new[0], *options), "decode", "step")
        self.assertEqual((step["answer"], step["direction"], step["between_runs"]), ("changed", "worse", None))


class OnePercentage(Sides):
    def check(self, base, new, *options, exit_code=0):
        diff = self.diff(base, new, *options, exit_code=exit_code)
        for row in diff["comparisons"]:
            self.assertEqual(row["difference"], row["new"] - row["base"], row)
            if row["base"]:
                self.assertAlmostEqual(row["relative"], row["new"] / row["base"] - 1, places=12)
        # Tables show this to their number of digits; nothing else has a percentage.
        for line in self.stdout.splitlines():
            found = re.match(r"  \w+ +(?:wall time|[CG]PU|kernel time|\w.* kernels) .*? +([\d.]+) +([\d.]+) +"
                             r"([+-]?[\d.]+) %", line)
            if found and float(found[1]) > 0.01:
                self.assertAlmostEqual(float(found[3]), 100 * (float(found[2]) / float(found[1]) - 1), delta=1.1)
        for stage in diff["stages"]:
            wall = next((row for row in diff["comparisons"] if row["stage"] == stage["stage"]
                         and row["quantity"] == ("step" if stage["unit"] == "step" else "wall")), None)
            if wall is None or wall["method"] == "identical":
                continue
            percentages = re.findall(r"[+-]?\d+\.\d\d %", stage["why"].split(" GPU work ")[0])
            allowed = {f"{100 * wall[name]:+.2f} %" for name in ("relative", "relative_low", "relative_high")
                       if wall[name] is not None}
            allowed |= {each.lstrip("+-") for each in allowed}
            self.assertLessEqual(set(percentages), allowed, stage["why"])
        return diff

    def test_of_a_slower_decode(self):
        self.check(self.write(self.cpu[0]), self.write(slowed(self.cpu[1], "decode", 1.93)))
        self.check(self.dense, self.write(slowed(self.gpu, "decode", 2.0892)))
        self.assertEqual(self.check(self.dense, self.dense)["identical"], True)

    def test_a_rule_measures_the_change_between_its_two_values(self):
        new = self.write(slowed(self.gpu, "decode", 1.5))
        for statistic in ("shift", "mean", "p50"):
            diff = self.diff(self.dense, new, "--gate", f"decode.step.{statistic}<=+1%", exit_code=5)
            measured = diff["gates"][0]["measured"]
            self.assertAlmostEqual(measured["relative"], measured["new"] / measured["base"] - 1, places=12)
            self.assertIn(f"{measured['base']:.4f} to {measured['new']:.4f} ms, {100 * measured['relative']:+.2f} %",
                          diff["gates"][0]["text"])

    def test_each_quantity_is_listed_once(self):
        new = self.write(slowed(self.gpu, "decode", 1.5))
        diff = self.diff(self.dense, new)
        rows = [row for row in diff["comparisons"] if row["stage"] == "decode"]
        shown = re.findall(r"^\| decode \| ([^|]+?) \|", self.markdown, re.MULTILINE)
        # Either steps or instances, not both.
        self.assertIn("wall time per step", shown)
        self.assertNotIn("wall time per instance", shown)
        self.assertEqual(len(shown), len(set(shown)))
        self.assertLess(len(shown), len(rows))
        self.assertNotIn("points", self.markdown)


class Identical(Sides):
    def test_only_the_same_measurements_are_the_same(self):
        other = copy.deepcopy(self.gpu)
        outside = next(kernel for kernel in other["kernels"] if not kernel["stages"])
        outside["calls"] += 1
        diff = self.diff(self.dense, self.write(other))
        self.assertFalse(diff["identical"])
        self.assertNotIn("same measurements", self.stdout + self.markdown)
        self.assertIn("unchanged", self.stdout.splitlines()[0])

    def test_captures_without_stages(self):
        summary = DATA / "h200-decoder" / "nsys_cuda_gpu_kern_sum.csv"
        self.assertTrue(self.diff(summary, summary)["identical"])
        self.assertEqual(self.stdout.splitlines()[0], "Both sides hold the same measurements.")


class Utilization(Sides):
    def test_both_sides_have_one_peak(self):
        # A disturbed peak measurement made a slower prefill look better utilized.
        base = with_peaks(self.cpu[0], 120e9, 57e9)
        new = with_peaks(slowed(self.cpu[0], "prefill", 1.726), 60.7e9, 28e9)
        self.assertGreater(next(s for s in new["stages"] if s["name"] == "prefill")["mfu"]["wall"],
                           next(s for s in base["stages"] if s["name"] == "prefill")["mfu"]["wall"])
        for sides in ((base, new), (new, base)):
            diff = self.diff(*map(self.write, sides), "--gate", "prefill.mfu>=-5%",
                             exit_code=5 if sides[1] is new else 0)
            wall = self.compared(diff, "prefill", "wall")
            mfu = self.compared(diff, "prefill", "mfu")
            self.assertAlmostEqual(mfu["relative"], wall["base"] / wall["new"] - 1, places=6)
            self.assertIn("cpu_peaks", {row["aspect"] for row in diff["aspects"]})

    def test_without_a_common_peak_there_is_no_comparison(self):
        other = copy.deepcopy(self.cpu[1])
        other["utilization"]["cpu"]["name"] = "Neoverse-V1, 1 thread, measured"
        diff = self.diff(self.write(self.cpu[0]), self.write(other), "--gate", "prefill.mfu>=-5%", exit_code=3)
        self.assertEqual([row for row in diff["comparisons"] if row["quantity"] in ("mfu", "mbu")], [])


class WithoutProfiling(Sides):
    def test_a_wall_time_is_listed_once_and_utilization_refers_to_it(self):
        out = self.folder / "llama"
        self.assertEqual(run("analyze", DATA / "h200-runs" / "llama_1b", "--out", out).returncode, 0)
        base = json.loads((out / "profile.json").read_text(encoding="utf-8"))
        new = copy.deepcopy(base)
        decode = next(stage for stage in new["stages"] if stage["name"] == "decode")
        for name in ("wall_ms", "wall_ms_per_step", "idle_ms"):
            decode["unwatched"][name] *= 1.7
        decode["unwatched"]["added_by_tracing_share"] = (1 + decode["unwatched"]["added_by_tracing_share"]) / 1.7 - 1
        # As a program would have measured it: utilization follows the wall time.
        for name in ("mfu", "mbu"):
            decode["shown"][name]["wall"] /= 1.7
        diff = self.diff(self.write(base), self.write(new), "--gate", "decode.step<=+5%", exit_code=5)
        shown = re.findall(r"^\| decode \| ([^|]+?) \|", self.markdown, re.MULTILINE)
        self.assertEqual([row for row in shown if "wall time" in row or "idle" in row][0],
                         "wall time per step, without profiling")
        self.assertEqual([row for row in shown if "idle" in row], [])
        self.assertRegex(diff["summary"], r"^decode is 70\.00 % slower; ")
        mfu = self.compared(diff, "decode", "mfu", times="unwatched")
        own = next(stage for stage in base["stages"] if stage["name"] == "decode")
        slower = 1 + own["unwatched"]["added_by_tracing_share"]
        self.assertAlmostEqual(mfu["base"], own["mfu"]["wall"] * slower, places=9)
        self.assertAlmostEqual(mfu["relative"], 1 / 1.7 - 1, places=9)


class Words(Sides):
    def test_on_cpus_nothing_is_called_gpu(self):
        self.diff(self.write(self.cpu[0]), self.write(slowed(self.cpu[1], "decode", 3)),
                  "--gate", "decode.step_busy<=+1%", exit_code=5)
        for text in (self.stdout, self.markdown):
            self.assertNotIn("GPU", text)
            self.assertIn("CPU busy per step", text)
        self.assertRegex(self.stdout.splitlines()[0], r"^decode is 3\.\d times as slow; ")

    def test_eighty_columns_have_room_for_the_new_value_and_the_answer(self):
        base, new = self.write(self.cpu[0]), self.write(slowed(self.cpu[1], "decode", 2))
        shown = run_on_terminal("diff", base, new, "--out", self.folder / "narrow", columns=80)
        (head,) = [line for line in shown.lines() if line.split()[:2] == ["stage", "quantity"]]
        self.assertEqual(head.split(), ["stage", "quantity", "base", "new", "change", "answer"])
        diff = json.loads((self.folder / "narrow" / "diff.json").read_text(encoding="utf-8"))
        step = self.compared(diff, "decode", "step")
        (row,) = [line for line in shown.lines() if line.startswith("  decode   wall time per step")]
        self.assertEqual(row.split()[5:7], [f"{step['base']:.4f}", f"{step['new']:.4f}"])
        self.assertTrue(row.endswith("worse"), row)
        self.assertLessEqual(max(map(len, shown.lines())), 80)


if __name__ == "__main__":
    unittest.main()
