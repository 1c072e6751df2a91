"""Checks normal forms of integer matrices.

Smith: the invariants follow from gcds of minors, so no elimination is replayed. Hermite: the form is
canonical by inspection, its rows span the input's row lattice because every input row reduces to zero
against them and both lattices have the same index.
"""

from shared.integer_matrix.arithmetic import determinant, determinantal_divisors, minors_gcd, product
from shared.kernel import shape

MAX_DIGITS = 60

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.matrix", "binding"),
    ("form.size", "completeness"),
    ("form.rank", "correctness"),
    ("form.canonical", "correctness"),
    ("form.values", "correctness"),
    ("scope.exact", "scope"),
    ("intermediate.values", "intermediate"),
)


def contract(problem):
    """Shape of the submission for the problem's kind."""
    number = shape.big_integer(MAX_DIGITS)
    matrix = shape.array(shape.array(number, 0, 16), 0, 16)
    base = {
        "instance": shape.text(120),
        "rows": shape.integer(0, 64),
        "columns": shape.integer(0, 64),
        "rank": shape.integer(0, 64),
        "domain": shape.choice("integers", "rationals", "modular"),
    }
    if problem["kind"] == "smith":
        base["invariants"] = shape.array(number, 0, 32)
        return shape.record(base, {"determinantal_divisors": shape.array(number, 0, 32)})
    base["form"] = matrix
    return shape.record(base, {"transform": matrix})


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    matrix = problem["matrix"]
    size = (len(matrix), len(matrix[0]))
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    report.check(
        "binding.matrix", (submission["rows"], submission["columns"]) == size, f"the input matrix has the size {size}"
    )
    report.check("scope.exact", submission["domain"] == "integers", "the form over the integers is asked for")
    if problem["kind"] == "smith":
        _smith(matrix, submission, report)
    else:
        _hermite(matrix, submission, report)


def _smith(matrix, submission, report):
    divisors = determinantal_divisors(matrix)
    rank = sum(1 for value in divisors if value)
    invariants = submission["invariants"]
    report.check("form.rank", submission["rank"] == rank, f"the rank is not {submission['rank']}")
    _intermediate_divisors(divisors, submission, report)
    report.need(
        "form.size", len(invariants) == len(divisors), f"{len(invariants)} invariants, the diagonal has {len(divisors)}"
    )
    chain = all(value >= 0 for value in invariants) and all(
        (right == 0) if left == 0 else right % left == 0 for left, right in zip(invariants, invariants[1:])
    )
    report.check("form.canonical", chain, "not a chain of non-negative divisors")
    running = 1
    for index, (value, divisor) in enumerate(zip(invariants, divisors)):
        running *= value
        report.check("form.values", running == divisor, f"the product of the first {index + 1} invariants is wrong")


def _intermediate_divisors(divisors, submission, report):
    given = submission["determinantal_divisors"]
    report.check("intermediate.values", given == divisors, "the determinantal divisors are absent or wrong")


def _hermite(matrix, submission, report):
    form = submission["form"]
    columns = len(matrix[0])
    report.need(
        "form.size",
        len(form) == len(matrix) and all(len(row) == columns for row in form),
        "the form must have the size of the input",
    )
    pivots = [next((index for index, value in enumerate(row) if value), None) for row in form]
    count = sum(1 for pivot in pivots if pivot is not None)
    # Full column rank is part of the problem, so the index is that of the maximal minors.
    report.check("form.rank", submission["rank"] == columns, f"the rank is not {submission['rank']}")
    canonical = pivots[:count] == sorted(set(pivots[:count])) if None not in pivots[:count] else False
    if canonical:
        for row, pivot in enumerate(pivots[:count]):
            value = form[row][pivot]
            canonical &= value > 0 and all(0 <= form[above][pivot] < value for above in range(row))
    report.need("form.canonical", canonical, "not a row-style Hermite form with reduced entries above positive pivots")
    report.check("form.values", count == columns, "the rows of the form do not span a lattice of full rank")
    if count == columns:
        index = 1
        for row, pivot in enumerate(pivots[:count]):
            index *= form[row][pivot]
        report.check("form.values", index == minors_gcd(matrix, columns), "another index than that of the row lattice")
    for number, row in enumerate(matrix):
        rest = list(row)
        for line, pivot in enumerate(pivots[:count]):
            factor = rest[pivot] // form[line][pivot]
            rest = [value - factor * other for value, other in zip(rest, form[line])]
        report.check("form.values", not any(rest), f"input row {number} is not in the lattice of the form")
    _intermediate_transform(matrix, submission, report)


def _intermediate_transform(matrix, submission, report):
    transform = submission["transform"]
    size = len(matrix)
    square = transform is not None and len(transform) == size and all(len(row) == size for row in transform)
    sound = square and product(transform, matrix) == submission["form"] and abs(determinant(transform)) == 1
    report.check("intermediate.values", sound, "no unimodular transform with form = transform * matrix")
