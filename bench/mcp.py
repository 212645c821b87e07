#!/usr/bin/env python3
"""Measures `llmprof mcp` on a generated capture: the first question, which reads it, and the next ones.

    python3 bench/mcp.py [--kernels N] [--rounds N]

Each question reads at most 100,000 rows. Prints a Markdown table of the fastest rounds, and exits with 1 if a target is
missed. Other programs on the machine make it slower: the server's CPU time is printed as well.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import generate

ROOT = pathlib.Path(__file__).resolve().parents[1]
LLMPROF = os.environ.get("LLMPROF", str(ROOT / "build" / "bin" / "llmprof"))
# What it measures, the tool, its arguments, and the target in ms. `explain` asks several statements about all steps.
QUESTIONS = [
    ("group 100,000 kernels by class", "query",
     {"sql": "SELECT class, count(*), sum(duration_ns) FROM kernels WHERE start_ns < {until} GROUP BY class"}, 20),
    ("kernels of a step", "query", {"sql": "SELECT name, sum(duration_ns) FROM kernels WHERE step = 50 GROUP BY name"}, 20),
    ("all steps", "query", {"sql": "SELECT stage, percentile(wall_ms, 99) FROM steps GROUP BY stage"}, 20),
    ("100 rows", "query", {"sql": "SELECT * FROM kernels LIMIT 100"}, 20),
    ("explain a step", "explain", {"kind": "step", "id": 50}, 100),
    ("explain a stage", "explain", {"kind": "stage", "id": "decode"}, 100),
    ("overview", "overview", {}, 20),
]


class Server:
    def __init__(self, capture):
        self.process = subprocess.Popen([LLMPROF, "mcp", str(capture)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def answer(self, tool, arguments):
        """The first table of an answer."""
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer["result"]["isError"]:
            sys.exit(f"{tool} {arguments}: {answer['result']['content'][0]['text']}")
        return answer["result"]["structuredContent"]["tables"][0]

    def cpu_ms(self):
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6

    def ms_of(self, tool, arguments):
        """(wall time, CPU time of the server)."""
        begun, cpu = time.perf_counter(), self.cpu_ms()
        self.answer(tool, arguments)
        return (time.perf_counter() - begun) * 1e3, self.cpu_ms() - cpu

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        capture = pathlib.Path(folder) / "capture.sqlite"
        generate.nsys_sqlite(capture, options.kernels)
        server = Server(capture)
        first, _ = server.ms_of("query", {"sql": "SELECT count(*) FROM kernels"})
        until = server.answer("query", {"sql": "SELECT start_ns FROM kernels WHERE kernel = 100000"})["rows"][0][0]
        QUESTIONS[0][2]["sql"] = QUESTIONS[0][2]["sql"].format(until=until)
        times = [[server.ms_of(tool, arguments) for _ in range(options.rounds + 1)] for _, tool, arguments, _ in QUESTIONS]
        server.end()
    print(f"| question | first (ms) | again (ms) | its CPU time (ms) | target (ms) |\n|---|---:|---:|---:|---:|\n"
          f"| reading | {first:.0f} | | | |")
    missed = False
    for (name, _, _, target), each in zip(QUESTIONS, times, strict=True):
        again, cpu = min(each[1:])
        missed = missed or again > target
        print(f"| {name} | {each[0][0]:.1f} | {again:.1f}{' (missed)' if again > target else ''} | {cpu:.1f} | "
              f"{target} |")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
