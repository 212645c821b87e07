"""Waits, collectives and stragglers of a job: captures made from one real capture, each with its own clock, with a
delay that must be found."""
import json
import pathlib
import tempfile
import unittest

import job_captures
from job_captures import Clock, Delay
from program import run

CLOCKS = [Clock(), Clock(300_000, 20.0), Clock(-7_000_000, -12.5), Clock(1_234_567, 3.0)]
ALIGNED_MS = 0.005


def profile_of(captures, folder):
    result = run("analyze", *captures, "--out", folder / "out")
    if result.returncode != 0:
        raise AssertionError(result.stderr + result.stdout)
    return json.loads((folder / "out" / "profile.json").read_text(encoding="utf-8"))


class SyntheticJobCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def made(self, maker, ranks=2, **more):
        captures = self.folder / "captures"
        captures.mkdir()
        job = maker(captures, ranks, clocks=CLOCKS[:ranks], **more)
        return job, profile_of(job.captures, self.folder)

    def check_clocks(self, profile, most=ALIGNED_MS):
        for rank in profile["ranks"][1:]:
            self.assertEqual(rank["clock"]["method"], "collectives")
            self.assertAlmostEqual(rank["clock"]["drift_ppm"], CLOCKS[rank["rank"]].drift_ppm, delta=0.5)
            self.assertLessEqual(rank["clock"]["residual_max_ms"], most)

    def check_straggler(self, profile, rank, cause, total_ms):
        (straggler,) = profile["job"]["stragglers"]
        self.assertEqual((straggler["rank"], straggler["stage"], straggler["cause"]), (rank, "decode", cause))
        self.assertAlmostEqual(straggler["wait_total_ms"], total_ms, delta=0.01 * total_ms)
        (finding,) = [each for each in profile["findings"] if each["kind"] == "straggler"]
        values = {value["name"]: value for value in finding["values"]}
        self.assertEqual((values["rank"]["value"], values["cause"]["text"]), (rank, cause))
        self.assertIn(f"rank {rank}", finding["title"])
        self.assertGreater(finding["recoverable_ms_per_output_token"], 0)

    def check_waits(self, job, profile):
        """Per rank, over the steps in the statistics; all passes are equal except for the delays."""
        for rank in profile["ranks"]:
            waits = sum(each["wait_ms"] * each["steps"] for each in rank["between"])
            self.assertAlmostEqual(waits, job.wait_ns(rank["rank"]) / 1e6, delta=0.005 + 0.01 * waits)
            for each in rank["between"]:
                parts = sum(each[name] for name in ("compute_ms", "transfer_ms", "wait_ms", "copies_ms", "idle_ms"))
                self.assertAlmostEqual(parts, each["wall_ms"], places=6)


class PyTorchTraces(SyntheticJobCase):
    def test_a_longer_kernel(self):
        job, profile = self.made(job_captures.pytorch_job, delays=[Delay(rank=1, at=(24,))])
        self.check_clocks(profile)
        self.check_straggler(profile, 1, "longer_kernels", 1)
        self.check_waits(job, profile)
        matched = sum(row["matched"] for row in profile["job"]["collectives"])
        self.assertEqual((matched, profile["job"]["steps_unmatched"]), (len(job.collectives), 0))
        (group,) = profile["job"]["groups"]
        self.assertEqual((group["ranks"], group["parallelism"]), ([0, 1], "tensor"))
        report = (self.folder / "out" / "report.md").read_text(encoding="utf-8")
        self.assertIn("1 single delay, the longest 1.000 ms", report)

    def test_a_late_launch(self):
        job, profile = self.made(job_captures.pytorch_job, delays=[Delay(rank=0, at=(40,), cause="late_launch")])
        self.check_clocks(profile)
        self.check_straggler(profile, 0, "late_launch", 1)
        self.check_waits(job, profile)

    def test_graphs_without_groups_or_numbers_in_a_later_capture(self):
        job, profile = self.made(
            job_captures.pytorch_job, source=job_captures.PYTORCH_GRAPH, facts="names", sequence=False,
            delays=[Delay(rank=1, at=range(0, 100_000))], spread_ns=2_000)
        self.check_clocks(profile)
        stragglers = profile["job"]["stragglers"]
        self.assertEqual({each["rank"] for each in stragglers}, {1}, stragglers)
        self.assertTrue(any(row["in_graph"] for row in profile["job"]["collectives"]))
        matched = sum(row["matched"] for row in profile["job"]["collectives"])
        self.assertGreater(matched, 0.9 * len(job.collectives) / 2)

    def test_groups_are_distinguished(self):
        job, profile = self.made(job_captures.pytorch_job, 4, groups=[[0, 1], [2, 3]],
                                 delays=[Delay(rank=3, at=(24,))])
        self.assertEqual(sorted(group["ranks"] for group in profile["job"]["groups"]), [[0, 1], [2, 3]])
        self.check_straggler(profile, 3, "longer_kernels", 1)
        self.check_waits(job, profile)

    def test_a_capture_that_began_later(self):
        for sequence in (True, False):
            with self.subTest(sequence=sequence):
                self.setUp()
                _, profile = self.made(job_captures.pytorch_job, sequence=sequence, cut={1: 20},
                                       delays=[Delay(rank=1, at=(48,))], spread_ns=20_000)
                self.check_clocks(profile)
                matched = sum(row["matched"] for row in profile["job"]["collectives"])
                self.assertGreaterEqual(matched, 40)
                self.assertEqual(profile["job"]["stragglers"][0]["rank"], 1)


class NsysExports(SyntheticJobCase):
    def test_a_longer_kernel(self):
        for facts in ("payload", "names"):
            with self.subTest(facts=facts):
                self.setUp()
                _, profile = self.made(job_captures.nsys_job, facts=facts, delays=[Delay(rank=1, at=(100,))])
                self.check_clocks(profile)
                self.check_straggler(profile, 1, "longer_kernels", 1)


if __name__ == "__main__":
    unittest.main()
