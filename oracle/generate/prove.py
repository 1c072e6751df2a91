"""Prove a bundle on this host: oracle 1 in every dimension, nop 0, every trap 0 at its named check, same bytes twice."""

import json
import os
import subprocess
import tempfile

SECONDS = 300


def bundle(folder, with_traps=True):
    """Faults of the bundle as sentences; an empty list means that it holds."""
    faults = []
    with tempfile.TemporaryDirectory() as work:
        submission = os.path.join(work, "submission.json")
        solved = _run(
            ["sh", f"{folder}/solution/solve.sh", "--input", f"{folder}/environment/input.json", "--output", submission]
        )
        if solved.returncode != 0:
            return [f"oracle: exit {solved.returncode}: {solved.stderr[-300:]}"]
        reward, verdict = grade(folder, submission, work)
        if reward is None or any(value != 1 for value in reward.values()) or verdict["failed"] is not None:
            faults.append(f"oracle: reward {reward}, failed {verdict and verdict['failed']}")
        if grade(folder, submission, work) != (reward, verdict):
            faults.append("grading twice gave two verdicts")
        reward, verdict = grade(folder, os.path.join(work, "absent.json"), work)
        if reward is None or any(value != 0 for value in reward.values()) or verdict["failed"] != "submission.present":
            faults.append(f"nop: reward {reward}")
        names = sorted(os.listdir(f"{folder}/traps"))
        if len(names) < 3:
            faults.append(f"only {len(names)} traps")
        for name in names if with_traps else ():
            faults += _trap(folder, name, work)
    return faults


def _trap(folder, name, work):
    with open(f"{folder}/traps/{name}/trap.json", encoding="utf-8") as stream:
        expected = json.load(stream)["fails"]
    reward, verdict = grade(folder, f"{folder}/traps/{name}/artifacts/app/submission.json", work)
    if reward is None:
        return [f"trap {name}: no verdict"]
    if reward["reward"] != 0 or verdict["failed"] != expected:
        return [f"trap {name}: reward {reward['reward']}, failed {verdict['failed']}, expected {expected}"]
    return []


def grade(folder, submission, work):
    """The pair (reward, verdict) of a submission, or (None, message) when the verifier gave none."""
    logs = tempfile.mkdtemp(dir=work)
    graded = _run(["sh", f"{folder}/tests/test.sh", "--submission", submission, "--logs", logs])
    if graded.returncode != 0:
        return None, {"failed": f"exit {graded.returncode}: {graded.stderr[-300:]}"}
    with open(f"{logs}/reward.json", encoding="ascii") as stream:
        reward = json.load(stream)
    with open(f"{logs}/verdict.json", encoding="ascii") as stream:
        verdict = json.load(stream)
    return reward, verdict


def _run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
