# Runs once in a container of the base image with the host's network; /opt/agent becomes the image's only layer.
set -eu
python3 "$KIT/uses/unpack.py" "$KIT/recipe/npm.lock.json"
mkdir -p /opt/agent/bin /opt/agent/config/opencode /opt/agent/tools
mv /opt/agent/opencode/bin/opencode /opt/agent/bin/opencode
python3 "$KIT/recipe/seal.py" /opt/agent/bin/opencode
# The file search that the program would fetch from outside where an image has none.
mv /opt/agent/ripgrep/vendor/ripgrep/x64-linux/rg /opt/agent/tools/rg
mv /opt/agent/ripgrep/vendor/ripgrep/COPYING /opt/agent/tools/rg.license
rm -r /opt/agent/ripgrep
chmod 0755 /opt/agent/tools/rg
# A settings folder that is there, empty and read-only is one that the program installs no packages into.
printf 'node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore\n' >/opt/agent/config/opencode/.gitignore
/opt/agent/bin/opencode --version
