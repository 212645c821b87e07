"""Scores answers: python3 tests/answers/score.py (the scripted calls), or --agent 'COMMAND'.

COMMAND gets one question on its standard input, with paths of captures; the last line that it prints is its answer.
LLMPROF names the program. Questions about shared captures are listed and not scored in a checkout without them."""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import questions
from captures import ROOT, Captures, Missing

LLMPROF = os.environ.get("LLMPROF", str(ROOT / "build" / "bin" / "llmprof"))


def with_paths(text, captures, folder):
    text = re.sub(r"@([a-z_]+(?:-\d+)?)", lambda name: str(captures.path(name[1])), text)
    return re.sub(r"%([a-z_]+)", lambda name: str(pathlib.Path(folder) / f"bundle-{name[1]}"), text)


def first_value(output):
    answer = json.loads(output)
    if "rows" in answer:
        return answer["rows"][0][0]
    (step,) = [row for row in answer["comparisons"] if (row["stage"], row["quantity"]) == ("decode", "step")]
    return "yes" if step["differs"] else "no"


def scripted(question, captures, folder):
    if len(question.calls) > questions.MOST_CALLS:
        raise ValueError(f"{len(question.calls)} calls; {questions.MOST_CALLS} are allowed")
    output = ""
    for words, *statement in question.calls:
        call = [LLMPROF, *with_paths(words, captures, folder).split(), *statement]
        done = subprocess.run(call, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise ValueError(f"{' '.join(call)}: exit code {done.returncode}: {done.stderr}")
        output = done.stdout
    return first_value(output)


def asked(command, text):
    done = subprocess.run(command, input=text, shell=True, capture_output=True, text=True, timeout=1800, check=False)
    lines = done.stdout.strip().splitlines()
    return lines[-1].strip() if lines else ""


def right(answer, truth, tolerance):
    if isinstance(truth, tuple):
        return any(right(answer, one, tolerance) for one in truth)
    if isinstance(truth, str):
        return str(answer).strip().strip('"').casefold() == truth.casefold()
    try:
        return math.isclose(float(str(answer).replace(",", "")), truth, rel_tol=tolerance)
    except ValueError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", metavar="COMMAND", help="answers each question; default: the scripted calls")
    parser.add_argument("--only", metavar="ID", action="append", help="ask this question; may be repeated")
    arguments = parser.parse_args()
    score = asked_of = absent = 0
    with tempfile.TemporaryDirectory() as folder:
        captures = Captures(folder)
        for question in questions.ALL:
            if arguments.only and question.id not in arguments.only:
                continue
            try:
                text = with_paths(question.text, captures, folder)
                truth = question.truth(captures)
            except Missing as why:
                print(f"absent  {question.id}: {why}")
                absent += 1
                continue
            asked_of += 1
            try:
                answer = asked(arguments.agent, text) if arguments.agent else scripted(question, captures, folder)
            except (ValueError, LookupError) as why:
                answer = why
            # An agent may round; scripted calls may not.
            tolerance = max(question.tolerance, 0.01) if arguments.agent else question.tolerance
            good = right(answer, truth, tolerance)
            score += good
            print(f"{'right' if good else 'WRONG'}   {question.id}: {answer!r}" + ("" if good else f", not {truth!r}"))
    print(f"{score} of {asked_of} right" + (f"; {absent} more were not asked" if absent else ""))
    return 0 if asked_of and score == asked_of else 1


if __name__ == "__main__":
    sys.exit(main())
