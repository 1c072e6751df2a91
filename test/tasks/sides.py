"""Loads producer and checker of a family side by side; both call their root package `shared`."""

import importlib
import importlib.util
import json
import os
import sys
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "oracle"))

from generate.catalogue import COMMITTED, FAMILIES, SHARED  # noqa: E402


class Side:
    """One side ("oracle" or "verifiers") of one family; `patch` maps a module's relative path to changed source."""

    def __init__(self, side, family, patch=None):
        self._folder = os.path.join(ROOT, side)
        self._patch = patch or {}
        held = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "shared"}
        for name in held:
            del sys.modules[name]
        sys.path.insert(0, self._folder)
        sys.meta_path.insert(0, self)
        try:
            if side == "oracle":
                self.solve = importlib.import_module(f"shared.{family}.solve").solve
            else:
                self.check = importlib.import_module(f"shared.{family}.check")
                self.grade = importlib.import_module("shared.kernel.grade")
        finally:
            sys.meta_path.remove(self)
            sys.path.remove(self._folder)
            for name in [name for name in sys.modules if name.split(".")[0] == "shared"]:
                del sys.modules[name]
            sys.modules.update(held)

    def find_spec(self, name, path=None, target=None):
        """Serve patched sources (import hook)."""
        relative = name.replace(".", "/") + ".py"
        if relative not in self._patch:
            return None
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        relative = module.__name__.replace(".", "/") + ".py"
        exec(compile(self._patch[relative], relative, "exec"), module.__dict__)

    def judge(self, problem, data):
        """Reward and verdict of submission bytes."""
        return self.grade.judge_bytes(self.check, problem, data)


def source(side, relative):
    """Source text of a shared module, by its path below the side."""
    with open(os.path.join(ROOT, side, relative), encoding="utf-8") as stream:
        return stream.read()


def tasks_of(family):
    """Ids of the repository's tasks of a family."""
    return [row[0] for row in COMMITTED if row[1] == family]


def problem_of(task):
    """The public input of a task."""
    with open(os.path.join(ROOT, "tasks", task, "environment", "input.json"), encoding="utf-8") as stream:
        return json.load(stream)


def metadata_of(task):
    """The metadata table of a task."""
    with open(os.path.join(ROOT, "tasks", task, "task.toml"), "rb") as stream:
        return tomllib.load(stream)["metadata"]


def encode(value):
    """Plain submission bytes."""
    return json.dumps(value).encode()


__all__ = ["COMMITTED", "FAMILIES", "ROOT", "SHARED", "Side", "encode", "metadata_of", "problem_of", "source", "tasks_of"]
