#!/usr/bin/env bash
# Checks the format of all C++ with clang-format; a difference is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(git ls-files -co --exclude-standard '*.cpp' '*.h')
clang-format-19 --dry-run --Werror "${sources[@]}"
echo "format: ${#sources[@]} files are formatted"
