"""Request times of a real llama-server from the real binary, against a plain reading of the same log and against the
server's own clock.

The reading knows how llama.cpp works: before a pass the host copies its positions (4 bytes per token), twice the cache
rows that it writes (8 bytes per token each), a mask and the rows that get a token; after it, one row of logits for each
such row. llmprof does not know this: it counts tokens by launch grids."""
import bisect
import gzip
import os
import pathlib
import tempfile
import unittest

from collector_log import Log
from program import ROOT, Bundle

CAPTURES = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures"))
if not CAPTURES.is_dir():
    raise unittest.SkipTest("needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")
SERVER = CAPTURES / "engines" / "llama_cpp_server.llmtrace.gz"

LAYERS, VOCABULARY = 16, 32000
LOGITS = 4 * VOCABULARY
CACHE_OF_A_TOKEN = 2 * 8 * 64  # bytes of K, or V, in one layer
PROMPTS = (256, 320, 384, 448, 512)
NEW_TOKENS = 48
# A cache contains a prompt and all new tokens except the last.
CACHES = {(prompt + NEW_TOKENS - 1) * CACHE_OF_A_TOKEN for prompt in PROMPTS}
TO_DEVICE, TO_HOST = 1, 2
# From the server itself, ms: prompt_ms of /completion, and the time between two tokens.
SERVER_CLOCK = [{"prompt": 7.965, "token": 1.650}, {"prompt": 29.55, "token": 6.762}]


