#!/usr/bin/env bash
# Checks the format of all C++ with clang-format; a difference is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(git ls-files -co --exclude-standard '*.cpp' '*.h')
printf '%s\0' "${sources[@]}" | xargs -0 -n 100 -P "$(nproc)" clang-format-19 --dry-run --Werror
echo "format: ${#sources[@]} files are formatted"
