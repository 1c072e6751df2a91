#!/bin/sh
# run PROMPT-FILE ARGUMENT...: the prompt goes in as it is, on the standard input.
prompt=$1
shift
exec /opt/agent/bin/node --require /opt/agent/seal.cjs /opt/agent/qwen.js "$@" <"$prompt"
