"""Gets npm releases by their pinned digests and unpacks what a runtime needs of them.

unpack.py LOCK: a JSON file {"releases": [{"name", "version", "integrity", "to", "only"?}]}. `integrity` is npm's `sha512-<base64>`
of the archive, `to` the folder that takes the place of the archive's own top folder, `only` the paths below it that are wanted (files, or
folders whole); all when it is left out. Exit code 65: an archive is not the pinned one; 69: the index cannot be reached or lacks it.
"""

import base64
import hashlib
import io
import json
import os
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request

INDEX = os.environ.get("NPM_CONFIG_REGISTRY", "")
NOTES = "/opt/agent/npm"


def fail(code, message):
    print(f"runner: {message}", file=sys.stderr)
    sys.exit(code)


def fetch(name, version):
    if INDEX == "":
        fail(69, "no npm registry is named: install npm, or set NPM_CONFIG_REGISTRY")
    file = name.rsplit("/", 1)[-1]
    url = f"{INDEX.rstrip('/')}/{urllib.parse.quote(name, safe='@/')}/-/{file}-{version}.tgz"
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            return answer.read()
    except (urllib.error.URLError, OSError) as error:
        fail(69, f"connection broken by {error}: {url}")


def wanted(path, only):
    return only is None or any(path == entry or path.startswith(entry.rstrip("/") + "/") for entry in only)


def unpack(archive, to, only):
    left = set(only or [])
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            path = member.name.split("/", 1)[-1]
            if not member.isfile() or ".." in path.split("/") or not wanted(path, only):
                continue
            left -= {entry for entry in left if path == entry or path.startswith(entry.rstrip("/") + "/")}
            target = os.path.join(to, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                source = tar.extractfile(member)
                while chunk := source.read(1 << 20):
                    file.write(chunk)
            os.chmod(target, 0o755 if member.mode & 0o111 else 0o644)
    if left:
        fail(65, f"the release lacks {', '.join(sorted(left))}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        releases = json.load(file)["releases"]
    os.makedirs(NOTES, exist_ok=True)
    for release in releases:
        name, version = release["name"], release["version"]
        archive = fetch(name, version)
        digest = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
        if digest != release["integrity"]:
            fail(65, f"{name}@{version} is {digest}, pinned is {release['integrity']}")
        unpack(archive, release["to"], release.get("only"))
        # The image's package list is read from these names.
        note = {key: release[key] for key in ("name", "version", "integrity")}
        with open(f"{NOTES}/{name.replace('/', '+')}@{version}.json", "w", encoding="utf-8") as file:
            json.dump(note, file)


main()
