"""A model, or a refutation by learned clauses."""

from shared.satisfiability.search import search


def solve(problem):
    """The submission for a satisfiability problem."""
    model, proof = search(problem["variable_count"], problem["clauses"])
    return {
        "instance": problem["instance"],
        "variables": problem["variable_count"],
        "clauses": len(problem["clauses"]),
        "conclusion": "unsatisfiable" if model is None else "satisfiable",
        "model": model,
        "proof": proof,
        "statement": "no-model-exists" if model is None else "a-model-exists",
    }
