"""Prints right submissions of every task as texts: {task: [plain, rewritten, ...]}."""

import json

import rewriting
from sides import FAMILIES, Side, encode, problem_of, tasks_of


def main():
    texts = {}
    for family in FAMILIES:
        producer = Side("oracle", family)
        for task in tasks_of(family):
            problem = problem_of(task)
            right = producer.solve(problem)
            rng = rewriting.rng_for("schema", task)
            rewritten = [rewriting.equivalent(rng, family, problem, right) for _ in range(3)]
            texts[task] = [data.decode() for data in (encode(right), *rewritten)]
    print(json.dumps(texts))


if __name__ == "__main__":
    main()
