#!/bin/sh
# run PROMPT-FILE ARGUMENT...: the prompt goes in as it is, on the standard input.
set -eu
prompt=$1
shift
mkdir -p "$XDG_CACHE_HOME/opencode/bin"
ln -sf /opt/agent/tools/rg "$XDG_CACHE_HOME/opencode/bin/rg"
exec /opt/agent/bin/opencode run "$@" <"$prompt"
