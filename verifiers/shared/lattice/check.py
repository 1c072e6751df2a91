"""Checks short lattice vectors: membership by the given coefficients, minimality by exact enumeration.

The enumeration reduces the basis by pairs only and then bounds coordinates with exact rational squares, so
it shares no step with a Lovász-type reduction.
"""

from fractions import Fraction
from math import isqrt

from shared.kernel import shape

MAX_DIGITS = 40

CHECKS = (
    ("binding.instance", "binding"),
    ("vector.size", "completeness"),
    ("vector.non-zero", "correctness"),
    ("vector.in-lattice", "correctness"),
    ("vector.norm", "correctness"),
    ("vector.short-enough", "correctness"),
    ("scope.claim", "scope"),
)


def contract(problem):
    """Shape of the submission."""
    number = shape.big_integer(MAX_DIGITS)
    return shape.record(
        {
            "instance": shape.text(120),
            "vector": shape.array(number, 0, 64),
            "coefficients": shape.array(number, 0, 64),
            "norm_squared": shape.big_integer(2 * MAX_DIGITS + 4),
            "claim": shape.choice("shortest", "within-bound", "in-lattice"),
        }
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    basis = problem["basis"]
    vector = submission["vector"]
    coefficients = submission["coefficients"]
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    claim = "shortest" if problem["kind"] == "shortest" else "within-bound"
    report.check("scope.claim", submission["claim"] == claim, f"{submission['claim']} is not what the answer may claim")
    report.need(
        "vector.size",
        len(vector) == len(basis[0]) and len(coefficients) == len(basis),
        "one coordinate for each column and one coefficient for each row are needed",
    )
    report.check("vector.non-zero", any(vector), "the zero vector")
    combination = [sum(c * row[k] for c, row in zip(coefficients, basis)) for k in range(len(vector))]
    report.check("vector.in-lattice", combination == vector, "the coefficients give another vector")
    norm = sum(value * value for value in vector)
    report.check("vector.norm", submission["norm_squared"] == norm, "the squared norm is not that of the vector")
    limit = minimum(basis) if problem["kind"] == "shortest" else problem["norm_squared_bound"]
    report.check("vector.short-enough", norm <= limit, f"squared norm {norm}, at most {limit} is asked for")


def minimum(basis):
    """Smallest squared norm of a non-zero lattice vector."""
    rows = _pairwise(basis)
    gram = [[sum(a * b for a, b in zip(left, right)) for right in rows] for left in rows]
    size = len(rows)
    # Quadratic form as a sum of exact weighted squares.
    form = [[Fraction(value) for value in row] for row in gram]
    for i in range(size):
        for j in range(i + 1, size):
            form[j][i] = form[i][j]
            form[i][j] /= form[i][i]
        for k in range(i + 1, size):
            for m in range(k, size):
                form[k][m] -= form[k][i] * form[i][m]
    best = min(gram[i][i] for i in range(size))
    point = [0] * size

    def descend(level, left):
        nonlocal best
        if level < 0:
            value = best_bound - left
            if 0 < value < best:
                best = int(value)
            return
        offset = sum(form[level][j] * point[j] for j in range(level + 1, size))
        weight = form[level][level]
        radius = isqrt(int(left / weight)) + 1
        for value in range(-radius - int(offset) - 1, radius - int(offset) + 2):
            rest = left - weight * (value + offset) ** 2
            if rest >= 0:
                point[level] = value
                descend(level - 1, rest)
        point[level] = 0

    best_bound = Fraction(best)
    descend(size - 1, best_bound)
    return best


def _pairwise(basis):
    """Subtract multiples of one row from another while that shortens it."""
    rows = [list(row) for row in basis]
    changed = True
    while changed:
        changed = False
        rows.sort(key=lambda row: sum(v * v for v in row))
        for i, target in enumerate(rows):
            for j, source in enumerate(rows):
                if i == j:
                    continue
                square = sum(v * v for v in source)
                inner = sum(a * b for a, b in zip(target, source))
                factor = (2 * inner + square) // (2 * square)
                shorter = [a - factor * b for a, b in zip(target, source)]
                if factor and sum(v * v for v in shorter) < sum(v * v for v in target):
                    rows[i] = target = shorter
                    changed = True
    return rows
