"""Leaks of GPU memory from request to request, in logs of an H200, against plain Python from the recorded events."""
import json
import math
import pathlib
import statistics
import tempfile
import unittest

from program import DATA, run

LEAKED = 1_000_000
MIB = 1 << 20


def theil_sen(values):
    """The median slope of all pairs, and Sen's 95 % interval with Kendall's variance for ties."""
    count = len(values)
    slopes = sorted((values[j] - values[i]) / (j - i) for i in range(count) for j in range(i + 1, count))
    ties = [values.count(value) for value in set(values)]
    variance = sum(sign * n * (n - 1) * (2 * n + 5) for sign, n in [(1, count), *((-1, n) for n in ties)]) / 18
    middle = (len(slopes) - 1) / 2
    half = 1.959964 * math.sqrt(variance) / 2
    return statistics.median(slopes), slopes[round(middle - half)], slopes[round(middle + half)]


class Recorded:
    """A log's answers: the profile, and what a library has allocated when each request begins."""

    def __init__(self, name, folder):
        self.bundle = pathlib.Path(folder) / name
        done = run("analyze", DATA / "h200-memory-growth" / f"{name}.llmtrace.gz", "--out", self.bundle)
        assert done.returncode == 0, done.stderr
        self.profile = json.loads((self.bundle / "profile.json").read_text(encoding="utf-8"))
        self.ledger = self.profile["memory_ledger"]

    def rows(self, statement):
        done = run("query", self.bundle, statement, "--format", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["rows"]

    def series(self, library):
        """Bytes at the start of each request that counts: after warm-up, without the first fifth."""
        (prefill,) = [stage for stage in self.profile["stages"] if stage["name"] == "prefill"]
        starts = sorted(each["start_ns"] for each in prefill["instances"] if not each["warmup"])
        events = self.rows(
            "select time_ns, action, address, bytes, coalesce(library, '') from memory_events "
            "where kind = 'device' and action in ('allocation', 'release') order by time_ns")
        live, found = {}, []
        events = iter([*events, [math.inf, "", 0, 0, ""]])
        event = next(events)
        for start in starts[len(starts) // 5:]:
            while event[0] <= start:
                if event[1] == "allocation" and library in event[4]:
                    live[event[2]] = event[3]
                elif event[1] == "release":
                    live.pop(event[2], None)
                event = next(events)
            found.append(sum(live.values()))
        return found


class MemoryGrowth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.logs = {name: Recorded(name, holder.name) for name in ("leak_pytorch", "leak_driver", "grows")}

    def check(self, growth, series):
        slope, lower, upper = theil_sen(series)
        self.assertEqual(growth["grown_bytes"], series[-1] - series[0])
        self.assertEqual(growth["increases"], sum(after > before for before, after in zip(series, series[1:])))
        self.assertAlmostEqual(growth["per_request_bytes"], slope, places=3)
        self.assertAlmostEqual(growth["per_request_lower_bytes"], lower, places=3)
        self.assertAlmostEqual(growth["per_request_upper_bytes"], upper, places=3)

    def growth_of(self, name, part):
        (row,) = [row for row in self.logs[name].ledger["growth"] if row["part"] == part]
        return row

    def test_a_leak_of_pytorch_is_found(self):
        log = self.logs["leak_pytorch"]
        growth = self.growth_of("leak_pytorch", "framework")
        self.check(growth, log.series("libc10_cuda.so"))
        self.assertTrue(growth["leak"])
        # Two tensors share 2 MiB.
        self.assertAlmostEqual(growth["per_request_bytes"], MIB, delta=0.05 * MIB)

    def test_a_leak_of_the_driver_is_exact(self):
        growth = self.growth_of("leak_driver", "allocations")
        self.check(growth, self.logs["leak_driver"].series("libffi"))
        self.assertTrue(growth["leak"])
        self.assertEqual(growth["per_request_bytes"], LEAKED)
        (left,) = self.logs["leak_driver"].ledger["headroom"]
        self.assertEqual(growth["requests_left"], left["free_bytes"] // LEAKED)
        self.assertFalse(self.growth_of("leak_driver", "framework")["leak"])

    def test_growth_by_a_longer_prompt_is_no_leak(self):
        growth = self.growth_of("grows", "framework")
        self.check(growth, self.logs["grows"].series("libc10_cuda.so"))
        self.assertFalse(growth["leak"])
        self.assertIsNone(growth["requests_left"])

    def test_only_leaks_are_findings(self):
        for name, leaks in (("leak_pytorch", 1), ("leak_driver", 1), ("grows", 0)):
            kinds = [finding["kind"] for finding in self.logs[name].profile["findings"]]
            self.assertEqual(kinds.count("memory_leak"), leaks, name)
            if leaks:
                self.assertEqual(kinds[-1], "memory_leak", "after those on time")

    def test_the_moments_close(self):
        for name, log in self.logs.items():
            for moment in log.ledger["moments"]:
                self.assertTrue(moment["closes"], (name, moment["kind"]))


if __name__ == "__main__":
    unittest.main()
