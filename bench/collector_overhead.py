#!/usr/bin/env python3
"""Measures the collector's overhead on a GPU, compared with nsys and no profiler: interleaved runs, medians.

  nvcc -O2 -o /tmp/launch_loop bench/launch_loop.cu
  bench/collector_overhead.py launch --program /tmp/launch_loop --results launch.json
  bench/collector_overhead.py decode --program dense_llm.py --results eager.json
  bench/collector_overhead.py decode --program dense_llm.py --results graph.json -- --graph

`launch` times a loop of kernel launches (bench/launch_loop.cu): CPU time of the launching thread, and of all
threads including the profiler's; the one-time cost of starting has its own column. `decode` times a program
whose last line is "RESULT {json}" with truth: [{prefill_ms, decode_ms}, ...], one entry per request. Each call
adds its runs to the results file and prints the table of all runs in it. A time budget ends a call between two
rounds; the next call continues. Needs only Python's standard library; --home names the folder of the bundle or
build, LLMPROF_NSYS (or PATH) nsys.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import collector_overhead_captures as captures

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIBRARY = "libllmprof_collector.so"
# Removed from the user's environment, because they would change the measurement.
OURS = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LLMPROF_LOG_DIR", "LLMPROF_ARM",
        "LLMPROF_DUTY", "LLMPROF_OVERHEAD_BUDGET", "LLMPROF_COUNTERS", "LLMPROF_COUNTER_ROUNDS",
        "LLMPROF_API")
TRACED = {"ours": {}, "ours_no_counters": {"LLMPROF_COUNTERS": "off"}}
NOT_ARMED = {"loaded": {"LLMPROF_ARM": "command"}}
NSYS = {"nsys": "graph", "nsys_graph": "graph", "nsys_node": "node"}
VARIANTS = {
    "launch": ["none", "ours", "ours_no_counters", "loaded", "nsys"],
    "decode": ["none", "ours", "ours_no_counters", "duty", "budget", "loaded", "nsys_graph", "nsys_node"],
}


def settings_of(variant, arguments):
    """The collector's environment in a variant; None if it is not loaded."""
    known = {
        **TRACED,
        **NOT_ARMED,
        "duty": {"LLMPROF_DUTY": arguments.duty},
        "budget": {"LLMPROF_OVERHEAD_BUDGET": arguments.overhead_budget},
    }
    if variant not in known:
        return None
    return {**dict(word.split("=", 1) for word in arguments.set), **known[variant]}


class Runner:
    """Runs one variant once, in a separate folder."""

    def __init__(self, arguments, command):
        self.arguments = arguments
        self.command = command
        self.library = arguments.home / "lib" / LIBRARY
        self.llmprof = str(arguments.home / "bin" / "llmprof")
        self.nsys = os.environ.get("LLMPROF_NSYS") or shutil.which("nsys") or ""

    def missing(self, variant):
        if variant in NSYS and not self.nsys:
            return "no nsys: set LLMPROF_NSYS"
        if settings_of(variant, self.arguments) is not None and not self.library.exists():
            return f"no {self.library}"
        return None

    def environment(self, variant, folder):
        environment = {name: value for name, value in os.environ.items() if name not in OURS}
        settings = settings_of(variant, self.arguments)
        if settings is None:
            return environment
        library = str(self.library)
        return {
            **environment,
            "CUDA_INJECTION64_PATH": library,
            "NVTX_INJECTION64_PATH": library,
            "LLMPROF_COLLECTOR": library,
            "LLMPROF_LOG_DIR": str(folder),
            **settings,
        }

    def argv(self, variant, folder):
        if variant not in NSYS:
            return self.command
        return [
            self.nsys, "profile", "--trace", "cuda,nvtx", "--sample", "none", "--cpuctxsw", "none",
            "--cuda-graph-trace", NSYS[variant], "--force-overwrite", "true",
            "--output", str(folder / "run"), *self.command,
        ]

    def run(self, variant, folder):
        """(output of the program, seconds, messages of the collector); a program that fails ends the benchmark."""
        begin = time.monotonic()
        done = subprocess.run(
            self.argv(variant, folder), env=self.environment(variant, folder), capture_output=True,
            text=True, check=False, timeout=self.arguments.timeout_s,
        )
        if done.returncode != 0:
            sys.exit(f"{variant}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        messages = [line for line in done.stderr.splitlines() if line.startswith("llmprof")]
        return done.stdout, time.monotonic() - begin, messages

    def capture(self, variant, folder):
        if settings_of(variant, self.arguments) is not None and variant not in NOT_ARMED:
            return captures.read_logs(self.llmprof, folder)
        if variant in NSYS:
            return captures.read_nsys(self.nsys, folder / "run.nsys-rep")
        return None


def launch_figures(output):
    line = [line for line in output.splitlines() if line.startswith("{")][-1]
    figures = json.loads(line)
    return {**figures, "all_cpu_ns": figures["thread_cpu_ns"] + figures["other_threads_cpu_ns"]}


def decode_figures(output):
    line = [line for line in output.splitlines() if line.startswith("RESULT ")][-1]
    truth = json.loads(line.removeprefix("RESULT "))["truth"]
    return {
        "decode_ms": [request["decode_ms"] for request in truth],
        "prefill_ms": [request["prefill_ms"] for request in truth],
    }


def load(path):
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    return {"runs": []}


def save(path, results):
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(results), encoding="utf-8")
    unfinished.replace(path)


