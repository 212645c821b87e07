"""Checks the bundle of a deep profile; each check prints a line."""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
from typing import Any, Dict, List

ROOT = pathlib.Path(__file__).resolve().parents[3]
CAPTURES = ("collector", "nsys", "ncu", "torch")
# Names in the configuration, if they differ.
TOGGLES = {"torch": "torch_profiler"}

ALWAYS = ["env.json", "config.yaml", "inputs.yaml", "stage1/metrics.json", "kernels.md", "operators.md", "report.md",
          "stakeholder_summary.md", "profile.json"]
OF_CAPTURE = {
    "collector": ["collector/*.llmtrace", "collector/cmd.txt"],
    "nsys": ["nsys/run.nsys-rep", "nsys/run.sqlite", "nsys/summary_*.csv", "nsys/cmd.txt",
             "nsys/annotations/*.llmtrace"],
    "ncu": ["ncu/*.ncu-rep", "ncu/*_raw.csv", "ncu/raw.csv", "ncu/sections.txt", "ncu/cmd.txt"],
    "torch": ["torch/trace.json.gz", "torch/cmd.txt"],
}
REPORT_SECTIONS = ["What was recorded", "Key figures", "Per-stage timings", "Steps and tokens", "MFU and MBU",
                   "Time budget", "Top kernels", "Roofline", "Findings", "Top operators", "About this capture"]
STAKEHOLDER_SECTIONS = ["Executive Summary", "Environment", "Aggregates", "Per-Stage Timings", "MFU",
                        "Stage Takeaways", "Top Operators", "Top Kernels", "Recommendations"]
SECRET_NAMES = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY", re.IGNORECASE)
SHORTEST_SECRET = 8  # shorter values occur by chance


class Checks:
    def __init__(self) -> None:
        self.failed = 0

    def check(self, what: str, holds: bool, found: object = "") -> None:
        self.failed += not holds
        detail = f" (found: {found})" if not holds and found != "" else ""
        print(f"{'PASS' if holds else 'FAIL'}  {what}{detail}")


def check_files(checks: Checks, bundle: pathlib.Path, captures: List[str]) -> None:
    # A collector without CUDA tracing is not recorded separately from nsys, which then records its log.
    is_separate = "nsys" not in captures or (bundle / "collector").is_dir()
    own = [capture for capture in captures if capture != "collector" or is_separate]
    patterns = ALWAYS + [pattern for capture in own for pattern in OF_CAPTURE[capture]]
    for pattern in patterns:
        files = [path for path in bundle.glob(pattern) if path.is_file() and path.stat().st_size > 0]
        checks.check(f"{pattern} exists and is not empty", bool(files))
    unfinished = [path.name for path in bundle.rglob("*.tmp")]
    checks.check("no half-written file", not unfinished, unfinished)


def check_sections(checks: Checks, bundle: pathlib.Path) -> None:
    for name, sections in (("report.md", REPORT_SECTIONS), ("stakeholder_summary.md", STAKEHOLDER_SECTIONS)):
        path = bundle / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for section in sections:
            checks.check(f"{name} has the section {section}", f"\n## {section}\n" in text)


def check_profile(checks: Checks, bundle: pathlib.Path, captures: List[str]) -> None:
    profile = _json(bundle / "profile.json")
    checks.check("profile.json has schema version 1", profile.get("schema_version") == 1)
    kernels = profile.get("kernels") or []
    checks.check("kernels ran on a GPU", any(str(row["device"]).startswith("cuda") for row in kernels))
    totals = [row["total_ms"] for row in kernels]
    checks.check("kernels are sorted by total time", totals == sorted(totals, reverse=True))
    stages = {stage["name"]: stage for stage in profile.get("stages") or []}
    for name in ("prefill", "decode"):
        stage: Dict[str, Any] = stages.get(name, {})
        checks.check(f"stage {name} comes from annotations", stage.get("source") in ("nvtx", "annotation"),
                     stage.get("source"))
        budget = sum(part["ms"] for part in stage.get("budget") or [])
        wall = (stage.get("wall_ms") or {}).get("mean") or 0
        checks.check(f"the budget of {name} sums to its wall time", wall > 0 and abs(budget - wall) < 1e-6 * wall,
                     f"{budget} of {wall} ms")
        mfu = (stage.get("mfu") or {}).get("wall")
        checks.check(f"MFU of {name} is between 0 and 1", mfu is not None and 0 < mfu <= 1, mfu)
    if "torch" in captures:
        checks.check("operators are known", bool(profile.get("operators")))
    if "ncu" in captures:
        measured = [row["kernel_name"] for row in kernels if row.get("metrics")]
        checks.check("ncu measured kernels of the timeline", bool(measured))


