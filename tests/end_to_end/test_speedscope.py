"""--speedscope: the flame graph's sums equal those in profile.json."""
import collections
import json
import pathlib
import tempfile
import unittest

from program import DATA, run


class Graph:
    """trace.speedscope.json of one analysis: stack of names -> ns, over all devices."""

    def __init__(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            done = run("analyze", *arguments, "--out", out, "--speedscope")
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            self.profile = json.loads((out / "profile.json").read_text(encoding="utf-8"))
            self.file = json.loads((out / "trace.speedscope.json").read_text(encoding="utf-8"))
        names = [frame["name"] for frame in self.file["shared"]["frames"]]
        self.stacks = collections.Counter()
        for profile in self.file["profiles"]:
            for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
                self.stacks[tuple(names[frame] for frame in sample)] += weight

    def sum_by(self, key):
        sums = collections.Counter()
        for stack, weight in self.stacks.items():
            sums[key(stack)] += weight
        return sums


class FlameGraph(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Graph(DATA / "h200-decoder" / "nsys.sqlite")

    def test_has_the_form_that_speedscope_reads(self):
        file = self.graph.file
        self.assertEqual(file["$schema"], "https://www.speedscope.app/file-format-schema.json")
        names = [frame["name"] for frame in file["shared"]["frames"]]
        self.assertEqual(len(names), len(set(names)))
        for profile in file["profiles"]:
            self.assertEqual((profile["type"], profile["unit"]), ("sampled", "nanoseconds"))
            self.assertEqual(profile["startValue"], 0)
            self.assertEqual(profile["endValue"], sum(profile["weights"]))
            self.assertTrue(all(weight > 0 for weight in profile["weights"]))

    def test_sums_to_the_time_of_all_kernels(self):
        self.assertEqual(sum(self.graph.stacks.values()), self.graph.profile["totals"]["kernel_sum_ns"])

    def test_kernels_have_their_totals(self):
        expected = collections.Counter()
        for kernel in self.graph.profile["kernels"]:
            expected[kernel["short_name"]] += kernel["total_ns"]
        self.assertEqual(self.graph.sum_by(lambda stack: stack[-1]), expected)

    def test_classes_have_their_totals(self):
        expected = collections.Counter()
        for kernel in self.graph.profile["kernels"]:
            expected[kernel["class"]] += kernel["total_ns"]
        self.assertEqual(self.graph.sum_by(lambda stack: stack[-2]), expected)

    def test_stages_have_the_time_of_their_kernels(self):
        sums = self.graph.sum_by(lambda stack: stack[0])
        for stage in self.graph.profile["stages"]:
            for suffix, warm_up in (("", False), (" (warm-up)", True)):
                expected = sum(instance["gpu_sum_ms"] for instance in stage["instances"]
                               if instance["warmup"] == warm_up)
                self.assertAlmostEqual(sums.get(stage["name"] + suffix, 0) / 1e6, expected, 6)

    def test_layers_have_their_totals(self):
        rows = {(row["stage"], row["name"]): row["total_ns"]
                for row in self.graph.profile["layers"] if not row["part"]}
        sums = self.graph.sum_by(lambda stack: stack[:2])
        self.assertEqual({key: sums[key] for key in rows}, rows)

    def test_levels_are_stage_layer_class_kernel(self):
        classes = {kernel["class"] for kernel in self.graph.profile["kernels"]}
        for stack in self.graph.stacks:
            self.assertIn(stack[-2], classes)
            self.assertIn(len(stack), (3, 4))


class WithoutATimeline(unittest.TestCase):
    def test_is_class_over_kernel(self):
        for capture in (DATA / "ncu" / "decode_raw.csv", DATA / "h200-decoder" / "nsys_cuda_gpu_kern_sum.csv"):
            with self.subTest(capture.name):
                graph = Graph(capture)
                self.assertEqual({len(stack) for stack in graph.stacks}, {2})
                self.assertEqual(sum(graph.stacks.values()), graph.profile["totals"]["kernel_sum_ns"])


if __name__ == "__main__":
    unittest.main()
