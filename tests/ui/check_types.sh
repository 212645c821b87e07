#!/bin/sh
# The page's TypeScript, by its own compiler; skipped, saying why, where that is not installed.
cd "$(dirname "$0")/../../ui" || exit 1
if [ ! -x node_modules/.bin/tsc ]; then
  echo "ui/types is skipped: TypeScript is not installed; run npm ci in ui/"
  exit 77
fi
exec node_modules/.bin/tsc --noEmit -p .
