#!/usr/bin/env bash
# All tests: the format check, the tests of the release build (end-to-end, the collector's), then, under ASan and
# UBSan, the unit tests of all modules, the folder cases and the readers' robustness tests.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
scripts/setup.sh nsys
scripts/format_check.sh
cmake --preset release
cmake --build --preset release --parallel "$(nproc)"
cmake --preset asan

# Many tests mostly wait for processes, so twice as many run as there are processors. The sanitized tree is
# compiled meanwhile, at a lower priority.
log=build/asan/build.log
set -m # a process group of its own, to be ended as one
nice -n 19 cmake --build --preset asan --parallel "$(nproc)" >"$log" 2>&1 &
sanitized_build=$!
set +m
trap 'kill -- "-$sanitized_build" 2>/dev/null || true' EXIT
ctest --preset release --label-exclude quiet --parallel "$((2 * $(nproc)))"
trap - EXIT
wait "$sanitized_build" || {
  tail -n 60 "$log" >&2
  echo "test: the build under ASan and UBSan failed; the full log is $log" >&2
  exit 1
}
# Tests that compare times of a server and its client: nothing else runs.
ctest --preset release --label-regex quiet
ctest --preset asan --parallel "$((2 * $(nproc)))"
