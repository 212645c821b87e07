#!/usr/bin/env bash
# Lays out the licence of everything that was linked into what build/dist-ARCH holds:
#   scripts/dist_licences.sh ARCH FOLDER
# The link maps say which archives went in; an archive of unknown licence is an error.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
arch=$1
folder=$2
sysroot=$root/build/sysroot-$arch
maps=()
for target in llmprof cpu_llm llmprof_collector; do
  maps+=("$root/build/dist-$arch/$target.map")
done

fail() {
  echo "dist: $*" >&2
  exit 1
}

# LIBRARY FILE-NAME of the archive, or 'ours': the Debian package whose copyright file tells.
package_of_archive() {
  case "$1" in
    libllmprof_*.a | libcpu_llm_model.a) echo ours ;;
    libc.a | libc_nonshared.a | libm.a | libm-*.a | libmvec.a | libpthread.a) echo libc6-dev ;;
    libstdc++.a | libgcc.a | libgcc_eh.a) echo compiler ;;
    libfmt.a) echo fmtlib ;;
    libsimdjson.a) echo simdjson ;;
    libsqlite3.a) echo libsqlite3-dev ;;
    libyaml-cpp.a) echo libyaml-cpp-dev ;;
    libdeflate.a) echo libdeflate-dev ;;
    libz.a) echo zlib1g-dev ;;
    libre2.a) echo libre2-dev ;;
    libopenblas.a | libopenblasp-*.a) echo libopenblas-pthread-dev ;;
    *) fail "$1 is linked in and scripts/dist_licences.sh knows no licence for it" ;;
  esac
}

# libstdc++ and libgcc come with the compiler that is installed, cross or native.
compiler_package() {
  local archive
  archive=$(realpath "$("$arch-linux-gnu-g++" -print-file-name=libstdc++.a)")
  dpkg -S "$archive" | sed 's/:.*//'
}

add() {
  local package=$1 version copyright
  if [[ $package == compiler ]]; then
    package=$(compiler_package)
    version=$(dpkg-query -W -f '${Version}' "$package")
    copyright=/usr/share/doc/$package/copyright
  else
    version=$(awk -v package="$package" '$1 == package { print $2 }' "$sysroot/packages.txt")
    copyright=$sysroot/usr/share/doc/$package/copyright
  fi
  [[ -n $version && -s $copyright ]] || fail "no copyright file of $package at $copyright"
  cp -L "$copyright" "$folder/$package.txt"
  echo "| $package | $version | $package.txt |" >>"$folder/README.md"
}

rm -rf "$folder"
mkdir -p "$folder"
{
  echo "# Licences of what is inside bin/ and lib/"
  echo
  echo "Debian 12 packages, each with its copyright file as Debian ships it. The licences that"
  echo "these name by a path under /usr/share/common-licenses are in common-licenses/ here."
  echo
  echo "| Debian package | version | licence |"
  echo "| --- | --- | --- |"
} >"$folder/README.md"

archives=$(for map in "${maps[@]}"; do
  grep -oE '[^/ ]+\.a\(' "$map" || fail "$map names no archive"
done | tr -d '(' | sort -u)
# Header-only libraries leave no archive.
packages=(libcli11-dev libexpected-dev nlohmann-json3-dev)
for archive in $archives; do
  packages+=("$(package_of_archive "$archive")")
done
printf '%s\n' "${packages[@]}" | grep -vx ours | sort -u | while read -r package; do
  add "$package"
done

mkdir "$folder/common-licenses"
grep -ohE '/usr/share/common-licenses/[A-Za-z0-9.+-]+' "$folder"/*.txt | sed 's/\.$//' | sort -u |
  while read -r text; do
    [[ -f $text ]] || fail "$text, which a copyright file names, is not on this machine"
    cp -L "$text" "$folder/common-licenses/"
  done
