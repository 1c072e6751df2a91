#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec python3 -I -B "$here/solve.py" "$@"
