#!/usr/bin/env bash
# Builds dist/llmprof-VERSION-linux-ARCH/ and its tarball: a static llmprof with the page report.html in
# it (made by Node.js 18 and npm), the collector, the CPU workloads cpu_llm and cpu_llm_server,
# conf/, the skill for agents, shell completions and the manual page, the Python parts and licenses.
#   scripts/dist.sh [x86_64] [aarch64]     both if none is named
# Runs on amd64 and arm64 Debian 12. It needs what scripts/setup.sh dist installs and, for the
# collector's CUDA tracing, the headers of the CUDA toolkit (cupti.h; in CUDA_HOME or
# /usr/local/cuda*), which are the same for every architecture. DIST_WITHOUT_CUDA=1 builds bundles
# without CUDA tracing.
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

# Functions that are linked and never called: loading of extensions (dlopen; SQLite, OpenSSL) is never
# enabled, OpenSSL's own name lookup is not used, and c-ares is not asked for names of services. Any other
# warning of this kind (name lookups, iconv) would make the program depend on files of the machine.
check_link_warnings() {
  local log=$1 unexpected
  unexpected=$(awk '/in function/ { place = $0 } /in statically linked applications/ { print place " " $0 }' "$log" |
    grep -vE "Using 'dlopen'|libcrypto\.a\(.*BIO_(lookup_ex|gethostbyname)|libcares\.a\(.*getserv" || true)
  if [[ -n $unexpected ]]; then
    echo "$unexpected" >&2
    fail "the program calls functions that do not work in a static program; see $log"
  fi
}

build() {
  local arch=$1 tree=build/dist-$1 log=build/dist-$1.log
  scripts/dist_sysroot.sh "$arch" "build/sysroot-$arch"
  say "building llmprof for $arch in $tree"
  # Always relinked: the checks below read the linker's warnings and map.
  rm -f "$tree"/bin/{llmprof,cpu_llm,cpu_llm_server} "$tree/lib/libllmprof_collector.so"
  {
    cmake --fresh -S . -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLLMPROF_STATIC=ON \
      -DLLMPROF_TESTS=OFF -DLLMPROF_PAGE=ON -DCMAKE_TOOLCHAIN_FILE="$root/cmake/static_toolchain.cmake" \
      -DLLMPROF_ARCH="$arch" -DLLMPROF_SYSROOT="$root/build/sysroot-$arch" &&
      cmake --build "$tree" --target llmprof llmprof_collector cpu_llm cpu_llm_server \
        --parallel "${JOBS:-$(nproc)}"
  } >"$log" 2>&1 || {
    tail -n 60 "$log" >&2
    fail "the build for $arch failed; the full log is $log"
  }
  check_link_warnings "$log"
}

check_file() {
  local arch=$1 file=$2 machine
  case "$arch" in
    x86_64) machine='X86-64' ;;
    aarch64) machine='AArch64' ;;
  esac
  readelf -hW "$file" | grep -q "Machine:.*$machine" || fail "$file is not for $arch"
  if grep -qaF "$root" "$file"; then
    fail "$file contains paths of this machine ($root)"
  fi
}

check_runs() {
  local arch=$1 program=$2
  shift 2
  if [[ $arch == "$(uname -m)" ]]; then
    (cd / && env -i "$root/$program" "$@" >/dev/null) || fail "$program does not run"
  fi
}

# The program contains the page's complete script.
check_page() {
  local arch=$1 file=$2
  python3 - "$file" "build/dist-$arch/page/page.js" <<'PYTHON' || fail "$file does not hold the page"
import pathlib, sys
program, script = (pathlib.Path(name).read_bytes() for name in sys.argv[1:])
sys.exit(0 if script and script in program else 1)
PYTHON
}

check_static() {
  if readelf -lW "$1" | grep -qE 'INTERP|DYNAMIC'; then
    fail "$1 is not fully static"
  fi
}

# A program that loads the collector uses the machine's libc: it may need no other library of the
# machine, and no newer glibc than docs/collector.md states.
check_dynamic() {
  local file=$1 needed newest
  needed=$(readelf -dW "$file" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' |
    grep -vE '^(libc\.so\.6|libm\.so\.6|libgcc_s\.so\.1|ld-linux-.*)$' || true)
  [[ -z $needed ]] || fail "$file needs $needed"
  newest=$(readelf -VW "$file" | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -n 1)
  [[ $(printf '%s\n' GLIBC_2.34 "$newest" | sort -V | tail -n 1) == GLIBC_2.34 ]] ||
    fail "$file needs $newest; at most GLIBC_2.34 is allowed"
}

# Every file gets the same date, so that a commit always gives the same tarball, byte for byte.
pack() {
  local name=$1
  tar -C dist --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --mtime="@$epoch" -cf - "$name" | gzip -9n >"dist/$name.tar.gz"
}

bundle() {
  local arch=$1 name=llmprof-$version-linux-$1
  local folder=dist/$name file
  rm -rf "$folder" "$folder.tar.gz"
  mkdir -p "$folder"/{bin,lib,include}
  for file in bin/llmprof bin/cpu_llm bin/cpu_llm_server lib/libllmprof_collector.so; do
    "$arch-linux-gnu-strip" -o "$folder/$file" "build/dist-$arch/$file"
    check_file "$arch" "$folder/$file"
  done
  check_static "$folder/bin/llmprof"
  check_page "$arch" "$folder/bin/llmprof"
  check_dynamic "$folder/bin/cpu_llm"
  check_dynamic "$folder/bin/cpu_llm_server"
  scripts/check_collector.sh ${DIST_WITHOUT_CUDA:+--without-cuda} "$folder/lib/libllmprof_collector.so"
  check_runs "$arch" "$folder/bin/llmprof" --version
  check_runs "$arch" "$folder/bin/cpu_llm" --help
  check_runs "$arch" "$folder/bin/cpu_llm_server" --help
  cp -R conf "$folder/conf"
  cp -R skills "$folder/skills"
  cp -R include/llmprof "$folder/include/llmprof"
  find python workloads -name '*.py' ! -name 'test_*' -exec cp --parents -t "$folder" {} +
  cp -R packaging/share "$folder/share"
  cp -R packaging/slurm packaging/kubernetes "$folder/share/"
  cp packaging/README.md "$folder/README.md"
  cp LICENSE "$folder/LICENSE"
  scripts/dist_licenses.sh "$arch" "$folder/LICENSES"
  pack "$name"
  say "$folder.tar.gz: $(du -h "$folder.tar.gz" | cut -f1)," \
    "bin/llmprof: $(du -h "$folder/bin/llmprof" | cut -f1)," \
    "bin/cpu_llm: $(du -h "$folder/bin/cpu_llm" | cut -f1)"
}

[[ $# -gt 0 ]] || set -- x86_64 aarch64
for arch in "$@"; do
  build "$arch"
  bundle "$arch"
done
