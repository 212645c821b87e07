#!/usr/bin/env bash
# Collects the licenses of everything that was linked into the programs of build/dist-ARCH:
#   scripts/dist_licenses.sh ARCH FOLDER
# The link maps say which archives were linked; an archive of unknown license is an error.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
arch=$1
folder=$2
sysroot=$root/build/sysroot-$arch
maps=()
for target in llmprof cpu_llm cpu_llm_server llmprof_collector; do
  maps+=("$root/build/dist-$arch/$target.map")
done

fail() {
  echo "dist: $*" >&2
  exit 1
}

# The Debian package with the copyright file of an archive, by the archive's file name; 'ours' for
# our own.
package_of_archive() {
  case "$1" in
    libllmprof_*.a | libcpu_llm_model.a | libcpu_llm_serving.a) echo ours ;;
    libc.a | libc_nonshared.a | libm.a | libm-*.a | libmvec.a | libpthread.a) echo libc6-dev ;;
    libstdc++.a | libgcc.a | libgcc_eh.a) echo compiler ;;
    libfmt.a) echo fmtlib ;;
    libsimdjson.a) echo simdjson ;;
    libsqlite3.a) echo libsqlite3-dev ;;
    libyaml.a) echo libyaml-dev ;;
    libdeflate.a) echo libdeflate-dev ;;
    libutf8proc.a) echo libutf8proc-dev ;;
    libz.a) echo zlib1g-dev ;;
    libre2.a) echo libre2-dev ;;
    libssl.a | libcrypto.a) echo libssl-dev ;;
    libcares.a) echo libc-ares-dev ;;
    libopenblas.a | libopenblasp-*.a) echo libopenblas-pthread-dev ;;
    *) fail "$1 is linked, and scripts/dist_licenses.sh knows no license for it" ;;
  esac
}

# libstdc++ and libgcc come with the installed compiler, cross or native.
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
  [[ -n $version && -s $copyright ]] || fail "no copyright file for $package at $copyright"
  cp -L "$copyright" "$folder/$package.txt"
  echo "| $package | $version | $package.txt |" >>"$folder/README.md"
}

rm -rf "$folder"
mkdir -p "$folder"
{
  echo "# Licenses of the libraries inside bin/ and lib/"
  echo
  echo "Debian 12 packages, each with its copyright file as Debian ships it. The licenses that"
  echo "these files name by a path under /usr/share/common-licenses are in common-licenses/."
  echo
  echo "| Debian package | version | license |"
  echo "| --- | --- | --- |"
} >"$folder/README.md"

archives=$(for map in "${maps[@]}"; do
  grep -oE '[^/ ]+\.a\(' "$map" || fail "$map lists no archive"
done | tr -d '(' | sort -u)
# Header-only libraries have no archive.
packages=(libboost1.81-dev libcli11-dev libexpected-dev nlohmann-json3-dev)
for archive in $archives; do
  packages+=("$(package_of_archive "$archive")")
done
printf '%s\n' "${packages[@]}" | grep -vx ours | sort -u | while read -r package; do
  add "$package"
done

# The packages in the page's script; it does not contain esbuild, which bundles it.
modules=$root/ui/node_modules
{
  echo
  echo "npm packages inside the page report.html:"
  echo
  echo "| npm package | version | license |"
  echo "| --- | --- | --- |"
} >>"$folder/README.md"
for package in uplot; do
  [[ -s $modules/$package/LICENSE ]] || fail "no license of the npm package $package"
  cp "$modules/$package/LICENSE" "$folder/npm-$package.txt"
  version=$(sed -nE 's/^ *"version": "([^"]+)".*/\1/p' "$modules/$package/package.json")
  echo "| $package | $version | npm-$package.txt |" >>"$folder/README.md"
done

mkdir "$folder/common-licenses"
grep -ohE '/usr/share/common-licenses/[A-Za-z0-9.+-]+' "$folder"/*.txt | sed 's/\.$//' | sort -u |
  while read -r text; do
    [[ -f $text ]] || fail "$text, which a copyright file names, is not on this machine"
    cp -L "$text" "$folder/common-licenses/"
  done
