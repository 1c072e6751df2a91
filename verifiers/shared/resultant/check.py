"""Checks resultants as determinants of Sylvester matrices, by fraction-free elimination."""

from shared.integer_matrix.arithmetic import determinant
from shared.kernel import shape

MAX_DIGITS = 120

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.degrees", "binding"),
    ("primes.complete", "completeness"),
    ("resultant.value", "correctness"),
    ("conclusion.true", "correctness"),
    ("scope.convention", "scope"),
    ("intermediate.residues", "intermediate"),
)


def contract(problem):
    """Shape of the submission."""
    number = shape.big_integer(MAX_DIGITS)
    return shape.record(
        {
            "instance": shape.text(120),
            "degrees": shape.array(shape.integer(0, 64), 2, 2),
            "resultant": number,
            "common_root": shape.flag,
            "primes": shape.array(number, 0, 64),
            "convention": shape.choice("sylvester-f-then-g", "sylvester-g-then-f", "monic"),
        },
        {"residues": shape.array(shape.array(number, 2, 2), 0, 64)},
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    first, second = problem["f"], problem["g"]
    value = determinant(sylvester(first, second))
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    degrees = [len(first) - 1, len(second) - 1]
    report.check("binding.degrees", submission["degrees"] == degrees, f"the degrees are {degrees}")
    report.check("resultant.value", submission["resultant"] == value, "another value")
    report.check("conclusion.true", submission["common_root"] == (value == 0), "the conclusion contradicts the resultant")
    expected = {p for p in range(2, problem["prime_bound"]) if _prime(p) and value % p == 0}
    primes = submission["primes"]
    report.check(
        "primes.complete", len(primes) == len(set(primes)) and set(primes) == expected, "not exactly the dividing primes"
    )
    report.check("scope.convention", submission["convention"] == "sylvester-f-then-g", "another convention")
    residues = submission["residues"]
    sound = residues is not None and sorted(pair[0] for pair in residues) == sorted(problem["moduli"])
    sound = sound and all(residue == value % modulus for modulus, residue in residues)
    report.check("intermediate.residues", sound, "the residues are absent or wrong")


def sylvester(first, second):
    """Sylvester matrix of two coefficient lists from the constant term upward."""
    m, n = len(first) - 1, len(second) - 1
    rows = [[0] * i + first[::-1] + [0] * (n - 1 - i) for i in range(n)]
    return rows + [[0] * i + second[::-1] + [0] * (m - 1 - i) for i in range(m)]


def _prime(number):
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))
