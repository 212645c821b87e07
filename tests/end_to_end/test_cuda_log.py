"""A log of CUDA work, written only from the format's description, through the real binary. The oracle is the writer,
which knows what it wrote."""
import pathlib
import tempfile
import unittest

import cuda_log
from program import DATA, Bundle


def nanoseconds(milliseconds):
    return round(milliseconds * 1e6)


class CudaLog(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "4711.llmtrace"
            cls.program = cuda_log.small_run(path)
            cls.bundle = Bundle(path)
        cls.profile = cls.bundle.profile

    def test_kernels(self):
        expected = {name: tuple(count) for name, count in self.program.kernels.items()}
        self.assertEqual(self.bundle.kernels(), expected)

    def test_stages_are_those_of_the_launches(self):
        stages = {stage["name"]: stage for stage in self.profile["stages"]}
        self.assertEqual(set(stages), {"prefill", "decode"})
        for name, expected in self.program.instances.items():
            found = [each for each in stages[name]["instances"] if not each["warmup"]]
            self.assertEqual(
                [[each["kernel_count"], nanoseconds(each["gpu_sum_ms"])] for each in found], expected
            )
        self.assertEqual(self.profile["coverage"]["kernels_share"], 1)

    def test_layers_of_replays_are_those_of_the_capture(self):
        rows = {(row["stage"], row["name"]): row for row in self.profile["layers"]}
        found = {key: row["total_ns"] for key, row in rows.items()}
        self.assertEqual(found, {key: total for key, (_, total) in self.program.layer_times.items()})
        for (stage, _), row in rows.items():
            self.assertEqual(row["source"], "captured" if stage == "decode" else "nvtx")
            self.assertEqual(row["passes"], 6 if stage == "decode" else 2)

    def test_device_and_diagnostics(self):
        context = self.profile["context"]
        (gpu,) = context["gpus"]
        self.assertEqual(gpu["name"], "NVIDIA H200")
        self.assertEqual(gpu["uuid"], "00010203-0405-0607-0809-0a0b0c0d0e0f")
        self.assertEqual(gpu["sm_count"], 132)
        self.assertEqual(context["captures"][0]["cuda"], "13.0")
        self.assertIn("collector_cupti", self.bundle.codes())
        faults = {"graph_built_before_attach", "kernels_without_launch", "memory_operations_without_launch"}
        self.assertEqual(faults & self.bundle.codes(), set())
        self.assertFalse([code for code in self.bundle.codes() if code.startswith("collector_log_")])

    def test_a_log_cut_in_half_is_reported(self):
        whole = (DATA / "collector_log" / "cuda.llmtrace").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cut.llmtrace"
            path.write_bytes(whole[: len(whole) // 2 + 100])
            bundle = Bundle(path)
        self.assertIn("collector_log_truncated", bundle.codes())
        self.assertGreater(sum(calls for calls, _ in bundle.kernels().values()), 0)


if __name__ == "__main__":
    unittest.main()
