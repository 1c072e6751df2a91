"""Factors by Brent's method and proves the factors prime by complete factorisation of each factor minus one (Lucas)."""

from shared.discrete_log.solve import factor


def solve(problem):
    """The submission for a factorisation problem."""
    number = int(problem["number"])
    powers = {}
    for prime in factor(number):
        if not lucas(prime):
            raise ValueError(f"{prime} is not proved prime")
        powers[prime] = powers.get(prime, 0) + 1
    witness = next((base for base in range(2, 1000) if pow(base, number - 1, number) != 1 or _root(number, base)), 2)
    return {
        "instance": problem["instance"],
        "number": str(number),
        "conclusion": "prime" if list(powers.items()) == [(number, 1)] else "composite",
        "factors": [[str(prime), power] for prime, power in sorted(powers.items())],
        "statement": "complete-factorisation",
        "witness": witness,
    }


def _root(number, base):
    """True when powers of the base show a square root of 1 other than 1 and -1."""
    exponent = number - 1
    while exponent % 2 == 0:
        exponent //= 2
        value = pow(base, exponent, number)
        if value != 1:
            return value != number - 1
    return False


def lucas(number):
    """Primality by an element of order number - 1."""
    if number < 4:
        return number > 1
    primes = set(factor(number - 1))
    return any(
        pow(base, number - 1, number) == 1 and all(pow(base, (number - 1) // p, number) != 1 for p in primes)
        for base in range(2, 200)
    )
