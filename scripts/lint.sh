#!/usr/bin/env bash
# clang-format and clang-tidy over all of our C++, mypy and pyflakes over the Python that users run, as
# errors. clang-tidy takes some ten minutes on two cores, so `make test` leaves it out.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/format_check.sh
tests/python/check_types.sh
cmake -S . -B build/lint -G Ninja -DCMAKE_BUILD_TYPE=Release -DLLMPROF_PCH=OFF >/dev/null
mapfile -t units < <(git ls-files -co --exclude-standard 'src/*.cpp' 'workloads/*.cpp' | grep -v '_test\.cpp$')
printf '%s\0' "${units[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 --quiet -p build/lint
echo "lint: ${#units[@]} files checked by clang-tidy"
