#!/usr/bin/env bash
# Runs clang-format and clang-tidy over all C++, mypy and pyflakes over the Python that users run, and one
# link that compares all types; every finding is an error. clang-tidy takes about ten minutes on two cores,
# so `make test` skips it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/format_check.sh
tests/python/check_types.sh

# Only link-time optimization sees that two files mean different types by one name. Nothing is optimized:
# the types are compared all the same.
cmake -S . -B build/odr -G Ninja -DCMAKE_BUILD_TYPE= -DLLMPROF_TESTS=OFF -DCMAKE_AR="$(command -v gcc-ar)" \
  -DCMAKE_RANLIB="$(command -v gcc-ranlib)" \
  -DCMAKE_CXX_FLAGS="-O0 -flto=auto -Werror=odr -Werror=lto-type-mismatch" >/dev/null
cmake --build build/odr --target llmprof llmprof_collector cpu_llm
echo "lint: no type is defined twice in llmprof, cpu_llm or the collector"

cmake -S . -B build/lint -G Ninja -DCMAKE_BUILD_TYPE=Release -DLLMPROF_PCH=OFF >/dev/null
mapfile -t units < <(git ls-files -co --exclude-standard 'src/*.cpp' 'workloads/*.cpp' | grep -v '_test\.cpp$')
printf '%s\0' "${units[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 --quiet -p build/lint
echo "lint: ${#units[@]} files checked by clang-tidy"
