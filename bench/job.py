#!/usr/bin/env python3
"""A job of many ranks: partial profiles, their merge, and one process that reads all logs, which must agree.

    job.py [--ranks 64] [--kernels 1000000] [--every 16] [--processes 2] [--at-once] [--keep]

Prints a Markdown table and, with --keep, appends it to bench/RESULTS.md. The logs take 41 bytes per kernel on disk.
"""
import argparse
import concurrent.futures
import datetime
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import run

ROOT = pathlib.Path(__file__).resolve().parents[1]
LOGS = ROOT / "build" / "bin" / "bench_job_logs"
COMPARED = ("profile.json", "report.md", "stakeholder_summary.md", "kernels.md", "operators.md")
MEGABYTE = 1e6


def write_partials(llmprof, logs, out, processes):
    """(seconds, peak bytes of one process)"""
    begin = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        measured = list(pool.map(lambda log: run.measure(
            [llmprof, "analyze", "--partial", log, "--out", out]), logs))
    return time.perf_counter() - begin, max(peak for _, peak in measured)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--kernels", type=int, default=1_000_000, help="of each rank")
    parser.add_argument("--every", type=int, default=16, help="of so many kernels, 2 to 16, one is an all-reduce")
    parser.add_argument("--processes", type=int, default=2, help="that write partial profiles at a time")
    parser.add_argument("--at-once", action="store_true", help="also read all logs in one process, and compare")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--llmprof", default=run.LLMPROF)
    parser.add_argument("--logs", default=LOGS, help="the program that writes the logs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "logs").mkdir()
        written = subprocess.run([options.logs, folder / "logs", str(options.ranks), str(options.kernels),
                                  str(options.ranks // 2), str(options.every)], capture_output=True, text=True, check=True)
        kernels = int(written.stdout)
        logs = sorted((folder / "logs").iterdir())
        rows = []
        seconds, peak = write_partials(options.llmprof, logs, folder / "partials", options.processes)
        size = max(file.stat().st_size for file in (folder / "partials").iterdir())
        rows.append((f"partial profiles, {options.processes} at a time", seconds, peak))
        seconds, peak = run.measure([options.llmprof, "merge", folder / "partials", "--out", folder / "merged"])
        rows.append(("merge", seconds, peak))
        if options.at_once:
            seconds, peak = run.measure([options.llmprof, "analyze", folder / "logs", "--out", folder / "all"])
            rows.append(("all logs in one process", seconds, peak))
            for file in COMPARED:
                if (folder / "merged" / file).read_bytes() != (folder / "all" / file).read_bytes():
                    sys.exit(f"{file}: the merge and one process differ")
    lines = [f"### {options.ranks} ranks of {kernels:,} kernels, one in {options.every} an all-reduce, "
             f"{datetime.date.today()}, {platform.machine()}", "",
             "| what | s | peak memory of a process (MB) |", "| --- | ---: | ---: |"]
    lines += [f"| {what} | {seconds:.1f} | {peak / MEGABYTE:.0f} |" for what, seconds, peak in rows]
    lines += ["", f"The largest partial profile: {size / MEGABYTE:.2f} MB, {size / kernels:.2f} bytes per kernel."
              + (" The merge and one process agree byte for byte." if options.at_once else ""), ""]
    text = "\n".join(lines)
    print(text)
    if options.keep:
        with open(ROOT / "bench" / "RESULTS.md", "a", encoding="utf-8") as file:
            file.write("\n" + text)


if __name__ == "__main__":
    main()
