#!/usr/bin/env bash
# Runs clang-format and clang-tidy over all C++, mypy and pyflakes over the Python that users run; every
# finding is an error. clang-tidy takes about ten minutes on two cores, so `make test` skips it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/format_check.sh
tests/python/check_types.sh
cmake -S . -B build/lint -G Ninja -DCMAKE_BUILD_TYPE=Release -DLLMPROF_PCH=OFF >/dev/null
mapfile -t units < <(git ls-files -co --exclude-standard 'src/*.cpp' 'workloads/*.cpp' | grep -v '_test\.cpp$')
printf '%s\0' "${units[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 --quiet -p build/lint
echo "lint: ${#units[@]} files checked by clang-tidy"