def measure(runner, results, read_figures):
    """Runs rounds of all variants, until there are enough or the time budget is spent."""
    arguments = runner.arguments
    begin = time.monotonic()
    longest = 0.0
    round_number = 1 + max((run["round"] for run in results["runs"]), default=0)
    for turn in range(arguments.rounds):
        elapsed = time.monotonic() - begin
        if turn > 0 and elapsed + longest > arguments.budget_s:
            print(f"budget of {arguments.budget_s} s: {turn} rounds done", file=sys.stderr)
            break
        round_begin = time.monotonic()
        for variant in arguments.variants:
            with tempfile.TemporaryDirectory(dir=arguments.work, prefix=f"{variant}-") as name:
                folder = pathlib.Path(name)
                output, seconds, messages = runner.run(variant, folder)
                run = {"round": round_number, "variant": variant, "seconds": seconds, "messages": messages,
                       **read_figures(output)}
                # A few captures are enough; reading takes longer than the run.
                seen = sum(1 for r in results["runs"] if r["variant"] == variant and r.get("capture"))
                if arguments.read and seen < arguments.read:
                    run["capture"] = runner.capture(variant, folder)
                if arguments.keep and run.get("capture"):
                    shutil.copytree(folder, arguments.keep / f"{round_number}-{variant}", dirs_exist_ok=True)
            results["runs"].append(run)
            save(arguments.results, results)
            print(f"  round {round_number} {variant}: {seconds:.1f} s", file=sys.stderr)
        longest = max(longest, time.monotonic() - round_begin)
        round_number += 1


def by_round(results, variant, figure):
    """round -> the median of the figure in the process of that round."""
    values = {}
    for run in results["runs"]:
        if run["variant"] == variant:
            value = run[figure]
            values[run["round"]] = statistics.median(value) if isinstance(value, list) else value
    return values


def over_none(results, variant, figure):
    """Median over rounds of the ratio to the unprofiled run of the same round."""
    base = by_round(results, "none", figure)
    ratios = [value / base[turn] for turn, value in by_round(results, variant, figure).items() if turn in base]
    return statistics.median(ratios) if ratios else None


def as_percent(ratio):
    return "" if ratio is None else f"{100 * (ratio - 1):+.2f} %"


def variants_in(results):
    present = {run["variant"] for run in results["runs"]}
    every = dict.fromkeys(VARIANTS["launch"] + VARIANTS["decode"])
    return [variant for variant in every if variant in present]


def launch_table(results):
    per_launch = ["median_ns", "thread_cpu_ns", "all_cpu_ns"]
    # Results of an earlier version of the program lack the last figure.
    has_set_up = all("set_up_cpu_ms" in run for run in results["runs"])
    figures = [*per_launch, "set_up_cpu_ms"] if has_set_up else per_launch
    rows = ["| variant | runs | " + " | ".join(f"{figure} | added" for figure in figures) + " |",
            "|---|---:|" + "---:|" * 2 * len(figures)]
    medians = {}
    for variant in variants_in(results):
        values = {figure: list(by_round(results, variant, figure).values()) for figure in figures}
        medians[variant] = {figure: statistics.median(values[figure]) for figure in figures}
        cells = []
        for figure in figures:
            base = medians.get("none", {}).get(figure)
            added = "" if base is None else f"{medians[variant][figure] - base:+.0f}"
            cells.append(f"{medians[variant][figure]:.0f} | {added}")
        rows.append(f"| {variant} | {len(values[figures[0]])} | " + " | ".join(cells) + " |")
    if {"none", "nsys"} <= medians.keys():
        for variant in [name for name in medians if name not in ("none", "nsys")]:
            shares = []
            for figure in per_launch:
                nsys = medians["nsys"][figure] - medians["none"][figure]
                ours = medians[variant][figure] - medians["none"][figure]
                shares.append(f"{figure} {100 * ours / nsys:.0f} %" if nsys > 0 else f"{figure}: nsys adds nothing")
            rows.append(f"\n{variant}: share of what nsys adds per launch: " + ", ".join(shares))
    return "\n".join(rows)


