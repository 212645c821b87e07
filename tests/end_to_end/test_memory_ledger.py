"""`llmprof analyze` explains every byte of GPU memory, from a log that is written only from the format's description.
The writer knows what it allocated, and what NVML would say."""
import collections
import pathlib
import tempfile
import unittest

from memory_log import CONTEXT, CUBLAS, CUPTI_BUFFERS, MIB, OTHERS, PAGE, RESERVED, TOTAL, WEIGHTS, recorded_run
from program import DATA, Bundle, run


class MemoryLedger(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.path = pathlib.Path(holder.name) / "4711.llmtrace"
        cls.program = recorded_run(cls.path)
        cls.bundle = Bundle(cls.path, options=("--model", "llm/llama_1b"))
        cls.ledger = cls.bundle.profile["memory_ledger"]

    def rows(self, kind, ledger=None):
        ledger = ledger or self.ledger
        (moment,) = [i for i, each in enumerate(ledger["moments"]) if each["kind"] == kind]
        return [row for row in ledger["rows"] if row["moment"] == moment]

    def test_the_rows_of_every_moment_sum_to_what_is_used(self):
        self.assertEqual(self.ledger["events"], self.program.events)
        self.assertGreaterEqual(len(self.ledger["moments"]), 4)
        for index, moment in enumerate(self.ledger["moments"]):
            rows = [row for row in self.ledger["rows"] if row["moment"] == index]
            self.assertEqual(sum(row["bytes"] for row in rows), moment["used_bytes"])
            self.assertTrue(moment["closes"])
            self.assertTrue(all(row["bytes"] == int(row["bytes"]) for row in rows))

    def test_each_row_has_its_bytes_owner_and_basis(self):
        columns = ("part", "owner", "bytes", "allocations", "basis")
        found = [tuple(row[column] for column in columns) for row in self.rows("end")]
        profiler = CUPTI_BUFFERS[0] * CUPTI_BUFFERS[1]
        self.assertEqual(found, [
            ("other_processes", "", OTHERS, 0, "reading"),
            ("driver_reserved", "", RESERVED, 0, "reading"),
            ("context", "", CONTEXT - profiler, 0, "difference"),
            ("weights", "libggml-cuda.so", WEIGHTS, 1, "model_size"),
            ("kv_cache", "libggml-cuda.so", 256 * MIB, 1, "model_size"),
            ("library_workspace", "cuBLAS", CUBLAS, 1, "recorded"),
            ("framework", "PyTorch", 166 * MIB, 1, "recorded"),
            ("pool", "", 128 * MIB, 1, "recorded"),
            ("pool_unused", "", 32 * MIB, 0, "stated"),
            ("vmm", "", 64 * MIB, 1, "recorded"),
            ("managed", "", 128 * MIB + 3 * MIB, 1, "difference"),
            ("rounding", "", -(-WEIGHTS // PAGE) * PAGE - WEIGHTS + 66 * MIB - CUBLAS, 0, "addresses"),
            ("profiler", "CUPTI", profiler, 0, "stated"),
            ("rest", "", 0, 0, "remainder"),
        ])

    def test_the_fixture_is_this_log(self):
        self.assertEqual((DATA / "collector_log" / "memory.llmtrace").read_bytes(), self.path.read_bytes())

    def test_moments_are_those_of_the_stages(self):
        kinds = [moment["kind"] for moment in self.ledger["moments"]]
        self.assertEqual(kinds[0], "after_load")
        self.assertEqual(kinds[-2:], ["peak", "end"])
        end = self.ledger["moments"][-1]
        self.assertEqual(end["used_bytes"], self.program.used + RESERVED)
        self.assertEqual(end["own_bytes"], self.program.used - OTHERS)
        self.assertEqual(end["total_bytes"], TOTAL)

    def test_the_timeline_has_every_reading_and_its_parts(self):
        (gpu,) = self.ledger["gpus"]
        self.assertEqual(gpu["total_bytes"], TOTAL)
        # The first reading is of the time before the context.
        expected = self.program.readings[1:]
        start = expected[0][0]
        found = [(round(start + point["time_ms"] * 1e6), point["used_bytes"]) for point in self.ledger["timeline"]]
        self.assertEqual(found, expected)
        for point in self.ledger["timeline"]:
            self.assertEqual(sum(point["parts_bytes"].values()), point["used_bytes"])
        parts = collections.Counter()
        for row in self.rows("end"):
            parts[row["part"]] += row["bytes"]
        self.assertEqual(self.ledger["timeline"][-1]["parts_bytes"], {part: size for part, size in parts.items() if size})

    def test_the_timeline_is_on_the_clock_of_the_stages(self):
        (gpu,) = self.ledger["gpus"]
        instance = self.bundle.profile["stages"][0]["instances"][0]
        end = self.ledger["moments"][-1]
        self.assertLess(gpu["start_ns"], instance["start_ns"])
        self.assertLess(instance["start_ns"], gpu["start_ns"] + end["time_ms"] * 1e6)

    def test_shares_are_of_what_is_used(self):
        for row in self.ledger["rows"]:
            self.assertAlmostEqual(row["share"], row["bytes"] / self.ledger["moments"][row["moment"]]["used_bytes"])

    def test_without_the_model_nothing_is_called_weights(self):
        ledger = Bundle(self.path).profile["memory_ledger"]
        rows = {(row["part"], row["owner"]): row for row in self.rows("end", ledger)}
        engine = rows["allocations", "libggml-cuda.so"]
        self.assertEqual((engine["bytes"], engine["allocations"]), (WEIGHTS + 256 * MIB, 2))
        self.assertFalse({"weights", "kv_cache"} & {part for part, _ in rows})

    def test_the_report_and_queries_have_the_ledger(self):
        report = self.bundle.files["report.md"]
        self.assertIn("## Use of GPU memory", report)
        self.assertIn("KV cache", report)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            self.assertEqual(run("analyze", self.path, "--out", out).returncode, 0)
            for statement, expected in (
                ("select count(*) n from memory_events", self.program.events),
                ("select sum(bytes) n from memory_events where action = 'allocation' and kind = 'managed'", 32 * MIB),
                ("select max(used_bytes) n from memory_readings", self.program.used),
                ("select sum(bytes) n from memory_ledger join memory_moments using (moment) where kind = 'end'",
                 self.program.used + RESERVED),
                ("select sum(bytes) n from memory_ledger_timeline where point = 0", self.program.readings[1][1]),
                ("select max(used_bytes) n from memory_ledger_points join memory_ledger_gpus using (gpu)",
                 self.program.used + RESERVED),
            ):
                done = run("query", out, statement, "--format", "csv")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(float(done.stdout.split()[-1]), expected, statement)


if __name__ == "__main__":
    unittest.main()
