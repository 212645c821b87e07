"""GPU memory by calls of the driver, in logs of an H200, against what the programs allocated or state."""
import json
import pathlib
import tempfile
import unittest

from program import DATA, run

MIB = 1 << 20


class MemoryOfAnH200(unittest.TestCase):
    def ledger(self, name):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        bundle = pathlib.Path(holder.name) / name
        done = run("analyze", DATA / "h200-memory-calls" / f"{name}.llmtrace.gz", "--out", bundle)
        self.assertEqual(done.returncode, 0, done.stderr)
        ledger = json.loads((bundle / "profile.json").read_text(encoding="utf-8"))["memory_ledger"]
        for index, moment in enumerate(ledger["moments"]):
            rows = [row["bytes"] for row in ledger["rows"] if row["moment"] == index]
            self.assertEqual(sum(rows), moment["used_bytes"])
            self.assertTrue(moment["closes"])
        return ledger

    def bytes_of(self, ledger, kind):
        (index,) = [i for i, moment in enumerate(ledger["moments"]) if moment["kind"] == kind]
        found = {}
        for row in ledger["rows"]:
            if row["moment"] == index:
                found[row["part"], row["owner"]] = row["bytes"]
        return found

    def test_known_allocations_are_exact(self):
        ledger = self.ledger("known")
        peak, end = self.bytes_of(ledger, "peak"), self.bytes_of(ledger, "end")
        kept = 512 * MIB + 1000 + 3 * MIB + 87_640
        self.assertEqual(peak["allocations", "libffi.so.8"], kept + 256 * MIB)
        self.assertEqual(end["allocations", "libffi.so.8"], kept)
        self.assertEqual(end["pool", "libffi.so.8"], 128 * MIB)
        self.assertEqual((peak["vmm", ""], end["vmm", ""]), (320 * MIB, 256 * MIB))
        self.assertEqual(end["managed", ""], 128 * MIB)
        self.assertEqual((peak["rest", ""], end["rest", ""]), (0, 0))

    def test_pytorch_holds_what_it_states(self):
        end = self.bytes_of(self.ledger("pytorch"), "end")
        self.assertEqual(end["framework", "PyTorch"], 408_944_640)
        self.assertEqual(end["rest", ""], 0)

    def test_expandable_segments_are_what_pytorch_states(self):
        end = self.bytes_of(self.ledger("expandable"), "end")
        self.assertEqual(end["vmm", ""], 362_807_296)
        self.assertEqual(end["rest", ""], 0)

    def test_the_pool_of_jax_is_what_it_states(self):
        peak = self.bytes_of(self.ledger("jax"), "peak")
        self.assertEqual(peak["vmm", ""], 112_583_507_968)
        self.assertEqual(peak["rest", ""], 2 * MIB)


if __name__ == "__main__":
    unittest.main()
