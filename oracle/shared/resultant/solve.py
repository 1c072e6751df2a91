"""Resultants by a Euclidean remainder sequence over the rationals."""

from fractions import Fraction


def solve(problem):
    """The submission for a resultant problem."""
    first, second = problem["f"], problem["g"]
    value = resultant(first, second)
    sieve = [p for p in range(2, problem["prime_bound"]) if not any(p % d == 0 for d in range(2, p))]
    return {
        "instance": problem["instance"],
        "degrees": [len(first) - 1, len(second) - 1],
        "resultant": str(value),
        "common_root": value == 0,
        "primes": [p for p in sieve if value % p == 0],
        "convention": "sylvester-f-then-g",
        "residues": [[modulus, value % modulus] for modulus in problem["moduli"]],
    }


def resultant(first, second):
    """Resultant of two integer coefficient lists (constant term first)."""
    f = [Fraction(value) for value in first]
    g = [Fraction(value) for value in second]
    factor = Fraction(1)
    while len(g) > 1:
        m, n = len(f) - 1, len(g) - 1
        rest = list(f)
        while len(rest) >= len(g):
            lead = rest[-1] / g[-1]
            for k in range(len(g)):
                rest[len(rest) - len(g) + k] -= lead * g[k]
            rest.pop()
        while rest and rest[-1] == 0:
            rest.pop()
        if not rest:
            return 0
        r = len(rest) - 1
        factor *= (-1) ** (m * n) * g[-1] ** (m - r)
        f, g = g, rest
    value = factor * g[0] ** (len(f) - 1)
    if value.denominator != 1:
        raise ValueError("a resultant of integer polynomials is an integer")
    return value.numerator
