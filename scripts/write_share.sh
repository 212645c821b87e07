#!/usr/bin/env bash
# Rewrites packaging/share/: the shell completions and the manual page, as the program prints them.
# Needed after changes of the table of commands, the shipped configuration or the version.
#   scripts/write_share.sh [LLMPROF]     default: build/bin/llmprof
set -euo pipefail

cd "$(dirname "$0")/.."
llmprof=${1:-build/bin/llmprof}
share=packaging/share
mkdir -p "$share"/{bash-completion/completions,zsh/site-functions,man/man1}
"$llmprof" completion bash >"$share/bash-completion/completions/llmprof"
"$llmprof" completion zsh >"$share/zsh/site-functions/_llmprof"
"$llmprof" manual >"$share/man/man1/llmprof.1"
