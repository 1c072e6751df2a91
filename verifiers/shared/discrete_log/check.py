"""Checks discrete logarithms by exponentiation; the order's prime factors come with the submission and are tested."""

from shared.kernel import shape

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.modulus", "binding"),
    ("order.factors", "completeness"),
    ("order.exact", "correctness"),
    ("exponent.value", "correctness"),
    ("scope.solutions", "scope"),
    ("intermediate.residues", "intermediate"),
)

# Strong tests to these bases decide primality below 3.3 * 10^24 (Sorenson and Webster).
_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
_PROVEN_BELOW = 3_317_044_064_679_887_385_961_981


def contract(problem):
    """Shape of the submission."""
    number = shape.big_integer(60)
    return shape.record(
        {
            "instance": shape.text(120),
            "modulus": number,
            "order": number,
            "order_factors": shape.array(shape.array(number, 2, 2), 0, 64),
            "exponent": number,
            "solutions": shape.choice("one-residue-class-modulo-order", "single-integer", "unknown"),
        },
        {"residues": shape.array(shape.array(number, 2, 2), 0, 64)},
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    p, base, target = (int(problem[key]) for key in ("modulus", "base", "target"))
    order, factors = submission["order"], submission["order_factors"]
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    report.check("binding.modulus", submission["modulus"] == p, "another modulus")
    report.check("exponent.value", pow(base, submission["exponent"], p) == target, "the power is not the target")
    report.check("scope.solutions", submission["solutions"] == "one-residue-class-modulo-order", "not the set of all solutions")
    primes = [prime for prime, _ in factors]
    sound = len(set(primes)) == len(primes) and all(is_prime(prime) and 1 <= power <= 200 for prime, power in factors)
    product = 1
    if sound:
        for prime, power in factors:
            product *= prime**power
    report.need("order.factors", sound and product == order, "not the prime factorisation of the stated order")
    exact = pow(base, order, p) == 1 and all(pow(base, order // prime, p) != 1 for prime in primes)
    report.need("order.exact", exact, "not the order of the base")
    _residues(p, base, target, submission, report)


def _residues(p, base, target, submission, report):
    given = submission["residues"]
    order = submission["order"]
    wanted = sorted(prime**power for prime, power in submission["order_factors"])
    sound = given is not None and sorted(modulus for modulus, _ in given) == wanted
    if sound:
        # In the subgroup of order M the residue alone decides the power.
        for modulus, residue in given:
            part = order // modulus
            sound &= 0 <= residue < modulus and pow(pow(base, part, p), residue, p) == pow(target, part, p)
    report.check("intermediate.residues", sound, "the residues are absent or wrong")


def is_prime(number):
    """Deterministic strong test, for numbers below the proven limit only."""
    if number < 2 or number >= _PROVEN_BELOW:
        return False
    for base in _BASES:
        if number % base == 0:
            return number == base
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in _BASES:
        value = pow(base, odd, number)
        if value in (1, number - 1):
            continue
        for _ in range(twos - 1):
            value = value * value % number
            if value == number - 1:
                break
        else:
            return False
    return True
