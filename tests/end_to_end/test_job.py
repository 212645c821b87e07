"""Ranks of a distributed job: several captures become one profile, in one process and through partial profiles."""
import gzip
import json
import pathlib
import shutil
import struct
import tempfile
import unittest

import cuda_log
import job_captures
from program import DATA, run

SMALL_MODEL = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4,
               "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1000, "torch_dtype": "bfloat16"}
WAITING = "idle: waiting for the slowest rank"


def written(folder):
    """name -> bytes of all files below a folder, except the page, whose timeline needs single events."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != "report.html"}


def profile_in(folder):
    return json.loads((folder / "profile.json").read_text(encoding="utf-8"))


def ns(milliseconds):
    return round(milliseconds * 1e6)


class RankedProgram(cuda_log.Program):
    """The decoder of cuda_log.py as one rank of a job; its kernels take `slow` times as long."""

    def __init__(self, rank, slow=1.0, layers=4):
        super().__init__(layers=layers)
        self.rank = rank
        self.slow = slow

    def start(self):
        log = self.log
        log.record("control", cuda_log.SESSION, struct.pack(
            "<qIIII", self.now, 13000, 130001, log.key("/opt/libcupti.so.13"), 0))
        log.record("control", cuda_log.GPU, struct.pack(
            "<IIQQQII16s64s", 0, 132, 150_109_880_320, 4_814_304_000_000, 1_980_000_000, 9, 0,
            bytes([self.rank] * 16), b"NVIDIA H200"))
        log.record("control", cuda_log.VARIABLE, struct.pack("<II", log.key("RANK"), log.key(str(self.rank))))
        self.collection(cuda_log.TRACING, cuda_log.PROGRAM_START)

    def run_kernel(self, name, duration, *arguments, **more):
        super().run_kernel(name, int(duration * self.slow), *arguments, **more)


def write_log(path, rank, slow=1.0, requests=2, steps=3):
    program = RankedProgram(rank, slow)
    program.start()
    for _ in range(requests):
        program.request(steps, graph=False)
    program.end()
    program.log.write(path, process_id=4711 + rank)
    return program


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def call(self, *arguments, code=0):
        result = run(*arguments, cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        return result

    def analyze(self, *paths, options=()):
        self.call("analyze", *paths, "--out", "all", *options)
        return profile_in(self.folder / "all")

    def check_merge(self, captures, options=()):
        """Partial profiles of single ranks, written and named in any order, give the same result as one process."""
        self.call("analyze", *captures, "--out", "all", *options)
        for capture in reversed(captures):
            self.call("analyze", "--partial", capture, "--out", "partials", *options)
        partials = sorted(path.name for path in (self.folder / "partials").iterdir())
        self.assertEqual(len(partials), len(captures))
        self.call("merge", "partials", "--out", "merged")
        rotated = partials[1:] + partials[:1]
        self.call("merge", *("partials/" + name for name in rotated), "--out", "rotated")
        self.call("analyze", "--partial", *captures, "--out", "at_once", *options)
        self.call("merge", "at_once", "--out", "merged_at_once")
        expected = written(self.folder / "all")
        self.assertIn("report.md", expected)
        for name in ("merged", "rotated", "merged_at_once"):
            self.assertEqual(written(self.folder / name), expected, name)
        return profile_in(self.folder / "all")


class MergedProfiles(Folder):
    def test_two_ranks(self):
        job_captures.pytorch_job(self.folder, 2, clocks=[job_captures.Clock(), job_captures.Clock(350_000, 8.0)],
                                 delays=[job_captures.Delay(rank=1, at=[24])])
        profile = self.check_merge(["rank-0.pt.trace.json.gz", "rank-1.pt.trace.json.gz"])
        self.assertEqual([rank["rank"] for rank in profile["ranks"]], [0, 1])
        self.assertEqual(profile["job"]["recorded"], 2)

    def test_four_ranks_with_different_numbers_of_steps(self):
        job = job_captures.pytorch_job(
            self.folder, 4, cut={1: 24, 3: 16},
            clocks=[job_captures.Clock(), job_captures.Clock(350_000, 8.0), job_captures.Clock(-20_000, -3.0),
                    job_captures.Clock(5, 0.5)])
        profile = self.check_merge([path.name for path in job.captures])
        decodes = [sum(step["kind"] == "decode" for step in rank["steps"]) for rank in profile["ranks"]]
        self.assertEqual(len(set(decodes)), 3, decodes)
        self.assertEqual(sum(step["kind"] == "decode" for step in profile["steps"]), min(decodes))

    def test_logs_with_a_model(self):
        for rank in range(3):
            write_log(self.folder / f"{rank}.llmtrace", rank, slow=1 + rank / 4)
        (self.folder / "config.json").write_text(json.dumps(SMALL_MODEL), encoding="utf-8")
        options = ("--model", "config.json", "--prompt-tokens", "64", "--batch", "1", "--tp", "2")
        profile = self.check_merge([f"{rank}.llmtrace" for rank in range(3)], options)
        self.assertEqual(len(profile["ranks"]), 3)
        for stage in profile["stages"]:
            own = [next(s for s in rank["stages"] if s["name"] == stage["name"]) for rank in profile["ranks"]]
            flops = sum(s["flops"] for s in own)
            peaks = sum(s["peak_flops_per_s"] for s in own)
            seconds = stage["wall_ms"]["mean"] / 1e3
            self.assertAlmostEqual(stage["mfu"]["wall"], flops / (peaks * seconds), delta=1e-12)

    def test_a_run_with_several_ranks_has_partials_too(self):
        make_run(self.folder / "run", ranks=2)
        self.call("analyze", "run", "--out", "all")
        self.call("analyze", "--partial", "run", "--out", "partials")
        self.call("merge", "partials", "--out", "merged")
        self.assertEqual(written(self.folder / "merged"), written(self.folder / "all"))


class Profile(Folder):
    def setUp(self):
        super().setUp()
        self.slow = (1.0, 1.5)
        self.programs = [write_log(self.folder / f"{rank}.llmtrace", rank, slow)
                         for rank, slow in enumerate(self.slow)]

    def test_totals_are_the_sums_of_the_ranks_own_logs(self):
        profile = self.analyze("0.llmtrace", "1.llmtrace")
        kernels = [sum(calls for calls, _ in program.kernels.values()) for program in self.programs]
        times = [sum(time for _, time in program.kernels.values()) for program in self.programs]
        self.assertEqual(profile["totals"]["kernel_count"], sum(kernels))
        self.assertEqual(profile["totals"]["kernel_sum_ns"], sum(times))
        self.assertEqual([rank["totals"]["kernel_count"] for rank in profile["ranks"]], kernels)
        self.assertEqual([rank["totals"]["kernel_sum_ns"] for rank in profile["ranks"]], times)
        self.assertEqual(sum(row["total_ns"] for row in profile["kernels"]), sum(times))
        self.assertEqual(sum(row["calls"] for row in profile["classes"]), sum(kernels))
        self.assertEqual(profile["totals"]["gpu_count"], 2)
        self.assertEqual({row["device"] for row in profile["kernels"]}, {"rank0/cuda:0", "rank1/cuda:0"})

    def test_each_rank_is_as_analyzed_alone(self):
        profile = self.analyze("0.llmtrace", "1.llmtrace")
        for rank in profile["ranks"]:
            self.call("analyze", f"{rank['rank']}.llmtrace", "--out", f"alone{rank['rank']}")
            alone = profile_in(self.folder / f"alone{rank['rank']}")
            for part in ("totals", "classes", "stages", "steps", "token_times", "device_time", "diagnostics"):
                self.assertEqual(rank[part], alone[part], part)

    def test_an_instance_lasts_until_the_slowest_rank_ends(self):
        profile = self.analyze("0.llmtrace", "1.llmtrace")
        self.assertEqual([stage["name"] for stage in profile["stages"]], ["prefill", "decode"])
        for stage in profile["stages"]:
            own = [next(s for s in rank["stages"] if s["name"] == stage["name"]) for rank in profile["ranks"]]
            for at, instance in enumerate(stage["instances"]):
                starts = [s["instances"][at]["start_ns"] for s in own]
                walls = [ns(s["instances"][at]["wall_ms"]) for s in own]
                ends = [start + wall for start, wall in zip(starts, walls)]
                wall = max(ends) - min(starts)  # one host, one clock
                self.assertEqual(ns(instance["wall_ms"]), wall)
                self.assertEqual(sum(instance["budget_ns"].values()), wall)
                waiting = sum(wall - each for each in walls) // 2
                self.assertLessEqual(abs(instance["budget_ns"].get(WAITING, 0) - waiting), 1)
            total = sum(ns(i["wall_ms"]) for i in stage["instances"] if not i["warmup"])
            self.assertEqual(sum(part["total_ns"] for part in stage["budget"]), total)

    def test_steps_are_the_jobs(self):
        profile = self.analyze("0.llmtrace", "1.llmtrace")
        self.assertEqual(len(profile["steps"]), 6)
        by_instance = {}
        for step in profile["steps"]:
            by_instance.setdefault((step["stage"], step["instance"]), []).append(step)
        for (stage, at), steps in by_instance.items():
            instance = next(s for s in profile["stages"] if s["name"] == stage)["instances"][at]
            reached = instance["start_ns"]
            for step in steps:
                self.assertEqual(ns(step["start_ms"]), reached)
                reached += ns(step["wall_ms"])

    def test_reports_are_written_again_from_the_profile(self):
        self.call("analyze", "0.llmtrace", "1.llmtrace", "--out", "all")
        self.call("report", "all/profile.json", "--out", "again")
        self.assertEqual(written(self.folder / "again"), written(self.folder / "all"))

    def test_the_summary_counts_ranks(self):
        printed = self.call("analyze", "0.llmtrace", "1.llmtrace", "--out", "all").stdout
        self.assertIn("rank1/cuda:0", printed)


class NoJob(Folder):
    def test_one_rank_in_two_captures(self):
        write_log(self.folder / "first.llmtrace", 0)
        write_log(self.folder / "second.llmtrace", 0)
        profile = self.analyze("first.llmtrace", "second.llmtrace")
        self.assertIsNone(profile["job"])
        self.assertEqual(profile["ranks"], [])

    def test_captures_without_ranks(self):
        decoder = DATA / "h200-decoder"
        profile = self.analyze(decoder / "nsys.sqlite", decoder / "kineto.json.gz")
        self.assertIsNone(profile["job"])

    def test_a_capture_without_a_rank_has_no_partial_profile(self):
        result = self.call("analyze", "--partial", DATA / "h200-decoder" / "nsys.sqlite", "--out", "partials", code=3)
        self.assertIn("no capture names its rank", result.stderr)
        self.assertFalse((self.folder / "partials").exists())


def make_run(folder, ranks, states=None):
    """A run's folder with the logs of several ranks and the other records of `llmprof run`."""
    (folder / "collector").mkdir(parents=True)
    (folder / "stage1").mkdir()
    (folder / "inputs.yaml").write_text(
        "workload:\n  command: mpirun -n 2 ./llm\n  prompt_tokens: 64\n  batch: 1\n", encoding="utf-8")
    (folder / "env.json").write_text("{}", encoding="utf-8")
    (folder / "stage1" / "metrics.json").write_text(json.dumps(
        {"stages": {"prefill": {"mean_ms": 1.0}, "decode": {"mean_ms": 2.0}}}), encoding="utf-8")
    for rank in range(ranks):
        write_log(folder / "collector" / f"rank{rank}-{100 + rank}.llmtrace", rank)
    if states:
        (folder / "ranks.json").write_text(json.dumps(states), encoding="utf-8")


