"""Composite numbers that pass strong probable-prime tests to the first bases."""

from math import gcd, prod

from generate.draft import contract_traps, drop_last, edited, set_at, wrong_instance
from shared.discrete_log.solve import fermat

NUMBER = {"oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?(0|[1-9][0-9]*)$", "maxLength": 41}]}
REF = {"$ref": "#/$defs/number"}
_SMALL = prod(n for n in range(3, 200) if all(n % d for d in range(2, n)))


def _strong(number, base):
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    value = pow(base, odd, number)
    if value in (1, number - 1):
        return True
    for _ in range(twos - 1):
        value = value * value % number
        if value == number - 1:
            return True
    return False


def draft(draw, options):
    """One instance: n = p (2p - 1), a strong pseudoprime to the bases 2, 3 and 5."""
    # With p = 1 modulo 4 the base 2 can be a residue of 2p - 1; with p = 3 modulo 4 it never is.
    p = (draw.below(2**37) + 2**37) * 4 + 1
    while True:
        p += 4
        q = 2 * p - 1
        number = p * q
        # Small divisors first: they settle nearly every candidate.
        if gcd(number, _SMALL) == 1 and all(_strong(number, base) for base in (2, 3, 5)) and fermat(p) and fermat(q):
            break

    def as_prime(submission):
        submission.update(conclusion="prime", factors=[[str(number), 1]])

    return {
        "problem": {"kind": "factorisation", "number": str(number)},
        "title": "Prime or composite: the complete factorisation of a number of two dozen digits",
        "instruction": """
`/app/input.json` holds a positive integer `number` as a string of decimal digits. Decide whether it is prime, and give its complete
prime factorisation. Passing a probable-prime test to a few bases does not make a number prime.

The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `number`: the number of the input, copied.
- `conclusion`: `"prime"` or `"composite"`.
- `factors`: the prime factorisation as a list of pairs `[prime, exponent]`, each prime once, in any order (a prime number has itself
  as its only factor).
- `statement`: what `factors` is: `"complete-factorisation"`, which is asked for; the schema also lists `"partial-factorisation"` and
  `"probable-prime"` for answers that say less.
- `witness` (optional, graded on its own as an intermediate value and never part of the reward): for a composite number n an integer w
  with 1 < w < n - 1 for which the strong (Miller-Rabin) test to the base w shows that n is composite.

An integer may be a JSON integer or a string of decimal digits.
""",
        "schema": {
            "required": ["number", "conclusion", "factors", "statement"],
            "properties": {
                "number": REF,
                "conclusion": {"enum": ["prime", "composite"]},
                "factors": {"type": "array", "maxItems": 64, "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": REF}},
                "statement": {"enum": ["complete-factorisation", "partial-factorisation", "probable-prime"]},
                "witness": REF,
            },
            "$defs": {"number": NUMBER},
        },
        "metadata": {
            "domain": "number-theory", "difficulty": "medium", "affordance": "direct",
            "operations": ["integer.factor.certified_compute"],
            "roles": ["plausible-shortcut"],
            "derivation": "Own instance: a drawn strong pseudoprime of the form p (2p - 1).",
        },
        "traps": [
            ("taken-as-prime", "factors.prime", "The number passes the strong test to 2, 3 and 5 and is taken as prime.", edited(as_prime)),
            ("factor-missing", "factors.product", "One prime factor is left out.", drop_last("factors")),
            ("unit-factor", "factors.product", "1 is listed as a factor.", edited(lambda s: s["factors"].append([1, 1]))),
            ("factor-twice", "factors.distinct", "A factor is listed twice.", edited(lambda s: s["factors"].append(s["factors"][0]))),
            ("wrong-conclusion", "conclusion.true", "The number is called prime beside two factors.", set_at("conclusion", "prime")),
            ("says-less", "scope.statement", "The factorisation is called partial.", set_at("statement", "partial-factorisation")),
            ("other-number", "binding.number", "Another number is stated.", set_at("number", str(number + 2))),
            wrong_instance(),
            *contract_traps(["factors", 0, 1]),
        ],
    }
