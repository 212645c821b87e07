"""Tapes of CUDA programs: those of real programs, what llmprof reads from the logs of played ones, and the proxy that
records them."""
import gzip
import json
import pathlib
import unittest

from played_tapes import CUPTI, GRAPH, KERNEL, LIBRARY, ROOT, PlayedCase, Tape, built, kernel_rows

RECORDED_TAPES = sorted((ROOT / "tests" / "data" / "cupti-tapes").glob("*.tape.gz"))
RECORDING = built("RECORDING_CUPTI", "lib/librecording_cupti.so")


class Recorder(PlayedCase):
    """The proxy that records tapes: recording a played tape yields the same tape."""

    def record(self, tape):
        copy = self.folder / "copy.tape"
        self.play(
            tape,
            LLMPROF_CUPTI=RECORDING,
            LLMPROF_REAL_CUPTI=CUPTI,
            NVTX_INJECTION64_PATH=RECORDING,
            LLMPROF_COLLECTOR=LIBRARY,
            LLMPROF_TAPE=str(copy),
            LLMPROF_TAPE_ALL="1",
        )
        return Tape(copy)

    def test_a_copied_tape_equals_its_source(self):
        if "san" in pathlib.Path(LIBRARY).stem:
            self.skipTest("the recorder is not built with sanitizers")
        for kind in ("eager", "graph"):
            with self.part(kind):
                tape = self.tape(kind)
                copy = self.record(tape)
                for thread in (1, 2):
                    self.assertEqual(self.calls(copy, thread), self.calls(tape, thread))
                self.assertCountEqual(self.durations(copy), self.durations(tape))
                self.assertEqual(copy.ranges_of_nodes(), tape.ranges_of_nodes())
                self.assertEqual(
                    self.paths(copy, KERNEL),
                    self.paths(tape, KERNEL),
                )

    def calls(self, tape, thread):
        keys = "item op form text domain cbid site correlation function graph node original".split()
        kinds = ("api", "resource", "nvtx")
        rows = [i for i in tape.items if i["thread"] == thread and i["item"] in kinds]
        # Thread names are the program's, not the tape's; domain numbers are the tape's own.
        return [
            tuple(row.get(key) if (key, row["item"]) != ("domain", "nvtx") else None for key in keys)
            for row in rows
        ]

    def durations(self, tape):
        return [
            (i["kind"], i["correlation"], i["name"], i["end"] - i["start"], i["node"])
            for i in tape.items
            if i["item"] == "activity" and i["kind"] != GRAPH
        ]

    def paths(self, tape, kind):
        ranges = tape.ranges_of_launches()
        return sorted((i["correlation"], ranges[i["correlation"]]) for i in tape.work(kind))


class AnalyzedLogs(PlayedCase):
    """The log as llmprof reads it. A layer's kernels take 2 + 11 + 7 + 2 + 23 = 45 us."""

    def profile(self, tape, **environment):
        done = self.analyze(tape, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_eager(self):
        profile = self.profile(self.tape("eager"))
        totals = profile["totals"]
        self.assertEqual(totals["kernel_count"], 92)
        self.assertEqual(totals["kernel_sum_ns"], 9 * 2 * 45_000 + 3_000 + 4_000)
        self.assertEqual(totals["memory_operation_count"], 10)
        stages = {stage["name"]: stage["instances"] for stage in profile["stages"]}
        self.assertEqual([i["kernel_count"] for i in stages["prefill"]], [10])
        self.assertEqual([i["kernel_count"] for i in stages["decode"]], [80])
        self.assertEqual([i["steps"] for i in stages["decode"]], [8])

    def test_the_rank_reaches_the_reports(self):
        profile = self.profile(self.tape("eager"), RANK="3")
        (capture,) = profile["context"]["captures"]
        self.assertEqual(capture["rank"], 3)
        report = (self.folder / "bundle" / "report.md").read_text()
        self.assertIn("| tool | rank | driver | CUDA |", report)
        self.assertIn(", rank 3)", (self.folder / "bundle" / "kernels.md").read_text())

    def test_graph(self):
        profile = self.profile(self.tape("graph"))
        self.assertEqual(profile["totals"]["kernel_count"], 80)
        self.assertEqual(profile["totals"]["kernel_sum_ns"], 8 * 2 * 45_000)
        calls = {kernel["kernel_name"]: kernel["calls"] for kernel in profile["kernels"]}
        self.assertEqual(calls["gemm_bf16_qkv_128x64"], 16)
        layers = {layer["name"]: layer["total_ns"] for layer in profile["layers"]}
        self.assertEqual(layers["layer_00"], 8 * 45_000)
        self.assertEqual(layers["layer_01"], 8 * 45_000)


class RecordedPrograms(PlayedCase):
    """Tapes of real programs, recorded on a GPU."""

    def test_tapes_of_real_programs(self):
        self.assertNotEqual(RECORDED_TAPES, [])
        for path in RECORDED_TAPES:
            with self.part(path.name):
                plain = self.folder / path.stem
                plain.write_bytes(gzip.decompress(path.read_bytes()))
                tape = Tape(plain)
                self.play(tape, "--pace", "--finish")
                log = self.log()
                self.assertEqual(log.only("clean_end")["dropped"], 0)
                self.assert_holds_what_was_delivered(log)
                on_tape = [work for work in tape.work(KERNEL) if work["start"] != 0]
                self.assertEqual(len(kernel_rows(log)), len(on_tape))
                nodes, expected = log.nodes(), tape.ranges_of_nodes()
                for kernel in kernel_rows(log):
                    if kernel.node in expected:
                        self.assertEqual(nodes[kernel.node], expected[kernel.node])


if __name__ == "__main__":
    unittest.main()
