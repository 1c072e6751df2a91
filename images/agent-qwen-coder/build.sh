# Runs once in a container of the base image with the host's network; /opt/agent becomes the image's only layer.
set -eu
sh "$KIT/uses/build.sh"
python3 "$KIT/uses/unpack.py" "$KIT/recipe/npm.lock.json"
chmod 0755 /opt/agent/qwen-code/vendor/ripgrep/x64-linux/rg
node /opt/agent/qwen-code/cli.js --version
