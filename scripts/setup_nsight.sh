#!/usr/bin/env bash
# Installs Nsight Systems and Nsight Compute from Debian 12's non-free section, for the tests that
# profile with the real tools. If they cannot be installed, it says why, in one line, and exits with 0;
# those tests skip.
#
# The machine's own apt configuration does not change: the section is added to a copy of its sources,
# in a temporary folder that also holds the package lists and the downloads.
#
#   scripts/setup_nsight.sh              installs what is missing
#   scripts/setup_nsight.sh --simulate   prints what would be installed
#   scripts/setup_nsight.sh --sources    prints the sources that would be used
set -euo pipefail

packages=(nsight-systems nsight-compute)
installed_mb=1200
download_mb=500
etc=${LLMPROF_ETC:-/etc} # replaced by the tests of this script
simulate=false

say() { echo "setup: $*" >&2; }
give_up() {
  say "no Nsight tools: $*; tests that need them will skip"
  exit 0
}

# The Debian mirrors of the machine, with the sections main, contrib and non-free: one-line sources
# unchanged, deb822 sources as one line per suite.
derived_sources() {
  local codename=$1
  shopt -s nullglob
  local lists=("$etc"/apt/sources.list "$etc"/apt/sources.list.d/*.list)
  local stanzas=("$etc"/apt/sources.list.d/*.sources)
  shopt -u nullglob
  local list
  for list in "${lists[@]}"; do
    [[ -f $list ]] || continue
    awk -v codename="$codename" '
      $1 == "deb" {
        options = ""; at = 2
        if ($2 ~ /^\[/) { while ($at !~ /\]$/) options = options $(at++) " "; options = options $(at++) " " }
        uri = $at; suite = $(at + 1); main = 0
        for (i = at + 2; i <= NF; i++) if ($i == "main") main = 1
        if (main && (suite == codename || suite == codename "-updates" || suite == codename "-security"))
          print "deb " options uri " " suite " main contrib non-free"
      }' "$list"
  done
  for list in "${stanzas[@]}"; do
    awk -v codename="$codename" '
      function flush(   options, i, j, n, m, uris, suites) {
        if (types ~ /(^| )deb( |$)/ && components ~ /(^| )main( |$)/ && enabled != "no") {
          options = signed == "" ? "" : "[signed-by=" signed "] "
          n = split(uri, uris, " "); m = split(suite, suites, " ")
          for (i = 1; i <= n; i++) for (j = 1; j <= m; j++)
            if (suites[j] == codename || suites[j] == codename "-updates" || suites[j] == codename "-security")
              print "deb " options uris[i] " " suites[j] " main contrib non-free"
        }
        types = uri = suite = components = signed = enabled = ""
      }
      function rest() { sub(/^[^:]*:[ \t]*/, ""); return $0 }
      /^[ \t]*$/ { flush(); next }
      /^#/ { next }
      tolower($1) == "types:" { types = rest() }
      tolower($1) == "uris:" { uri = rest() }
      tolower($1) == "suites:" { suite = rest() }
      tolower($1) == "components:" { components = rest() }
      tolower($1) == "enabled:" { enabled = tolower(rest()) }
      tolower($1) == "signed-by:" { signed = rest() }
      END { flush() }' "$list"
  done
}

debian_codename() {
  # shellcheck source=/dev/null
  (. "$etc/os-release" && [[ ${ID:-} == debian ]] && echo "${VERSION_CODENAME:-}") 2>/dev/null || true
}

free_mb() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }

case "${1:-}" in
  "") ;;
  --simulate) simulate=true ;;
  --sources)
    derived_sources "$(debian_codename)"
    exit 0
    ;;
  *)
    echo "usage: scripts/setup_nsight.sh [--simulate|--sources]" >&2
    exit 2
    ;;
esac

if ! $simulate && command -v nsys >/dev/null && command -v ncu >/dev/null; then
  exit 0
fi
command -v apt-get >/dev/null || give_up "apt is not available"
codename=$(debian_codename)
[[ $codename == bookworm ]] || give_up "they are installed on Debian 12 only, and this is ${codename:-another system}"

as_root=()
if ! $simulate && [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
    give_up "not root, and sudo asks for a password"
  fi
  as_root=(sudo -n)
fi

work=$(mktemp -d)
trap '"${as_root[@]}" rm -rf "$work"' EXIT
chmod 755 "$work" # apt reads it as another user
mkdir -p "$work/parts" "$work/lists/partial" "$work/archives/partial"
derived_sources "$codename" >"$work/parts/nsight.list"
[[ -s $work/parts/nsight.list ]] || give_up "no Debian mirror is configured in $etc/apt"

if ! $simulate; then
  [[ $(free_mb /usr) -ge $installed_mb ]] || give_up "they need $installed_mb MB in /usr, which has less free space"
  [[ $(free_mb "$work") -ge $download_mb ]] || give_up "they need $download_mb MB in $work, which has less free space"
fi

apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
  -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/parts"
  -o "Dir::State::lists=$work/lists" -o "Dir::Cache::archives=$work/archives"
  -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
  -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o APT::Update::Error-Mode=any)
if $simulate; then
  apt+=(-o Debug::NoLocking=true)
fi
"${apt[@]}" update >"$work/log" 2>&1 ||
  give_up "apt-get update failed ($(grep -m1 -E '^[EW]:' "$work/log" || echo 'no network?'))"
"${apt[@]}" -s install --no-install-recommends "${packages[@]}" >"$work/plan" 2>&1 ||
  give_up "the mirror has no ${packages[*]} ($(grep -m1 '^E:' "$work/plan" || true))"
if $simulate; then
  grep -E '^Inst |newly installed' "$work/plan"
  exit 0
fi
say "installing ${packages[*]} (non-free; about $installed_mb MB)"
"${apt[@]}" install -y --no-install-recommends "${packages[@]}" </dev/null >"$work/log" 2>&1 ||
  give_up "the installation failed ($(grep -m1 '^E:' "$work/log" || tail -n 1 "$work/log"))"
