"""Discrete logarithms modulo primes whose group order has two middle-sized prime factors."""

from generate.draft import edited, contract_traps, set_at, wrong_instance
from shared.discrete_log.solve import factor, fermat

NUMBER = {"oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?(0|[1-9][0-9]*)$", "maxLength": 61}]}
REF = {"$ref": "#/$defs/number"}
PAIRS = {"type": "array", "maxItems": 64, "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": REF}}


def _prime(draw, bits):
    while True:
        value = draw.below(2 ** (bits - 1)) + 2 ** (bits - 1)
        value |= 1
        if fermat(value):
            return value


def draft(draw, options):
    """One instance with a modulus of about 82 bits and a base of index 2 or more."""
    bits = options.get("bits", 35)
    while True:
        small = draw.pick([2, 4, 12, 36, 18])
        q1, q2 = _prime(draw, bits), _prime(draw, bits - 2)
        middle = _prime(draw, 14)
        p = small * middle * q1 * q2 + 1
        if q1 != q2 and fermat(p):
            break
    primes = sorted(set(factor(small)) | {middle, q1, q2})
    while True:
        root = draw.between(2, 10**6)
        if all(pow(root, (p - 1) // prime, p) != 1 for prime in primes):
            break
    base = pow(root, 2, p)
    order = (p - 1) // 2
    secret = order // 3 + draw.below(order // 2)
    target = pow(base, secret, p)

    def drop_factor(submission):
        submission["order_factors"].pop()

    def composite_factor(submission):
        last, before = submission["order_factors"].pop(), submission["order_factors"].pop()
        submission["order_factors"].append([str(int(last[0]) * int(before[0])), 1])

    def full_group(submission):
        submission["order"] = str(p - 1)
        two = next((pair for pair in submission["order_factors"] if int(pair[0]) == 2), None)
        if two:
            two[1] = int(two[1]) + 1
        else:
            submission["order_factors"].append(["2", 1])

    return {
        "problem": {"kind": "discrete-log", "modulus": str(p), "base": str(base), "target": str(target)},
        "title": "A discrete logarithm modulo a prime of about 25 digits",
        "instruction": """
`/app/input.json` holds three integers as strings of decimal digits: a prime `modulus` p, a `base` g and a `target` h, which is a
power of g modulo p. Find an integer x with g^x = h modulo p, and the multiplicative order of g modulo p (the least positive n with
g^n = 1 modulo p).

The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `modulus`: p.
- `order`: the order of g.
- `order_factors`: the prime factorisation of that order as a list of pairs `[prime, exponent]`, each prime once, in any order.
- `exponent`: x; every integer with the property is accepted.
- `solutions`: what the set of all integers with the property is: `"one-residue-class-modulo-order"`, `"single-integer"` or `"unknown"`.
- `residues` (optional, graded on its own as an intermediate value and never part of the reward): for each exact prime power M in the
  factorisation of the order the pair `[M, r]` with r the remainder of x in 0..M-1, in any order.

An integer may be a JSON integer or a string of decimal digits such as `"-12"`.
""",
        "schema": {
            "required": ["modulus", "order", "order_factors", "exponent", "solutions"],
            "properties": {
                "modulus": REF, "order": REF, "order_factors": PAIRS, "exponent": REF,
                "solutions": {"enum": ["one-residue-class-modulo-order", "single-integer", "unknown"]},
                "residues": PAIRS,
            },
            "$defs": {"number": NUMBER},
        },
        "metadata": {
            "domain": "number-theory", "difficulty": "hard", "affordance": "partial",
            "operations": ["integer.factor.certified_compute"],
            "roles": ["non-ceiling"],
            "derivation": "Own instance: drawn primes; the secret exponent is forgotten after the target is computed.",
        },
        "traps": [
            ("exponent-off-by-one", "exponent.value", "The exponent is one too large.",
             edited(lambda s: s.__setitem__("exponent", str(int(s["exponent"]) + 1)))),
            ("negated-exponent", "exponent.value", "The logarithm of the inverse.",
             edited(lambda s: s.__setitem__("exponent", str(order - int(s["exponent"]))))),
            ("group-order", "order.exact", "The order of the whole group instead of that of the base.", edited(full_group)),
            ("factor-left-out", "order.factors", "One prime factor of the order is left out.", edited(drop_factor)),
            ("composite-factor", "order.factors", "Two large prime factors are left together.", edited(composite_factor)),
            ("single-solution", "scope.solutions", "The exponent is called the only solution.", set_at("solutions", "single-integer")),
            ("other-modulus", "binding.modulus", "Another modulus is stated.", set_at("modulus", str(p + 2))),
            wrong_instance(),
            *contract_traps(["exponent"]),
        ],
    }
