"""Runs oracle, nop and every trap of every task on this host, without containers.

  host_check.py [--tasks ID ...] [--json] [--quick]

Joins the split layout into the container layout in a temporary folder and proves each bundle there. With
--quick, oracle and nop still go through the scripts, while the traps are judged in this process.
Exit code 0 when every task holds, 1 otherwise.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "oracle"))

from generate import prove  # noqa: E402
from generate.catalogue import COMMITTED  # noqa: E402
from sides import Side  # noqa: E402


def task_ids():
    """Ids of all tasks of the repository."""
    folder = os.path.join(ROOT, "tasks")
    return sorted(name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name, "task.toml")))


def join(task, target):
    """Lay the split task out as one bundle below `target`."""
    visible = os.path.join(ROOT, "tasks", task)
    shutil.copytree(visible, target)
    with open(os.path.join(visible, "task.toml"), "rb") as stream:
        wiring = tomllib.load(stream)["metadata"]["runner"]
    keep = shutil.ignore_patterns("traps", "__pycache__")
    shutil.copytree(os.path.join(ROOT, "verifiers", task), os.path.join(target, "tests"), ignore=keep)
    shutil.copytree(os.path.join(ROOT, "oracle", task), os.path.join(target, "solution"), ignore=keep)
    shutil.copytree(os.path.join(ROOT, "oracle", task, "traps"), os.path.join(target, "traps"))
    for side, key, place in (("verifiers", "verifier_shared", "tests"), ("oracle", "oracle_shared", "solution")):
        for name in wiring[key]:
            shutil.copytree(
                os.path.join(ROOT, side, "shared", name), os.path.join(target, place, "shared", name), ignore=keep
            )
        for name in wiring["formats"]:
            os.makedirs(os.path.join(target, place, "formats"), exist_ok=True)
            shutil.copy(os.path.join(ROOT, "tasks", "formats", name), os.path.join(target, place, "formats", name))


def quick_traps(task, family):
    """Faults of the traps, judged without starting a process for each."""
    side = Side("verifiers", family)
    with open(os.path.join(ROOT, "verifiers", task, "input.json"), "rb") as stream:
        problem = json.load(stream)
    faults, folder = [], os.path.join(ROOT, "oracle", task, "traps")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name, "trap.json"), encoding="utf-8") as stream:
            expected = json.load(stream)["fails"]
        with open(os.path.join(folder, name, "artifacts", "app", "submission.json"), "rb") as stream:
            reward, verdict = side.judge(problem, stream.read())
        if reward["reward"] != 0 or verdict["failed"] != expected:
            faults.append(f"trap {name}: reward {reward['reward']}, failed {verdict['failed']}, expected {expected}")
    return faults


def check(task, quick):
    """Faults of one task as sentences, and its number of traps."""
    with tempfile.TemporaryDirectory() as work:
        target = os.path.join(work, task)
        join(task, target)
        with open(os.path.join(target, "environment", "input.json"), "rb") as stream:
            public = stream.read()
        with open(os.path.join(target, "tests", "input.json"), "rb") as stream:
            frozen = stream.read()
        faults = [] if public == frozen else ["the verifier's input is not the public one"]
        traps = len(os.listdir(os.path.join(target, "traps")))
        if quick:
            faults += quick_traps(task, next(row[1] for row in COMMITTED if row[0] == task))
        return faults + prove.bundle(target, with_traps=not quick), traps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    rows = []
    for task in options.tasks or task_ids():
        start = time.monotonic()
        faults, traps = check(task, options.quick)
        rows.append({"task": task, "traps": traps, "faults": faults, "seconds": round(time.monotonic() - start, 2)})
        if not options.json:
            print(f"{task}: {traps} traps, {rows[-1]['seconds']} s, " + ("; ".join(faults) or "holds"))
    bad = sum(1 for row in rows if row["faults"])
    if options.json:
        print(json.dumps({"tasks": rows, "failed": bad}))
    else:
        print(f"{len(rows)} tasks, {sum(row['traps'] for row in rows)} traps, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
