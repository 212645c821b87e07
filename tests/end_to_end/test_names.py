"""Short names of kernels: different kernels have different names, in profile.json and in every list."""
import collections
import json
import pathlib
import re
import tempfile
import unittest

from program import H200_CAPTURES, run

# As one tool spells them: overloads, namespaces, template instances, names that differ at their end.
KERNELS = [
    "void ns1::Foo::kernel<4>(float*)", "void ns2::Foo::kernel<4>(float*)", "kernel_x(int*)", "kernel_x(float*)",
    "_Z3foov", "_Z3fooi",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int)",
    "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int)",
    *(f"nvjet_tst_{tile}x8_64x12_{cluster}_v_bz_TNT" for tile in (64, 128, 256) for cluster in ("2x1", "4x1")),
    "a_very_long_name_of_a_kernel_that_goes_on_and_on_and_on_and_on_until_its_end_1",
    "a_very_long_name_of_a_kernel_that_goes_on_and_on_and_on_and_on_until_its_end_2",
    "A::operator()(int) const::{lambda(int)#1}::kern", "A::operator()(int) const::{lambda(int)#2}::kern",
]


def trace():
    events = []
    for number, name in enumerate(KERNELS * 2):
        launch = {"ph": "X", "pid": 9, "tid": 9, "cat": "cuda_runtime", "name": "cudaLaunchKernel",
                  "ts": number * 100, "dur": 2, "args": {"correlation": number + 1}}
        kernel = {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": name, "ts": number * 100 + 5,
                  "dur": 20 + number, "args": {"device": 0, "stream": 7, "correlation": number + 1}}
        events += [launch, kernel]
    return {"schemaVersion": 1, "traceEvents": events}


class ShortNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.capture = cls.folder / "names.json"
        cls.capture.write_text(json.dumps(trace()))

    def analyze(self, capture, columns=None):
        env = {"COLUMNS": str(columns)} if columns else None
        done = run("analyze", capture, "--out", self.folder / "out", "--force", "--top", "100", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, json.loads((self.folder / "out" / "profile.json").read_text())

    def test_are_different(self):
        _, profile = self.analyze(self.capture)
        full_names = collections.defaultdict(set)
        for kernel in profile["kernels"]:
            full_names[kernel["short_name"]].add(kernel["kernel_name"])
            self.assertLessEqual(len(kernel["short_name"]), 60)
        self.assertEqual(len(full_names), len(KERNELS), {k: v for k, v in full_names.items() if len(v) > 1})

    def test_are_different_at_every_width(self):
        captures = [self.capture]
        if H200_CAPTURES.exists():
            captures.append(H200_CAPTURES / "h200-dense-graph" / "nsys_node.sqlite")
        for capture in captures:
            for columns in (50, 56, 62, 70, 80, 100, 200):
                shown, _ = self.analyze(capture, columns)
                lines = shown.splitlines()
                first = next(i for i, line in enumerate(lines) if line.startswith("  ") and "total_ms" in line) + 1
                place = lines[first - 1].index("kernel")
                names = []
                for line in lines[first:]:
                    if not re.match(r" +\d", line):
                        break
                    names.append(line[place:])
                self.assertEqual(len(set(names)), len(names), f"{columns} columns")

    def test_are_spelled_as_Americans_do(self):
        shown, _ = self.analyze(self.capture)
        self.assertIn("vectorized", shown)
        self.assertNotIn("vectorised", shown)


if __name__ == "__main__":
    unittest.main()