def check_model(checks: Checks, bundle: pathlib.Path) -> None:
    metrics = _json(bundle / "stage1" / "metrics.json")
    model = _json(bundle / "profile.json").get("model") or {}
    name, parameters = metrics.get("model"), metrics.get("params") or 0
    checks.check("metrics.json names the model", bool(name))
    reported = model.get("params") or 0
    checks.check("the profile's parameters are those that ran, within 1 %",
                 reported > 0 and abs(reported - parameters) <= 0.01 * parameters, f"{reported}, {parameters}")
    inputs = bundle / "inputs.yaml"
    text = inputs.read_text(encoding="utf-8") if inputs.is_file() else ""
    checks.check("inputs.yaml names the model", bool(model.get("name")) and str(model.get("name")) in text,
                 model.get("name"))


def check_no_secrets(checks: Checks, bundle: pathlib.Path) -> None:
    values = [value.encode() for name, value in os.environ.items()
              if SECRET_NAMES.search(name) and len(value) >= SHORTEST_SECRET]
    texts = [path for path in bundle.rglob("*") if path.suffix in (".json", ".yaml", ".md", ".txt", ".log")]
    leaking = [path.name for path in texts if any(value in path.read_bytes() for value in values)]
    checks.check("no secret of the environment is in the bundle", not leaking, leaking)


def check_bundle(checks: Checks, bundle: pathlib.Path, captures: List[str]) -> None:
    check_files(checks, bundle, captures)
    check_sections(checks, bundle)
    check_profile(checks, bundle, captures)
    check_model(checks, bundle)
    check_no_secrets(checks, bundle)


def _json(path: pathlib.Path) -> Dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # its checks fail
    return document if isinstance(document, dict) else {}


def arguments(description: str, out: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--llmprof", default=str(ROOT / "build" / "bin" / "llmprof"))
    parser.add_argument("--out", default=str(ROOT / "tmp" / "manual" / out), help="must not exist yet")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--without", action="append", choices=CAPTURES, default=[],
                        help="a capture that this machine cannot make (may be repeated)")
    parser.add_argument("overrides", nargs="*", help="more settings for llmprof run: run.top_n_kernels=5 ...")
    return parser


def profile_and_check(options: argparse.Namespace, model: List[str]) -> int:
    """Runs the deep profile and checks its bundle; returns the exit code."""
    captures = [name for name in CAPTURES if name not in options.without]
    toggles = [f"pipeline.{TOGGLES.get(name, name)}.enable={'true' if name in captures else 'false'}"
               for name in CAPTURES]
    command = [options.llmprof, "run", *model, f"device={options.device}", "run.mode=deep", *toggles,
               *options.overrides, "--out", options.out]
    print(" ".join(command), flush=True)
    checks = Checks()
    code = subprocess.run(command, check=False).returncode
    checks.check("llmprof run ends with exit code 0", code == 0, code)
    check_bundle(checks, pathlib.Path(options.out), captures)
    listed = subprocess.run([options.llmprof, "artifacts", options.out, "--json"], capture_output=True, check=False)
    checks.check("llmprof artifacts lists the run", listed.returncode == 0 and b"profile.json" in listed.stdout)
    print(f"{'PASS' if checks.failed == 0 else 'FAIL'}: {checks.failed} checks failed; bundle: {options.out}")
    return 1 if checks.failed else 0
