# Runs once in a container of the base image with the host's network; /opt/agent becomes the image's only layer.
set -eu
python3 "$KIT/uses/unpack.py" "$KIT/recipe/npm.lock.json"
mkdir -p /opt/agent/bin
mv /opt/agent/claude-code/claude /opt/agent/bin/claude
/opt/agent/bin/claude --version
