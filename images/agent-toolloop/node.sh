#!/bin/sh
# Runs the bundled Node with its own loader and libraries: the image it stands in may have another C library, or none.
unset NODE_OPTIONS NODE_PATH
exec /opt/agent/lib/ld-linux-x86-64.so.2 --library-path /opt/agent/lib /opt/agent/lib/node "$@"
