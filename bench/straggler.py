#!/usr/bin/env python3
"""Measures whether the other rank of a job waits as long as one rank was deliberately delayed.

  bench/straggler.py [--llmprof build/bin/llmprof] [--runs 5]

Two ranks of cpu_llm_tp under mpirun, with the operators of rank 1 made three times as long. Both times are from the
same run: the delay that the workload injected (metrics.json of the recorded run), and the other rank's wait in the
profile. The rule: the median of five runs is within 5 %, for prefill and for decode; otherwise the exit code is 1. Then
four ranks, more than many machines have cores: the slowed one must be named first. The runs have the highest priority
that the system grants; other work on the machine makes waits longer than the injected delay. Results are in
bench/RESULTS.md. `make test` has the same rules on recorded logs (test_rank_waits) and on one run without times
(test_straggler).
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))

TOLERANCE = 0.05


def medians(runs):
    """Medians by stage, from [{stage: wait over delay}, ...]."""
    return {stage: statistics.median(run[stage] for run in runs) for stage in runs[0]}


def holds(found):
    return all(abs(ratio - 1) <= TOLERANCE for ratio in found.values())


def with_priority(*words):
    """The command, at the highest priority that the system grants."""
    granted = subprocess.run(["nice", "-n", "-20", "true"], capture_output=True, text=True, check=False)
    return ["nice", "-n", "-20", *words] if granted.returncode == 0 and not granted.stderr else list(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--llmprof", default=str(ROOT / "build" / "bin" / "llmprof"))
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    os.environ["LLMPROF"] = arguments.llmprof
    import slowed_rank  # reads LLMPROF when imported

    with tempfile.TemporaryDirectory() as folder:
        def record(number, *words):
            return slowed_rank.record(pathlib.Path(folder) / str(number), with_priority, *words)

        runs = []
        for number in range(arguments.runs):
            runs.append(slowed_rank.wait_over_delay(record(number, *slowed_rank.TWO_RANKS)))
            print(", ".join(f"{stage} {ratio:.3f}" for stage, ratio in runs[-1].items()), flush=True)
        found = medians(runs)
        for stage, median in found.items():
            print(f"{stage}: wait over injected delay, median {median:.3f}")
        named = slowed_rank.named_ranks(record("four", *slowed_rank.FOUR_RANKS))
        print(f"of four ranks, rank {slowed_rank.SLOWED} was slowed; named: {named}")
    return 0 if holds(found) and named[:1] == [slowed_rank.SLOWED] else 1


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        sys.exit("Open MPI's mpirun is not installed (scripts/setup.sh test)")
    sys.exit(main())
