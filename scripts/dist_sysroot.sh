#!/usr/bin/env bash
# Unpacks the Debian packages that a static llmprof links against, for one architecture:
#   scripts/dist_sysroot.sh x86_64|aarch64 FOLDER
# apt-get keeps its state under FOLDER.apt, with the machine's package sources and keys, so that the
# machine's architectures and installed packages do not change.
# FOLDER/packages.txt lists what was unpacked: package, version. A complete FOLDER is not changed.
set -euo pipefail

arch_packages=(libboost1.81-dev libc-ares-dev libc6 libc6-dev linux-libc-dev libdeflate-dev
  libopenblas-pthread-dev libre2-9 libre2-dev libsqlite3-dev libssl-dev libutf8proc-dev libyaml-dev zlib1g-dev)
all_packages=(libcli11-dev libexpected-dev nlohmann-json3-dev)
# Debian has no static archives of these: their sources are unpacked under usr/src.
source_packages=(libfmt-dev libsimdjson-dev)

fail() {
  echo "dist: $*" >&2
  exit 1
}

[[ $# -eq 2 ]] || fail "usage: scripts/dist_sysroot.sh x86_64|aarch64 FOLDER"
case "$1" in
  x86_64) debian_arch=amd64 ;;
  aarch64) debian_arch=arm64 ;;
  *) fail "unknown architecture $1; available: x86_64, aarch64" ;;
esac
mkdir -p "$2"
sysroot=$(cd "$2" && pwd)
work=$sysroot.apt
wanted="$debian_arch ${arch_packages[*]} ${all_packages[*]} ${source_packages[*]}"
if [[ -f $sysroot/wanted.txt && $(<"$sysroot/wanted.txt") == "$wanted" ]]; then
  exit 0
fi
command -v apt-get >/dev/null || fail "make dist needs apt-get and Debian's package sources"
command -v dpkg-source >/dev/null || fail "dpkg-source is missing; run scripts/setup.sh dist"

rm -rf "$sysroot" "$work"
mkdir -p "$sysroot/usr/src" "$work"/{sources.d,state/lists/partial,cache/archives/partial,packages}
: >"$work/status"

# The machine's own package sources, for every architecture and with source packages.
derive_sources() {
  local sourcelist='' sourceparts='' file name
  eval "$(apt-config shell sourcelist Dir::Etc::sourcelist/f sourceparts Dir::Etc::sourceparts/d)"
  for file in "$sourcelist" "$sourceparts"/*.list "$sourceparts"/*.sources; do
    [[ -f $file ]] || continue
    name=$(basename "$file")
    if [[ $name == *.sources ]]; then
      sed -E 's/^Types:.*/Types: deb deb-src/I; /^Architectures:/Id' "$file"
    else
      sed -nE 's/^[[:space:]]*deb(-src)?[[:space:]]+//p' "$file" |
        sed -E 's/(\[[^]]*)\barch=[^] ]*/\1/; s/\[[[:space:]]*\]//' |
        sort -u | sed 's/.*/deb &\ndeb-src &/'
    fi >"$work/sources.d/$name"
  done
}

isolated_apt_get() {
  local options=(
    -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/sources.d"
    -o "Dir::State=$work/state" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
    -o 'APT::Architectures=amd64,arm64' -o Acquire::Retries=3
  )
  # As root, apt-get downloads as another user, who may not have access to this folder.
  [[ $(id -u) -ne 0 ]] || options+=(-o APT::Sandbox::User=root)
  apt-get -q "${options[@]}" "$@" >>"$work/apt.log" 2>&1
}

download() {
  derive_sources
  isolated_apt_get update || { sleep 5 && isolated_apt_get update; } || return 1
  cd "$work/packages"
  isolated_apt_get download "${all_packages[@]}" "${arch_packages[@]/%/:$debian_arch}" || return 1
  # Requested by binary package, so that the version of the source is the one the machine would install.
  isolated_apt_get source --download-only "${source_packages[@]}"
}

unpack_binaries() {
  local package
  for package in "$work"/packages/*.deb; do
    dpkg-deb -x "$package" "$sysroot"
    echo "$(dpkg-deb -f "$package" Package) $(dpkg-deb -f "$package" Version)"
  done >>"$sysroot/packages.txt"
}

# Links to /lib/... would lead outside the folder.
relink() {
  local link
  find "$sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$sysroot$(readlink "$link")" "$link"
  done
}

unpack_sources() {
  local description name documents
  for description in "$work"/packages/*.dsc; do
    name=$(sed -n 's/^Source: //p' "$description")
    # apt-get has checked the files against the signed index.
    dpkg-source --no-check -x "$description" "$sysroot/usr/src/$name" >>"$work/apt.log" 2>&1
    documents=$sysroot/usr/share/doc/$name
    mkdir -p "$documents"
    cp "$sysroot/usr/src/$name/debian/copyright" "$documents/"
    echo "$name $(sed -n 's/^Version: //p' "$description")" >>"$sysroot/packages.txt"
  done
}

echo "dist: unpacking Debian's $debian_arch packages into ${sysroot#"$PWD"/}" >&2
(download) || {
  tail -n 20 "$work/apt.log" >&2
  fail "packages for $debian_arch could not be downloaded; the full log is $work/apt.log"
}
unpack_binaries
relink
unpack_sources
echo "$wanted" >"$sysroot/wanted.txt"
rm -rf "$work"
