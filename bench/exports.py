#!/usr/bin/env python3
"""Measures `llmprof export` on the generated capture of bench/query.py: seconds, CPU seconds and bytes of each format.

    python3 bench/exports.py [--kernels N] [--rounds N] [--folder DIR]

Prints a Markdown table of the fastest rounds, reading and analysis included, and the same without them: what is left
after the time of a query that needs single events. Exits with 1 if Arrow files take longer than a SQLite database.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import generate

ROOT = pathlib.Path(__file__).resolve().parents[1]
LLMPROF = os.environ.get("LLMPROF", str(ROOT / "build" / "bin" / "llmprof"))
FORMATS = ("sqlite", "arrow", "pprof", "otlp")


def timed(*words):
    """(seconds, CPU seconds) of llmprof."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([LLMPROF, *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def size_of(path):
    return sum(file.stat().st_size for file in path.iterdir()) if path.is_dir() else path.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, help="keeps the capture, and uses it again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        capture = folder / f"{options.kernels}.sqlite"
        if not capture.exists():
            generate.nsys_sqlite(capture, options.kernels)
        times, sizes, reading = {name: [] for name in FORMATS}, {}, []
        for _ in range(options.rounds):
            reading.append(timed("query", capture, "SELECT count(*) FROM kernels"))
            for name in FORMATS:
                out = folder / f"exported.{name}"
                times[name].append(timed("export", capture, "--format", name, "--out", out))
                sizes[name] = size_of(out)
                shutil.rmtree(out) if out.is_dir() else out.unlink()
    begin, begin_cpu = min(seconds for seconds, _ in reading), min(cpu for _, cpu in reading)
    print("| format | all (s) | export alone (s) | CPU (s) | MB |\n|---|---:|---:|---:|---:|")
    best = {name: min(seconds for seconds, _ in times[name]) for name in FORMATS}
    for name in FORMATS:
        cpu = min(cpu for _, cpu in times[name])
        print(f"| {name} | {best[name]:.1f} | {max(0, best[name] - begin):.1f} | {max(0, cpu - begin_cpu):.1f} | "
              f"{sizes[name] / 1e6:.1f} |")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}", file=sys.stderr)
    return 1 if best["arrow"] > best["sqlite"] else 0


if __name__ == "__main__":
    sys.exit(main())
