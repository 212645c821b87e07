"""The timeline and the Perfetto file of a job: all ranks on one clock, checked against the maker of the captures."""
import collections
import json
import pathlib
import tempfile
import unittest

import perfetto_trace
from job_captures import Clock, Delay, pytorch_job
from page_file import Page
from program import ROOT, run

RANKS = 3
# Far more than two ends of one collective may differ.
CLOCKS = [Clock(), Clock(350_000, 8.0), Clock(-2_000_000, -5.0)]
AGREE_NS = 5_000
DELAYED = 1
NCCL = "ncclDevKernel_AllReduce"


def setUpModule():
    if perfetto_trace.PROTOC is None:
        raise AssertionError("protoc is missing; scripts/setup.sh test installs it")


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        (cls.folder / "captures").mkdir()
        cls.job = pytorch_job(cls.folder / "captures", ranks=RANKS, clocks=CLOCKS,
                              delays=[Delay(rank=DELAYED, at=(24,))])
        cls.out = cls.folder / "out"
        done = run("analyze", *cls.job.captures, "--out", cls.out, "--perfetto", "--speedscope", cwd=ROOT)
        assert done.returncode == 0, done.stderr
        cls.profile = json.loads((cls.out / "profile.json").read_text(encoding="utf-8"))
        cls.has_page = (cls.out / "report.html").exists()

    def check_ends(self, ends_of_rank):
        """The ends of a collective on all ranks, which the maker put at one job time."""
        self.assertEqual(len(ends_of_rank), RANKS)
        counts = {len(ends) for ends in ends_of_rank.values()}
        self.assertEqual(counts, {len(self.job.collectives)})
        for number, ends in enumerate(zip(*(sorted(ends) for ends in ends_of_rank.values()))):
            self.assertLessEqual(max(ends) - min(ends), AGREE_NS, number)

    def test_the_captures_themselves_disagree(self):
        ends = [collective.captured_ns[rank][1] for collective in self.job.collectives[:1] for rank in range(RANKS)]
        self.assertGreater(max(ends) - min(ends), 100 * AGREE_NS)

    def test_the_page_has_all_ranks_on_one_clock(self):
        if not self.has_page:
            self.skipTest("this llmprof was built without Node.js and npm: it has no page")
        page = Page(self.out / "report.html")
        self.assertIsNone(page.view["timeline_missing"])
        streams = [track for track in page.header["tracks"] if track["kind"] == "stream"]
        self.assertEqual(list(dict.fromkeys(track["group"] for track in streams)),
                         [f"rank {rank} / GPU 0" for rank in range(RANKS)])
        threads = [track["group"] for track in page.header["tracks"] if track["kind"] == "thread"]
        self.assertEqual({group.split(" / ")[0] for group in threads}, {f"rank {rank}" for rank in range(RANKS)})
        ends = collections.defaultdict(list)
        kernels = collections.Counter()
        for row in page.rows("slices"):
            if row["kind"] != 0:
                continue
            kernels[row["track"]["group"]] += 1
            name = page.name(page.header["kernels"][row["kernel"]]["name"])
            if name.startswith(NCCL):
                ends[row["track"]["group"]].append(row["start"] + row["duration"])
        self.check_ends(ends)
        for rank in self.profile["ranks"]:
            self.assertEqual(kernels[f"rank {rank['rank']} / GPU 0"], rank["totals"]["kernel_count"])

    def test_links_of_a_rank_stay_in_it(self):
        if not self.has_page:
            self.skipTest("this llmprof was built without Node.js and npm: it has no page")
        page = Page(self.out / "report.html")
        tables = {name: page.rows(name) for name in ("calls", "stages", "steps")}
        linked = 0
        for row in page.rows("slices"):
            rank = row["track"]["group"].split(" / ")[0]
            for column, table in (("call", "calls"), ("instance", "stages"), ("step", "steps")):
                if row[column] == 0:
                    continue
                other = tables[table][row[column] - 1]
                self.assertEqual(other["track"]["group"].split(" / ")[0], rank)
                linked += 1
                if column == "call":
                    self.assertLessEqual(other["start"], row["start"])
        self.assertGreater(linked, 1000)

    def test_perfetto_has_one_process_per_rank(self):
        trace = perfetto_trace.Trace(self.out / "trace.pftrace")
        processes = [track for track in trace.tracks.values() if track.process is not None]
        self.assertEqual([track.name for track in processes], [f"rank {rank}" for rank in range(RANKS)])

        def process_of(track):
            while track.parent is not None:
                track = trace.tracks[track.parent]
            return track.name

        ends = collections.defaultdict(list)
        flows = collections.defaultdict(set)
        for piece in trace.slices:
            rank = process_of(piece.track)
            if piece.arguments.get("kernel", piece.name).startswith(NCCL):
                ends[rank].append(piece.end)
            for flow in [*piece.flows, *piece.ends]:
                flows[flow].add(rank)
        self.check_ends(ends)
        self.assertGreater(len(flows), 1000)
        self.assertEqual({len(ranks) for ranks in flows.values()}, {1})

    def test_every_rank_has_a_flame_graph(self):
        for rank in self.profile["ranks"]:
            graph = json.loads((self.out / f"trace.rank{rank['rank']}.speedscope.json").read_text(encoding="utf-8"))
            total = sum(sum(profile["weights"]) for profile in graph["profiles"])
            self.assertAlmostEqual(total / 1e6, rank["totals"]["kernel_sum_ms"], places=6)

    def test_the_report_command_reads_the_ranks_again(self):
        again = self.folder / "again"
        done = run("report", self.out, "--out", again, "--perfetto", cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((again / "trace.pftrace").read_bytes(), (self.out / "trace.pftrace").read_bytes())
        if self.has_page:
            page, first = Page(again / "report.html"), Page(self.out / "report.html")
            self.assertEqual(page.header, first.header)


if __name__ == "__main__":
    unittest.main()
