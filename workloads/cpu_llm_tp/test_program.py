"""The program under a real mpirun: results, output, exit codes, metrics.json, logs, a slow rank.

CPU_LLM and CPU_LLM_TP name the programs, MPIRUN the launcher, LLMPROF_COLLECTOR the collector's library.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "end_to_end"))
from collector_log import Log  # pylint: disable=wrong-import-position

PROGRAM = os.environ["CPU_LLM_TP"]
WHOLE = os.environ["CPU_LLM"]
MPIRUN = os.environ.get("MPIRUN") or "mpirun"
COLLECTOR = os.environ["LLMPROF_COLLECTOR"]
LAYERS, REQUESTS, NEW_TOKENS, PROMPT, HIDDEN, VOCABULARY = 3, 2, 6, 12, 64, 256
SMALL = ["--hidden", str(HIDDEN), "--intermediate", "128", "--layers", str(LAYERS), "--heads", "8", "--kv-heads", "4",
         "--vocabulary", str(VOCABULARY), "--prompt-tokens", str(PROMPT), "--new-tokens", str(NEW_TOKENS),
         "--requests", str(REQUESTS), "--warm-up", "0"]


def run(command, **environment):
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH") if key in os.environ}
    # Open MPI frees little at its end.
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False,
                          env={**kept, "XDG_CACHE_HOME": os.devnull, "ASAN_OPTIONS": "detect_leaks=0", **environment})


def ranks(count, *arguments, **environment):
    launcher = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(count)]
    return run([*launcher, PROGRAM, *SMALL, *arguments], **environment)


def tokens_hash(done):
    found = re.findall(r"tokens hash +([0-9a-f]{16})", done.stdout)
    if len(found) != 1:
        raise AssertionError(done.stdout + done.stderr)
    return found[0]


@unittest.skipUnless(shutil.which(MPIRUN), "needs mpirun (Debian: openmpi-bin), which is not here")
class UnderMpirun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def logs(self, count, *arguments):
        """Logs by rank."""
        done = ranks(count, "--no-peaks", *arguments, LLMPROF_COLLECTOR=COLLECTOR, LLMPROF_LOG_DIR=str(self.path))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        paths = sorted(self.path.iterdir())
        # mpirun itself leaves none.
        self.assertEqual([path.name.partition("-")[0] for path in paths], [f"rank{i}" for i in range(count)])
        return [Log(path) for path in paths]

    def test_tokens_are_those_of_the_whole_model(self):
        for more in ([], ["--batch", "3"]):
            expected = tokens_hash(run([WHOLE, *SMALL, *more]))
            self.assertEqual(tokens_hash(run([PROGRAM, *SMALL, *more])), expected)
            for count in (1, 2, 4):
                with self.subTest(count=count, more=more):
                    done = ranks(count, *more)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(tokens_hash(done), expected)

    def test_a_launcher_with_the_collector_in_it_leaves_no_log(self):
        """As `llmprof run -- mpirun ...` does: the library is preloaded in all processes."""
        if b"__asan_init" in pathlib.Path(COLLECTOR).read_bytes():
            self.skipTest("needs a collector without sanitizers, which cannot be preloaded")
        done = ranks(2, "--no-peaks", LD_PRELOAD=COLLECTOR, LLMPROF_LOG_DIR=str(self.path))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(path.name.partition("-")[0] for path in self.path.iterdir()), ["rank0", "rank1"])

    def test_one_rank_says_what_is_wrong(self):
        done = ranks(3)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("cpu_llm_tp: --heads 8 cannot be split among 3 ranks"), 1, done.stderr)

    def test_one_rank_writes_metrics(self):
        target = self.path / "metrics.json"
        done = ranks(2, "--slow-rank", "1", "--slow-by", "2", LLMPROF_METRICS=str(target))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([target], list(self.path.iterdir()))
        metrics = json.loads(target.read_text(encoding="utf-8"))
        self.assertEqual(metrics["model"], "cpu_llm_tp")
        self.assertEqual(metrics["device"]["threads"], 1)
        self.assertIn("peak_flops_per_s", metrics["device"])
        told = metrics["tensor_parallel"]
        self.assertEqual((told["ranks"], told["slow_rank"], told["slow_by"]), (2, 1, 2))
        self.assertGreater(told["delay_ms"]["decode_step"], 0)
        self.assertAlmostEqual(told["delay_ms"]["decode"], told["delay_ms"]["decode_step"] * (NEW_TOKENS - 1), places=5)

    def test_every_rank_records_its_collectives(self):
        for count in (2, 4):
            with self.subTest(count=count):
                kinds = []
                for rank, log in enumerate(self.logs(count)):
                    variables = {log.strings[v["name"]]: log.strings[v["value"]] for v in log.of("variable")}
                    self.assertEqual(variables["OMPI_COMM_WORLD_RANK"], str(rank))
                    self.assertEqual(variables["OMPI_COMM_WORLD_SIZE"], str(count))
                    self.assertEqual(variables["OMPI_COMM_WORLD_LOCAL_RANK"], str(rank))
                    rows = log.of("collective")
                    kinds.append([(row["kind"], row["bytes"]) for row in rows])
                    self.assertEqual({(log.strings[row["group"]], log.strings[row["members"]], row["group_size"])
                                      for row in rows},
                                     {("tp", ",".join(map(str, range(count))), count)})
                    self.assert_between_operators(log, rows)
                    log.path.unlink()
                gather = [(3, VOCABULARY // count * 4)]
                prefill = 2 * LAYERS * [(1, PROMPT * HIDDEN * 4)] + gather
                step = 2 * LAYERS * [(1, HIDDEN * 4)] + gather
                self.assertEqual(kinds, count * [REQUESTS * (prefill + (NEW_TOKENS - 1) * step)])

    def assert_between_operators(self, log, rows):
        """A collective has its own time: no operator overlaps it."""
        spans = [(row["start"], row["end"]) for row in rows + log.of("cpu_operator")]
        spans.sort()
        for (_, end), (start, _) in zip(spans, spans[1:]):
            self.assertLessEqual(end, start)

    def test_others_wait_for_a_slow_rank(self):
        fast, slow = self.logs(2, "--hidden", "512", "--intermediate", "1024", "--slow-rank", "1", "--slow-by", "4")
        arrivals = list(zip((row["start"] for row in fast.of("collective")),
                            (row["start"] for row in slow.of("collective"))))
        # All times of one machine are on one clock.
        late = sum(slow_start > fast_start for fast_start, slow_start in arrivals)
        self.assertGreater(late, 0.8 * len(arrivals))
        # The wait is inside of the collective: it ends after the other has come.
        for (_, slow_start), row in zip(arrivals, fast.of("collective")):
            self.assertGreaterEqual(row["end"], slow_start)
        self.assertEqual(len(fast.of("cpu_operator")), len(slow.of("cpu_operator")))


if __name__ == "__main__":
    unittest.main()
