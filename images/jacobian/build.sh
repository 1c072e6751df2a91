# Runs once in a container of the base image with the host's network; /opt/jacobian becomes the image's layer.
set -eu
venv=/opt/jacobian
python3 -m venv --without-pip "$venv"

# Debian's bundled pip runs from its wheel and installs into the new environment, which itself never gets a pip.
pip() {
  for wheel in /usr/share/python-wheels/pip-*.whl; do
    python3 "$wheel/pip" --python "$venv/bin/python" "$@"
  done
}
install() {
  pip install --disable-pip-version-check --no-cache-dir --no-compile --no-input --progress-bar off \
    --only-binary :all: "$@"
}

if ! install --require-hashes -r "$KIT"/recipe/requirements.lock 2>"$KIT"/pip.log; then
  cat "$KIT"/pip.log >&2
  if grep -q 'connection broken by' "$KIT"/pip.log; then exit 69; fi
  # Only a release that the index no longer has may be replaced; a file with another hash is never installed.
  if grep -q 'THESE PACKAGES DO NOT MATCH THE HASHES' "$KIT"/pip.log; then exit 65; fi
  if ! grep -q 'No matching distribution found' "$KIT"/pip.log; then exit 69; fi
  echo 'runner: the index no longer has every pinned wheel; resolving the rest anew' >&2
  install -r "$KIT"/recipe/requirements.in
fi

# Caches that name no time and no build machine, so that the same wheels give the same bytes. Tests are never imported, and some are no
# valid Python on purpose, so the exit code says nothing.
"$venv/bin/python" -m compileall -q -j 0 -x '/tests/' --invalidation-mode unchecked-hash "$venv/lib" >"$KIT"/compile.log 2>&1 || true
"$venv/bin/jacobian-remote-mcp" --version
