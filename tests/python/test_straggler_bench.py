"""The rule of bench/straggler.py: a wrong wait fails."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import straggler as bench  # noqa: E402


class Rule(unittest.TestCase):
    def check(self, *ratios):
        return bench.holds(bench.medians([dict(zip(("prefill", "decode"), run)) for run in ratios]))

    def test_the_median_counts(self):
        self.assertTrue(self.check(*[(1.04, 0.96)] * 3, *[(3.0, 0.1)] * 2))

    def test_a_tenth_more_or_less_fails(self):
        for off in (0.9, 1.1):
            self.assertFalse(self.check(*[(off, 1.0)] * 5), off)
            self.assertFalse(self.check(*[(1.0, off)] * 5), off)


if __name__ == "__main__":
    unittest.main()
