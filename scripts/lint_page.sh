#!/usr/bin/env bash
# Checks the format of the page's sources and tests, and lints them, with the versions that ui/lint pins.
# scripts/lint_page.sh --write formats them.
set -euo pipefail
cd "$(dirname "$0")/.."
biome=ui/lint/node_modules/.bin/biome
sources=(ui/src ui/build.mjs tests/ui)
pinned=$(sed -n 's/.*"@biomejs\/biome": "\(.*\)".*/\1/p' ui/lint/package.json)
if [[ ! -x $biome || $("$biome" --version) != "Version: $pinned" ]]; then
  # One package of one exact version: a lock would add its binaries for every other platform.
  npm install --prefix ui/lint --no-package-lock --no-audit --no-fund >&2
fi
if [[ ${1:-} == --write ]]; then
  exec "$biome" format --write --config-path=ui/lint "${sources[@]}"
fi
"$biome" ci --colors=off --config-path=ui/lint --error-on-warnings "${sources[@]}"
long=$(git ls-files 'ui/*.ts' 'ui/*.mjs' 'ui/*.css' 'tests/ui/*.mjs' |
  xargs awk 'length > 119 { print FILENAME ":" FNR ": " length " columns; 119 at most" }')
[[ -z $long ]] || { echo "$long"; exit 1; }
