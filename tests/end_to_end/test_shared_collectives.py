"""Collectives in third-party traces, against plain Python over their JSON and SQL."""
import collections
import gzip
import json
import math
import os
import pathlib
import sqlite3
import tempfile
import unittest

from collectives import IntervalUnion, collectives_of
from program import ROOT

CAPTURES = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures"))
PUBLIC = CAPTURES / "public"
if not CAPTURES.is_dir():
    raise unittest.SkipTest("needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")

KINDS = {"nccl:all_reduce": "all_reduce", "nccl:all_to_all": "all_to_all", "nccl:_all_gather_base": "all_gather"}
SIZES = {"float": 4, "long": 8, "int": 4, "unsigned char": 1, "signed char": 1}


def ns(microseconds):
    return round(microseconds * 1000)


def read(name):
    with gzip.open(PUBLIC / name, "rt", encoding="utf-8") as file:
        return json.load(file)


def span(event):
    return ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])


class SampledRanks(unittest.TestCase):
    """Two of 128 ranks. All their kernels are called SendRecv: the annotation around the launch shows their kind."""

    def expected(self, trace):
        events = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
        launches = {event["args"]["correlation"]: event for event in events if event.get("cat") == "cuda_runtime"}
        annotations = [event for event in events if event["name"] in KINDS]
        kernels = [event for event in events if event.get("cat") == "kernel"]
        computing = IntervalUnion(span(event) for event in kernels if "nccl" not in event["name"])
        rows = []
        reached = 0
        for kernel in sorted((event for event in kernels if "nccl" in event["name"]), key=lambda event: event["ts"]):
            launch = launches[kernel["args"]["correlation"]]
            around = [event for event in annotations if event["tid"] == launch["tid"]
                      and event["ts"] <= launch["ts"] <= event["ts"] + event["dur"]]
            self.assertEqual(len(around), 1)
            (dimensions,), (kind,) = around[0]["args"]["Input Dims"], around[0]["args"]["Input type"]
            start, end = span(kernel)
            rows.append({
                "kind": KINDS[around[0]["name"]], "bytes": math.prod(dimensions) * SIZES[kind],
                "group": f"cuda:{kernel['args']['device']} stream {kernel['args']['stream']}", "group_stated": False,
                "members": "", "group_size": 0, "start": start, "end": end, "launched": ns(launch["ts"]),
                "exposed": end - start - computing.within(start, end), "sequence": None, "in_graph": False,
                "busy_before": computing.within(reached, start)})
            reached = max(reached, end)
        return rows

    def test_kinds_bytes_and_groups(self):
        for rank in (0, 1):
            name = f"facebookresearch+HolisticTraceAnalysis__sampled_rank-{rank}.json.gz"
            found = collectives_of(PUBLIC / name)
            self.assertEqual((found["rank"], found["world_size"]), (rank, 128))
            expected = self.expected(read(name))
            self.assertEqual(len(expected), 10)
            rows = found["collectives"]
            # Step boundaries shorten the time before a collective.
            steps = [row.pop("step") for row in rows]
            for row, wanted, step in zip(rows, expected, steps):
                if step is not None:
                    wanted["busy_before"] = row["busy_before"]
            self.assertEqual(rows, expected)
            totals = collections.Counter()
            for row in rows:
                totals[row["kind"]] += row["end"] - row["start"]
            self.assertEqual(set(totals), {"all_reduce", "all_to_all", "all_gather"})

    def test_totals_by_kind(self):
        found = collectives_of(PUBLIC / "facebookresearch+HolisticTraceAnalysis__sampled_rank-0.json.gz")
        counts = collections.Counter(row["kind"] for row in found["collectives"])
        self.assertEqual(counts, {"all_to_all": 4, "all_reduce": 4, "all_gather": 2})
        self.assertEqual(sum(row["bytes"] for row in found["collectives"] if row["kind"] == "all_reduce"),
                         4 * (19618307 + 26955536 + 26258430 + 5716654))


class OtherTraces(unittest.TestCase):
    def test_kernels_that_say_all_and_an_engines_own_all_reduces(self):
        name = "AMD-AGI+TraceLens__b200_eager_trace.json.gz"
        found = collectives_of(PUBLIC / name)
        self.assertEqual((found["rank"], found["world_size"]), (0, 8))
        gathers = [row for row in found["collectives"] if row["kind"] == "all_gather"]
        self.assertEqual([(row["bytes"], row["group"], row["group_stated"], row["members"], row["group_size"])
                          for row in gathers], [(25136 * 2, "3", True, "0,1,2,3,4,5,6,7", 8)])
        events = read(name)["traceEvents"]
        dimensions = [event["args"]["Input Dims"][0][0] for event in sorted(
            (event for event in events if event.get("name") == "symm_mem::multimem_all_reduce_"),
            key=lambda event: event["ts"])]
        reduces = [row for row in found["collectives"] if row["kind"] == "all_reduce"]
        self.assertEqual([row["bytes"] for row in reduces], [elements * 2 for elements in dimensions])
        self.assertEqual(len(reduces), 73)
        kernels = [event for event in events if event.get("cat") == "kernel" and "multimem" in event["name"]]
        self.assertEqual([(row["start"], row["end"]) for row in reduces], sorted(span(event) for event in kernels))

    def test_names_alone_show_the_kind(self):
        found = collectives_of(PUBLIC / "facebookresearch+HolisticTraceAnalysis__df_index_resolver.json.gz")
        self.assertEqual((found["rank"], found["world_size"]), (1, 2))
        self.assertEqual({(row["kind"], row["bytes"], row["group"]) for row in found["collectives"]},
                         {("all_reduce", None, "cuda:1 stream 14")})
        self.assertEqual(len(found["collectives"]), 2020)

    def test_sends_and_receives_of_one_group_are_an_exchange(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "after.sqlite"
            path.write_bytes(gzip.decompress((PUBLIC / "GindaChen+nsys-ai__mfu_2gpu_after.sqlite.gz").read_bytes()))
            found = collectives_of(path)
            database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
            kernels = database.execute(
                "SELECT k.start, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName "
                "WHERE s.value LIKE 'nccl%' ORDER BY k.start").fetchall()
            # Launched inside a PyTorch annotation that says so; the export is cut at both ends.
            annotated = database.execute(
                "SELECT count(DISTINCT k.rowid) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
                "JOIN StringIds s ON s.id = k.demangledName "
                "JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId "
                "AND r.globalTid / 0x1000000 = k.globalPid / 0x1000000 "
                "JOIN NVTX_EVENTS n ON n.globalTid = r.globalTid AND r.start BETWEEN n.start AND n.end "
                "WHERE s.value LIKE 'nccl%' AND n.text LIKE 'nccl:all_to_all%'").fetchone()[0]
            database.close()
        self.assertEqual([(row["start"], row["end"]) for row in found["collectives"]], kernels)
        kinds = collections.Counter(row["kind"] for row in found["collectives"])
        self.assertEqual(kinds["all_to_all"], annotated)
        self.assertGreaterEqual(annotated, 60)
        self.assertEqual(set(kinds), {"all_to_all", "other"} if annotated < len(kernels) else {"all_to_all"})


if __name__ == "__main__":
    unittest.main()