class Runs(Folder):
    def test_shared_inputs_are_given_to_each_rank(self):
        make_run(self.folder / "run", ranks=2)
        profile = self.analyze("run")
        self.assertEqual(profile["workload"]["command"], "mpirun -n 2 ./llm")
        self.assertEqual(profile["workload"]["prompt_tokens"], 64)
        self.assertEqual(len(profile["ranks"]), 2)
        for rank in profile["ranks"]:
            self.assertEqual(sum(capture["format"] == "llmprof log" for capture in rank["captures"]), 1)
        self.assertEqual([capture["rank"] for capture in profile["context"]["captures"]
                          if capture["format"] == "llmprof log"], [0, 1])

    def test_ranks_that_died_are_named(self):
        make_run(self.folder / "run", ranks=2, states={"world_size": 4, "ranks": [
            {"rank": 0, "state": "recorded"}, {"rank": 1, "state": "died", "detail": "signal 9 (Killed)"},
            {"rank": 2, "state": "missing", "detail": "it never started"},
            {"rank": 3, "state": "died", "detail": "exit code 1"}]})
        profile = self.analyze("run")
        self.assertEqual(profile["job"]["world_size"], 4)
        self.assertEqual(profile["job"]["died"], [1, 3])
        self.assertEqual(profile["job"]["missing"], [2, 3])
        states = {(rank["rank"], rank["state"], rank["state_detail"]) for rank in profile["ranks"]}
        self.assertEqual(states, {(0, "recorded", None), (1, "died", "signal 9 (Killed)"),
                                  (2, "missing", "it never started"), (3, "died", "exit code 1")})
        messages = " ".join(item["message"] for item in profile["diagnostics"])
        self.assertIn("rank 1 ended before the program did: signal 9 (Killed)", messages)
        self.assertIn("rank 3 was not recorded: exit code 1", messages)

    def test_one_rank_left_of_two_is_a_job(self):
        make_run(self.folder / "run", ranks=1, states={"world_size": 2, "ranks": [
            {"rank": 0, "state": "recorded"}, {"rank": 1, "state": "died", "detail": "signal 9"}]})
        profile = self.analyze("run")
        self.assertEqual(profile["job"]["recorded"], 1)
        self.assertEqual(profile["job"]["died"], [1])
        self.assertEqual([stage["name"] for stage in profile["stages"]], ["prefill", "decode"])

    def test_a_folder_per_rank(self):
        for rank in range(2):
            make_run(self.folder / "job" / f"rank{rank}", ranks=0)
            write_log(self.folder / "job" / f"rank{rank}" / "collector" / f"rank{rank}-1.llmtrace", rank)
        profile = self.analyze("job")
        self.assertEqual([rank["rank"] for rank in profile["ranks"]], [0, 1])
        self.assertEqual(profile["workload"]["prompt_tokens"], 64)
        self.call("merge", "job", "--out", "merged")  # without partial profiles it analyzes
        self.assertEqual(written(self.folder / "merged"), written(self.folder / "all"))


