"""llmprof diff compares loads of requests by cause, and gates decide on them."""
import json
import pathlib
import tempfile
import unittest

from program import run
from generated_load import load


class Loads(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.number = 0

    def write(self, profile):
        self.number += 1
        path = self.folder / f"profile{self.number}.json"
        path.write_text(json.dumps(profile), encoding="utf-8")
        return path

    def diff(self, base, new, *options, exit_code=0):
        self.number += 1
        out = self.folder / f"diff{self.number}"
        result = run("diff", self.write(base), self.write(new), "--out", out, *options)
        self.assertEqual(result.returncode, exit_code, result.stderr + result.stdout)
        self.markdown = (out / "diff.md").read_text(encoding="utf-8")
        self.stdout = result.stdout
        found = json.loads((out / "diff.json").read_text(encoding="utf-8"))
        if found["requests"] and found["requests"]["parts"]:
            parts = found["requests"]["parts"]
            for side, key in (("base_ns", "base_ns"), ("new_ns", "new_ns"), ("difference_ns", "difference_ns")):
                self.assertEqual(sum(part[side] for part in parts), found["requests"][key])
        return found

    def row(self, diff, quantity, statistic):
        rows = [row for row in diff["comparisons"] if row["stage"] == "requests"
                and row["quantity"] == quantity and row["statistic"] == statistic]
        self.assertEqual(len(rows), 1, (quantity, statistic))
        return rows[0]

    def test_equal_loads_are_unchanged_or_undecided(self):
        diff = self.diff(load(1), load(2))
        self.assertEqual(diff["verdict"], "pass")
        for row in diff["comparisons"]:
            self.assertNotEqual(row["answer"], "changed", row)

    def test_a_slower_queue_is_the_cause(self):
        diff = self.diff(load(1), load(1, longer_queue_ms=9))
        parts = {part["part"]: part for part in diff["requests"]["parts"]}
        self.assertEqual(diff["requests"]["parts"][0]["part"], "queue")
        self.assertAlmostEqual(parts["queue"]["difference_ns"], 9e6, delta=2)
        self.assertEqual(parts["own_decode"]["difference_ns"], 0)
        first = self.row(diff, "ttft", "p50")
        self.assertEqual((first["answer"], first["direction"]), ("changed", "worse"))
        self.assertEqual(self.row(diff, "itl", "p99")["method"], "identical")
        self.assertIn("time to first token (p50) is", diff["summary"].lower())
        self.assertIn("+9.0000 ms from queue", diff["requests"]["why"])
        self.assertIn("Requests: time from sent to end, mean per request", self.markdown)
        self.assertIn("| queue | ", self.markdown)

    def test_gates_on_requests_fail_with_exit_code_5(self):
        base, slower = load(1), load(2, slower=1.3, goodput=15.0)
        diff = self.diff(base, slower, "--gate", "requests.itl.p99<=+5%", "--gate", "requests.ttft.p99<=+5%",
                         "--gate", "requests.tpot.p50<=+5%", "--gate", "requests.e2e.p99<=+5%",
                         "--gate", "requests.goodput>=-2%", exit_code=5)
        self.assertEqual([gate["outcome"] for gate in diff["gates"]], ["fail"] * 5)
        self.assertEqual({gate["stage"] for gate in diff["gates"]}, {"requests"})
        diff = self.diff(base, slower, "--gate", "requests.itl.p99<=+60%", "--gate", "requests.goodput>=-40%")
        self.assertEqual([gate["outcome"] for gate in diff["gates"]], ["pass", "pass"])
        self.diff(base, slower, "--gate", "serving", exit_code=5)

    def test_rules_name_quantities_of_requests(self):
        for rule in ("requests.step.p50<=+5%", "requests.part.lunch<=+5%", "decode.ttft.p99<=+5%"):
            result = run("diff", self.write(load(1, count=20)), self.write(load(2, count=20)), "--gate", rule)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("unknown quantity", result.stderr)

    def test_loads_that_were_sent_differently_have_no_answer(self):
        other_rate = load(2)
        other_rate["requests"]["load"]["rate"] = 40
        for other, aspect in ((load(2, seed=9), "schedule"), (other_rate, "load")):
            diff = self.diff(load(1), other, "--gate", "requests.ttft.p50<=+500%", exit_code=3)
            self.assertEqual(diff["aspects"][0]["aspect"], aspect)
            for row in diff["comparisons"]:
                self.assertEqual((row["why_not"], row["answer"]), ("other_load", "cannot_tell"))
            self.assertIn("Requests are not compared", diff["summary"])

    def test_few_requests_have_no_99th_percentile(self):
        diff = self.diff(load(1, count=64), load(2, count=64), "--gate", "requests.ttft.p99<=+5%", exit_code=3)
        self.assertIsNone(self.row(diff, "ttft", "p99")["low"])
        self.assertIn("too few values for an interval", diff["gates"][0]["text"])

    def test_a_side_without_requests_is_compared_without_them(self):
        without = load(2)
        without["requests"] = None
        diff = self.diff(load(1), without)
        self.assertIsNone(diff["requests"])
        self.assertEqual([row for row in diff["comparisons"] if row["stage"] == "requests"], [])

    def test_the_unrecorded_load_decides(self):
        base, new = load(1), load(1)
        for profile, middle in ((base, 5.0), (new, 8.0)):
            statistics = {"count": 100, "mean": middle, "p50": middle, "p90": middle, "p99": middle}
            profile["requests"]["unrecorded"] = {"file": "control.json", "completed": 600, "ttft_ms": {"count": 0},
                                                 "itl_ms": statistics, "tpot_ms": {"count": 0},
                                                 "e2e_ms": {"count": 0}, "load": {"arrivals": "poisson"}}
        new["requests"]["itl_ms"]["p50"] += 0.001  # the recorded loads are not identical
        diff = self.diff(base, new, "--gate", "requests.itl.p50<=+10%", exit_code=5)
        self.assertEqual(diff["gates"][0]["measured"]["times"], "unwatched")
        self.assertEqual(diff["gates"][0]["measured"]["base"], 5.0)


if __name__ == "__main__":
    unittest.main()
