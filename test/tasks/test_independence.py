"""Producer and checker share no executable code, agree on random instances, and notice each other's faults."""

import ast
import json
import os
import signal
import unittest

import planted_faults
import rewriting
from sides import FAMILIES, ROOT, Side, encode, problem_of, source, tasks_of
from small_problems import small_problem

ROUNDS = int(os.environ.get("TASK_AGREEMENT_ROUNDS", "160"))
SECONDS = 3


def python_files(side):
    for folder, _, names in os.walk(os.path.join(ROOT, side)):
        for name in names:
            if name.endswith(".py"):
                yield os.path.relpath(os.path.join(folder, name), ROOT)


def tree_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return ast.parse(stream.read(), path)


class Independence(unittest.TestCase):
    def test_no_file_of_one_side_names_the_other_or_loads_code_by_name(self):
        for side, other in (("verifiers", "oracle"), ("oracle", "verifiers")):
            for path in python_files(side):
                if path.startswith("oracle/generate/"):
                    continue
                for node in ast.walk(tree_of(path)):
                    if isinstance(node, ast.ImportFrom):
                        modules = [node.module or ""]
                    elif isinstance(node, ast.Import):
                        modules = [alias.name for alias in node.names]
                    else:
                        if isinstance(node, ast.Name):
                            self.assertNotIn(node.id, {"exec", "eval", "__import__", "compile"}, path)
                        continue
                    for module in modules:
                        self.assertNotIn(module.split(".")[0], {other, "generate", "importlib", "runpy"}, path)

    def test_generators_never_import_a_verifier(self):
        for path in python_files("oracle/generate"):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.ImportFrom):
                    self.assertFalse((node.module or "").endswith(".check"), path)
                    self.assertNotIn("verifiers", node.module or "", path)

    def test_no_function_has_the_same_body_on_both_sides(self):
        seen = {}
        for path in python_files("oracle/shared"):
            for name, shape in functions(tree_of(path)):
                seen.setdefault(shape, []).append(f"{path}:{name}")
        for path in python_files("verifiers/shared"):
            for name, shape in functions(tree_of(path)):
                self.assertNotIn(shape, seen, f"{path}:{name} equals {seen.get(shape)}")

    def test_producer_and_checker_agree_on_random_instances(self):
        for family in FAMILIES:
            producer, checker = Side("oracle", family), Side("verifiers", family)
            rng = rewriting.rng_for("agreement", family)
            for number in range(ROUNDS):
                problem = small_problem(rng, family)
                right = producer.solve(problem)
                reward, verdict = checker.judge(problem, encode(right))
                self.assertEqual((reward["reward"], verdict["failed"]), (1, None), f"{family} {number}: {problem} {right}")

    def test_each_planted_fault_of_a_producer_is_noticed_by_the_checker(self):
        for family, relative, old, new in planted_faults.PRODUCER:
            checker = Side("verifiers", family)
            broken = Side("oracle", family, {relative: planted(self, "oracle", relative, old, new)})
            self.assertTrue(
                any(not accepted(broken, checker, problem) for problem in problems(family)),
                f"{relative}: {old!r} -> {new!r} goes unnoticed",
            )

    def test_each_planted_fault_of_a_checker_is_noticed_by_the_producer(self):
        for family, relative, old, new in planted_faults.CHECKER:
            producer = Side("oracle", family)
            broken = Side("verifiers", family, {relative: planted(self, "verifiers", relative, old, new)})
            self.assertTrue(
                any(not accepted(producer, broken, problem) for problem in problems(family))
                or any(trap_passes(broken, task) for task in tasks_of(family)),
                f"{relative}: {old!r} -> {new!r} goes unnoticed",
            )


def functions(tree):
    """Functions of at least three statements, as text without names of variables and docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body
            if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
                body = body[1:]
            if sum(isinstance(part, ast.stmt) for statement in body for part in ast.walk(statement)) < 3:
                continue
            names = {}
            for part in (part for statement in body for part in ast.walk(statement)):
                if isinstance(part, ast.Name):
                    part.id = names.setdefault(part.id, f"v{len(names)}")
            yield node.name, "\n".join(ast.dump(statement) for statement in body)


def planted(test, side, relative, old, new):
    text = source(side, relative)
    test.assertEqual(text.count(old), 1, f"{side}/{relative}: {old!r}")
    return text.replace(old, new)


def problems(family):
    rng = rewriting.rng_for("planted", family)
    return [small_problem(rng, family) for _ in range(25)] + [problem_of(task) for task in tasks_of(family)[:2]]


def trap_passes(checker, task):
    """True when the checker takes a wrong submission of the producer's side for right."""
    folder = os.path.join(ROOT, "oracle", task, "traps")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name, "artifacts", "app", "submission.json"), "rb") as stream:
            reward, _ = checker.judge(problem_of(task), stream.read())
        if reward["reward"] == 1:
            return True
    return False


class Hang(Exception):
    """A broken side that does not end."""


def alarm(_signal, _frame):
    raise Hang


def accepted(producer, checker, problem):
    """True when the checker gives reward 1 to the producer's answer; a crash or a hang of either counts as noticed."""
    signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        reward, _ = checker.judge(problem, json.dumps(producer.solve(problem)).encode())
    except Exception:  # noqa: BLE001 - a broken side may fail in any way
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return reward["reward"] == 1


if __name__ == "__main__":
    unittest.main()
