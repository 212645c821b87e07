#!/usr/bin/env bash
# All tests: the release build's, then the readers' robustness under ASan and UBSan.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
scripts/setup.sh nsys
cmake --preset release
cmake --build --preset release
ctest --preset release --parallel "$(nproc)"

cmake --preset fuzz
cmake --build --preset fuzz
ctest --preset fuzz --parallel "$(nproc)"

scripts/format_check.sh
