"""Collectives in captures made from real ones: every inserted one is found, rank by rank."""
import gzip
import json
import pathlib
import sqlite3
import tempfile
import unittest

from collectives import IntervalUnion, collectives_of
from job_captures import MILLISECOND, PYTORCH_GRAPH, Clock, Delay, nsys_job, pytorch_job


def compute_of_trace(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return IntervalUnion((round(event["ts"] * 1000), round(event["ts"] * 1000) + round(event["dur"] * 1000))
                   for event in events if event.get("cat") == "kernel" and not event["name"].startswith("nccl"))


def compute_of_export(path):
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    rows = database.execute("SELECT k.start, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s "
                            "ON s.id = k.demangledName WHERE s.value NOT LIKE 'nccl%'").fetchall()
    database.close()
    return IntervalUnion(rows)


class SyntheticJobs(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, job, rank, compute, **expected):
        """Times, kinds, and preceding and concurrent work; `expected`: other values that each row must have."""
        found = collectives_of(job.captures[rank])
        self.assertEqual(found["rank"], rank)
        rows = found["collectives"]
        inserted = [c for c in job.collectives if rank in c.captured_ns]
        self.assertEqual([(row["start"], row["end"]) for row in rows], [c.captured_ns[rank] for c in inserted])
        self.assertEqual([row["kind"] for row in rows], [c.kind for c in inserted])
        self.assertEqual([row["in_graph"] for row in rows], [c.in_graph for c in inserted])
        reached = 0
        for row in rows:
            self.assertLessEqual(row["launched"], row["start"])
            self.assertEqual(row["exposed"], row["end"] - row["start"] - compute.within(row["start"], row["end"]))
            begin = reached if row["step"] is None else max(reached, found["steps"][row["step"]]["start"])
            self.assertEqual(row["busy_before"], compute.within(begin, row["start"]))
            reached = max(reached, row["end"])
        for key, values in expected.items():
            self.assertEqual([row[key] for row in rows], [value(c) if callable(value := values) else value
                                                          for c in inserted], key)
        return found

    def test_pytorch_describes_kernels(self):
        job = pytorch_job(self.folder, ranks=2, clocks=[Clock(), Clock(350_000, 8.0)],
                          delays=[Delay(rank=1, at=(24,))], kinds=("all_reduce", "all_gather", "reduce_scatter"))
        ranks = [self.check(job, rank, compute_of_trace(job.captures[rank]), bytes=lambda c: c.bytes, group="0",
                            group_stated=True, members="0,1", group_size=2, sequence=lambda c: c.number)
                 for rank in (0, 1)]
        self.assertEqual([found["world_size"] for found in ranks], [2, 2])
        # The delay is in the delayed rank's compute, and in the time of the other one's collective.
        before = [found["collectives"][24]["busy_before"] for found in ranks]
        self.assertAlmostEqual(before[1] - before[0], MILLISECOND, delta=20)
        lasted = [found["collectives"][24]["end"] - found["collectives"][24]["start"] for found in ranks]
        self.assertAlmostEqual(lasted[0] - lasted[1], MILLISECOND, delta=20)

    def test_steps_have_their_collectives(self):
        job = pytorch_job(self.folder, ranks=2)
        found = collectives_of(job.captures[0])
        steps = [row["step"] for row in found["collectives"]]
        self.assertEqual(job.per_pass, 8)
        self.assertEqual([step["stage"] for step in found["steps"]], ["prefill"] + ["decode"] * 8)
        self.assertEqual(steps, [c.number // job.per_pass for c in job.collectives])
        for row in found["collectives"]:
            step = found["steps"][row["step"]]
            self.assertTrue(step["start"] <= row["start"] and row["end"] <= step["end"])

    def test_pytorch_describes_operators(self):
        job = pytorch_job(self.folder, ranks=2, facts="operator", groups=[[0], [1]], sequence=False)
        for rank in (0, 1):
            self.check(job, rank, compute_of_trace(job.captures[rank]), bytes=lambda c: c.bytes, group=str(rank),
                       group_stated=True, members=str(rank), group_size=1, sequence=None)

    def test_old_pytorch_describes_annotations(self):
        job = pytorch_job(self.folder, ranks=1, facts="annotation", kinds=("all_reduce", "all_gather", "reduce_scatter"))
        self.check(job, 0, compute_of_trace(job.captures[0]), group="cuda:0 stream 7", group_stated=False, members="",
                   bytes=lambda c: c.bytes, sequence=None)

    def test_only_names(self):
        job = pytorch_job(self.folder, ranks=1, facts="names", name="trace.json.gz")
        self.check(job, 0, compute_of_trace(job.captures[0]), bytes=None, group="cuda:0 stream 7", group_stated=False,
                   group_size=0)

    def test_graphs(self):
        job = pytorch_job(self.folder, ranks=1, source=PYTORCH_GRAPH, hidden=4096)
        self.assertEqual(sum(c.in_graph for c in job.collectives), 768)
        self.check(job, 0, compute_of_trace(job.captures[0]), bytes=lambda c: None if c.in_graph else c.bytes,
                   group=lambda c: "cuda:0 stream 7" if c.in_graph else "0")

    def test_nsys_payloads(self):
        job = nsys_job(self.folder, ranks=2, clocks=[Clock(), Clock(-90_000, -3.0)], delays=[Delay(rank=0, at=(9,))],
                       kinds=("all_reduce", "all_gather", "reduce_scatter"), hosts=["alpha", "beta"])
        for rank in (0, 1):
            found = self.check(job, rank, compute_of_export(job.captures[rank]), bytes=lambda c: c.bytes,
                               group="0xc0ffee00", group_stated=True, members="", group_size=2, sequence=None)
            self.assertEqual(found["world_size"], 2)
            self.assertEqual(found["host"], ("alpha", "beta")[rank])

    def test_nsys_captures_show_their_rank_by_the_communicator(self):
        job = nsys_job(self.folder, ranks=2, name="part{}.sqlite")
        self.assertEqual([collectives_of(path)["rank"] for path in job.captures], [0, 1])

    def test_nsys_without_payloads(self):
        for facts in ("ranges", "names"):
            job = nsys_job(self.folder, ranks=1, facts=facts)
            self.check(job, 0, compute_of_export(job.captures[0]), bytes=None, group="cuda:0 stream 7",
                       group_stated=False)

    def test_captures_that_start_late(self):
        job = pytorch_job(self.folder, ranks=2, cut={1: 11})
        self.assertEqual(len(collectives_of(job.captures[0])["collectives"]), 72)
        self.check(job, 1, compute_of_trace(job.captures[1]), sequence=lambda c: c.number)


if __name__ == "__main__":
    unittest.main()
