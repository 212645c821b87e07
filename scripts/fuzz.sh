#!/usr/bin/env bash
# Runs the readers' robustness tests with four times the inputs of `make test`, then each fuzz target for SECONDS,
# two at a time, starting from the repository's fixtures:
#   scripts/fuzz.sh [SECONDS]
# Inputs that fail, and logs, are written to build/asan/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-300}
findings=build/asan/findings
mkdir -p "$findings"

run_target() {
  local name=$1
  mkdir -p "build/asan/corpus/$name"
  if "build/asan/bin/$name" -max_total_time="$2" -rss_limit_mb=2048 -timeout=25 -print_final_stats=1 \
      -artifact_prefix="$3/$name-" "build/asan/corpus/$name" "build/asan/seeds/$name" \
      >"$3/$name.log" 2>&1; then
    echo "$name: no finding in $2 s ($(grep -o 'number_of_executed_units: [0-9]*' "$3/$name.log" | grep -o '[0-9]*$') runs)"
  else
    tail -n 40 "$3/$name.log"
    echo "$name: FAILED; the input is next to $3/$name.log"
    return 1
  fi
}
export -f run_target

LLMPROF_THOROUGH=1 ctest --preset asan --parallel "$(nproc)" -R '^robustness/'

find build/asan/bin -name 'fuzz_*' -printf '%f\n' | sort |
  xargs -I{} -P 2 bash -c 'run_target "$@"' _ {} "$seconds" "$findings"