def decode_table(results):
    rows = ["| variant | processes | decode ms, median of all requests | change over none, same round | "
            "range over processes | prefill, change over none |", "|---|---:|---:|---:|---:|---:|"]
    for variant in variants_in(results):
        processes = by_round(results, variant, "decode_ms")
        requests = [value for run in results["runs"] if run["variant"] == variant for value in run["decode_ms"]]
        rows.append(
            f"| {variant} | {len(processes)} | {statistics.median(requests):.3f} | "
            f"{as_percent(over_none(results, variant, 'decode_ms'))} | "
            f"{min(processes.values()):.3f} to {max(processes.values()):.3f} | "
            f"{as_percent(over_none(results, variant, 'prefill_ms'))} |"
        )
    return "\n".join(rows)


def typical_capture(results, variant):
    """Counts of the first capture, median times of all captures that were read, and their spread."""
    read = [run["capture"] for run in results["runs"] if run["variant"] == variant and run.get("capture")]
    whole = [capture for capture in read if "kernels" in capture]
    if not whole:
        return read[0] if read else None
    times = {name: [c["kernels"].get(name, [0, 0])[1] for c in whole] for name in whole[0]["kernels"]}
    return {
        **whole[0],
        "processes": len(whole),
        "kernels": {name: [calls, statistics.median(times[name])]
                    for name, (calls, _) in whole[0]["kernels"].items()},
        "apart": {name: (max(values) - min(values)) / statistics.median(values)
                  for name, values in times.items() if statistics.median(values) > 0},
    }


def compare_captures(ours, nsys):
    """Readable lines: counts, stages, and the time of each relevant kernel."""
    lines = [f"kernels: ours {ours['kernel_count']}, nsys {nsys['kernel_count']}"
             f" ({'equal' if ours['kernel_count'] == nsys['kernel_count'] else 'DIFFERENT'})"]
    for stage, count in nsys["stages"].items():
        lines.append(f"kernels launched in {stage}: ours {ours['stages'].get(stage)}, nsys by SQL {count}")
    names = sorted(ours["kernels"].keys() | nsys["kernels"].keys())
    differing = [n for n in names
                 if ours["kernels"].get(n, [0, 0])[0] != nsys["kernels"].get(n, [0, 0])[0]]
    lines.append(f"functions: {len(names)}, with differing counts: {len(differing)}")
    lines += [f"  {n[:100]}: ours {ours['kernels'].get(n, [0])[0]}, nsys {nsys['kernels'].get(n, [0])[0]}"
              for n in differing[:10]]
    total = sum(time_ns for _, time_ns in nsys["kernels"].values())
    ours_total = sum(time_ns for _, time_ns in ours["kernels"].values())
    lines.append(f"total kernel time: ours over nsys {as_percent(ours_total / total) if total else 'none'}")
    lines.append(f"kernels with at least 1 % of it, ours over nsys, medians of {ours.get('processes', 1)} and "
                 f"{nsys.get('processes', 1)} processes; in parentheses the spread over the processes of each:")
    for name, (calls, time_ns) in sorted(nsys["kernels"].items(), key=lambda item: -item[1][1]):
        if time_ns < 0.01 * total:
            continue
        if name not in ours["kernels"]:
            lines.append(f"  NOT COMPARED: ours has no {name[:90]}, {calls} calls")
            continue
        apart = ", ".join(f"{100 * capture.get('apart', {}).get(name, 0):.2f} %" for capture in (ours, nsys))
        lines.append(f"  {as_percent(ours['kernels'][name][1] / time_ns):>9} ({apart}) {calls:>7} calls  "
                     f"{name[:90]}")
    return lines


