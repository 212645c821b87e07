"""Requests joined to the steps of real engines, against what client, server and engine say themselves."""
import gzip
import json
import lzma
import os
import pathlib
import random
import statistics
import tempfile
import unittest

from program import ROOT, Bundle

CAPTURES = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures")) / "serving"
if not CAPTURES.is_dir():
    raise unittest.SkipTest("needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")


def record_of(name):
    return json.loads(gzip.decompress((CAPTURES / f"{name}.requests.json.gz").read_bytes()))


def analyze(name, record):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / f"{name}.llmtrace"
        log.write_bytes(lzma.decompress((CAPTURES / f"{name}.llmtrace.xz").read_bytes()))
        requests = pathlib.Path(folder) / f"{name}.requests.json"
        requests.write_text(json.dumps(record), encoding="utf-8")
        return Bundle(log, requests).profile["requests"]


def token_times(request):
    return [time for time, tokens in request["chunks"] if tokens > 0]


class Joined:
    """What holds for every capture; `unittest` runs the classes that inherit it."""

    name = ""

    @classmethod
    def setUpClass(cls):
        cls.record = record_of(cls.name)
        cls.requests = analyze(cls.name, cls.record)

    def test_all_tokens_have_a_batch(self):
        join = self.requests["join"]
        self.assertEqual(join["state"], "joined")
        self.assertGreaterEqual(join["coverage"], 0.995)
        self.assertGreaterEqual(join["coverage_of_rows"], 0.995)
        self.assertEqual(join["tokens_outside"], 0)

    def test_parts_sum_exactly(self):
        for item in self.requests["items"]:
            if item["status"] != "completed":
                self.assertEqual(item["parts_ns"], {})
                continue
            self.assertEqual(sum(item["parts_ns"].values()), item["e2e_ns"], item["id"])
            self.assertEqual(sum(item["ttft_parts_ns"].values()), item["ttft_ns"], item["id"])
        for gap in self.requests["slowest_gaps"]:
            self.assertEqual(sum(gap["parts_ns"].values()), gap["ns"])

    def test_batches_have_as_many_rows_as_tokens(self):
        tokens = [0] * len(self.requests["batches"])
        for item in self.requests["items"]:
            before = -1
            for batch in item["token_batches"]:
                self.assertGreater(batch, before)
                before = batch
                tokens[batch] += item["status"] == "completed"
        for batch, joined in zip(self.requests["batches"], tokens, strict=True):
            self.assertEqual(batch["joined"], joined)
            self.assertEqual(batch["rows"], joined + batch["unjoined"])


class LlamaServer(Joined):
    def test_rows_without_a_token_are_of_requests_that_broke_off(self):
        join = self.requests["join"]
        self.assertEqual(join["rows"], join["rows_joined"] + join["rows_named"])
        broken = [request for request in self.record["requests"] if "end_ns" not in request]
        ends = [(request["sent_ns"], max([request["sent_ns"], *token_times(request)]) + 100_000_000)
                for request in broken]
        for batch in self.requests["batches"]:
            if batch["unjoined"] > 0:
                at = batch["results_ms"] * 1e6
                self.assertTrue(any(sent < at < end for sent, end in ends), batch)

    def test_queue_is_what_the_server_says(self):
        checked = 0
        for item, request in zip(self.requests["items"], self.record["requests"], strict=True):
            if item["status"] != "completed":
                continue
            server = (token_times(request)[0] - request["sent_ns"]) / 1e6 - request["timings"]["prompt_ms"]
            queue = item["parts_ns"].get("queue", 0) / 1e6
            self.assertLess(abs(queue - server), max(3, 0.05 * server), item["id"])
            checked += 1
        self.assertGreaterEqual(checked, 50)

    def test_shuffled_times_lower_the_coverage(self):
        shuffled = json.loads(json.dumps(self.record))
        times = [time for request in shuffled["requests"] for time in token_times(request)]
        random.Random(1).shuffle(times)
        for request in shuffled["requests"]:
            count = len(token_times(request))
            own, times = sorted(times[:count]), times[count:]
            request["chunks"] = [[time, 1] for time in own]
            if "end_ns" in request:
                request["sent_ns"] = min([request["sent_ns"], *own])
                request["end_ns"] = max([request["end_ns"], *own])
        requests = analyze(self.name, shuffled)
        self.assertEqual(requests["join"]["state"], "low_coverage")
        self.assertLess(requests["join"]["coverage"], 0.9)
        self.assertEqual(requests["delays"], [])


class PlantedPrompt(LlamaServer, unittest.TestCase):
    name = "llama_server_planted"

    def waited_longer(self):
        """Gaps of other completed requests that lie mostly within the planted prompt and are longer than three
        medians, by request; and the median."""
        planted = self.record["requests"][32]
        begin, end = planted["progress"][0][0], token_times(planted)[0]
        gaps = [(request["id"], before, after) for request in self.record["requests"]
                if request["id"] != 32 and "end_ns" in request
                for before, after in zip(token_times(request), token_times(request)[1:])]
        median = statistics.median(after - before for _, before, after in gaps)
        return [gap for gap in gaps
                if begin < (gap[1] + gap[2]) / 2 < end and gap[2] - gap[1] > 3 * median], median

    def test_the_planted_prompt_delays_most(self):
        gaps, median = self.waited_longer()
        self.assertEqual(len(gaps), 15)
        waited = {request for request, _, _ in gaps}
        excess = sum(after - before - median for _, before, after in gaps) / 1e6
        delays = [delay for delay in self.requests["delays"]
                  if delay["by"] == "32" and int(delay["of"]) in waited]
        delayed = sum(delay["ns"] for delay in delays) / 1e6
        self.assertGreater(delayed, 478)
        self.assertLess(delayed, excess)
        self.assertEqual(sum(delay["gaps"] for delay in delays), len(gaps))
        self.assertEqual(self.requests["delayers"][0]["by"], "32")

    def test_the_delay_of_a_first_token_is_apart(self):
        of_33 = [delay for delay in self.requests["delays"] if delay["by"] == "32" and delay["of"] == "33"]
        self.assertEqual(len(of_33), 1)
        self.assertEqual(of_33[0]["ns"], 0)
        self.assertGreater(of_33[0]["of_first_token_ns"], 50e6)


class Saturated(LlamaServer, unittest.TestCase):
    name = "llama_server_saturated"

    def test_requests_wait_for_a_slot(self):
        queue = self.requests["queue_ms"]
        self.assertAlmostEqual(queue["p50"] / 507, 1, delta=0.05)
        self.assertAlmostEqual(queue["p90"] / 1078, 1, delta=0.05)
        tail = next(tail for tail in self.requests["tail"] if tail["figure"] == "ttft")
        self.assertEqual(tail["parts"][0]["part"], "queue")


class TransformersContinuousBatching(Joined, unittest.TestCase):
    name = "hf_continuous_batching"

    def test_all_rows_are_tokens(self):
        join = self.requests["join"]
        self.assertEqual((join["tokens"], join["tokens_joined"], join["rows"]), (320, 320, 320))
        self.assertEqual(len(self.requests["batches"]), 45)
        self.assertTrue(all(batch["unjoined"] == 0 for batch in self.requests["batches"]))

    def test_the_long_step_is_the_host_s(self):
        gap = self.requests["slowest_gaps"][0]
        self.assertAlmostEqual(gap["ns"] / 1e6, 1058, delta=1)
        self.assertGreater(gap["parts_ns"]["host"], 0.9 * gap["ns"])


if __name__ == "__main__":
    unittest.main()
