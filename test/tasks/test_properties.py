"""Right submissions score 1 in every encoding; single-field changes score 0; producer and checker agree."""

import os
import unittest

import rewriting
from sides import FAMILIES, Side, encode, problem_of, tasks_of

ROUNDS = int(os.environ.get("TASK_PROPERTY_ROUNDS", "12"))


class Properties(unittest.TestCase):
    def test_every_equivalent_encoding_of_a_right_submission_scores_one(self):
        for family in FAMILIES:
            producer, checker = Side("oracle", family), Side("verifiers", family)
            for task in tasks_of(family):
                problem = problem_of(task)
                right = producer.solve(problem)
                rng = rewriting.rng_for("equivalent", task)
                for round_number in range(max(2, ROUNDS // len(tasks_of(family)))):
                    data = rewriting.equivalent(rng, family, problem, right)
                    reward, verdict = checker.judge(problem, data)
                    self.assertEqual(
                        (set(reward.values()), verdict["failed"]), ({1}, None), f"{task} round {round_number}: {data[:300]}"
                    )

    def test_every_single_field_change_scores_zero(self):
        for family in FAMILIES:
            producer, checker = Side("oracle", family), Side("verifiers", family)
            for task in tasks_of(family):
                problem = problem_of(task)
                right = producer.solve(problem)
                rng = rewriting.rng_for("changed", task)
                for _ in range(max(3, ROUNDS * 2 // len(tasks_of(family)))):
                    draw = rewriting.changed(rng, family, right)
                    if draw is None:
                        continue
                    wrong, path = draw
                    reward, verdict = checker.judge(problem, encode(wrong))
                    self.assertEqual(reward["reward"], 0, f"{task} at {path}")
                    self.assertIsNotNone(verdict["failed"])
                for _ in range(3):
                    wrong = rewriting.structural(rng, right)
                    reward, verdict = checker.judge(problem, encode(wrong))
                    self.assertEqual((reward["reward"], verdict["failed"]), (0, "submission.shape"), f"{task}: {list(wrong)}")

    def test_wrong_intermediate_values_cost_their_own_dimension_only(self):
        covered = 0
        for family in FAMILIES:
            producer, checker = Side("oracle", family), Side("verifiers", family)
            for task in tasks_of(family):
                problem = problem_of(task)
                right = producer.solve(problem)
                for key in sorted(rewriting.INTERMEDIATE & set(right)):
                    without = {name: value for name, value in right.items() if name != key}
                    reward, verdict = checker.judge(problem, encode(without))
                    self.assertEqual((reward["reward"], reward["intermediate"], verdict["failed"]), (1, 0, None), task)
                    covered += 1
        self.assertGreaterEqual(covered, 6)


if __name__ == "__main__":
    unittest.main()
