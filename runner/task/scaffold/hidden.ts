/** The parts of a new task that the agent never sees. */

export const TEST_SH = `#!/bin/sh
# Isolated: nothing of the graded files or of the environment can change what is imported.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
cd /
exec python3 -I -B "$here/verify.py"
`;

export const TESTS_DOCKERFILE = `FROM jacobian-runner/verifier
COPY . /tests/
`;

export const VERIFY_PY = `"""Grade a submission of NAME: recompute from the frozen input, check each part, write reward and verdict."""

import hashlib
import json
import os
import stat
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SUBMISSION = "/app/submission.json"
LOGS = "/logs/verifier"
LIMIT = 1024 * 1024
INPUT_SHA256 = "INPUT_DIGEST"
CHECKS = (
    ("submission.readable", "contract"),
    ("submission.shape", "contract"),
    ("binding.instance", "binding"),
    ("answer.sum", "correctness"),
    ("answer.complete", "completeness"),
    ("answer.exact", "scope"),
)


class Refusal(Exception):
    """The submission cannot be read."""


def read_submission():
    """The submission's value; links, other file types, duplicate keys and non-finite numbers are refused."""
    try:
        handle = os.open(SUBMISSION, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as fault:
        raise Refusal(f"cannot be opened: {fault.strerror}") from None
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise Refusal("not a regular file")
        data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise Refusal("larger than 1 MiB")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=unique, parse_constant=refuse)
    except (ValueError, RecursionError) as fault:
        raise Refusal(str(fault)[:200]) from None


def unique(pairs):
    """A dictionary whose keys occurred once."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def refuse(word):
    raise ValueError(f"{word} is not a JSON number")


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def shape_fault(value):
    """What is wrong with the shape, or None."""
    if not isinstance(value, dict) or sorted(value) != ["instance", "largest_at", "sum"]:
        return "not an object with exactly the keys instance, largest_at and sum"
    if not isinstance(value["instance"], str) or not is_integer(value["sum"]):
        return "instance is no string or sum is no integer"
    positions = value["largest_at"]
    if not isinstance(positions, list) or len(positions) > 1000 or not all(map(is_integer, positions)):
        return "largest_at is no list of at most 1000 integers"
    return None if len(set(positions)) == len(positions) else "largest_at names a position twice"


def grade(problem):
    """Pairs of check id and fault (None: passed); checks that were not reached are missing."""
    try:
        value = read_submission()
    except Refusal as fault:
        yield "submission.readable", str(fault)
        return
    yield "submission.readable", None
    fault = shape_fault(value)
    yield "submission.shape", fault
    if fault is not None:
        return
    total, best, where = 0, None, set()
    for position, number in enumerate(problem["numbers"]):
        total += number
        if best is None or number > best:
            best, where = number, set()
        if number == best:
            where.add(position)
    named = set(value["largest_at"])
    yield "binding.instance", None if value["instance"] == problem["instance"] else "another instance"
    yield "answer.sum", None if value["sum"] == total else "another sum"
    yield "answer.complete", None if where <= named else "a position is missing"
    yield "answer.exact", None if named <= where else "a position is not one of the largest value"


def main():
    with open(os.path.join(HERE, "input.json"), "rb") as stream:
        data = stream.read()
    if hashlib.sha256(data).hexdigest() != INPUT_SHA256:
        sys.exit("hidden input digest mismatch")
    results = dict(grade(json.loads(data)))
    rows = [(name, kind, results.get(name, "not reached")) for name, kind in CHECKS]
    contract = all(fault is None for _, kind, fault in rows if kind == "contract")
    reward = {"reward": int(all(fault is None for _, _, fault in rows))}
    for _, kind, fault in rows:
        if kind != "contract":
            reward[kind] = int(contract and fault is None)
    checks = [{"id": name, "passed": fault is None, "detail": fault or ""} for name, _, fault in rows]
    failed = next((name for name, _, fault in rows if fault is not None), None)
    os.makedirs(LOGS, exist_ok=True)
    with open(os.path.join(LOGS, "verdict.json"), "w", encoding="ascii") as stream:
        json.dump({"schemaVersion": "1", "checks": checks, "failed": failed}, stream)
    with open(os.path.join(LOGS, "reward.json"), "w", encoding="ascii") as stream:
        json.dump(reward, stream)


main()
`;

export const SOLVE_SH = `#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec python3 -I -B "$here/solve.py"
`;

export const SOLVE_PY = `"""Compute the reference solution of NAME from its input."""

import json

with open("/app/input.json", encoding="utf-8") as source:
    task = json.load(source)
values = task["numbers"]
peak = max(values)
answer = {
    "instance": task["instance"],
    "sum": sum(values),
    "largest_at": [index for index, value in enumerate(values) if value == peak],
}
with open("/app/submission.json", "w", encoding="utf-8") as target:
    json.dump(answer, target)
`;

/** Wrong submissions: name, failing check, reason, submission. */
export const TRAPS: readonly {
  readonly name: string;
  readonly fails: string;
  readonly why: string;
  readonly submission: string;
}[] = [
  {
    name: "first-position-only",
    fails: "answer.complete",
    why: "Only the first position of the largest value is named.",
    submission: '{"instance": "NAME", "sum": 239, "largest_at": [2]}\n',
  },
  {
    name: "absolute-values",
    fails: "answer.sum",
    why: "Negative numbers are added as if they were positive.",
    submission: '{"instance": "NAME", "sum": 309, "largest_at": [2, 4]}\n',
  },
  {
    name: "other-instance",
    fails: "binding.instance",
    why: "The right values, bound to another instance.",
    submission: '{"instance": "another", "sum": 239, "largest_at": [2, 4]}\n',
  },
  {
    name: "boolean-position",
    fails: "submission.shape",
    why: "A boolean stands where an integer is asked for.",
    submission: '{"instance": "NAME", "sum": 239, "largest_at": [2, 4, true]}\n',
  },
];
