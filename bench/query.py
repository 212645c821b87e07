#!/usr/bin/env python3
"""Measures `llmprof query` on a generated capture of 3 million kernels, against sqlite3 on the exported database:

    python3 bench/query.py [--kernels N] [--rounds N] [--folder DIR]

Each statement runs in one session, whose captures stay loaded; each round runs both programs. Prints a Markdown table of
the fastest rounds, and exits with 1 if a target is missed. Other programs on the machine make it slower: the CPU time of
the session is printed as well.
"""
import argparse
import json
import os
import pathlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

import generate

ROOT = pathlib.Path(__file__).resolve().parents[1]
LLMPROF = os.environ.get("LLMPROF", str(ROOT / "build" / "bin" / "llmprof"))

# What it measures, the statement, the target in seconds.
STATEMENTS = [
    ("group by name", "SELECT name, count(*), sum(duration_ns) FROM kernels GROUP BY name", 0.6),
    ("group by class", "SELECT class, count(*), sum(duration_ns) FROM kernels GROUP BY class", 0.6),
    ("group by stage and class", "SELECT stage, class, sum(duration_ns) FROM kernels GROUP BY stage, class", 2),
    ("group by a number", "SELECT bucket(start_ns, 100000000), count(*) FROM kernels GROUP BY 1", 2),
    ("join with steps", "SELECT s.stage, sum(k.duration_ns) FROM kernels k JOIN steps s ON s.step = k.step "
                        "GROUP BY s.stage", 2),
    ("longest kernels", "SELECT name, duration_ns FROM kernels ORDER BY duration_ns DESC LIMIT 20", 2),
    ("kernels of a step", "SELECT class, count(*), sum(duration_ns) FROM kernels WHERE step = 500 GROUP BY class", 0.02),
    ("a period", "SELECT class, sum(duration_ns) FROM kernels WHERE start_ns BETWEEN {from} AND {to} GROUP BY class",
     0.02),
    ("all steps", "SELECT stage, percentile(wall_ms, 99) FROM steps GROUP BY stage", 0.02),
]


def without_functions(sql):
    """The same for sqlite3, which lacks our functions; None if there is no such statement."""
    if "percentile" in sql:
        return None
    return sql.replace("bucket(start_ns, 100000000)", "start_ns / 100000000 * 100000000")


def session(capture, statements):
    """(seconds of each statement, its rows, CPU seconds of the whole session)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([LLMPROF, "query", str(capture), ";\n".join(statements), "--format", "json"],
                          capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    decoder, text, times, rows = json.JSONDecoder(), done.stdout.lstrip(), [], []
    while text:
        answer, end = decoder.raw_decode(text)
        times.append(answer["elapsed_ms"] / 1e3)
        rows.append(answer["rows"])
        text = text[end:].lstrip()
    return times, rows, after.ru_utime - before.ru_utime


def sqlite_times(database, statements):
    times = []
    for sql in statements:
        begun = time.perf_counter()
        if sql:
            database.execute(sql).fetchall()
        times.append(time.perf_counter() - begun if sql else None)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, help="keeps the capture and its copy, and uses them again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        capture, copy = folder / f"{options.kernels}.sqlite", folder / f"{options.kernels}.tables.sqlite"
        if not capture.exists():
            generate.nsys_sqlite(capture, options.kernels)
        if not copy.exists():
            begun = time.perf_counter()
            subprocess.run([LLMPROF, "export", str(capture), "--out", str(copy)], check=True, stdout=subprocess.DEVNULL)
            print(f"export: {time.perf_counter() - begun:.1f} s, {copy.stat().st_size / 1e6:.0f} MB", file=sys.stderr)
        database = sqlite3.connect(f"file:{copy}?mode=ro&immutable=1", uri=True)
        (first, last) = database.execute("SELECT min(start_ns), max(start_ns) FROM kernels").fetchone()
        middle = (first + last) // 2
        window = {"from": middle, "to": middle + (last - first) // 100}
        statements = [sql.format(**window) for _, sql, _ in STATEMENTS]
        best, reference, cpu = [[] for _ in statements], [[] for _ in statements], []
        for _ in range(options.rounds):
            # The first of each pair makes the groups; a session keeps them.
            times, _, used = session(capture, [sql for sql in statements for _ in range(2)])
            cpu.append(used)
            for index in range(len(statements)):
                best[index].append((times[2 * index], times[2 * index + 1]))
            for index, seconds in enumerate(sqlite_times(database, map(without_functions, statements))):
                reference[index].append(seconds)
    missed = False
    print("| statement | first (s) | again (s) | target (s) | sqlite3 on the copy (s) |\n|---|---:|---:|---:|---:|")
    for (name, _, target), times, others in zip(STATEMENTS, best, reference, strict=True):
        once, again = min(time for time, _ in times), min(time for _, time in times)
        other = min(others) if others[0] is not None else None
        late = again > target or (other is not None and again > other)
        missed = missed or late
        print(f"| {name} | {once:.3f} | {again:.3f}{' (missed)' if late else ''} | {target} | "
              f"{'' if other is None else f'{other:.3f}'} |")
    print(f"CPU time of a session, reading included: {min(cpu):.1f} s; load of the machine: {os.getloadavg()[0]:.1f}",
          file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
