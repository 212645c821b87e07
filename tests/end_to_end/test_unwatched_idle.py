"""The idle share of a program without tracing, as reports state it, beside what plain Python makes of the program's own
clock in the control run and of the kernels in the recorded one."""
import gzip
import json
import pathlib
import tempfile
import unittest

from collector_log import Log
from program import DATA, run

RUN = DATA / "h200-unwatched"
TOKENS, WARM_UP_TOKENS = 8 * 48, 1
# llama-bench's avg_ns of the control run, for 48 tokens.
OWN_CLOCK_MS = 81.018461 / 48


def unpacked(name, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.decompress((RUN / name).read_bytes()))
    return path


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


class UnwatchedIdle(unittest.TestCase):
    def test_times_and_idle_share_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            recorded = unpacked("recorded.llmtrace.gz", folder / "run" / "collector" / "1.llmtrace")
            unpacked("control.llmtrace.gz", folder / "run" / "stage1" / "launches" / "2.llmtrace")
            (folder / "run" / "inputs.yaml").write_text("workload:\n  name: program\n", encoding="utf-8")
            (folder / "run" / "captures.json").write_text('{"failed": [], "notes": []}', encoding="utf-8")
            result = run("analyze", folder / "run", "--out", folder / "out")
            self.assertEqual(result.returncode, 0, result.stderr)
            profile = json.loads((folder / "out" / "profile.json").read_text(encoding="utf-8"))
            busy = busy_ms_per_token(recorded)
        (decode,) = [stage for stage in profile["stages"] if stage["name"] == "decode"]
        measured = [instance for instance in decode["instances"] if not instance["warmup"]]
        self.assertEqual([instance["steps"] for instance in measured], [TOKENS])
        self.assertEqual([instance["steps"] for instance in decode["instances"] if instance["warmup"]],
                         [WARM_UP_TOKENS])
        unwatched = decode["unwatched"]
        self.assertEqual(unwatched["source"], "control_launches")
        self.assertAlmostEqual(unwatched["wall_ms_per_step"] / OWN_CLOCK_MS, 1, delta=0.03)
        share = (OWN_CLOCK_MS - busy) / OWN_CLOCK_MS
        self.assertAlmostEqual(unwatched["idle_share_of_wall"], share, delta=0.03)
        # As recorded, a fifth of the time is idle: that of the collector.
        self.assertGreater(decode["idle_share_of_wall"], share + 0.1)


if __name__ == "__main__":
    unittest.main()
