#!/usr/bin/env bash
# Builds dist/llmprof-VERSION-linux-ARCH/ and its tarball: a static llmprof, conf/ and licences.
#   scripts/dist.sh [x86_64] [aarch64]     both when none is named
# Works alike on amd64 and arm64 Debian 12; needs what scripts/setup.sh dist installs.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

say() { echo "dist: $*" >&2; }
fail() {
  say "$*"
  exit 1
}

version=$(sed -nE 's/^project\(llmprof VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
[[ -n $version ]] || fail "CMakeLists.txt names no version of llmprof"
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}

# glibc's warning is about SQLite's loading of extensions, which llmprof never turns on. Any other
# of its kind (name look-ups, iconv) would make the program depend on files of the machine.
check_link_warnings() {
  local log=$1
  if grep 'in statically linked applications' "$log" | grep -qv "Using 'dlopen'"; then
    grep 'in statically linked applications' "$log" >&2
    fail "the program calls what a static program cannot; see $log"
  fi
}

build() {
  local arch=$1 tree=build/dist-$1 log=build/dist-$1.log
  scripts/dist_sysroot.sh "$arch" "build/sysroot-$arch"
  say "building llmprof for $arch in $tree"
  # Linked anew every time: the checks below read the linker's warnings and map.
  rm -f "$tree/bin/llmprof"
  {
    cmake --fresh -S . -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLLMPROF_STATIC=ON \
      -DLLMPROF_TESTS=OFF -DCMAKE_TOOLCHAIN_FILE="$root/cmake/static_toolchain.cmake" \
      -DLLMPROF_ARCH="$arch" -DLLMPROF_SYSROOT="$root/build/sysroot-$arch" &&
      cmake --build "$tree" --target llmprof llmprof_collector --parallel "${JOBS:-$(nproc)}"
  } >"$log" 2>&1 || {
    tail -n 60 "$log" >&2
    fail "the build for $arch failed; the whole log is $log"
  }
  check_link_warnings "$log"
}

check_program() {
  local arch=$1 program=$2 machine
  local headers
  headers=$(readelf -hlW "$program")
  case "$arch" in
    x86_64) machine='X86-64' ;;
    aarch64) machine='AArch64' ;;
  esac
  grep -q "Machine:.*$machine" <<<"$headers" || fail "$program is not a program for $arch"
  if grep -qE 'INTERP|DYNAMIC' <<<"$headers"; then
    fail "$program is not fully static"
  fi
  if grep -qaF "$root" "$program"; then
    fail "$program holds paths of this machine ($root)"
  fi
  if [[ $arch == "$(uname -m)" ]]; then
    (cd / && env -i "$root/$program" --version >/dev/null) || fail "$program does not run"
  fi
}

# The epoch dates every file, so that the same commit gives the same tarball, byte for byte.
pack() {
  local name=$1
  tar -C dist --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --mtime="@$epoch" -cf - "$name" | gzip -9n >"dist/$name.tar.gz"
}

bundle() {
  local arch=$1 name=llmprof-$version-linux-$1
  local folder=dist/$name
  rm -rf "$folder" "$folder.tar.gz"
  mkdir -p "$folder/bin"
  "$arch-linux-gnu-strip" -o "$folder/bin/llmprof" "build/dist-$arch/bin/llmprof"
  check_program "$arch" "$folder/bin/llmprof"
  mkdir -p "$folder/lib" "$folder/include"
  "$arch-linux-gnu-strip" -o "$folder/lib/libllmprof_collector.so" \
    "build/dist-$arch/lib/libllmprof_collector.so"
  cp -R conf "$folder/conf"
  cp -R include/llmprof "$folder/include/llmprof"
  find python workloads -name '*.py' -exec cp --parents -t "$folder" {} +
  cp packaging/README.md "$folder/README.md"
  scripts/dist_licences.sh "$arch" "$folder/LICENSES"
  pack "$name"
  say "$folder.tar.gz: $(du -h "$folder.tar.gz" | cut -f1)," \
    "bin/llmprof: $(du -h "$folder/bin/llmprof" | cut -f1)"
}

[[ $# -gt 0 ]] || set -- x86_64 aarch64
for arch in "$@"; do
  build "$arch"
  bundle "$arch"
done
