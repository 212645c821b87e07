#!/usr/bin/env bash
# All tests: the format check, the tests of the release build, then the tests of all modules, the folder
# cases and the readers' robustness under ASan and UBSan.
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