class ServerLog:
    def __init__(self, path):
        with tempfile.NamedTemporaryFile(suffix=".llmtrace") as file:
            file.write(gzip.decompress(path.read_bytes()))
            file.flush()
            log = Log(file.name)
        self.calls = sorted(log.calls(), key=lambda call: call["start"])
        self.call_starts = [call["start"] for call in self.calls]
        self.kernel_starts = sorted(row[0] for row in log.kernels())
        copies = [copy for copy in log.memory_operations() if copy["kind"] == 0]
        copies.sort(key=lambda copy: copy["start"])
        self.caches = [copy for copy in copies if copy["bytes"] in CACHES]
        self.cache_starts = [copy["start"] for copy in self.caches]
        self.opened = sorted(row["time"] for row in log.of("tracing_change") if row["state"] == 3)
        self.position_of = {call["correlation"]: i for i, call in enumerate(self.calls)}
        self.passes = self.read_passes([copy for copy in copies if copy["bytes"] not in CACHES])
        self.batches = self.read_batches()

    def kernels_before(self, time):
        return bisect.bisect_left(self.kernel_starts, time)

    def read_passes(self, copies):
        passes, inputs = [], []
        for copy in copies:
            if copy["direction"] == TO_DEVICE:
                kernels = self.kernels_before(copy["start"])
                if inputs and kernels != self.kernels_before(inputs[-1]["start"]):
                    passes.append({"inputs": inputs, "rows": 0, "read": None})
                    inputs = []
                inputs.append(copy)
            elif copy["direction"] == TO_HOST:
                assert inputs and copy["bytes"] % LOGITS == 0, copy
                passes.append({"inputs": inputs, "rows": copy["bytes"] // LOGITS, "read": copy})
                inputs = []
        for each in passes:
            sizes = [copy["bytes"] for copy in each["inputs"]]
            (each["tokens"],) = [
                size // 4 for size, twice, again in zip(sizes, sizes[1:], sizes[2:]) if twice == again == 2 * size]
        return passes

    def read_batches(self):
        batches, passes = [], []
        for each in self.passes:
            passes.append(each)
            if each["read"] is None:
                continue
            asked = self.position_of[each["read"]["correlation"]]
            wait = self.calls[asked + 1]
            # The next pass's inputs follow after at least a tenth of a millisecond.
            if wait["start"] - self.calls[asked]["end"] < 100_000:
                batches.append(self.batch(passes, asked + 1))
                passes = []
        assert not passes
        return batches

    def batch(self, passes, wait):
        prompts = [each for each in passes if each["tokens"] > 16]  # more than any decode step of 8 slots
        results = self.calls[wait]["end"]
        rows = sum(each["rows"] for each in passes)
        # The sampler waits six times for each row, whose logits are already there.
        chosen = self.calls[wait + 6 * rows]["end"]
        return {
            "start": passes[0]["inputs"][0]["start"],
            "read": passes[0]["inputs"][-1]["end"],
            "results": results,
            "chosen": chosen,
            "token": results + (chosen - results) * (rows + 1) / (2 * rows),
            "passes": len(passes),
            "first": sum(each["rows"] for each in prompts),
            "next": rows - sum(each["rows"] for each in prompts),
            "prompt_tokens": [each["tokens"] for each in prompts],
        }

    def windows(self):
        of_window = [[batch for batch in self.batches if batch["start"] >= opened and not any(
            opened < later <= batch["start"] for later in self.opened)] for opened in self.opened]
        return [self.measure(batches) for batches in of_window]

    def measure(self, batches):
        prompts = tokens = 0
        prompt_time = token_time = 0.0
        before = None
        for batch in batches:
            if batch["next"]:
                tokens += batch["next"]
                token_time += batch["next"] * (batch["token"] - before["token"])
            if batch["first"]:
                moved = bisect.bisect_left(self.cache_starts, batch["read"])
                start = max(self.caches[moved - 1]["end"] if moved else 0, before["chosen"] if before else 0)
                prompts += batch["first"]
                prompt_time += batch["first"] * (batch["token"] - start)
            before = batch
        return {"prompts": prompts, "prompt": prompt_time / prompts / 1e6, "tokens": tokens,
                "token": token_time / tokens / 1e6, "batches": len(batches),
                "passes": sum(batch["passes"] for batch in batches)}


class ServedRequests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log = ServerLog(SERVER)
        cls.windows = cls.log.windows()
        cls.bundle = Bundle(SERVER)
        cls.served = cls.bundle.profile["token_times"]["served"]

    def test_counts_are_those_of_the_log(self):
        self.assertEqual([(window["prompts"], window["tokens"]) for window in self.windows],
                         [(7, 7 * 47), (64, 64 * 47)])
        for reported, read in zip(self.served, self.windows, strict=True):
            for count in ("prompts", "tokens", "batches", "passes"):
                self.assertEqual(reported[count], read[count], count)
        self.assertEqual([window["sequences_max"] for window in self.served], [1, 8])

    def test_times_are_those_of_the_log(self):
        for reported, read in zip(self.served, self.windows, strict=True):
            self.assertAlmostEqual(reported["prompt_ms"] / read["prompt"], 1, delta=0.002)
            self.assertAlmostEqual(reported["token_ms"] / read["token"], 1, delta=0.002)

    def test_times_are_within_a_hundredth_of_the_server_s_own_clock(self):
        for reported, clock in zip(self.served, SERVER_CLOCK, strict=True):
            self.assertAlmostEqual(reported["prompt_ms"] / clock["prompt"], 1, delta=0.01)
            self.assertAlmostEqual(reported["token_ms"] / clock["token"], 1, delta=0.01)

    def test_the_first_window_holds_seven_requests_and_no_part_of_another(self):
        """Eight requests were sent, and the log contains seven: from the first kernel, prompts belong to the first to
        seventh request, each with all its tokens. Before each request the server moves the previous one's cache to the
        host. The first request moves three caches, of requests that ran concurrently; the first one of the second window
        still moves the seventh's: no eighth request came just before or in between."""
        first = [batch for batch in self.log.batches if batch["start"] < self.log.opened[1]]
        begins = [batch["prompt_tokens"] for batch in first if batch["first"]]
        self.assertEqual(begins, [[PROMPTS[i % 5]] for i in range(7)])
        self.assertEqual(len(first), 7 * NEW_TOKENS)
        saved = [copy for copy in self.log.caches if copy["direction"] == TO_HOST]
        before = [copy["bytes"] for copy in saved if copy["start"] < first[0]["start"]]
        self.assertEqual(before, [bytes_ for bytes_ in (441344, 375808, 506880) for _ in range(2 * LAYERS)])
        after = [copy["bytes"] for copy in saved if copy["start"] > first[-1]["chosen"]]
        seventh = (PROMPTS[6 % 5] + NEW_TOKENS - 1) * CACHE_OF_A_TOKEN
        self.assertEqual(after[: 2 * LAYERS], 2 * LAYERS * [seventh])

    def test_reports_show_them(self):
        for where in (self.bundle.result.stdout, self.bundle.files["report.md"]):
            for window in self.served:
                self.assertIn(f"{window['prompt_ms']:.3f}", where)
                self.assertIn(f"{window['token_ms']:.3f}", where)


if __name__ == "__main__":
    unittest.main()
