"""The committed tasks: what the generator makes from their frozen seeds, and what the dataset must hold."""

import json
import os
import tempfile
import unittest
from collections import Counter

import host_check
from generate import main as generator
from generate import write
from sides import COMMITTED, FAMILIES, ROOT, Side, encode, metadata_of

SEEDS = int(os.environ.get("TASK_GENERATOR_SEEDS", "1"))
COVERAGE = {"upstream_reproduction", "authored_task", "source_reference"}


def files_below(base):
    found = {}
    for folder, _, names in os.walk(base):
        for name in names:
            path = os.path.join(folder, name)
            if "__pycache__" not in path:
                with open(path, "rb") as stream:
                    found[os.path.relpath(path, base)] = stream.read()
    return found


class Committed(unittest.TestCase):
    def test_every_committed_file_is_what_the_frozen_seed_gives(self):
        for task, family, seed, options in COMMITTED:
            for base, files in generator.committed(task, family, seed, options).items():
                self.assertEqual(sorted(files_below(os.path.join(ROOT, base))), sorted(files), base)
                for path, data in files_below(os.path.join(ROOT, base)).items():
                    self.assertEqual(data, files[path], f"{base}/{path}")

    def test_the_catalogue_names_every_task_folder(self):
        self.assertEqual(host_check.task_ids(), sorted(row[0] for row in COMMITTED))

    def test_the_dataset_has_the_tasks_it_must_have(self):
        families, roles, intermediate = Counter(), Counter(), 0
        for task, _, _, _ in COMMITTED:
            meta = metadata_of(task)
            families[meta["family"]] += 1
            roles.update(meta["roles"])
            self.assertIn(meta["coverage_class"], COVERAGE, task)
            self.assertIn(meta["difficulty"], {"easy", "medium", "hard"}, task)
            self.assertIn(meta["contamination"], {"public-authored", "public-source"}, task)
            self.assertIn(meta["affordance"], {"none", "partial", "direct"}, task)
            self.assertEqual(meta["affordance"] == "none", not meta["operations"], task)
            self.assertTrue(meta["domain"] and meta["derivation"], task)
            with open(os.path.join(ROOT, "tasks", task, "environment", "submission_schema.json"), encoding="utf-8") as stream:
                schema = json.load(stream)
            intermediate += set(schema["required"]) != set(schema["properties"])
        self.assertGreaterEqual(sum(families.values()), 24)
        self.assertGreaterEqual(families["direction-ledger"], 6)
        self.assertGreaterEqual(families["polynomial-map"], 6)
        self.assertGreaterEqual(roles["negative-control"], 4)
        self.assertGreaterEqual(roles["non-ceiling"], 4)
        self.assertGreaterEqual(roles["honest-partial"], 3)
        self.assertGreaterEqual(intermediate, 6)

    def test_every_key_of_a_schema_is_explained_in_the_instruction_and_every_object_is_closed(self):
        for task, _, _, _ in COMMITTED:
            base = os.path.join(ROOT, "tasks", task)
            with open(os.path.join(base, "instruction.md"), encoding="utf-8") as stream:
                text = stream.read()
            with open(os.path.join(base, "environment", "submission_schema.json"), encoding="utf-8") as stream:
                schema = json.load(stream)
            self.assertTrue(all(len(line) <= 170 for line in text.splitlines()), task)
            stack = [schema]
            while stack:
                node = stack.pop()
                if isinstance(node, dict):
                    if node.get("type") == "object":
                        self.assertIs(node["additionalProperties"], False, task)
                        for key in node["properties"]:
                            self.assertTrue(f"`{key}`" in text or f'"{key}"' in text, f"{task}: {key}")
                    stack.extend(node.values())
                elif isinstance(node, list):
                    stack.extend(node)


class Generated(unittest.TestCase):
    def test_instances_of_other_seeds_hold_in_every_family(self):
        for family in FAMILIES:
            side = Side("verifiers", family)
            for index in range(SEEDS):
                draft, right = generator.make("t", family, f"other/{index}", {"variant": index})
                problem = json.loads(write.input_bytes("t", family, draft))
                reward, verdict = side.judge(problem, encode(right))
                self.assertEqual((set(reward.values()), verdict["failed"]), ({1}, None), f"{family} {index}")
                traps = write.trap_files(draft, right)
                for name in sorted({path.split("/")[0] for path in traps}):
                    expected = json.loads(traps[f"{name}/trap.json"])["fails"]
                    reward, verdict = side.judge(problem, traps[f"{name}/artifacts/app/submission.json"])
                    self.assertEqual((reward["reward"], verdict["failed"]), (0, expected), f"{family} {index} {name}")

    def test_fresh_instances_of_every_family_prove_themselves_and_never_hold_the_seed(self):
        # Three families keep the test short; `main.py FAMILY` proves any of them the same way.
        for family in ("direction_ledger", "polynomial_map", "negative_control"):
            self.assertIn(family, FAMILIES)
            with tempfile.TemporaryDirectory() as out:
                seed = f"secret-seed-{family}"
                for result in generator.generate(family, seed, out, 1):
                    self.assertEqual(result["faults"], [])
                    for path, data in files_below(result["path"]).items():
                        self.assertNotIn(seed.encode(), data, path)

    def test_equal_seeds_give_equal_bundles_and_other_seeds_give_others(self):
        origin = {"contamination": "held-out", "derivation": "x"}
        drafts = [generator.make("t", "negative_control", seed, {"variant": 0}) for seed in ("a", "a", "b")]
        bundles = [generator.bundle_files("t", "negative_control", draft, right, origin) for draft, right in drafts]
        self.assertEqual(bundles[0], bundles[1])
        self.assertNotEqual(bundles[0]["environment/input.json"], bundles[2]["environment/input.json"])


if __name__ == "__main__":
    unittest.main()
