#!/usr/bin/env python3
"""How well requests are joined to a server's steps, and faults named: cpu_llm_server under load, with many seeds.

  bench/serving.py [--llmprof build/bin/llmprof] [--seeds 20] [--faults 4]

Tokens: the share of them in the step that the server's journal names. Faults: their time in llmprof's account over that
in the journal, minus 1; "missed" if another cause is named. Exit code 1 if the median of the seeds is below 99 %, the
worst below 97 %, the median of a fault's deviations beyond 10 %, or a case of a fault is missed."""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))


def join_rows(served_load, folder, seeds):
    shares = []
    print("seed  requests  tokens  coverage  right step")
    for seed in range(1, seeds + 1):
        served = served_load.ServedLoad(folder / f"seed{seed}", seed)
        found = served.analyze()
        shares.append(served_load.right_tokens(served, found) if found["join"]["state"] == "joined" else 0.0)
        coverage = found["join"]["coverage"]
        print(f"{seed:4}  {found['completed']:8}  {found['join']['tokens']:6}  "
              f"{'-' if coverage is None else f'{coverage:8.2%}'}  {shares[-1]:9.2%}", flush=True)
    print(f"right step: median {statistics.median(shares):.2%}, worst {min(shares):.2%}")
    return statistics.median(shares) >= 0.99 and min(shares) >= 0.97


def fault_rows(served_load, folder, seeds):
    held = True
    print("\nfault        cases  missed  median deviation")
    kinds = {**served_load.FAULTS, "long_prompt": ((), None, served_load.long_prompt_errors)}
    for kind, (arguments, load, errors_of) in kinds.items():
        errors = []
        for seed in range(1, seeds + 1):
            path = folder / f"{kind}{seed}"
            options = load or served_load.long_prompt_load(folder / f"replay{seed}.jsonl", seed)
            served = served_load.ServedLoad(path, seed, arguments, options)
            errors += served_load.errors_in(served, errors_of)
        named = [error for error in errors if error is not None]
        median = statistics.median(named) if named else None
        held = held and median is not None and abs(median) <= 0.1 and len(named) == len(errors)
        print(f"{kind:11}  {len(errors):5}  {len(errors) - len(named):6}  "
              f"{'-' if median is None else f'{median:+.1%}'}", flush=True)
    return held


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmprof", default=str(ROOT / "build" / "bin" / "llmprof"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--faults", type=int, default=4, help="seeds of each fault")
    options = parser.parse_args()
    os.environ["LLMPROF"] = options.llmprof
    import served_load  # reads LLMPROF
    with tempfile.TemporaryDirectory(prefix="llmprof-serving-") as folder:
        joined = join_rows(served_load, pathlib.Path(folder), options.seeds)
        named = fault_rows(served_load, pathlib.Path(folder), options.faults)
    return 0 if joined and named else 1


if __name__ == "__main__":
    sys.exit(main())
