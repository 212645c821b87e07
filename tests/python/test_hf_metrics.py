"""Statistics against figures computed by hand, and files that are complete."""
import json
import math
import unittest
from unittest import mock

import hf_case
from hf_workload.metrics import aggregates, common, statistics, write_metrics
from hf_workload.stage_times import StageTimes
from hf_workload.annotations import Annotator


class Statistics(unittest.TestCase):
    def test_of_a_sample(self):
        # 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares of differences sum to 32, over 7.
        figures = statistics([2, 4, 4, 4, 5, 5, 7, 9])
        self.assertEqual((figures["mean"], figures["count"]), (5, 8))
        self.assertAlmostEqual(figures["std"], math.sqrt(32 / 7), places=12)

    def test_one_value_has_no_spread(self):
        self.assertEqual(statistics([8.5]), {"mean": 8.5, "std": None, "count": 1})

    def test_of_nothing(self):
        with self.assertRaises(ValueError):
            statistics([])

    def test_aggregates(self):
        self.assertEqual(aggregates({"prefill": [1.0, 3.0], "none": []}, [10.0]), {
            "stage_ms": {"prefill": {"mean": 2.0, "std": math.sqrt(2), "count": 2}},
            "tokens_per_s": {"mean": 10.0, "std": None, "count": 1}})

    def test_common(self):
        self.assertEqual(common([5, 5]), 5)
        self.assertIsNone(common([5, 6]))
        self.assertIsNone(common([]))


class Files(hf_case.FolderCase):
    def test_a_file_appears_complete(self):
        path = self.folder / "metrics.json"
        write_metrics(str(path), {"tokens_per_s": 1.5})
        self.assertEqual(json.loads(path.read_text(encoding="utf-8")), {"tokens_per_s": 1.5})
        self.assertEqual([item.name for item in self.folder.iterdir()], ["metrics.json"])

    def test_one_that_cannot_be_finished_leaves_the_old_one(self):
        path = self.folder / "metrics.json"
        write_metrics(str(path), {"tokens_per_s": 1.5})
        with mock.patch("os.replace", side_effect=OSError("disk full")), self.assertRaises(OSError):
            write_metrics(str(path), {"tokens_per_s": 2.5})
        self.assertEqual(json.loads(path.read_text(encoding="utf-8")), {"tokens_per_s": 1.5})

    def test_not_a_number_is_never_written(self):
        with self.assertRaises(ValueError):
            write_metrics(str(self.folder / "metrics.json"), {"tokens_per_s": math.nan})


class Times(unittest.TestCase):
    def test_a_stage_lasts_until_the_device_has_finished(self):
        now = [0.0]

        def synchronise():
            now[0] += 0.25  # remaining work of the device

        times = StageTimes(Annotator(None), synchronise, clock=lambda: now[0])
        with times.warm_up(), times.stage("prefill", "prefill"):
            now[0] += 100
        with times.measured():
            for host_seconds in (0.5, 1.5):
                with times.stage("prefill", "prefill"):
                    now[0] += host_seconds
        self.assertEqual(times.milliseconds, {"prefill": [750.0, 1750.0]})


if __name__ == "__main__":
    unittest.main()
