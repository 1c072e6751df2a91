"""Checks factorisations by multiplication and a deterministic primality test of each factor."""

from shared.kernel import shape

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.number", "binding"),
    ("factors.distinct", "completeness"),
    ("factors.product", "completeness"),
    ("factors.prime", "correctness"),
    ("conclusion.true", "correctness"),
    ("scope.statement", "scope"),
    ("intermediate.witness", "intermediate"),
)

# The least strong pseudoprime to all these bases exceeds 3.3 * 10^24 (Sorenson and Webster).
_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
_PROVEN_BELOW = 3_317_044_064_679_887_385_961_981


def contract(problem):
    """Shape of the submission."""
    number = shape.big_integer(40)
    return shape.record(
        {
            "instance": shape.text(120),
            "number": number,
            "conclusion": shape.choice("prime", "composite"),
            "factors": shape.array(shape.array(number, 2, 2), 0, 64),
            "statement": shape.choice("complete-factorisation", "partial-factorisation", "probable-prime"),
        },
        {"witness": number},
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    number = int(problem["number"])
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    report.check("binding.number", submission["number"] == number, "another number")
    report.check("scope.statement", submission["statement"] == "complete-factorisation", "less than a complete factorisation")
    report.check(
        "conclusion.true", submission["conclusion"] == ("prime" if passes_all(number) else "composite"), "a false conclusion"
    )
    witness = submission["witness"]
    sound = witness is not None and 1 < witness < number - 1 and not passes(number, witness)
    report.check("intermediate.witness", sound, "no base for which the strong test fails")
    factors = submission["factors"]
    primes = [prime for prime, _ in factors]
    report.check("factors.distinct", len(set(primes)) == len(primes), "a factor occurs twice")
    bounded = all(1 < prime <= number and 1 <= power <= 200 for prime, power in factors)
    product = 1
    if bounded:
        for prime, power in factors:
            product *= prime**power
    report.check("factors.product", bounded and product == number, "the factors do not multiply to the number")
    report.check("factors.prime", all(passes_all(prime) for prime in primes), "a factor is not prime")


def passes_all(number):
    """Primality below the proven limit."""
    if number < 2 or number >= _PROVEN_BELOW:
        return False
    return all(number == base or (number % base and passes(number, base)) for base in _BASES)


def passes(number, base):
    """True when an odd number passes the strong test to a base."""
    if number % 2 == 0:
        return number == 2
    twos = ((number - 1) & (1 - number)).bit_length() - 1
    value = pow(base, (number - 1) >> twos, number)
    if value in (1, number - 1):
        return True
    for _ in range(twos - 1):
        value = value * value % number
        if value == number - 1:
            return True
    return False
