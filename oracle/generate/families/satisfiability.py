"""Random 3-SAT near and above the threshold: a model, or a refutation that can be replayed."""

from generate.draft import contract_traps, drop_last, edited, set_at, wrong_instance
from shared.satisfiability.search import search


def draft(draw, options):
    """One instance; option `satisfiable` or the seed fixes the truth."""
    wanted = options.get("satisfiable")
    if wanted is None:
        wanted = draw.below(2) == 1
    while True:
        count = draw.between(90, 100) if wanted else draw.between(116, 124)
        ratio = 42 if wanted else 45
        clauses = []
        while len(clauses) < count * ratio // 10:
            clause = [variable * draw.pick([1, -1]) for variable in draw.sample(range(1, count + 1), 3)]
            if sorted(clause) not in map(sorted, clauses):
                clauses.append(clause)
        model, proof = search(count, clauses)
        if (model is not None) != wanted:
            continue
        if wanted or 300 <= len(proof) <= 2000:
            break
    return {
        "problem": {"kind": "cnf", "variable_count": count, "clauses": clauses},
        "title": "A model of a formula in conjunctive normal form, or a refutation",
        "instruction": _INSTRUCTION,
        "schema": _schema(count),
        "metadata": {
            "domain": "satisfiability", "difficulty": "hard" if not wanted else "medium", "affordance": "direct" if wanted else "partial",
            "operations": ["sat.solve", "sat.assignment.check"],
            "roles": [] if wanted else ["non-ceiling", "no-such-object"],
            "derivation": "Own instance: random clauses of three literals.",
        },
        "traps": _model_traps(model, clauses) if wanted else _proof_traps(proof, clauses, count),
    }


def _model_traps(model, clauses):
    chosen = set(model)
    tight = next(
        literal for clause in clauses for literal in clause if literal in chosen and sum(x in chosen for x in clause) == 1
    )

    def flip(submission):
        submission["model"][abs(tight) - 1] = -tight

    def refuted(submission):
        submission.update(conclusion="unsatisfiable", model=None, proof=[[]], statement="no-model-exists")

    return [
        ("one-value-flipped", "model.satisfies", "One clause is false.", edited(flip)),
        ("all-positive", "model.satisfies", "Every variable is set to true.", set_at("model", sorted(map(abs, model)))),
        ("partial-model", "answer.complete", "One variable has no value.", drop_last("model")),
        ("both-values", "answer.complete", "One variable has both values.", edited(_both_values)),
        ("claims-no-model", "proof.steps", "The formula is called unsatisfiable without a proof.", edited(refuted)),
        ("claims-uniqueness", "scope.statement", "One model does not show that there is no other.", set_at("statement", "exactly-one-model")),
        wrong_instance(),
    ]


def _both_values(submission):
    submission["model"][1] = -submission["model"][0]


def _proof_traps(proof, clauses, count):
    def bare(submission):
        submission["proof"] = [[]]

    def no_end(submission):
        submission["proof"].pop()

    def stronger_step(submission):
        longest = max(range(len(proof)), key=lambda i: len(proof[i]))
        submission["proof"][0] = [1]
        submission["proof"][1] = [-1]
        submission["proof"][longest] = proof[longest]

    def best_effort_model(submission):
        model = [variable if sum(clause.count(variable) - clause.count(-variable) for clause in clauses) >= 0 else -variable
                 for variable in range(1, count + 1)]
        submission.update(conclusion="satisfiable", model=model, proof=None, statement="a-model-exists")

    return [
        ("bare-claim", "proof.steps", "The empty clause alone, as if it followed at once.", edited(bare)),
        ("unfinished-proof", "proof.empty-clause", "The empty clause is left out at the end.", edited(no_end)),
        ("unsound-step", "proof.steps", "Two contradicting units that nothing supports.", edited(stronger_step)),
        ("no-evidence", "answer.complete", "The right conclusion with nothing to show for it.", set_at("proof", None)),
        ("nearly-a-model", "model.satisfies", "The majority assignment falsifies some clauses.", edited(best_effort_model)),
        ("claims-minimality", "scope.statement", "A refutation does not show that every clause is needed.", set_at("statement", "every-clause-is-needed")),
        ("clauses-left-out", "binding.formula", "The answer says that it covers fewer clauses.", set_at("clauses", len(clauses) - 1)),
        wrong_instance(),
        *contract_traps(["variables"]),
    ]


_INSTRUCTION = """
`/app/input.json` holds a formula in conjunctive normal form: `variable_count` variables numbered from 1, and `clauses`, each a list of
non-zero integers, where `k` stands for variable k and `-k` for its negation. Decide whether the formula has a model.

- If it has, hand in one; every model is accepted.
- If it has none, hand in a refutation by reverse unit propagation: a list of clauses in which each clause follows from the
  formula and the clauses before it in this way: setting all its literals to false and then, again and again, setting the last open
  literal of any clause whose other literals are all false to true, ends with a clause whose literals are all false. The refutation is
  complete when it holds the empty list; the clauses after it need not follow. At most 6000 clauses and 120000 literals in all, none
  of them 0 (no terminating 0 either). Every refutation of this kind is accepted, for instance the clauses that a conflict-driven solver
  learns, in order, and then `[]`.

The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `variables`, `clauses`: how many variables and clauses of the input your answer covers (the whole formula is asked for).
- `conclusion`: `"satisfiable"` or `"unsatisfiable"`.
- `model`: with conclusion `"satisfiable"` a list with `k` or `-k` for each variable k, in any order; otherwise `null`.
- `proof`: with conclusion `"unsatisfiable"` the list of clauses; otherwise `null`.
- `statement`: the one statement that the handed-in object itself establishes, `"a-model-exists"` or `"no-model-exists"`. The schema also
  lists `"exactly-one-model"` and `"every-clause-is-needed"`; neither object shows them, so they claim too much.
"""


def _schema(count):
    literal = {"type": "integer", "minimum": -count, "maximum": count}
    clause = {"type": "array", "maxItems": count, "items": literal}
    size = {"type": "integer", "minimum": 0, "maximum": 10**6}
    return {
        "required": ["variables", "clauses", "conclusion", "model", "proof", "statement"],
        "properties": {
            "variables": size, "clauses": size,
            "conclusion": {"enum": ["satisfiable", "unsatisfiable"]},
            "model": {"type": ["array", "null"], "maxItems": count, "items": literal},
            "proof": {"type": ["array", "null"], "maxItems": 6000, "items": clause},
            "statement": {"enum": ["a-model-exists", "no-model-exists", "exactly-one-model", "every-clause-is-needed"]},
        },
    }
