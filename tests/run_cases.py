#!/usr/bin/env python3
"""Folder cases: tests/cases/NAME/command contains the arguments of llmprof, expected/ its expected output
(stdout, stderr, exit_code, kernels.md, profile.json). If there is a file `compared`, only what it lists is expected,
one per line: a file, or members of a JSON file ("profile.json requests").

`python3 tests/run_cases.py --rewrite` rewrites the expected output; read the difference before you
commit it, and check new numbers against an oracle.
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "cases"
MOST_LINES = 40  # of a difference
# report.html is tested by tests/end_to_end/test_page.py; cases are the same with and without it.
PAGE = re.compile(r"^(?:Page: |llmprof: report\.html was left out).*\n", re.MULTILINE)


def produce(llmprof, case):
    """file name -> text, for one run from the repository's root."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        words = shlex.split((case / "command").read_text(encoding="utf-8"))
        words = [word.replace("{case}", str(case.relative_to(ROOT))) for word in words]
        done = subprocess.run(
            [llmprof, *words, "--out", str(out)],
            capture_output=True, text=True, cwd=ROOT, timeout=300, check=False,
            env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
        )
        files = {"stdout": PAGE.sub("", done.stdout), "stderr": PAGE.sub("", done.stderr),
                 "exit_code": f"{done.returncode}\n"}
        if out.is_dir():
            for path in sorted(out.iterdir()):
                if path.is_file() and path.name != "report.html":
                    files[path.name] = path.read_text(encoding="utf-8")
        version = re.compile(r'("version": ")\d+\.\d+\.\d+')
        return chosen(case, {
            name: version.sub(r"\1VERSION", text.replace(str(out), "OUT"))
            for name, text in files.items()
        })


def wrapped(value, levels, indent=""):
    """The value as JSON, with a line for each member or element of the outer levels."""
    if levels == 0 or not isinstance(value, (dict, list)) or not value:
        return json.dumps(value)
    inner = indent + " "
    if isinstance(value, dict):
        rows = [f"{inner}{json.dumps(key)}: {wrapped(each, levels - 1, inner)}" for key, each in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + wrapped(each, levels - 1, inner) for each in value) + f"\n{indent}]"


def chosen(case, files):
    """The part of the output that the case compares."""
    if not (case / "compared").exists():
        return files
    kept = {}
    for line in (case / "compared").read_text(encoding="utf-8").splitlines():
        name, *members = line.split()
        kept[name] = files.get(name, "")
        if members and name in files:
            content = json.loads(files[name])
            kept[name] = wrapped({member: content.get(member) for member in members}, 3) + "\n"
    return kept


def compare(case, produced):
    expected_folder = case / "expected"
    expected = {p.name: p.read_text(encoding="utf-8") for p in expected_folder.iterdir()}
    faults = 0
    for name in sorted(set(expected) | set(produced)):
        if expected.get(name) == produced.get(name):
            continue
        faults += 1
        difference = difflib.unified_diff(
            expected.get(name, "").splitlines(), produced.get(name, "").splitlines(),
            f"{case.name}/expected/{name}", "produced", lineterm="", n=1,
        )
        lines = list(difference)
        print("\n".join(line[:400] for line in lines[:MOST_LINES]))
        if len(lines) > MOST_LINES:
            print(f"... and {len(lines) - MOST_LINES} more lines")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llmprof", default=str(ROOT / "build" / "bin" / "llmprof"))
    parser.add_argument("--rewrite", action="store_true")
    arguments = parser.parse_args()
    cases = sorted(path.parent for path in CASES.glob("*/command"))
    failed = []
    for case in cases:
        produced = produce(arguments.llmprof, case)
        if arguments.rewrite:
            folder = case / "expected"
            folder.mkdir(exist_ok=True)
            for old in folder.iterdir():
                os.unlink(old)
            for name, text in produced.items():
                (folder / name).write_text(text, encoding="utf-8")
        elif compare(case, produced):
            failed.append(case.name)
    print(f"{len(cases) - len(failed)} passed, {len(failed)} failed")
    if failed or not cases:
        sys.exit(f"failed: {', '.join(failed)}\nIf the difference is intended: run again with --rewrite, and read git diff tests/cases")


if __name__ == "__main__":
    main()
