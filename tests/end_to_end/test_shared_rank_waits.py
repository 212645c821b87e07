"""Two of 128 ranks of a third-party training run, against plain Python over their JSON."""
import gzip
import json
import os
import pathlib
import tempfile
import unittest

from program import ROOT, run

CAPTURES = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures"))
PUBLIC = CAPTURES / "public"
if not CAPTURES.is_dir():
    raise unittest.SkipTest("needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")

HTA = "facebookresearch+HolisticTraceAnalysis__sampled_rank-{}.json.gz"


def profile_of(captures, folder):
    result = run("analyze", *captures, "--out", folder / "out")
    if result.returncode != 0:
        raise AssertionError(result.stderr + result.stdout)
    return json.loads((folder / "out" / "profile.json").read_text(encoding="utf-8"))


class TwoOfManyRanks(unittest.TestCase):
    """The traces were thinned out: each has ten collectives, five of which are in both."""

    @staticmethod
    def kernels(rank):
        with gzip.open(PUBLIC / HTA.format(rank)) as file:
            events = json.load(file)["traceEvents"]
        return [(round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)) for event in events
                if event.get("cat", "").lower() == "kernel" and "nccl" in event["name"].lower()]

    def test_waits_are_lower_bounds(self):
        with tempfile.TemporaryDirectory() as folder:
            profile = profile_of([PUBLIC / HTA.format(rank) for rank in (0, 1)], pathlib.Path(folder))
        # On one clock, ends within 1 ms belong together: no others are closer than 60 ms.
        pairs = [(a, b) for a in self.kernels(0) for b in self.kernels(1) if abs(a[1] - b[1]) < 1_000_000]
        self.assertEqual(len(pairs), 5)
        job = profile["job"]
        self.assertEqual((job["world_size"], job["recorded"], job["lower_bound"]), (128, 2, True))
        self.assertEqual(sum(row["matched"] for row in job["collectives"]), len(pairs))
        self.assertTrue(all(row["lower_bound"] for row in job["collectives"]))
        waits = sum(abs(a[0] - b[0]) for a, b in pairs) / 1e6
        time = sum(end - start for pair in pairs for start, end in pair) / 1e6
        self.assertAlmostEqual(sum(row["wait_total_ms"] for row in job["collectives"]), waits, delta=0.35)
        # Doubles hold these times to a quarter of a microsecond.
        self.assertAlmostEqual(sum(row["wait_total_ms"] + row["transfer_total_ms"] for row in job["collectives"]), time,
                               delta=0.01)
        self.assertLess(profile["ranks"][1]["clock"]["residual_max_ms"], 0.5)


if __name__ == "__main__":
    unittest.main()
