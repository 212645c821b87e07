#!/usr/bin/env bash
# Run by action.yml: records both programs alternately if they are command lines, compares them, and passes
# the result to GitHub. Variables: BASE, NEW, REPEAT, OVERRIDES, GATE, THRESHOLD, OUT, LLMPROF, CANNOT_TELL.
set -euo pipefail

# Each line without the spaces around it; no empty ones.
lines() { sed 's/^[[:space:]]*//; s/[[:space:]]*$//; /^$/d' <<<"$1"; }

options=(--threshold "$THRESHOLD")
while IFS= read -r rule; do options+=(--gate "$rule"); done < <(lines "$GATE")
mapfile -t overrides < <(lines "$OVERRIDES")
mkdir -p "$OUT"

if [[ -e $BASE && -e $NEW ]] && [[ -d $BASE || $BASE == *.json ]]; then
  sides=("$BASE" "$NEW")
else
  code=0
  "$LLMPROF" run "${overrides[@]}" --repeat "$REPEAT" --out "$OUT/runs" --against "$NEW" -- \
    bash -c "exec $BASE" || code=$?
  # 3 and 5 are answers of the comparison without rules; it is made again with them below.
  if [[ $code != 0 && $code != 3 && $code != 5 ]]; then exit "$code"; fi
  bases=("$OUT"/runs/base-*) news=("$OUT"/runs/new-*)
  sides=("${bases[0]}" "${news[0]}")
  for run in "${bases[@]:1}"; do options+=(--base "$run"); done
  for run in "${news[@]:1}"; do options+=(--new "$run"); done
fi

code=0
"$LLMPROF" diff "${sides[@]}" "${options[@]}" --out "$OUT/diff" --junit "$OUT/diff.xml" \
  --summary "$OUT/summary.md" || code=$?
if [[ -f $OUT/summary.md && -n ${GITHUB_STEP_SUMMARY:-} ]]; then
  cat "$OUT/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
verdict=$(sed -n 's/^  "verdict": "\(.*\)",$/\1/p' "$OUT/diff/diff.json" 2>/dev/null || true)
if [[ -n ${GITHUB_OUTPUT:-} ]]; then echo "verdict=$verdict" >>"$GITHUB_OUTPUT"; fi
if [[ $verdict == cannot_tell && $CANNOT_TELL == pass ]]; then code=0; fi
exit "$code"