class BadPartials(Folder):
    def setUp(self):
        super().setUp()
        for rank in range(2):
            write_log(self.folder / f"{rank}.llmtrace", rank)
        self.call("analyze", "--partial", "0.llmtrace", "1.llmtrace", "--out", "partials")

    def test_a_partial_profile_is_not_overwritten(self):
        before = written(self.folder / "partials")
        result = self.call("analyze", "--partial", "1.llmtrace", "--out", "partials", code=2)
        self.assertIn("rank1.llmpart: exists already", result.stderr)
        self.call("analyze", "--partial", "1.llmtrace", "--out", "partials", "--force")
        self.assertEqual(written(self.folder / "partials"), before)

    def test_a_rank_twice(self):
        shutil.copy(self.folder / "partials" / "rank1.llmpart", self.folder / "other.llmpart")
        result = self.call("merge", "partials", "other.llmpart", "--out", "job", code=3)
        self.assertIn("rank 1 was given twice", result.stderr)
        self.assertFalse((self.folder / "job").exists())

    def test_damage_is_named(self):
        whole = (self.folder / "partials" / "rank0.llmpart").read_bytes()
        damaged = bytearray(whole)
        damaged[len(whole) // 2] ^= 0x40
        contents = {"cut": whole[:-7], "flipped": bytes(damaged), "header": whole[:12], "other": b"{}", "empty": b""}
        for name, content in contents.items():
            with self.subTest(name):
                (self.folder / "bad.llmpart").write_bytes(content)
                result = self.call("merge", "bad.llmpart", "--out", "job", code=3)
                self.assertIn("bad.llmpart: ", result.stderr)
                self.assertFalse((self.folder / "job").exists())

    def test_another_version_is_refused(self):
        content = bytearray((self.folder / "partials" / "rank0.llmpart").read_bytes())
        content[8] = 99
        (self.folder / "bad.llmpart").write_bytes(bytes(content))
        result = self.call("merge", "bad.llmpart", "--out", "job", code=3)
        self.assertIn("version 99", result.stderr)

    def test_analyze_names_the_command_for_a_partial_profile(self):
        result = self.call("analyze", "partials/rank0.llmpart", "--out", "job", code=3)
        self.assertIn("llmprof merge", result.stderr)

    def test_folders_without_partial_profiles(self):
        result = self.call("merge", "nothing", "--out", "job", code=3)
        self.assertIn("nothing", result.stderr)
        (self.folder / "empty").mkdir()
        self.call("merge", "empty", "--out", "job", code=3)


class Diff(Folder):
    def test_two_jobs(self):
        for name, slow in (("base", 1.0), ("new", 1.4)):
            (self.folder / name).mkdir()
            for rank in range(2):
                write_log(self.folder / name / f"{rank}.llmtrace", rank, slow if rank == 1 else 1.0, requests=6)
        self.call("diff", "base", "new", "--out", "diff")
        diff = json.loads((self.folder / "diff" / "diff.json").read_text(encoding="utf-8"))
        decode = next(stage for stage in diff["stages"] if stage["stage"] == "decode")
        self.assertGreater(decode["difference_ns"], 0)
        rows = {(row["rank"], row["stage"]): row for row in diff["ranks"]}
        self.assertEqual({rank for rank, _ in rows}, {0, 1})
        self.assertEqual(rows[0, "decode"]["difference_ns"], 0)
        self.assertGreater(rows[1, "decode"]["difference_ns"], 0)
        text = (self.folder / "diff" / "diff.md").read_text(encoding="utf-8")
        self.assertIn("## Ranks", text)

    def test_a_job_against_one_rank_is_not_comparable(self):
        (self.folder / "job").mkdir()
        for rank in range(2):
            write_log(self.folder / "job" / f"{rank}.llmtrace", rank)
        result = self.call("diff", "job", "job/0.llmtrace", "--out", "diff", code=3)
        self.assertIn("Not comparable", result.stdout)


class Sizes(Folder):
    def test_a_partial_profile_is_small(self):
        (self.folder / "log").mkdir()
        program = write_log(self.folder / "0.llmtrace", 0, requests=20, steps=32)
        self.call("analyze", "--partial", "0.llmtrace", "--out", "partials")
        size = (self.folder / "partials" / "rank0.llmpart").stat().st_size
        kernels = sum(calls for calls, _ in program.kernels.values())
        whole = gzip.compress((self.folder / "0.llmtrace").read_bytes())
        self.assertLess(size, len(whole) / 2)
        self.assertGreater(kernels, 20_000)


if __name__ == "__main__":
    unittest.main()
