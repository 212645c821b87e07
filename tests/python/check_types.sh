#!/usr/bin/env bash
# mypy --strict and pyflakes over the Python that users run. Exit code 77: the tools are missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in mypy pyflakes3; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: no $tool here (scripts/setup.sh test installs it)"
    exit 77
  fi
done
mapfile -t files < <(find workloads python tests/manual -name '*.py' ! -name 'test_*' | sort)
mypy --config-file mypy.ini --cache-dir /dev/null "${files[@]}"
pyflakes3 "${files[@]}"