def capture_lines(results):
    lines = []
    for variant in ["ours", "ours_no_counters", "duty", "budget"]:
        capture = typical_capture(results, variant)
        if capture and "problem" in capture:
            lines.append(f"{variant}: {capture['problem']}")
        elif capture and capture["kernel_count"]:
            lines.append(f"{variant}: log {capture['log_bytes'] / capture['kernel_count']:.1f} bytes per kernel "
                         f"({capture['log_bytes']} bytes, {capture['log_bytes_on_disk']} on disk, "
                         f"{capture['kernel_count']} kernels); diagnostics {capture['diagnostics']}")
    ours = typical_capture(results, "ours") or typical_capture(results, "ours_no_counters")
    nsys = typical_capture(results, "nsys_node") or typical_capture(results, "nsys")
    for name, capture in [("ours", ours), ("nsys", nsys)]:
        if capture and "problem" in capture:
            return [*lines, f"{name}: {capture['problem']}"]
    if ours and nsys:
        lines += compare_captures(ours, nsys)
    return lines


def message_lines(results):
    """What the collector wrote to stderr, each line once."""
    said = {}
    for run in results["runs"]:
        for line in run["messages"]:
            said.setdefault(line, set()).add(run["variant"])
    return [f"messages in {', '.join(sorted(variants))}: {line}" for line, variants in list(said.items())[:20]]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=sorted(VARIANTS))
    parser.add_argument("--program", required=True, type=pathlib.Path,
                        help="launch_loop, or a .py file for decode; arguments after -- are passed to it")
    parser.add_argument("--results", required=True, type=pathlib.Path, help="JSON file to which runs are added")
    parser.add_argument("--home", type=pathlib.Path, default=ROOT / "build", help="folder with bin/llmprof and lib/ [build]")
    parser.add_argument("--python", default=sys.executable, help="interpreter of a .py program")
    parser.add_argument("--rounds", type=int, help="maximum in this call [launch: 15, decode: 3]")
    parser.add_argument("--requests", type=int, default=7, help="requests per decode process [7]")
    parser.add_argument("--only", default="", help="variants, separated by commas")
    parser.add_argument("--budget-s", type=float, default=480, help="time after which no round starts [480]")
    parser.add_argument("--timeout-s", type=float, default=300, help="limit for one process [300]")
    parser.add_argument("--duty", default="4/32")
    parser.add_argument("--overhead-budget", default="2", help="percent [2]")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="environment of all variants with the collector, such as LLMPROF_COUNTER_HZ=2000")
    parser.add_argument("--read", type=int, help="captures to read per variant [launch: 0, decode: 3]")
    parser.add_argument("--work", type=pathlib.Path, help="folder for temporary logs")
    parser.add_argument("--keep", type=pathlib.Path, help="folder in which captures that were read are kept")
    words = sys.argv[1:]
    own = words[: words.index("--")] if "--" in words else words
    arguments = parser.parse_args(own)
    arguments.program_words = words[len(own) + 1:]
    launch = arguments.what == "launch"
    arguments.rounds = arguments.rounds if arguments.rounds is not None else (15 if launch else 3)
    arguments.read = arguments.read if arguments.read is not None else (0 if launch else 3)
    arguments.variants = [v for v in arguments.only.split(",") if v] or VARIANTS[arguments.what]
    unknown = set(arguments.variants) - set(VARIANTS[arguments.what])
    if unknown:
        parser.error(f"unknown variant: {', '.join(sorted(unknown))}; available: {', '.join(VARIANTS[arguments.what])}")
    return arguments


def command_of(arguments):
    program = str(arguments.program)
    command = [arguments.python, program] if program.endswith(".py") else [program]
    if arguments.what == "decode":
        command += ["--reqs", str(arguments.requests)]
    return command + arguments.program_words


def main():
    arguments = parse()
    runner = Runner(arguments, command_of(arguments))
    for variant in arguments.variants:
        if problem := runner.missing(variant):
            sys.exit(f"{variant}: {problem}; choose other variants with --only")
    results = load(arguments.results)
    launch = arguments.what == "launch"
    if arguments.rounds > 0:
        measure(runner, results, launch_figures if launch else decode_figures)
    print(launch_table(results) if launch else decode_table(results))
    for line in [*capture_lines(results), *message_lines(results)]:
        print(line)


if __name__ == "__main__":
    main()
