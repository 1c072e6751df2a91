"""Write a draft as task files, in the split layout or as one self-contained Harbor bundle."""

import hashlib
import json
import os
import shutil

from generate.catalogue import SHARED

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

DOCKERFILE = """FROM jacobian-runner/workbench
WORKDIR /app
COPY input.json submission_schema.json /app/
"""

TEST_SH = """#!/bin/sh
# Isolated: nothing of the graded files or of the environment can change what is imported.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
cd /
exec python3 -I -B "$here/verify.py" "$@"
"""

SOLVE_SH = """#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec python3 -I -B "$here/solve.py" "$@"
"""

VERIFY_PY = '''"""Grade a submission of {task}."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from shared.{family} import check
from shared.kernel.grade import main

main(check, HERE)
'''

SOLVE_PY = '''"""Solve {task} from its input."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from shared.kernel.files import run
from shared.{family}.solve import solve

run(solve)
'''


def input_bytes(task, family, draft):
    """The bytes of input.json.

    The instance token is derived from the whole problem. The task's name is not in it: a name may say what the
    answer is.
    """
    problem = draft["problem"]
    canonical = json.dumps(problem, sort_keys=True, separators=(",", ":")).encode()
    token = hashlib.sha256(task.encode() + b"\0" + canonical).hexdigest()[:16]
    value = {"instance": f"{family.replace('_', '-')}:{token}", **problem}
    return (_pretty(value) + "\n").encode()


def _pretty(value, indent=0):
    """JSON with short values on one line."""
    flat = json.dumps(value)
    if len(flat) + indent <= 110 or not isinstance(value, (dict, list)):
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        rows = [f"{pad}{json.dumps(key)}: {_pretty(item, indent + 2)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + "\n" + " " * indent + "}"
    if all(len(json.dumps(item)) <= 24 for item in value):
        lines, line = [], ""
        for item in (json.dumps(item) for item in value):
            if line and len(line) + len(item) + indent > 104:
                lines.append(line)
                line = ""
            line += (", " if line else "") + item
        lines.append(line)
        return "[\n" + ",\n".join(pad + entry for entry in lines) + "\n" + " " * indent + "]"
    rows = [pad + _pretty(item, indent + 2) for item in value]
    return "[\n" + ",\n".join(rows) + "\n" + " " * indent + "]"


def schema_bytes(family, draft):
    """The closed public JSON Schema of the submission."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Submission, family {family.replace('_', '-')}",
        "type": "object",
        "additionalProperties": False,
        "required": ["instance", *draft["schema"]["required"]],
        "properties": {"instance": {"type": "string", "maxLength": 120}, **draft["schema"]["properties"]},
    }
    if "$defs" in draft["schema"]:
        schema["$defs"] = draft["schema"]["$defs"]
    return (json.dumps(schema, indent=2) + "\n").encode()


def instruction_text(draft):
    """The whole instruction: family text between a title and the common closing rules."""
    return f"""# {draft["title"]}

{draft["instruction"].strip()}

## Handing in

