"""Checks models by evaluation and refutations by reverse unit propagation."""

from shared.kernel import shape
from shared.satisfiability.propagation import Clauses

MAX_STEPS = 6000
MAX_LITERALS = 120_000

STATEMENTS = ("a-model-exists", "no-model-exists", "exactly-one-model", "every-clause-is-needed")

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.formula", "binding"),
    ("answer.complete", "completeness"),
    ("model.satisfies", "correctness"),
    ("proof.steps", "correctness"),
    ("proof.empty-clause", "completeness"),
    ("scope.statement", "scope"),
)


def contract(problem):
    """Shape of the submission."""
    count = problem["variable_count"]
    literal = shape.integer(-count, count)
    clause = shape.array(literal, 0, count)
    return shape.record(
        {
            "instance": shape.text(120),
            "variables": shape.integer(0, 10**6),
            "clauses": shape.integer(0, 10**6),
            "conclusion": shape.choice("satisfiable", "unsatisfiable"),
            "model": shape.nullable(shape.array(literal, 0, count)),
            "proof": shape.nullable(shape.array(clause, 0, MAX_STEPS)),
            "statement": shape.choice(*STATEMENTS),
        }
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    count, clauses = problem["variable_count"], problem["clauses"]
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    size = (submission["variables"], submission["clauses"])
    report.check("binding.formula", size == (count, len(clauses)), "another formula is said to be covered")
    satisfiable = submission["conclusion"] == "satisfiable"
    statement = STATEMENTS[0] if satisfiable else STATEMENTS[1]
    report.check("scope.statement", submission["statement"] == statement, f"{submission['statement']} is not what is shown")
    if satisfiable:
        # The other object is not asked for, so its checks have nothing to refuse.
        report.check("proof.steps", True)
        report.check("proof.empty-clause", True)
        _model(count, clauses, submission, report)
    else:
        report.check("model.satisfies", True)
        _proof(count, clauses, submission, report)


def _model(count, clauses, submission, report):
    model = submission["model"]
    complete = (
        model is not None
        and submission["proof"] is None
        and sorted(abs(literal) for literal in model) == list(range(1, count + 1))
    )
    report.need("answer.complete", complete, "a value for each variable once, and no proof, belong to this conclusion")
    chosen = set(model)
    for index, clause in enumerate(clauses):
        report.check("model.satisfies", any(literal in chosen for literal in clause), f"clause {index} is false")


def _proof(count, clauses, submission, report):
    proof = submission["proof"]
    sound = proof is not None and submission["model"] is None and all(0 not in clause for clause in proof)
    sound = sound and sum(len(clause) for clause in proof) <= MAX_LITERALS
    report.need("answer.complete", sound, "a proof within its limits, and no model, belong to this conclusion")
    known = Clauses(count, clauses)
    ended = False
    for index, clause in enumerate(proof):
        report.need("proof.steps", known.implies(clause), f"step {index} does not follow by unit propagation")
        if not clause:
            ended = True
            break
        known.add(clause)
    report.check("proof.steps", True)
    report.check("proof.empty-clause", ended, "the proof does not reach the empty clause")
