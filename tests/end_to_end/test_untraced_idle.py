"""The idle share of a program without tracing, as reports state it, against plain Python over the program's own clock
in the control run and the kernels in the recorded one."""
import gzip
import json
import pathlib
import tempfile
import unittest

from collector_log import Log
from program import DATA, run

RUN = DATA / "h200-untraced"
TOKENS, WARM_UP_TOKENS = 8 * 48, 1
# llama-bench's avg_ns in the control run, for 48 tokens.
OWN_CLOCK_MS = 81.018461 / 48


def unpacked(file, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.decompress(file.read_bytes()))
    return path


def profile_of(folder, control, *, driver):
    """The profile of a run: the recording, and the launches recorded in another run without tracing."""
    unpacked(control, folder / "run" / "stage1" / ("driver_calls" if driver else "launches") / "2.llmtrace")
    (folder / "run" / "inputs.yaml").write_text("workload:\n  name: program\n", encoding="utf-8")
    (folder / "run" / "captures.json").write_text('{"failed": [], "notes": []}', encoding="utf-8")
    result = run("analyze", folder / "run", "--out", folder / "out")
    assert result.returncode == 0, result.stderr
    return json.loads((folder / "out" / "profile.json").read_text(encoding="utf-8"))


def busy_ms_per_token(path):
    """Kernels of the graph launches, overlap counted once. The warm-up runs without a graph."""
    log = Log(path)
    replayed = {call["correlation"] for call in log.calls() if call["function"] == "cuGraphLaunch"}
    assert len(replayed) == TOKENS, len(replayed)
    busy = end = 0
    for start, stop, correlation, _ in sorted(log.kernels(), key=lambda row: row[0]):
        if correlation in replayed and stop > end:
            busy += stop - max(start, end)
            end = stop
    return busy / TOKENS / 1e6


class UntracedIdle(unittest.TestCase):
    def test_times_and_idle_share_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            recorded = unpacked(RUN / "recorded.llmtrace.gz", folder / "run" / "collector" / "1.llmtrace")
            profile = profile_of(folder, RUN / "control.llmtrace.gz", driver=False)
            busy = busy_ms_per_token(recorded)
        (decode,) = [stage for stage in profile["stages"] if stage["name"] == "decode"]
        measured = [instance for instance in decode["instances"] if not instance["warmup"]]
        self.assertEqual([instance["steps"] for instance in measured], [TOKENS])
        self.assertEqual([instance["steps"] for instance in decode["instances"] if instance["warmup"]],
                         [WARM_UP_TOKENS])
        untraced = decode["unwatched"]
        self.assertEqual(untraced["source"], "control_launches")
        self.assertAlmostEqual(untraced["wall_ms_per_step"] / OWN_CLOCK_MS, 1, delta=0.03)
        share = (OWN_CLOCK_MS - busy) / OWN_CLOCK_MS
        self.assertAlmostEqual(untraced["idle_share_of_wall"], share, delta=0.03)
        # In the recording, a fifth of the time is idle, because of the collector.
        self.assertGreater(decode["idle_share_of_wall"], share + 0.1)


class DriverCalls(unittest.TestCase):
    """A decoder in JAX. Times from its own clock (ms), in the run for which the driver reported the launches; the first
    request compiles, and no launch shows where the last decode ends."""

    PREFILL_MS = [9.224, 6.608, 6.873, 7.847, 7.027]
    DECODE_MS = [92.007, 91.836, 92.035, 93.397]

    def test_times_without_tracing_are_those_of_its_own_clock(self):
        data = DATA / "h200-driver-calls"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            unpacked(data / "recorded.llmtrace.gz", folder / "run" / "collector" / "1.llmtrace")
            profile = profile_of(folder, data / "driver_calls.llmtrace.gz", driver=True)
        stages = {stage["name"]: stage for stage in profile["stages"]}
        self.assertEqual([(name, len(stage["instances"]), sum(each["warmup"] for each in stage["instances"]))
                          for name, stage in stages.items()], [("prefill", 6, 1), ("decode", 6, 1)])
        for name, own in (("prefill", self.PREFILL_MS), ("decode", self.DECODE_MS)):
            with self.subTest(name):
                untraced = stages[name]["unwatched"]
                self.assertEqual(untraced["source"], "control_launches")
                self.assertAlmostEqual(untraced["wall_ms"] / (sum(own) / len(own)), 1, delta=0.05)
        # In the recording, a decode takes two thirds longer.
        self.assertGreater(stages["decode"]["wall_ms"]["mean"], 1.5 * stages["decode"]["unwatched"]["wall_ms"])


if __name__ == "__main__":
    unittest.main()
