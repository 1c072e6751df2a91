"""Checks shortest linear recurrences over F_p by solving the linear equations that the terms give."""

from shared.kernel import shape

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.terms", "binding"),
    ("recurrence.length", "correctness"),
    ("recurrence.size", "completeness"),
    ("recurrence.holds", "correctness"),
    ("uniqueness.true", "correctness"),
    ("next-term.value", "correctness"),
    ("scope.statement", "scope"),
    ("intermediate.dimension", "intermediate"),
)


def contract(problem):
    """Shape of the submission."""
    residue = shape.integer(0, problem["modulus"] - 1)
    return shape.record(
        {
            "instance": shape.text(120),
            "terms_used": shape.integer(0, 4096),
            "length": shape.integer(0, 256),
            "coefficients": shape.array(residue, 0, 256),
            "unique": shape.flag,
            "next_term": shape.nullable(residue),
            "statement": shape.choice("next-term-determined", "next-term-not-determined", "sequence-determined"),
        },
        {"solution_dimension": shape.integer(0, 256)},
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    p, terms = problem["modulus"], problem["terms"]
    length, rank, particular = shortest(terms, p)
    free = length - rank
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    report.check("binding.terms", submission["terms_used"] == len(terms), f"{len(terms)} terms are given")
    report.check("uniqueness.true", submission["unique"] == (free == 0), "the uniqueness is misstated")
    following = next_term(terms, length, p, particular) if free == 0 else None
    report.check("next-term.value", submission["next_term"] == following, "not what the terms determine")
    statement = "next-term-determined" if free == 0 else "next-term-not-determined"
    report.check("scope.statement", submission["statement"] == statement, f"{submission['statement']} is not what follows")
    report.check("intermediate.dimension", submission["solution_dimension"] == free, "the dimension is absent or wrong")
    report.check("recurrence.length", submission["length"] == length, "another length is the least one")
    coefficients = submission["coefficients"]
    report.need("recurrence.size", len(coefficients) == submission["length"], "one coefficient for each step back is needed")
    size = submission["length"]
    for index in range(size, len(terms)):
        value = sum(c * terms[index - 1 - back] for back, c in enumerate(coefficients)) % p
        report.check("recurrence.holds", value == terms[index], f"the recurrence fails at term {index}")
    report.check("recurrence.holds", True)


def shortest(terms, p):
    """Least length, rank of its equations, and one solution."""
    for length in range(len(terms) + 1):
        rows = [terms[index - length : index][::-1] + [terms[index]] for index in range(length, len(terms))]
        solved = _solve(rows, length, p)
        if solved is not None:
            return length, *solved
    raise ValueError("every sequence has a recurrence of its own length")


def next_term(terms, length, p, coefficients):
    """The term after the last one."""
    return sum(c * terms[len(terms) - 1 - back] for back, c in enumerate(coefficients)) % p if length else 0


def _solve(rows, width, p):
    work = [list(row) for row in rows]
    pivots, top = [], 0
    for column in range(width):
        spot = next((i for i in range(top, len(work)) if work[i][column] % p), None)
        if spot is None:
            continue
        work[top], work[spot] = work[spot], work[top]
        scale = pow(work[top][column], p - 2, p)
        work[top] = [value * scale % p for value in work[top]]
        for i in range(len(work)):
            if i != top and work[i][column]:
                factor = work[i][column]
                work[i] = [(a - factor * b) % p for a, b in zip(work[i], work[top])]
        pivots.append(column)
        top += 1
    if any(row[width] % p for row in work[top:]):
        return None
    solution = [0] * width
    for row, column in zip(work, pivots):
        solution[column] = row[width]
    return top, solution
