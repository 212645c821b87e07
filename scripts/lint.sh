#!/usr/bin/env bash
# clang-format and clang-tidy over all of our C++, as an error.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t sources < <(git ls-files -co --exclude-standard 'src/*.cpp' 'src/*.h' 'tests/*.cpp' 'tests/*.h' 'bench/*.cpp')
clang-format-19 --dry-run --Werror "${sources[@]}"

mapfile -t units < <(git ls-files -co --exclude-standard 'src/*.cpp' | grep -v '_test\.cpp$')
printf '%s\0' "${units[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 --quiet -p build
echo "lint: ${#sources[@]} files formatted, ${#units[@]} checked by clang-tidy"
