#!/usr/bin/env python3
"""Measures `llmprof load` against a plain server of ours on the same machine, with wrk beside it.

Prints a Markdown table and, with --keep, appends it to bench/RESULTS.md. --llmprof and --server name the programs.
"""
import argparse
import collections.abc
import contextlib
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHUNKS = 16
CONNECTIONS = 64
LATE_RATE = 500  # requests per second
STREAMS = 2000
POST = 'wrk.method = "POST"; wrk.body = "{}"; wrk.headers["Content-Type"] = "application/json"\n'


@contextlib.contextmanager
def served(server: pathlib.Path, chunks: int, gap_us: int) -> collections.abc.Iterator[str]:
    process = subprocess.Popen([server, str(chunks), str(gap_us)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1/completions"
    finally:
        process.kill()
        process.wait()


def load(llmprof: pathlib.Path, folder: pathlib.Path, url: str, *options: str) -> dict[str, object]:
    """The record of a load. Without a completed request there is nothing to measure."""
    result = subprocess.run([llmprof, "load", url, "--model", "bench", "--out", folder, "--force", *options],
                            capture_output=True, text=True, check=False)
    path = folder / "requests.json"
    if result.returncode not in (0, 4) or not path.exists():
        sys.exit(result.stderr)
    record: dict[str, object] = json.loads(path.read_text())
    requests = record["requests"]
    assert isinstance(requests, list)
    if not any(each["status"] == "completed" for each in requests):
        sys.exit(result.stderr)
    return record


def marked(record: dict[str, object], result: str) -> str:
    """A load that was sent late is no result: the machine was too busy."""
    return result if record["held"] else f"{result} (not held: {record['not_held']})"


def completed_rate(record: dict[str, object]) -> float:
    """Completed requests per second, from the first sent to the last end."""
    requests = record["requests"]
    assert isinstance(requests, list)
    done = [each for each in requests if each["status"] == "completed"]
    span = max(each["end_ns"] for each in done) - min(each["sent_ns"] for each in done)
    return len(done) * 1e9 / float(span)


def most_open(record: dict[str, object]) -> int:
    requests = record["requests"]
    assert isinstance(requests, list)
    ended = [each for each in requests if "sent_ns" in each and "end_ns" in each]
    changes = sorted([(each["sent_ns"], 1) for each in ended] + [(each["end_ns"], -1) for each in ended])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def wrk_rate(folder: pathlib.Path, url: str) -> str:
    if shutil.which("wrk") is None:
        return "wrk is not installed"
    script = folder / "post.lua"
    script.write_text(POST)
    output = subprocess.run(["wrk", "-t1", f"-c{CONNECTIONS}", "-d5s", "-s", script, url], capture_output=True,
                            text=True, check=True).stdout
    match = re.search(r"Requests/sec:\s*([0-9.]+)", output)
    return f"{float(match[1]):,.0f}" if match else output


def lateness(record: dict[str, object]) -> str:
    late = record["lateness_ns"]
    assert isinstance(late, dict)
    return f"p50 {late['p50'] / 1e6:.3f} ms, p99 {late['p99'] / 1e6:.3f} ms, largest {late['max'] / 1e6:.3f} ms"


def rows(llmprof: pathlib.Path, server: pathlib.Path, folder: pathlib.Path) -> list[tuple[str, str]]:
    found = []
    with served(server, CHUNKS, 0) as url:
        closed = load(llmprof, folder, url, "--concurrency", str(CONNECTIONS), "--duration", "5s",
                      "--new-tokens", str(CHUNKS), "--prompt-tokens", "16")
        found.append((f"closed loop, {CONNECTIONS} connections kept, {CHUNKS} chunks each, server included: "
                      "requests per second (target 2,000)", marked(closed, f"{completed_rate(closed):,.0f}")))
        found.append(("wrk against the same server, which does not parse the chunks: requests per second",
                      wrk_rate(folder, url)))
        late = load(llmprof, folder, url, "--rate", str(LATE_RATE), "--duration", "10s", "--new-tokens", str(CHUNKS),
                    "--prompt-tokens", "16")
        found.append((f"Poisson arrivals, {LATE_RATE} per second: lateness of sending (target p99 below 1 ms)",
                      marked(late, lateness(late))))
    with served(server, CHUNKS, 100_000) as url:
        streams = load(llmprof, folder, url, "--concurrency", str(STREAMS), "--requests", str(2 * STREAMS),
                       "--new-tokens", str(CHUNKS), "--prompt-tokens", "16")
        statuses = {each["status"] for each in streams["requests"]}  # type: ignore[attr-defined]
        found.append((f"{STREAMS:,} streams of a chunk every 100 ms: open at a time, and how they ended",
                      marked(streams, f"{most_open(streams):,}, all {' and '.join(sorted(statuses))}")))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llmprof", type=pathlib.Path, default=ROOT / "build" / "bin" / "llmprof")
    parser.add_argument("--server", type=pathlib.Path, default=ROOT / "build" / "bin" / "bench_load_server")
    parser.add_argument("--keep", action="store_true", help="append to bench/RESULTS.md")
    arguments = parser.parse_args()
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="llmprof-bench-") as name:
        found = rows(arguments.llmprof, arguments.server, pathlib.Path(name))
    lines = [f"## llmprof load, {datetime.date.today()} ({platform.machine()}, {os.cpu_count()} cores, load average "
             f"{busy:.1f} before)", "", "| measured | result |", "|---|---|",
             *(f"| {what} | {result} |" for what, result in found)]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.keep:
        with open(ROOT / "bench" / "RESULTS.md", "a", encoding="utf-8") as file:
            file.write("\n" + text)


if __name__ == "__main__":
    main()
