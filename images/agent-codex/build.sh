# Runs once in a container of the base image with the host's network; /opt/agent becomes the image's only layer.
set -eu
python3 "$KIT/uses/unpack.py" "$KIT/recipe/npm.lock.json"
mkdir -p /opt/agent/bin
mv /opt/agent/codex/vendor/x86_64-unknown-linux-musl/bin/codex /opt/agent/bin/codex
rm -r /opt/agent/codex/vendor
export CODEX_HOME="$KIT/home/codex"
mkdir -p "$CODEX_HOME"
/opt/agent/bin/codex --version
/opt/agent/bin/codex debug models --bundled >"$KIT/out/models.json"
python3 "$KIT/recipe/catalog.py" <"$KIT/out/models.json" >/opt/agent/models.json
