# Runs once in a container of the base image with the host's network; what it changes becomes the image's layer.
set -eu
apt-get -q update
apt-get -q install -y --no-install-recommends \
  curl diffutils file findutils git jq less patch procps ripgrep unzip xz-utils
mkdir -p /app
