"""`llmprof load --replay` of arrivals of real services: times, prompts and answers are those of the files, which this
test reads by itself."""
import collections
import csv
import datetime
import fractions
import itertools
import json
import os
import pathlib
import unittest

from program import ROOT
from sse_server import OpenAiServer
from test_load import LoadCase

ARRIVALS = pathlib.Path(os.environ.get("LLMPROF_ARRIVALS", ROOT.parent / "shared" / "arrivals"))
if not ARRIVALS.is_dir():
    raise unittest.SkipTest("needs ../shared/arrivals (or LLMPROF_ARRIVALS), which is not here")

BLOCK = 512  # tokens of a Mooncake block
ROUNDING_NS = 1000
Row = collections.namedtuple("Row", "at_ns prompt new blocks")


def azure_ns(text):
    whole, _, part = text.partition(".")
    time = datetime.datetime.strptime(whole, "%Y-%m-%d %H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    return int((int(time.timestamp()) + fractions.Fraction(f"0.{part or 0}")) * 10**9)


def azure(path, count):
    with open(path, newline="", encoding="utf-8") as file:
        return [Row(azure_ns(row["TIMESTAMP"]), int(row["ContextTokens"]), int(row["GeneratedTokens"]), None)
                for row in itertools.islice(csv.DictReader(file), count)]


def mooncake(path, count):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in itertools.islice(file, count)]
    return [Row(row["timestamp"] * 10**6, row["input_length"], row["output_length"], row["hash_ids"]) for row in rows]


class RealArrivals(LoadCase):
    def replay(self, name, rows, seconds):
        """The bodies that the server got, after checks of the schedule and of all lengths. `seconds`: the replay shall
        take about as long."""
        path = ARRIVALS / name
        speed = max(1, round((rows[-1].at_ns - rows[0].at_ns) / 1e9 / seconds))
        with OpenAiServer() as server:
            record = self.record_of(server.url(), "--replay", path, "--speed", speed, "--requests", len(rows))
            bodies = [each["body"] for each in server.requests]
        self.assertEqual((record["arrivals"], record["prompts"]), ("replay", "tokens"))
        requests = record["requests"]
        self.assertEqual({request["status"] for request in requests}, {"completed"})
        begin = requests[0]["scheduled_ns"]
        self.assertEqual(len(requests), len(rows))
        for request, row in zip(requests, rows):
            wanted = (row.at_ns - rows[0].at_ns) / speed
            self.assertLessEqual(abs(request["scheduled_ns"] - begin - wanted), ROUNDING_NS, row)
            self.assertLessEqual(request["scheduled_ns"], request["sent_ns"])
        self.assertEqual([request["max_tokens"] for request in requests], [row.new for row in rows])
        self.assertEqual([request["output_tokens"] for request in requests], [row.new for row in rows])
        # Requests that are sent at once arrive in any order; the server does not note those for one token.
        self.assertEqual(sorted((len(body["prompt"]), body["max_tokens"]) for body in bodies),
                         sorted((row.prompt, row.new) for row in rows if row.new > 1))
        return bodies

    def test_azure_code(self):
        name = "azure_2023_code.csv"
        rows = azure(ARRIVALS / name, 80)
        self.assertGreater(len({row.prompt for row in rows}), 40)
        self.replay(name, rows, seconds=2)

    def test_azure_conversations(self):
        name = "azure_2023_conv_first5000.csv"
        self.replay(name, azure(ARRIVALS / name, 60), seconds=2)

    def test_mooncake(self):
        name = "mooncake_conversation_first2000.jsonl"
        rows = mooncake(ARRIVALS / name, 150)  # the first conversations with a second turn
        bodies = self.replay(name, rows, seconds=4)
        # A prefix cache finds what shared blocks name, and nothing else.
        lengths = collections.Counter((row.prompt, row.new) for row in rows)
        row_of = {(row.prompt, row.new): row for row in rows}
        sent = [(row_of[key], body["prompt"]) for body in bodies
                if lengths[key := (len(body["prompt"]), body["max_tokens"])] == 1]
        self.assertGreater(len(sent), 100)
        shared = set()
        for (one, prompt), (other, another) in itertools.combinations(sent, 2):
            same = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one.blocks, other.blocks))))
            tokens = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(prompt, another))))
            self.assertEqual(tokens // BLOCK, min(same, len(prompt) // BLOCK, len(another) // BLOCK))
            shared.add(same)
        self.assertGreater(max(shared), 1)


if __name__ == "__main__":
    unittest.main()
