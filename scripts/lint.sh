#!/usr/bin/env bash
# Runs clang-format and clang-tidy over all C++, Biome over the page's TypeScript, mypy and pyflakes over the
# Python that users run, and one link that compares all types; every finding is an error. clang-tidy takes
# about ten minutes on two cores, so `make test` skips it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/format_check.sh
tests/python/check_types.sh
scripts/lint_page.sh

# Only link-time optimization detects that two files use one name for different types. It compares the types
# even though nothing is optimized.
cmake -S . -B build/odr -G Ninja -DCMAKE_BUILD_TYPE= -DLLMPROF_TESTS=OFF -DCMAKE_AR="$(command -v gcc-ar)" \
  -DCMAKE_RANLIB="$(command -v gcc-ranlib)" \
  -DCMAKE_CXX_FLAGS="-O0 -flto=auto -Werror=odr -Werror=lto-type-mismatch" >/dev/null
cmake --build build/odr --target llmprof llmprof_collector cpu_llm cpu_llm_server
echo "lint: no type is defined twice in llmprof, cpu_llm, cpu_llm_server or the collector"

# The worked example of ARCHITECTURE.md; `make test` compiles only the units that it touches.
python3 tests/structure/test_add_topic.py --build

# Checks units as the program is compiled: checking single files would read the same headers hundreds of
# times. clang does not accept all of g++'s options.
cmake -S . -B build/lint -G Ninja -DCMAKE_BUILD_TYPE=Release -DLLMPROF_TESTS=OFF \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
mapfile -t units < <(sed -nE 's/^ *"file": "(.*\.(cpp|cxx))",?$/\1/p' build/lint/compile_commands.json |
  grep -v '/precompiled\.cpp$' | sort -u)
((${#units[@]} > 0)) || { echo "lint: build/lint/compile_commands.json names no files" >&2; exit 1; }
printf '%s\0' "${units[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 --quiet \
  -p build/lint --extra-arg=-Wno-unused-command-line-argument
echo "lint: ${#units[@]} units checked by clang-tidy"
