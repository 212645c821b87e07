"""A job of cpu_llm_tp with a deliberately slowed rank, for test_straggler and bench/straggler.py."""
import json

from job_of_ranks import CPU_LLM_TP, Run, call
from program import LLMPROF

SLOWED = 1
# Operators of at least 0.1 ms: MPI and the operating system add little to each. Speeds of cores on a busy machine differ
# by a few percent, which also causes waits: a delay of twice the compute time makes that negligible.
SIZES = ["--hidden", "1024", "--intermediate", "2816", "--layers", "3", "--heads", "8", "--kv-heads", "8",
         "--vocabulary", "1024", "--prompt-tokens", "48", "--new-tokens", "11", "--requests", "2", "--warm-up", "1"]
RANK = [CPU_LLM_TP, "--threads", "1", "--no-peaks", "--slow-rank", SLOWED, "--slow-by", "3", *SIZES]
TWO_RANKS = ["workload.uses_cuda=false", "--", "mpirun", "-n", 2, *RANK]
FOUR_RANKS = ["workload=cpu_llm_tp", "workload.ranks=4", f"workload.slow_rank={SLOWED}", "workload.slow_by=3",
              "model.config.num_hidden_layers=3", "model.config.hidden_size=512",
              "model.config.intermediate_size=1408", "model.config.num_attention_heads=8",
              "model.config.num_key_value_heads=8", "model.config.vocab_size=1024",
              "workload.prompt_tokens=64", "workload.new_tokens=9"]


def record(out, prefixed, *words):
    result = call(*prefixed(LLMPROF, "run", "--out", out, *words))
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return Run(out, result)


def findings(run):
    return [row for row in run.profile["findings"] if row["kind"] == "straggler"]


def named_ranks(run):
    return [row["rank"] for row in findings(run)]


def injected(run):
    """The delay that the workload reports for the slowed rank: by stage, in ms per step."""
    metrics = json.loads((run.folder / "collector" / "metrics.json").read_text())["tensor_parallel"]
    if (metrics["ranks"], metrics["slow_rank"]) != (2, SLOWED):
        raise AssertionError(metrics)
    return {"prefill": metrics["delay_ms"]["prefill"], "decode": metrics["delay_ms"]["decode_step"]}


def wait_over_delay(run):
    """By stage: the other rank's wait over the injected delay."""
    waits = {row["stage"]: row["wait_ms_per_step"] for row in run.profile["job"]["stragglers"]}
    return {stage: waits[stage] / delay for stage, delay in injected(run).items()}
