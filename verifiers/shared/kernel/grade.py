"""Entry point of every verifier: frozen input, strict reading, bounded grading, verdict.

A family module gives `CHECKS` (pairs of id and dimension), `contract(problem)` (a shape reader for the
submission) and `grade(problem, submission, report)`.

Exit codes: 0 a verdict was written; 3 the hidden input is not the frozen one; 4 an internal fault. With 3
and 4 there is no reward. The paths default to those of the container; only the command line moves them.
"""

import argparse
import hashlib
import json
import os
import resource
import signal
import sys

from shared.kernel import shape, strict_json
from shared.kernel.report import Report, Stop

WALL_SECONDS = 60
MEMORY_BYTES = 1024 * 1024 * 1024


class WorkLimit(Exception):
    """Grading took longer than it may."""


class HiddenInputFault(Exception):
    """The verifier's own input is not the one it was frozen with."""


def main(family, here):
    """Grade the submission and write reward.json and verdict.json; `here` is the verifier's folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--submission", default="/app/submission.json")
    parser.add_argument("--logs", default="/logs/verifier")
    options = parser.parse_args()
    try:
        problem = frozen_input(here)
        _limit_work()
        reward, verdict = judge(family, problem, options.submission)
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.makedirs(options.logs, exist_ok=True)
        _write(os.path.join(options.logs, "verdict.json"), verdict)
        _write(os.path.join(options.logs, "reward.json"), reward)
    except HiddenInputFault as fault:
        print(f"hidden input digest mismatch: {fault}", file=sys.stderr)
        sys.exit(3)
    except Exception as fault:  # noqa: BLE001 - any other fault is ours, never the submission's
        print(f"verifier fault: {type(fault).__name__}: {ascii(str(fault))[:500]}", file=sys.stderr)
        sys.exit(4)
    print(f"reward {reward['reward']}, failed check: {verdict['failed'] or 'none'}")


def frozen_input(here):
    """The problem from input.json, whose bytes must have the digest in input.sha256."""
    try:
        with open(os.path.join(here, "input.json"), "rb") as stream:
            data = stream.read()
        with open(os.path.join(here, "input.sha256"), encoding="ascii") as stream:
            expected = stream.read().strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise HiddenInputFault(f"cannot be read ({type(fault).__name__})") from None
    actual = hashlib.sha256(data).hexdigest()
    if actual != expected:
        raise HiddenInputFault(f"expected {expected[:64]}, found {actual}")
    return json.loads(data)


def judge(family, problem, path):
    """Reward and verdict of the submission at `path`."""
    return _judge(family, problem, lambda: strict_json.read_bytes(path))


def judge_bytes(family, problem, data):
    """Reward and verdict of a submission given as bytes (at most the file's size limit)."""
    return _judge(family, problem, lambda: data)


def _judge(family, problem, fetch):
    contract = [(name, "contract") for name in strict_json.CONTRACT_CHECKS]
    contract += [("submission.shape", "contract"), ("work.bounded", "contract")]
    report = Report([*contract, *family.CHECKS])
    try:
        submission = _read(family, problem, fetch, report)
        if submission is not None:
            family.grade(problem, submission, report)
    except Stop:
        pass
    except (WorkLimit, MemoryError) as limit:
        report.check("work.bounded", False, f"grading was ended by its limit ({type(limit).__name__})")
        return report.verdict()
    report.check("work.bounded", True)
    return report.verdict()


def _read(family, problem, fetch, report):
    try:
        value = strict_json.parse(fetch())
    except strict_json.Refusal as refusal:
        for name in strict_json.CONTRACT_CHECKS:
            if name == refusal.check:
                report.check(name, False, refusal.detail)
                return None
            report.check(name, True)
        raise
    for name in strict_json.CONTRACT_CHECKS:
        report.check(name, True)
    try:
        submission = family.contract(problem)(value, "submission")
    except shape.ShapeFault as fault:
        report.check("submission.shape", False, str(fault))
        return None
    report.check("submission.shape", True)
    return submission


def _limit_work():
    def alarm(_signal, _frame):
        raise WorkLimit

    signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _write(path, value):
    data = json.dumps(value, indent=2, ensure_ascii=True) + "\n"
    temporary = path + ".tmp"
    with open(temporary, "w", encoding="ascii") as stream:
        stream.write(data)
    os.replace(temporary, path)
