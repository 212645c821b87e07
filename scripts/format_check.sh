#!/usr/bin/env bash
# clang-format over all of our C++; a difference is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(git ls-files -co --exclude-standard '*.cpp' '*.h')
clang-format-19 --dry-run --Werror "${sources[@]}"
echo "format: ${#sources[@]} files are formatted"
