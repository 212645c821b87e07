#!/usr/bin/env python3
"""Measures reading speed against baselines and other tools, interleaved; medians of ROUNDS runs.

Prints Markdown tables and, with --keep, appends them to bench/RESULTS.md.
"""
import argparse
import datetime
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import generate

ROOT = pathlib.Path(__file__).resolve().parents[1]
LLMPROF = pathlib.Path(os.environ.get("LLMPROF", ROOT / "build" / "bin" / "llmprof"))
SCAN = ROOT / "build" / "bin" / "bench_sqlite_scan"
PHASES = ROOT / "build" / "bin" / "bench_phases"

PYTHON_SQLITE = """
import collections, sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro&immutable=1", uri=True)
names = dict(db.execute("SELECT id, value FROM StringIds"))
totals = collections.Counter()
for start, end, name in db.execute("SELECT start, end, demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL"):
    totals[names[name]] += end - start
"""
PYTHON_JSON = "import json, sys; json.load(open(sys.argv[1]))"
PYTHON_PICKLE = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"
PYTHON_CSV = """
import csv, sys
csv.field_size_limit(1 << 30)
for row in csv.DictReader(open(sys.argv[1], newline="")): pass
"""


def measure(argv):
    """(seconds, peak resident bytes) of one run of a program."""
    begin = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{argv}: exit {process.returncode}: {error.decode(errors='replace')}")
    return seconds, usage.ru_maxrss * 1024


def interleaved(contestants, rounds):
    """name -> (median seconds, peak bytes). `slow` programs run once, to save hours."""
    times = {name: [] for name in contestants}
    peaks = dict.fromkeys(contestants, 0)
    for turn in range(rounds):
        for name, (argv, slow) in contestants.items():
            if slow and turn > 0:
                continue
            with tempfile.TemporaryDirectory() as out:
                seconds, peak = measure([word.replace("{out}", out + "/b") for word in argv])
            times[name].append(seconds)
            peaks[name] = max(peaks[name], peak)
            print(f"  {name}: {seconds:.2f} s, {peak / 1e6:.0f} MB", file=sys.stderr)
    return {name: (statistics.median(times[name]), len(times[name]), peaks[name]) for name in times}


def llmprof(path):
    return [str(LLMPROF), "analyze", str(path), "--out", "{out}"]


def python(program, path):
    return ["/usr/bin/env", "python3", "-c", program, str(path)]


