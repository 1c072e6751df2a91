# Runs once in a container of the base image with the host's network; /opt/agent becomes the image's only layer.
set -eu
sh "$KIT/uses/build.sh"
python3 "$KIT/uses/unpack.py" "$KIT/recipe/npm.lock.json"
cd /opt/agent/qwen-code
for folder in vendor/ripgrep/*; do
  case $folder in */x64-linux | */COPYING) ;; *) rm -r "$folder" ;; esac
done
chmod 0755 vendor/ripgrep/x64-linux/rg
ln -s "qwen-code/$(node -p 'Object.values(require("./package.json").bin)[0]')" /opt/agent/qwen.js
node /opt/agent/qwen.js --version
