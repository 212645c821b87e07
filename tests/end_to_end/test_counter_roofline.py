"""Kernels on the roofline by the GPU's counters. The oracle is plain Python over the log's samples and kernels: it cuts
each sample at every start and end inside, and finds what ran in each piece."""
import collections
import gzip
import json
import pathlib
import random
import re
import struct
import tempfile
import unittest

import cuda_log
from collector_log import Log
from program import DATA, run

LEAST_SHARE = 0.9
# H200 SXM: bytes and FLOP per second, dense (conf/gpus.yaml).
BANDWIDTH = 4.8e12
PEAKS = {"bf16 dense": 989e12, "fp8 dense": 1979e12}
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
TENSOR = "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed"
INTERVAL = 500_000

BF16, FP8, PLAIN, NORM = "nvjet_sm90_tst_128x256_up", "nvjet_sm90_qqtst_128x256_down", "gemm_of_no_type", "rms_norm_kernel"
SHORT, CONCURRENT, LATE = "silu_and_mul_kernel", "nvjet_sm90_tst_64x64_concurrent", "embedding_kernel"


def owner_of(start, end, work):
    """The kernel that ran alone for most of a sample, and for how long; work: (start, end, name or None)."""
    inside = [(max(a, start), min(b, end), name) for a, b, name in work if a < end and b > start]
    cuts = sorted({start, end} | {time for a, b, _ in inside for time in (a, b)})
    alone = collections.Counter()
    for left, right in zip(cuts, cuts[1:]):
        running = {name for a, b, name in inside if a <= left and b >= right}
        if len(running) == 1:
            alone[running.pop()] += right - left
    alone.pop(None, None)
    name, time = max(alone.items(), key=lambda item: item[1], default=(None, 0))
    return (name, time) if time >= LEAST_SHARE * (end - start) else (None, 0)


def expected(log):
    """By kernel: samples, time, own time, bytes, activity x ns; and the number of samples."""
    kernels = sorted((start, end, definition["name"]) for start, end, _, definition in log.kernels())
    work = sorted(kernels + [(each["start"], each["end"], None) for each in log.memory_operations()],
                  key=lambda row: row[:2])
    samples = [row for row in log.counter_samples() if READ in row[3]]
    longest = max(end - start for start, end, _ in work)
    found = collections.defaultdict(lambda: [0, 0, 0, 0.0, 0.0])
    met, first = set(), 0
    for _, start, end, values in samples:
        while first < len(work) and work[first][0] < start - longest:
            first += 1
        near = []
        for row in work[first:]:
            if row[0] >= end:
                break
            if row[1] > start:
                near.append(row)
        met |= {name for _, _, name in near if name}
        name, own = owner_of(start, end, near)
        if name is None:
            continue
        row = found[name]
        row[0] += 1
        row[1] += end - start
        row[2] += own
        row[3] += values[READ] + values[WRITTEN]
        row[4] += values[TENSOR] / 100 * (end - start)
    names = {name for _, _, name in kernels}
    return {"found": found, "samples": len(samples), "met": met & names, "names": names}


