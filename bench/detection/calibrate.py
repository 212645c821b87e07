#!/usr/bin/env python3
"""Measures how often detected stages are correct, by confidence level.

  bench/detection/calibrate.py                        with the captures of tests/data/h200-detection
  bench/detection/calibrate.py --captures DIR         also with the larger NAME.llmtrace[.gz] in DIR
  bench/detection/calibrate.py --captures DIR --record   writes the results into labels.json

A capture is correct if "LLM or not" is correct and the number of passes of each kind is exact. Only captures that were
not used for tuning calibrate; a capture without detected stages has no level and is counted separately. The share is
(correct + 1) / (captures + 2), so that a few captures never show certainty. The values are those of
measured_confidence (src/analysis/stages/stages.cpp). A capture that is in no folder counts as it was found last.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "h200-detection"
LABELS = DATA / "labels.json"
KINDS = ("prefill", "decode", "mixed", "forward")
LEVELS = ("high", "medium", "low")


def log_of(label, folders):
    """The capture's log; None if it is in no folder."""
    if label["file"]:
        return DATA / label["file"]
    for folder in folders:
        for name in (f"{label['name']}.llmtrace", f"{label['name']}.llmtrace.gz"):
            found = sorted(folder.rglob(name))
            if found:
                return found[0]
    return None


def analyze(llmprof, log):
    """llmprof's result without annotations: the level, and the number of passes of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "bundle"
        done = subprocess.run(
            [llmprof, "analyze", log, "--json", "--no-annotations", "--out", out],
            capture_output=True, text=True, check=False,
        )
    if done.returncode != 0:
        sys.exit(f"{log}: exit {done.returncode}: {done.stderr}")
    profile = json.loads(done.stdout)
    kinds = collections.Counter(step["kind"] for step in profile["steps"])
    return {"level": profile["stages_found"]["confidence_level"], **{kind: kinds[kind] for kind in KINDS}}


def is_right(label, found):
    truth = label["truth"]
    llm = found["prefill"] + found["decode"] + found["mixed"] > 0
    return llm == truth["llm"] and all(found[kind] == truth.get(kind, 0) for kind in KINDS)


def passes(counts):
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts.get(kind)) or "-"


def print_captures(labels, all_found, run_now):
    print("| capture | split | truth | found | level | |")
    print("|---|---|---|---|---|---|")
    for label in labels:
        name = label["name"]
        found = all_found[name]
        if found["level"] is None:
            verdict = "nothing claimed"
        else:
            verdict = "right" if is_right(label, found) else "wrong"
        if name not in run_now:
            verdict += " (as found last)"
        print(f"| `{name}` | {label['split'].replace('_', ' ')} | {passes(label['truth'])} | {passes(found)} "
              f"| {found['level'] or '-'} | {verdict} |")


def print_levels(labels, all_found):
    held_out = [label for label in labels if label["split"] == "held_out"]
    print("\n| level | captures | right | (right + 1) / (captures + 2) |")
    print("|---|---:|---:|---:|")
    for level in LEVELS:
        of_level = [label for label in held_out if all_found[label["name"]]["level"] == level]
        right = sum(is_right(label, all_found[label["name"]]) for label in of_level)
        print(f"| {level} | {len(of_level)} | {right} | {(right + 1) / (len(of_level) + 2):.2f} |")
    nothing = sum(all_found[label["name"]]["level"] is None for label in held_out)
    print(f"| nothing claimed | {nothing} | | |")


def record(all_found, run_now):
    """Replaces the line "found" of every capture that was analyzed in this call."""
    text = LABELS.read_text(encoding="utf-8")
    for name in run_now:
        line = re.compile(rf'("name": "{re.escape(name)}",.*?"found": )\{{[^}}]*\}}', re.DOTALL)
        text = line.sub(lambda match: match[1] + json.dumps(all_found[name]), text, count=1)
    LABELS.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmprof", default=os.environ.get("LLMPROF", str(ROOT / "build" / "bin" / "llmprof")))
    parser.add_argument("--captures", type=pathlib.Path, action="append", default=[], metavar="DIR",
                        help="a folder with further captures; may be given several times")
    parser.add_argument("--record", action="store_true", help="write what was found into labels.json")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    labels = json.loads(LABELS.read_text(encoding="utf-8"))["captures"]
    logs = {label["name"]: log_of(label, arguments.captures) for label in labels}
    run_now = [name for name, log in logs.items() if log]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        now = dict(zip(run_now, pool.map(lambda name: analyze(arguments.llmprof, logs[name]), run_now)))
    all_found = {label["name"]: now.get(label["name"], label["found"]) for label in labels}
    if arguments.record:
        record(all_found, run_now)
    print_captures(labels, all_found, run_now)
    print_levels(labels, all_found)


if __name__ == "__main__":
    main()
