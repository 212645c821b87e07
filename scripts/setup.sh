#!/usr/bin/env bash
# Installs the missing Debian packages for a task, without asking questions.
# If packages cannot be installed, it lists them and continues; the build then says what is missing.
set -euo pipefail

usage() {
  echo "usage: scripts/setup.sh build|test|bench|fuzz|dist|nsys" >&2
  exit 2
}

say() { echo "setup: $*" >&2; }

build_packages=(
  g++ cmake ninja-build make python3
  libboost1.81-dev libc-ares-dev libcli11-dev libdeflate-dev libexpected-dev libfmt-dev libgtest-dev
  libopenblas-dev libre2-dev libsimdjson-dev libsqlite3-dev libssl-dev libutf8proc-dev libyaml-dev nlohmann-json3-dev zlib1g-dev
)
# For the page report.html. An existing node (nvm, NodeSource) is kept: Debian's would be a second one, or
# replace it.
page_packages() {
  command -v node >/dev/null || command -v nodejs >/dev/null || echo nodejs
  command -v npm >/dev/null || echo npm
}
clang_packages=(clang-19 libclang-rt-19-dev lld-19)
# Launchers of distributed jobs, which the tests start for real.
launcher_packages=(openmpi-bin libopenmpi-dev slurm-wlm munge)

# make dist unpacks the libraries that it links against by itself, so it needs only the tools.
dist_packages() {
  echo g++ cmake ninja-build make dpkg-dev
  case "$(uname -m)" in
    x86_64) echo g++-aarch64-linux-gnu ;;
    aarch64) echo g++-x86-64-linux-gnu ;;
    *) echo g++-aarch64-linux-gnu g++-x86-64-linux-gnu ;;
  esac
}

packages_for() {
  case "$1" in
    build) echo "${build_packages[@]}" $(page_packages) ;;
    test)
      echo "${build_packages[@]}" $(page_packages) "${clang_packages[@]}" clang-tidy-19 clang-format-19
      echo locales git chromium cmark-gfm golang-go mypy protobuf-compiler pyflakes3 python3-jsonschema python3-yaml
      echo "${launcher_packages[@]}"
      ;;
    bench) echo "${build_packages[@]}" $(page_packages) libbenchmark-dev chromium wrk ;;
    fuzz) echo "${build_packages[@]}" $(page_packages) "${clang_packages[@]}" ;;
    dist) dist_packages && page_packages ;;
    *) usage ;;
  esac
}

# A library of another architecture does not count as installed.
missing_of() {
  local native installed package
  native=$(dpkg --print-architecture)
  installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Architecture} ${Package}\n' "$@" 2>/dev/null |
    awk -v native="$native" '$1 == "ii" && ($2 == native || $2 == "all") { print $3 }') || true
  for package in "$@"; do
    grep -qxF -- "$package" <<<"$installed" || echo "$package"
  done
}

install() {
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      say "not root, and sudo asks for a password; run as root: apt-get install $*"
      return 0
    fi
    as_root=(sudo -n)
  fi
  # Another apt-get may hold the lock for a while (a machine that has just started).
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  say "installing $*"
  if ! "${apt[@]}" update >&2; then
    say "apt-get update failed; retrying in 5 s"
    sleep 5
    "${apt[@]}" update >&2 || say "apt-get update failed again; continuing with the existing package lists"
  fi
  "${apt[@]}" install -y --no-install-recommends "$@" </dev/null >&2
}

[[ $# -eq 1 ]] || usage
if [[ $1 == nsys ]]; then
  exec "$(dirname "$0")/setup_nsight.sh"
fi
list=$(packages_for "$1")
read -r -d '' -a packages <<<"$list" || true
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  say "apt is not available; install the equivalents of these Debian packages: ${packages[*]}"
  exit 0
fi
mapfile -t missing < <(missing_of "${packages[@]}")
if [[ ${#missing[@]} -gt 0 ]]; then
  install "${missing[@]}"
fi
# Drives the browser in the page's tests and benchmark; the build does not need it.
if [[ $1 == test || $1 == bench ]] && command -v npm >/dev/null; then
  ui=$(dirname "$0")/../ui
  if [[ ! -d $ui/node_modules/playwright-core ]] && ! npm ci --prefix "$ui" --no-audit --no-fund >&2; then
    say "npm ci failed in ui/; the tests of the page will be skipped"
  fi
fi
# For tests only: the official clients of `llmprof mcp`, and programs that read what llmprof writes for others.
if [[ $1 == test ]] && command -v npm >/dev/null; then
  for folder in mcp formats; do
    packages=$(dirname "$0")/../tests/$folder
    if ! cmp -s "$packages/package-lock.json" "$packages/node_modules/.llmprof-lock" &&
      ! { npm ci --prefix "$packages" --no-audit --no-fund >&2 &&
        cp "$packages/package-lock.json" "$packages/node_modules/.llmprof-lock"; }; then
      say "npm ci failed in tests/$folder; tests that need its packages will not run"
    fi
  done
fi