def long_kernels(path):
    """Kernels of milliseconds, a run of short ones, two at once; counters throughout, except for the last."""
    chance = random.Random(16)
    log = cuda_log.LogFile()
    program = cuda_log.Program()
    program.log = log
    program.start()
    definitions = {}

    def kernel(name, start, end, stream=7):
        if (name, stream) not in definitions:
            definitions[name, stream] = len(definitions) + 1
            log.record("device", cuda_log.KERNEL_DEFINITION, struct.pack(
                "<16IQ", definitions[name, stream], log.key(name), 132, 1, 1, 128, 1, 1, 64, 0, 1024, 0, 1, stream, 0, 0, 0))
        log.record("device", cuda_log.LONG_KERNEL, struct.pack("<qqII", start, end, 0, definitions[name, stream]))

    now = begin = 1_000_000
    for _ in range(6):
        for name in (BF16, FP8, PLAIN, NORM):
            length = chance.randrange(900_000, 2_600_000)
            kernel(name, now, now + length)
            now += length + chance.randrange(1_000, 90_000)
    for _ in range(90):  # a run of one short kernel: together it fills samples
        kernel(BF16, now, now + 19_000)
        now += 20_000
    for _ in range(60):  # alternating short kernels: they do not
        for name in (SHORT, BF16):
            kernel(name, now, now + 11_000)
            now += 12_000
    kernel(FP8, now, now + 3_000_000)  # never alone
    kernel(CONCURRENT, now, now + 3_000_000, stream=8)
    end = now + 3_000_000
    columns = ((READ, "byte"), (WRITTEN, "byte"), (TENSOR, "%"))
    payload = struct.pack("<IIqII", 1, 0, INTERVAL, len(columns), 0)
    payload += b"".join(struct.pack("<II", log.key(name), log.key(unit)) for name, unit in columns)
    log.record("device", cuda_log.COUNTER_SET, payload)
    for start in range(begin - INTERVAL, end + INTERVAL, INTERVAL):
        values = (chance.uniform(1e8, 1e9), chance.uniform(1e7, 1e8), chance.uniform(20, 90))
        log.record("device", cuda_log.COUNTER_SAMPLE, struct.pack("<qqII3d", start, start + INTERVAL, 1, 3, *values))
    kernel(LATE, end + 10 * INTERVAL, end + 20 * INTERVAL)
    program.now = end + 20 * INTERVAL
    program.end()
    log.write(path)


def analyzed(out, *arguments):
    done = run("analyze", *arguments, "--out", out)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads((out / "profile.json").read_text(encoding="utf-8"))


class LongKernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            long_kernels(folder / "4711.llmtrace")
            cls.truth = expected(Log(folder / "4711.llmtrace"))
            cls.profile = analyzed(folder / "out", folder / "4711.llmtrace")
            cls.report = (folder / "out" / "report.md").read_text(encoding="utf-8")
            cls.plot = (folder / "out" / "plots" / "roofline.svg").read_text(encoding="utf-8")
            model = folder / "config.json"
            model.write_text(json.dumps({
                "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 4,
                "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 11008, "vocab_size": 32000,
                "torch_dtype": "bfloat16"}), encoding="utf-8")
            cls.with_model = analyzed(folder / "model", folder / "4711.llmtrace", "--model", model)
        cls.kernels = {row["kernel_name"]: row for row in cls.profile["roofline"]["kernels"]}

    def test_samples_belong_to_the_kernels_that_fill_them(self):
        found = self.truth["found"]
        self.assertEqual(set(found), {BF16, FP8, PLAIN, NORM})
        self.assertEqual(set(self.kernels), set(found))
        for name, (samples, time, own, data, _) in found.items():
            row = self.kernels[name]
            with self.subTest(kernel=name):
                self.assertEqual(row["source"], "counters")
                self.assertEqual(row["samples"], samples)
                self.assertAlmostEqual(row["sampled_ms"], time / 1e6, places=9)
                self.assertAlmostEqual(row["own_share_of_samples"], own / time, places=12)
                self.assertAlmostEqual(row["bytes_per_s"] / (data / time * 1e9), 1, places=9)
                self.assertAlmostEqual(row["memory_share_of_peak"], data / time * 1e9 / BANDWIDTH, places=9)

    def test_flops_are_activity_times_the_peak_of_the_name(self):
        for name, peak in ((BF16, "bf16 dense"), (FP8, "fp8 dense")):
            _, time, _, data, active = self.truth["found"][name]
            row = self.kernels[name]
            self.assertEqual(row["peak_name"], peak)
            self.assertEqual(row["peak_flops_per_s"], PEAKS[peak])
            self.assertEqual(row["number_format_source"], "kernel name")
            self.assertAlmostEqual(row["tensor_active_share"], active / time, places=6)
            self.assertAlmostEqual(row["flops_per_s"] / (active / time * PEAKS[peak]), 1, places=6)
            self.assertAlmostEqual(row["flops_per_byte"], row["flops_per_s"] / (data / time * 1e9), places=6)

    def test_without_a_format_or_tensor_work_there_is_only_a_bandwidth(self):
        for name, why in ((PLAIN, "format_unknown"), (NORM, "no_tensor_activity")):
            row = self.kernels[name]
            self.assertEqual(row["why_no_flops"], why)
            self.assertIsNone(row["flops_per_s"])
            self.assertIsNone(row["flops_per_byte"])
            self.assertNotIn(f"{row['short_name']}: ", self.plot)

    def test_the_model_gives_the_format_if_the_name_does_not(self):
        (row,) = [row for row in self.with_model["roofline"]["kernels"] if row["kernel_name"] == PLAIN]
        self.assertEqual((row["peak_name"], row["number_format_source"]), ("bf16 dense", "model"))
        self.assertEqual(row["flops_per_s"], row["tensor_active_share"] * PEAKS["bf16 dense"])

    def test_kernels_that_fill_no_sample_are_counted(self):
        sampled = self.profile["roofline"]["sampled"]
        self.assertEqual(sampled["samples"], self.truth["samples"])
        self.assertEqual(sampled["attributed_samples"], sum(row[0] for row in self.truth["found"].values()))
        self.assertEqual(sampled["interval_ms"], INTERVAL / 1e6)
        self.assertEqual(sampled["kernels_placed"], 4)
        self.assertEqual(self.truth["met"] - set(self.truth["found"]), {SHORT, CONCURRENT})
        self.assertEqual(sampled["kernels_too_short"], 2)
        self.assertEqual(self.truth["names"] - self.truth["met"], {LATE})
        self.assertEqual(sampled["kernels_unsampled"], 1)

    def test_reports_name_the_source(self):
        section = self.report.split("## Roofline", 1)[1].split("\n## ", 1)[0].replace("\\", "")
        for name, (samples, *_) in self.truth["found"].items():
            line = next(line for line in section.splitlines() if self.kernels[name]["short_name"] in line)
            self.assertIn(f"counters, {samples} samples", line)
        self.assertIn("number format not known", section)
        self.assertIn("no tensor activity", section)
        self.assertIn("2 of 7 kernels without ncu's metrics: too short for the counters' sampling interval of 0.500 ms",
                      " ".join(section.split()))
        self.assertEqual(len(re.findall(r"<title>[^<]*by counters</title>", self.plot)), 2)


class OnTheH200(unittest.TestCase):
    """Decodes with kernels of about 10 us, and samples of 0.5 and 1 ms: no kernel fills any, and the profile says
    so."""

    def test_short_kernels_get_no_point(self):
        for capture in ("dense_graph", "llama_eager"):
            with self.subTest(capture=capture), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                path = folder / f"{capture}.llmtrace"
                path.write_bytes(gzip.decompress((DATA / "h200-collector" / f"{capture}.llmtrace.gz").read_bytes()))
                truth = expected(Log(path))
                roofline = analyzed(folder / "out", path)["roofline"]
                sampled = roofline["sampled"]
                self.assertGreater(truth["samples"], 1000)
                self.assertEqual(sampled["samples"], truth["samples"])
                self.assertEqual(sampled["attributed_samples"], sum(row[0] for row in truth["found"].values()))
                self.assertEqual(sampled["kernels_placed"], len(truth["found"]))
                self.assertEqual(sampled["kernels_too_short"], len(truth["met"]) - len(truth["found"]))
                self.assertEqual(sampled["kernels_unsampled"], len(truth["names"] - truth["met"]))
                self.assertEqual(len(roofline["kernels"]), len(truth["found"]))
                self.assertIn("shorter_than_samples", [reason["kind"] for reason in roofline["why_not_reasons"]])


if __name__ == "__main__":
    unittest.main()
