#!/usr/bin/env bash
# All tests: the format check, the tests of the release build, then, under ASan and UBSan, the unit tests of
# profile, analysis, report, session, config and llm, the folder cases and the readers' robustness tests.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
scripts/setup.sh nsys
scripts/format_check.sh
cmake --preset release
cmake --build --preset release
ctest --preset release --parallel "$(nproc)"

cmake --preset asan
cmake --build --preset asan
ctest --preset asan --parallel "$(nproc)"
