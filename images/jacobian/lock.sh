# Runs in a container of the base image with the host's network; prints the newest wheels that satisfy requirements.in as a lock.
set -eu
for wheel in /usr/share/python-wheels/pip-*.whl; do
  python3 "$wheel/pip" install --disable-pip-version-check --no-cache-dir --no-input --progress-bar off --quiet \
    --only-binary :all: --dry-run --ignore-installed --break-system-packages \
    --report "$KIT/out/report.json" -r "$KIT/recipe/requirements.in"
done
python3 - "$KIT/out/report.json" >"$KIT/out/requirements.lock" <<'PY'
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    installs = json.load(file)["install"]
lines = []
for entry in installs:
    name = re.sub(r"[-_.]+", "-", entry["metadata"]["name"]).lower()
    digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
    lines.append(f"{name}=={entry['metadata']['version']} \\\n    --hash=sha256:{digest}\n")
sys.stdout.write("".join(sorted(lines)))
PY
