"""Damaged captures: readable data is analyzed, and the damage is reported first."""
import gzip
import json
import pathlib
import tempfile
import unittest

from page_file import Page
from program import DATA, run

REPORTS = ["report.md", "stakeholder_summary.md", "kernels.md", "operators.md"]
# Advice for a complete capture without GPU work, or without stages.
WRONG = ["this input holds no kernels", "ProfilerActivity.CUDA", "does not look like LLM inference", "llmprof_annotate"]


def half(data):
    return data[:len(data) // 2]


def half_zeroed(data):
    return half(data) + bytes(len(data) - len(half(data)))


def cut_gzip(share):
    def cut(data):
        packed = gzip.compress(data, mtime=0)
        return packed[:int(len(packed) * share)]
    return cut


def plain(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


SQLITE = plain(DATA / "h200-decoder" / "nsys.sqlite")
KINETO = plain(DATA / "h200-decoder" / "kineto.json.gz")
LOG = plain(DATA / "h200-models" / "hf_mixtral.llmtrace.gz")
NCU = plain(DATA / "h200-decoder" / "ncu_raw.csv.gz")
STATS = plain(DATA / "h200-decoder" / "nsys_cuda_gpu_trace.csv.gz")

# Name and bytes; the readable part of each is analyzed.
READABLE = {
    "quarter_zeroed.sqlite": SQLITE[:len(SQLITE) // 4] + bytes(len(SQLITE) * 3 // 4),
    "half_zeroed.sqlite": half_zeroed(SQLITE),
    "end_zeroed.sqlite": SQLITE[:len(SQLITE) * 3 // 4] + bytes(len(SQLITE) // 4),
    "cut_early.json.gz": cut_gzip(0.05)(KINETO),
    "cut.json.gz": cut_gzip(0.6)(KINETO),
    "cut.json": half(KINETO),
    "garbled.json": KINETO[:90000] + b"\x00\xff{{[" * 40 + KINETO[91000:],
    "cut.llmtrace.gz": cut_gzip(0.5)(LOG),
    "cut.llmtrace": half(LOG),
    "half_zeroed.llmtrace": half_zeroed(LOG),
    "cut_raw.csv.gz": cut_gzip(0.5)(NCU),
    "cut_trace.csv.gz": cut_gzip(0.5)(STATS),
    "garbled_trace.csv": STATS[:20000] + b"\x00\x01\x02garbage,,,\n" * 9 + STATS[20100:],
}
# Nothing in these is readable.
UNREADABLE = {
    "cut.sqlite": half(SQLITE),
    "cut.sqlite.gz": cut_gzip(0.5)(SQLITE),
    "header_alone.sqlite": SQLITE[:4096] + bytes(len(SQLITE) - 4096),
    "cut_at_once.json.gz": cut_gzip(0.5)(KINETO)[:40],
}


class Damage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        for name, data in {**READABLE, **UNREADABLE}.items():
            (cls.folder / name).write_bytes(data)

    def test_is_reported_first(self):
        for name in READABLE:
            with self.subTest(name):
                out = self.folder / f"{name}.out"
                done = run("analyze", self.folder / name, "--out", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.startswith("WARNING: The input is damaged: "), done.stdout[:200])
                self.assertIn(name, done.stdout.splitlines()[0])
                for wrong in WRONG:
                    self.assertNotIn(wrong, done.stdout)
                for report in REPORTS:
                    lines = (out / report).read_text(encoding="utf-8").splitlines()
                    self.assertEqual(lines[2], "> [!WARNING]", report)
                    self.assertTrue(lines[3].startswith("> The input is damaged: "), report)
                    for wrong in WRONG:
                        self.assertNotIn(wrong, "\n".join(lines), report)
                self.assertIn("The input is damaged", Page(out / "report.html").parsed().overview)
                again = run("report", out / "profile.json", "--out", self.folder / f"{name}.again")
                self.assertEqual(again.returncode, 0, again.stderr)

    def test_of_a_file_with_nothing_readable(self):
        for name in UNREADABLE:
            with self.subTest(name):
                done = run("analyze", self.folder / name, "--out", self.folder / f"{name}.out")
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn(name, done.stderr.splitlines()[0])
                self.assertRegex(done.stderr.splitlines()[0], "damaged|truncated")
                for wrong in WRONG:
                    self.assertNotIn(wrong, done.stderr)

    def test_a_complete_capture_gets_its_advice(self):
        profile = json.loads(KINETO)
        profile["traceEvents"] = [event for event in profile["traceEvents"] if event.get("cat") != "kernel"]
        (self.folder / "cpu_only.json").write_text(json.dumps(profile))
        done = run("analyze", self.folder / "cpu_only.json", "--out", self.folder / "cpu_only")
        self.assertNotIn("damaged", done.stdout)


if __name__ == "__main__":
    unittest.main()
