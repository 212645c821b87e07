"""Ranks without MPI: cpu_llm, started several times by a real launcher, with one rank that fails as FATE says."""
import collections
import json
import os
import pathlib
import subprocess

from collector_log import Log
from program import LLMPROF

CPU_LLM = pathlib.Path(LLMPROF).parent / "cpu_llm"
CPU_LLM_TP = CPU_LLM.with_name("cpu_llm_tp")
NO_CPU_LLM_TP = "cpu_llm_tp is not built: it needs MPI (scripts/setup.sh test installs libopenmpi-dev)"
SMALL_MODEL = ["model.config.num_hidden_layers=2", "model.config.hidden_size=64", "model.config.intermediate_size=128",
               "model.config.num_attention_heads=4", "model.config.num_key_value_heads=4",
               "model.config.vocab_size=256", "workload.prompt_tokens=8", "workload.new_tokens=4",
               "workload.peak_seconds=0"]
SMALL = ["--hidden", "64", "--intermediate", "128", "--layers", "2", "--heads", "4", "--kv-heads", "4",
         "--vocabulary", "256", "--prompt-tokens", "8", "--new-tokens", "4", "--warm-up", "1", "--threads", "1",
         "--no-peaks"]

# Rank 1 is killed, exits with an exit code, or records nothing. It is killed once the logs of all ranks that share its
# folder contain decode steps, in the recorded run; if it has its own folder, already in the control run. The killed
# process is the one that the launcher started.
RANK_PROGRAM = """#!/bin/sh
rank=${RANK:-${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}}
size=${WORLD_SIZE:-${OMPI_COMM_WORLD_SIZE:-$SLURM_NTASKS}}
case "$LLMPROF_METRICS" in
  */rank1/*) size=1 ;;
  *) [ -n "$LLMPROF_LOG_DIR" ] || { FATE=${FATE#kill}; REQUESTS=2; } ;;
esac
all_have_steps() {
  [ -z "$LLMPROF_LOG_DIR" ] ||
    [ "$(grep -l attention_decode "$LLMPROF_LOG_DIR"/rank*.llmtrace 2>/dev/null | wc -l)" = "$size" ]
}
[ "$rank" = 1 ] && case "$FATE" in
  kill) (until all_have_steps; do sleep 0.02; done; kill -9 $$) & exec %(program)s --requests 1000000 ;;
  exit) %(program)s --requests 2; exit 3 ;;
  silent) exec sleep 0.2 ;;
esac
exec %(program)s --requests ${REQUESTS:-2}
"""


def write_rank_program(folder):
    path = folder / "rank.sh"
    path.write_text(RANK_PROGRAM % {"program": " ".join(map(str, [CPU_LLM, *SMALL]))})
    path.chmod(0o755)
    return path


def environment(**more):
    """The environment without variables of a launcher around the tests."""
    foreign = ("LLMPROF_", "SLURM_", "OMPI_", "PMI", "RANK", "WORLD_SIZE", "LOCAL_RANK")
    own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    # By default, Open MPI refuses to run as root, or more ranks than cores.
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    together = {**own, **allowed, **more}
    return {name: value for name, value in together.items() if value is not None}


def call(*words, cwd=None, **more):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, check=False, cwd=cwd,
                          env=environment(**more))


def operators_in(logs):
    """cpu_operator records, read independently: name -> (calls, total in ns)."""
    sums = collections.defaultdict(lambda: [0, 0])
    for path in logs:
        log = Log(path)
        for row in log.of("cpu_operator"):
            sums[log.strings[row["name"]]][0] += 1
            sums[log.strings[row["name"]]][1] += row["end"] - row["start"]
    return {name: tuple(of) for name, of in sums.items()}


def operators_of(profile):
    sums = collections.defaultdict(lambda: [0, 0])
    for row in profile["kernels"]:
        sums[row["kernel_name"]][0] += row["calls"]
        sums[row["kernel_name"]][1] += row["total_ns"]
    return {name: tuple(of) for name, of in sums.items()}


class Run:
    """The result of `llmprof run`: the folder of a bundle, or of one per rank."""

    def __init__(self, folder, result):
        self.folder = pathlib.Path(folder)
        self.result = result

    @property
    def logs(self):
        return sorted(self.folder.glob("collector/*.llmtrace")) + sorted(
            self.folder.glob("rank*/collector/*.llmtrace"))

    @property
    def ranks(self):
        return [int(path.name.split("-")[0].removeprefix("rank")) for path in self.logs]

    @property
    def profile(self):
        return json.loads((self.folder / "profile.json").read_text())

    @property
    def states(self):
        """From ranks.json: rank -> (state, detail)."""
        record = json.loads((self.folder / "ranks.json").read_text())
        return {row["rank"]: (row["state"], row.get("detail")) for row in record["ranks"]}
