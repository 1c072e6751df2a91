"""Structure-aware fuzzing of a family's verifier.

  fuzz.py FAMILY|all [--count 10000] [--seed 1]

Every input must give a verdict within the bounds; a reward of 1 is only right when the input still means a
right submission, which the producer's equal values or an open place (another right answer) explain. Prints one
JSON line for each family with counts and the largest time and memory; exit code 1 on any finding.
"""

import argparse
import json
import os
import resource
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import rewriting  # noqa: E402
from sides import FAMILIES, ROOT, Side, problem_of, tasks_of  # noqa: E402

SECONDS = 20.0
MEBIBYTES = 900

HOSTILE = (
    True, False, None, 0, 1, -1, 2**31, 2**53 + 1, -(2**63), 10**40, 10**300, 1.5, -0.0, 1e300, "", "0", "-0", "00", "1",
    "9" * 61, "9" * 4000, "NaN", "\u0000", "\U0001f600", "../../etc/passwd", [], {}, [[]], [{}], {"": None}, [0] * 700,
    [[0, 0]] * 700, {"kind": "none"}, {"kind": []}, {"kind": {"kind": "collision"}},
)  # fmt: skip


def containers(value):
    """All objects and arrays in a value."""
    found, stack = [], [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            found.append(item)
            stack.extend(item.values())
        elif isinstance(item, list):
            found.append(item)
            stack.extend(item)
    return found


def mutate(rng, value):
    """Change one place of the structure."""
    spots = [item for item in containers(value) if item]
    if not spots:
        return
    spot = rng.choice(spots)
    keys = list(spot) if isinstance(spot, dict) else list(range(len(spot)))
    key = rng.choice(keys)
    action = rng.randrange(9)
    if action == 0:
        spot[key] = json.loads(json.dumps(rng.choice(HOSTILE)))
    elif action == 1:
        del spot[key]
    elif action == 2:
        other = rng.choice(spots)
        spot[key] = json.loads(json.dumps(other[rng.choice(list(other) if isinstance(other, dict) else range(len(other)))]))
    elif action == 3 and isinstance(spot[key], int) and not isinstance(spot[key], bool):
        spot[key] += rng.choice([-2, -1, 1, 2, 10**9, -(10**9)])
    elif action == 4 and isinstance(spot, list):
        spot.insert(rng.randrange(len(spot) + 1), json.loads(json.dumps(spot[key])))
    elif action == 5 and isinstance(spot, list):
        rng.shuffle(spot)
    elif action == 6 and isinstance(spot[key], list):
        spot[key] = spot[key] * rng.choice([2, 3, 40])
    elif action == 7 and isinstance(spot, dict):
        spot[rng.choice(["extra", "instance", "kind", "scope", ""])] = rng.choice([0, "x", [], {}])
    else:
        spot[key] = [spot[key]]


def damage(rng, data):
    """Change bytes of the text."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        if not data:
            break
        place = rng.randrange(len(data))
        action = rng.randrange(5)
        if action == 0:
            data[place] = rng.randrange(256)
        elif action == 1:
            del data[place : place + rng.randint(1, 8)]
        elif action == 2:
            data[place:place] = rng.choice([b"{", b"]", b'"', b"\\", b",", b"1e9", b"\\u0000", b"[" * 40, b'"a":1,"a":2,', b"9" * 5000])
        elif action == 3:
            data[place:place] = data[place : place + rng.randint(1, 64)]
        else:
            del data[place:]
    return bytes(data)


def build(rng, family, cases):
    """One hostile input: (problem, bytes, True when the text itself was damaged)."""
    problem, seeds = rng.choice(cases)
    value = json.loads(rng.choice(seeds))
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 6])):
        mutate(rng, value)
    data = json.dumps(value).encode()
    if rng.random() < 0.25:
        return problem, damage(rng, data)
    return problem, data


def meaning(family, value, keys=()):
    """Scalars of a submission by the keys above them, without order and notation; open places left out."""
    found = []
    if isinstance(value, dict):
        for key, item in value.items():
            if keys or (key not in rewriting.INTERMEDIATE and key not in rewriting.OPEN.get(family, ())):
                found += meaning(family, item, (*keys, key))
    elif isinstance(value, list):
        for item in value:
            found += meaning(family, item, keys)
    elif keys[:1] != ("certificate",) or keys[1:] not in (("left",), ("right",), ("image",)):
        if isinstance(value, str) and value.lstrip("-").isdigit():
            value = int(value)
        if isinstance(value, float) and value == int(value):
            value = int(value)
        found.append((keys, repr(value)))
    return found


def spelled_out(family, problem, value):
    """The submission with every encoding integer of a field element and every digit string written as a list."""
    if family in rewriting.ELEMENTS:
        p = problem["presentation"]["characteristic"]
        degree = len(problem["presentation"]["modulus_coefficients"]) - 1
        for pattern in rewriting.ELEMENTS[family]:
            for container, key in rewriting.places(value, pattern):
                if isinstance(container[key], (int, float)):
                    container[key] = [int(container[key]) // p**index % p for index in range(degree)]
        for pattern in rewriting.ROWS.get(family, ()):
            for container, key in rewriting.places(value, pattern):
                if isinstance(container[key], str):
                    container[key] = [int(digit) for digit in container[key]]
    return value


def seeds_of(producer, task):
    """Right submission and readable traps of a task, as text."""
    texts = [json.dumps(producer.solve(problem_of(task)))]
    folder = os.path.join(ROOT, "oracle", task, "traps")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name, "artifacts", "app", "submission.json"), "rb") as stream:
            data = stream.read()
        try:
            text = data.decode()
            if isinstance(json.loads(text), dict) and len(text) < 300_000 and "NaN" not in text:
                texts.append(text)
        except (ValueError, RecursionError):
            continue
    return texts[:1] * len(texts) + texts


def run(family, count, seed):
    """Fuzz one family; a summary with its findings."""
    rng = rewriting.rng_for("fuzz", family, seed)
    producer, checker = Side("oracle", family), Side("verifiers", family)
    cases = [(problem_of(task), seeds_of(producer, task)) for task in tasks_of(family)]
    rights = {problem["instance"]: seeds[0] for problem, seeds in cases}
    tally = {"family": family, "inputs": 0, "rewarded": 0, "zero": 0, "failedChecks": {}, "slowestSeconds": 0.0, "findings": []}
    for number in range(count):
        problem, data = build(rng, family, cases)
        start = time.process_time()
        try:
            reward, verdict = checker.judge(problem, data[: 1024 * 1024])
        except Exception as fault:  # noqa: BLE001 - every escape is a finding
            tally["findings"].append({"number": number, "fault": f"{type(fault).__name__}: {fault}"[:200], "input": ascii(data[:300])})
            continue
        spent = time.process_time() - start
        tally["inputs"] += 1
        tally["slowestSeconds"] = round(max(tally["slowestSeconds"], spent), 3)
        if spent > SECONDS:
            tally["findings"].append({"number": number, "fault": f"{spent:.1f} seconds", "input": ascii(data[:300])})
        failed = verdict["failed"]
        tally["failedChecks"][str(failed)] = tally["failedChecks"].get(str(failed), 0) + 1
        if reward["reward"] == 1:
            tally["rewarded"] += 1
            right = json.loads(rights[problem["instance"]])
            given = spelled_out(family, problem, json.loads(data))
            if failed is not None or sorted(meaning(family, given)) != sorted(meaning(family, right)):
                tally["findings"].append({"number": number, "fault": "unexplained reward", "input": ascii(data[:300])})
        else:
            tally["zero"] += 1
            if failed is None:
                tally["findings"].append({"number": number, "fault": "no failed check", "input": ascii(data[:300])})
    tally["peakMebibytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if tally["peakMebibytes"] > MEBIBYTES:
        tally["findings"].append({"fault": f"{tally['peakMebibytes']} MiB"})
    return tally


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("family")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    families = FAMILIES if options.family == "all" else [options.family.replace("-", "_")]
    bad = False
    for family in families:
        tally = run(family, options.count, options.seed)
        bad |= bool(tally["findings"])
        tally["findings"] = tally["findings"][:5]
        print(json.dumps(tally), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
