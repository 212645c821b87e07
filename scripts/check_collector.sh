#!/usr/bin/env bash
# Checks that a collector may be loaded into other programs: it needs only libc, nothing newer than
# glibc 2.34, and exports only its own names, and the functions that it replaces when it is preloaded: of
# the CUDA runtime, the CUDA driver and, to see how programs find these, the loader. Works for any architecture.
#   scripts/check_collector.sh [--without-cuda] LIBRARY
# CUDA tracing (CUPTI) must be built in, unless --without-cuda is given.
set -euo pipefail

fail() {
  echo "check_collector: $*" >&2
  exit 1
}

with_cuda=yes
if [[ ${1:-} == --without-cuda ]]; then
  with_cuda=no
  shift
fi
[[ $# -eq 1 ]] || fail "usage: scripts/check_collector.sh [--without-cuda] LIBRARY"
library=$1
[[ -f $library ]] || fail "$library: no such file"
readelf -hW "$library" | grep -qE 'Type: +DYN' || fail "$library is not a shared library"
symbols=$(readelf -W --dyn-syms "$library")

needed=$(readelf -dW "$library" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' |
  grep -vE '^(libc\.so\.6|ld-linux-.*)$' || true)
[[ -z $needed ]] || fail "$library needs $needed; only libc is allowed"

# Symbols without a version would be resolved by whatever the program has loaded, or not at all.
unversioned=$(awk '$7 == "UND" && $5 != "WEAK" && NF >= 8 && $8 !~ /@/ { print $8 }' <<<"$symbols")
[[ -z $unversioned ]] || fail "$library has undefined symbols: $(tr '\n' ' ' <<<"$unversioned")"

newest=$(grep -oE "@GLIBC_2\.[0-9]+" <<<"$symbols" | tr -d @ | sort -uV | tail -n 1 || true)
[[ $(printf '%s\n' GLIBC_2.34 "$newest" | sort -V | tail -n 1) == GLIBC_2.34 ]] ||
  fail "$library needs $newest; at most GLIBC_2.34 is allowed"

shown=$(awk '$7 != "UND" && $7 != "Ndx" && $5 == "GLOBAL" && NF >= 8 { print $8 }' <<<"$symbols")
replaced='(__)?cudaLaunchKernel|cudaLaunchKernelExC|cudaLaunchCooperativeKernel|cudaGraphLaunch'
replaced+='|cuda(Device|Stream|Event)Synchronize|cudaMemcpy'
replaced+='|cudaMalloc(Managed|Pitch|Host|Async|FromPoolAsync)?|cudaHostAlloc|dlsym|cuGetProcAddress(_v2)?'
replaced+='|cuMem(Alloc(Pitch|Host)?|Free)_v2|cuMem(AllocManaged|HostAlloc|FreeHost|(Alloc|AllocFromPool|Free)Async)'
replaced+='|cuMem(Create|Map|Unmap|Release|RetainAllocationHandle|Pool(Create|Destroy|TrimTo))'
replaced+='|cuModule(Load(Data(Ex)?|FatBinary)?|GetFunction)|cuLibrary(LoadData|LoadFromFile|GetModule)'
replaced+='|cuKernelGetFunction|cuLaunchKernel(Ex)?|cuGraphInstantiateWith(Flags|Params)'
foreign=$(grep -vE "^(llmprof_[a-z_0-9]+|InitializeInjection(Nvtx2)?|($replaced)(_pt[ds][sz])?)$" <<<"$shown" || true)
[[ -z $foreign ]] || fail "$library exports names that are not its own: $(tr '\n' ' ' <<<"$foreign")"

if [[ $with_cuda == yes ]]; then
  for entry in InitializeInjection InitializeInjectionNvtx2; do
    grep -qx "$entry" <<<"$shown" ||
      fail "$library has no CUDA tracing ($entry): the headers of the CUDA toolkit (cupti.h) were not" \
        "found; set CUDA_HOME to the toolkit, or DIST_WITHOUT_CUDA=1 to build without CUDA tracing"
  done
fi