Write your answer to `/app/submission.json`: one JSON object in UTF-8, at most 1 MiB, with the keys described above and no other
(`/app/submission_schema.json` is its JSON Schema). Every key counts once; no key may occur twice. An integer is a JSON
number with an integral value; `true` and `false` are not integers. The input is in `/app/input.json`. There is no network.
The order of keys and the layout of the text do not matter, nor does how you found the answer. Nothing but this file is read,
and it is judged only by its values.
"""


def toml_text(task, family, draft, origin):
    """task.toml; `origin` says how the instance came to be."""
    meta = draft["metadata"]
    rows = [
        'schema_version = "1.4"',
        'artifacts = ["/app/submission.json"]',
        "",
        "[task]",
        f'name = "jacobian/{task}"',
        f"description = {json.dumps(draft['title'])}",
        "",
        "[metadata]",
        f'family = "{family.replace("_", "-")}"',
        f'coverage_class = "{meta.get("coverage_class", "authored_task")}"',
        f'domain = "{meta["domain"]}"',
        f'difficulty = "{meta["difficulty"]}"',
        f'contamination = "{origin["contamination"]}"',
        f'affordance = "{meta["affordance"]}"',
        f"operations = {json.dumps(meta.get('operations', []))}",
        f"roles = {json.dumps(meta.get('roles', []))}",
        f"derivation = {json.dumps(' '.join([meta.get('derivation', ''), origin['derivation']]).strip(), ensure_ascii=False)}",
        "",
        "[metadata.runner]",
        f"verifier_shared = {json.dumps(shared_names(family))}",
        f"oracle_shared = {json.dumps(shared_names(family))}",
        f"formats = {json.dumps(meta.get('formats', []))}",
        "",
        "[agent]",
        "timeout_sec = 900.0" if meta["difficulty"] == "hard" else "timeout_sec = 600.0",
        "",
        "[verifier]",
        "timeout_sec = 120.0",
        'environment_mode = "separate"',
        "",
        "[verifier.environment]",
        'docker_image = "jacobian-runner/verifier"',
        'network_mode = "no-network"',
        "cpus = 1",
        "memory_mb = 2048",
        "",
        "[environment]",
        'network_mode = "no-network"',
        'workdir = "/app"',
        "cpus = 1",
        "memory_mb = 2048",
        "storage_mb = 1024",
    ]
    return "\n".join(rows) + "\n"


def visible_files(task, family, draft, origin):
    """Agent-visible files by relative path."""
    return {
        "task.toml": toml_text(task, family, draft, origin).encode(),
        "instruction.md": instruction_text(draft).encode(),
        "environment/Dockerfile": DOCKERFILE.encode(),
        "environment/input.json": input_bytes(task, family, draft),
        "environment/submission_schema.json": schema_bytes(family, draft),
    }


def verifier_files(task, family, draft):
    """The verifier's own files by relative path."""
    data = input_bytes(task, family, draft)
    return {
        "test.sh": TEST_SH.encode(),
        "verify.py": VERIFY_PY.format(task=task, family=family).encode(),
        "input.json": data,
        "input.sha256": (hashlib.sha256(data).hexdigest() + "\n").encode(),
    }


def oracle_files(task, family):
    """The reference solution's own files by relative path."""
    return {"solve.sh": SOLVE_SH.encode(), "solve.py": SOLVE_PY.format(task=task, family=family).encode()}


def trap_files(draft, right):
    """Trap files by path below traps/, from the right submission."""
    from generate.draft import compact

    files = {}
    for name, check, why, transform in draft["traps"]:
        if f"{name}/trap.json" in files:
            raise ValueError(f"trap {name} is named twice")
        wrong = transform(right)
        data = wrong if isinstance(wrong, bytes) else compact(wrong)
        if data == compact(right):
            raise ValueError(f"trap {name} is the right submission")
        files[f"{name}/trap.json"] = (json.dumps({"fails": check, "why": why}) + "\n").encode()
        files[f"{name}/artifacts/app/submission.json"] = data
    return files


def place(base, files):
    """Replace the folder `base` by the files; scripts become executable."""
    if os.path.isdir(base):
        shutil.rmtree(base)
    for relative, data in sorted(files.items()):
        path = os.path.join(base, relative)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)
        os.chmod(path, 0o755 if relative.endswith(".sh") else 0o644)


def shared_names(family):
    """Folders of shared code that the family's containers need."""
    return ["kernel", *SHARED.get(family, ()), family]


def closure(side, family, formats):
    """Shared files that a container of this side ("verifiers" or "oracle") gets, by relative path."""
    files = {}
    for name in shared_names(family):
        folder = os.path.join(ROOT, side, "shared", name)
        for entry in sorted(os.listdir(folder)):
            if entry.endswith(".py"):
                with open(os.path.join(folder, entry), "rb") as stream:
                    files[f"shared/{name}/{entry}"] = stream.read()
    for name in formats:
        with open(os.path.join(ROOT, "tasks", "formats", name), "rb") as stream:
            files[f"formats/{name}"] = stream.read()
    return files
