#!/usr/bin/env bash
# All tests: the format check, the tests of the release build, then the readers under ASan and UBSan.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
scripts/setup.sh nsys
scripts/format_check.sh
cmake --preset release
cmake --build --preset release
ctest --preset release --parallel "$(nproc)"

cmake --preset fuzz
cmake --build --preset fuzz
ctest --preset fuzz --parallel "$(nproc)"