def report(title, path, results, yardstick, items):
    size = path.stat().st_size
    base = results[yardstick][0]
    count, unit, one = items
    lines = [
        f"### {title}: {size / 1e9:.2f} GB, {count:,} {unit}",
        "",
        f"| program | seconds (median) | runs | GB/s | time over that of {yardstick} | peak MB | "
        f"bytes per {one} |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, (seconds, runs, peak) in results.items():
        lines.append(
            f"| {name} | {seconds:.2f} | {runs} | {size / 1e9 / seconds:.2f} | {seconds / base:.2f} | "
            f"{peak / 1e6:.0f} | {peak / count:.0f} |"
        )
    return "\n".join(lines) + "\n"


def phases(path, runs):
    """The phases of reading and analyzing a capture, and the time of memory alone, interleaved."""
    done = subprocess.run([str(PHASES), str(path), str(runs)], capture_output=True, text=True, check=True)
    return f"```\n{done.stdout}```\n"


def part_seconds(argv):
    """Output of `--timings` for one run, and the run's total CPU time: part -> seconds."""
    begin = time.perf_counter()
    process = subprocess.Popen([*argv, "--timings"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        sys.exit(f"{argv}: exit {process.returncode}: {error}")
    rows = re.findall(r"(?m)^  (\S.*?) +(\d+\.\d)$", error)
    return {**{part: float(ms) / 1000 for part, ms in rows}, "whole program": time.perf_counter() - begin,
            "CPU time": usage.ru_utime + usage.ru_stime}


def medians_of_parts(commands, rounds):
    """name -> part -> median seconds; the commands run alternately."""
    found = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            with tempfile.TemporaryDirectory() as out:
                found[name].append(part_seconds([word.replace("{out}", out + "/b") for word in argv]))
    return {name: {part: statistics.median(run[part] for run in runs) for part in runs[0]}
            for name, runs in found.items()}


def diff_and_exports(folder, kernels, rounds):
    """Comparing two captures, and writing a Perfetto file, against reading the captures."""
    captures = [folder / "base.sqlite", folder / "new.sqlite"]
    for path in captures:
        generate.noisy_nsys_sqlite(path, kernels)
    analyze = llmprof(captures[0])
    results = medians_of_parts({"diff": [str(LLMPROF), "diff", *map(str, captures), "--out", "{out}"],
                                "analyze": analyze, "export": [*analyze, "--perfetto"]}, rounds)
    diff, plain, export = results["diff"], results["analyze"], results["export"]
    reading = sum(seconds for part, seconds in diff.items() if part.startswith("reading "))
    analyzing = sum(seconds for part, seconds in diff.items() if part.startswith("analyzing "))
    comparing = diff["comparing"] + diff["writing"]
    written = export["writing files for other viewers"]
    read_once = export[f"reading {captures[0]}"]
    lines = [
        f"### Two nsys SQLite captures of {kernels:,} kernels each: `llmprof diff`", "",
        "| part | seconds (median) | time over that of reading |", "|---|---:|---:|",
        *(f"| {name} | {seconds:.2f} | {seconds / reading:.2f} |" for name, seconds in (
            ("reading both", reading), ("analyzing both", analyzing), ("comparing, writing", comparing),
            ("all but reading", diff["whole program"] - reading))), "",
        f"### `--perfetto`, {kernels:,} kernels", "",
        f"Reading {read_once:.2f} s, writing trace.pftrace {written:.2f} s: {written / read_once:.2f} times. CPU time: "
        f"{export['CPU time'] - plain['CPU time']:.2f} s more than the {plain['CPU time']:.2f} s of `analyze` without it.",
    ]
    return "\n".join(lines) + "\n"


def machine():
    model = "unknown processor"
    for line in subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout.splitlines():
        if line.startswith("Model name:"):
            model = line.split(":", 1)[1].strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model} ({platform.machine()}), {os.cpu_count()} cores, {memory:.0f} GiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kernels", type=int, default=3_000_000)
    parser.add_argument("--bytes", type=float, default=1e9, help="size of the JSON and CSV captures")
    parser.add_argument("--keep", action="store_true", help="append to bench/RESULTS.md")
    parser.add_argument("--only", choices=("log", "nsys", "diff", "kineto", "ncu", "memory"))
    arguments = parser.parse_args()

    sections = []
    with tempfile.TemporaryDirectory(prefix="llmprof-bench-") as name:
        folder = pathlib.Path(name)
        if arguments.only in (None, "log"):
            path = folder / "run.llmtrace"
            generate.collector_log(path, arguments.kernels)
            results = interleaved({"llmprof": (llmprof(path), False)}, arguments.rounds)
            sections.append(report("The collector's log, eager", path, results, "llmprof",
                                   (arguments.kernels, "kernels", "kernel"))
                            + "\n" + phases(path, arguments.rounds))
            path.unlink()
        if arguments.only in (None, "nsys"):
            path = folder / "nsys.sqlite"
            generate.nsys_sqlite(path, arguments.kernels)
            contestants = {
                "one-thread SQLite scan": ([str(SCAN), str(path)], False),
                "llmprof": (llmprof(path), False),
                "Python sqlite3, kernels only": (python(PYTHON_SQLITE, path), True),
            }
            nsys = shutil.which("nsys")
            if nsys:
                known = subprocess.run([nsys, "stats", "--help-reports"], capture_output=True,
                                       text=True, check=False).stdout
                name = "cuda_gpu_kern_sum" if "cuda_gpu_kern_sum" in known else "gpukernsum"
                contestants["nsys stats (kernel summary)"] = (
                    [nsys, "stats", "--report", name, "--format", "csv", str(path)], True)
            else:
                print("nsys is not installed: skipped", file=sys.stderr)
            results = interleaved(contestants, arguments.rounds)
            sections.append(report("nsys SQLite", path, results, "one-thread SQLite scan",
                                   (arguments.kernels, "kernels", "kernel")))
            path.unlink()
        if arguments.only in (None, "diff"):
            sections.append(diff_and_exports(folder, arguments.kernels // 3, arguments.rounds))
        if arguments.only in (None, "kineto"):
            path = folder / "kineto.json"
            generate.kineto_json(path, arguments.bytes)
            events = subprocess.run(["grep", "-c", '"ph":', str(path)], capture_output=True, text=True,
                                    check=True)
            results = interleaved({"llmprof": (llmprof(path), False),
                                   "Python json.load": (python(PYTHON_JSON, path), True)},
                                  arguments.rounds)
            sections.append(report("PyTorch trace", path, results, "llmprof",
                                   (int(events.stdout), "events", "event")))
            path.unlink()
        if arguments.only in (None, "memory"):
            path = folder / "snapshot.pickle"
            events = generate.torch_memory(path, arguments.bytes)
            results = interleaved({"llmprof": (llmprof(path), False),
                                   "Python pickle.load": (python(PYTHON_PICKLE, path), True)},
                                  arguments.rounds)
            sections.append(report("PyTorch memory snapshot", path, results, "llmprof",
                                   (events, "events", "event")))
            path.unlink()
        if arguments.only in (None, "ncu"):
            path = folder / "ncu.csv"
            generate.ncu_csv(path, arguments.bytes)
            launches = subprocess.run(["grep", "-c", "", str(path)], capture_output=True, text=True,
                                      check=True)
            results = interleaved({"llmprof": (llmprof(path), False),
                                   "Python csv.DictReader": (python(PYTHON_CSV, path), True)},
                                  arguments.rounds)
            sections.append(report("ncu raw CSV", path, results, "llmprof",
                                   (int(launches.stdout) - 2, "launches", "launch")))

    today = datetime.date.today().isoformat()
    text = f"## {today}, {machine()}\n\n" + "\n".join(sections)
    print(text)
    if arguments.keep:
        with open(ROOT / "bench" / "RESULTS.md", "a", encoding="utf-8") as file:
            file.write("\n" + text)


if __name__ == "__main__":
    main()
