"""Discrete logarithms by factoring the group order, Pohlig-Hellman and baby steps with giant steps."""

from math import gcd, isqrt


def solve(problem):
    """The submission for a discrete-logarithm problem."""
    p, base, target = (int(problem[key]) for key in ("modulus", "base", "target"))
    order = p - 1
    for prime in sorted(set(factor(p - 1))):
        while order % prime == 0 and pow(base, order // prime, p) == 1:
            order //= prime
    powers = {}
    for prime in factor(order):
        powers[prime] = powers.get(prime, 0) + 1
    exponent, modulus, residues = 0, 1, []
    for prime, power in sorted(powers.items()):
        part = prime**power
        residue = prime_power_log(pow(base, order // part, p), pow(target, order // part, p), prime, power, p)
        residues.append([str(part), str(residue)])
        exponent += modulus * ((residue - exponent) * pow(modulus, -1, part) % part)
        modulus *= part
    return {
        "instance": problem["instance"],
        "modulus": str(p),
        "order": str(order),
        "order_factors": [[str(prime), power] for prime, power in sorted(powers.items())],
        "exponent": str(exponent),
        "solutions": "one-residue-class-modulo-order",
        "residues": residues,
    }


def prime_power_log(base, target, prime, power, p):
    """Logarithm in a subgroup of prime power order, one digit at a time."""
    root = pow(base, prime ** (power - 1), p)
    found = 0
    for digit in range(power):
        shifted = target * pow(base, -found, p) % p
        found += prime**digit * steps(root, pow(shifted, prime ** (power - 1 - digit), p), prime, p)
    return found


def steps(base, target, order, p):
    """Baby steps and giant steps."""
    width = isqrt(order) + 1
    table, value = {}, 1
    for index in range(width):
        table.setdefault(value, index)
        value = value * base % p
    stride = pow(base, -width, p)
    value = target
    for giant in range(width + 1):
        if value in table:
            return giant * width + table[value]
        value = value * stride % p
    raise ValueError("the target is not a power of the base")


def factor(number):
    """Prime factors with multiplicity: trial division, then Brent's cycle method."""
    found = []
    for prime in range(2, 2000):
        while number % prime == 0:
            found.append(prime)
            number //= prime
    stack = [number] if number > 1 else []
    while stack:
        value = stack.pop()
        if value < 4_000_000 or fermat(value):
            found.append(value)
            continue
        divisor = brent(value)
        stack += [divisor, value // divisor]
    return sorted(found)


def fermat(number):
    """Strong probable-prime test to a few bases."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        if base % number == 0:
            continue
        value = pow(base, odd, number)
        chain = [value]
        for _ in range(twos - 1):
            chain.append(chain[-1] * chain[-1] % number)
        if chain[0] != 1 and number - 1 not in chain:
            return False
    return True


def brent(number):
    """A proper divisor of a composite number."""
    for constant in range(1, 50):
        value, product, divisor, length = 2, 1, 1, 1
        while divisor == 1:
            anchor = value
            for _ in range(length):
                value = (value * value + constant) % number
            done = 0
            while done < length and divisor == 1:
                mark = value
                for _ in range(min(128, length - done)):
                    value = (value * value + constant) % number
                    product = product * abs(anchor - value) % number
                divisor = gcd(product, number)
                done += 128
            length *= 2
        if divisor == number:
            divisor, value = 1, mark
            while divisor == 1:
                value = (value * value + constant) % number
                divisor = gcd(abs(anchor - value), number)
        if divisor != number:
            return divisor
    raise ValueError("no divisor found")
