"""Recorded runs of one program, five per side, with a known slowdown of one class in the new side's logs: how often it
is found, attributed and quantified; and how often a false difference is found. docs/diff.md has the study of complete
recordings, which power_study.py makes."""
import tempfile
import unittest

from edited_log import kernels, read, slow_down
from power_study import RecordedRuns, study
from program import DATA

LOGS = sorted((DATA / "h200-repeats").glob("*.llmtrace.gz"))
STAGE = "decode"
SLOWER = "gemv"


class Power(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.runs = RecordedRuns(LOGS, cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_the_slower_logs_are_slower_by_the_requested_share(self):
        names = self.runs.names_of(SLOWER)
        target = self.runs.folder / "slower.llmtrace"
        count = slow_down(LOGS[0], target, names, 1.02)
        before, after = ({True: 0, False: 0} for _ in range(2))
        calls = 0
        for log, sums in ((LOGS[0], before), (target, after)):
            for start, end, name in kernels(read(log)):
                sums[name in names] += end - start
                calls += log == target and name in names
        self.assertEqual(calls, count)
        self.assertAlmostEqual(after[True] / before[True], 1.02, places=4)
        self.assertEqual(after[False], before[False])

    def test_the_paragraph_describes_the_gpu_if_wall_times_are_undecided(self):
        (pairing,) = self.runs.pairings(1)
        for percent, words in ((5, "changed"), (0, "did not change")):
            diff = self.runs.diff(pairing, SLOWER, percent)
            (stage,) = diff["stages"]
            # The host's noise is larger than 5 % of these kernels.
            self.assertIn("undecided whether its wall time changed", stage["why"])
            busy = next(row for row in diff["comparisons"] if row["quantity"] == "step_busy")
            self.assertIn(f"GPU work {words}: GPU busy per step: "
                          f"{busy['base']:.4f} to {busy['new']:.4f} ms, "
                          f"{100 * busy['relative']:+.2f} %".replace("+0.00", "0.00").replace("-0.00", "0.00"),
                          stage["why"])

    def check(self, percent, pairings):
        rows = study(self.runs, STAGE, SLOWER, percent, self.runs.pairings(pairings))
        self.assertEqual(len(rows), pairings)
        return rows

    def check_others(self, rows):
        """Unchanged classes."""
        changed = [name for row in rows for name in row.others_changed]
        self.assertLessEqual(len(changed), 0.05 * sum(row.others for row in rows), changed)

    def test_slowdowns_are_found_attributed_and_quantified(self):
        for percent, pairings in ((1, 6), (2, 20), (5, 6)):
            rows = self.check(percent, pairings)
            self.assertGreaterEqual(sum(row.changed for row in rows), 0.9 * pairings, percent)
            self.assertGreaterEqual(sum(row.attributed for row in rows), 0.9 * pairings, percent)
            self.assertGreaterEqual(sum(row.within for row in rows), 0.9 * pairings, percent)
            self.check_others(rows)

    def test_no_slowdown_is_reported_as_none(self):
        pairings = 20
        rows = self.check(0, pairings)
        self.assertLessEqual(sum(row.called_changed for row in rows), 0.05 * pairings)
        self.check_others(rows)


if __name__ == "__main__":
    unittest.main()
