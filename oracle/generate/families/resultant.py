"""Resultants of two integer polynomials of moderate degree."""

from generate.draft import contract_traps, edited, set_at, wrong_instance
from shared.resultant.solve import resultant

NUMBER = {"oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?(0|[1-9][0-9]*)$", "maxLength": 121}]}
REF = {"$ref": "#/$defs/number"}


def draft(draw, options):
    """One instance: degrees 9 and 7, both odd so that the order of the arguments changes the sign."""
    while True:
        f = [draw.between(-19, 19) for _ in range(9)] + [draw.pick([2, 3, 5, 7])]
        g = [draw.between(-19, 19) for _ in range(7)] + [draw.pick([2, 3, 5, 7])]
        value = resultant(f, g)
        primes = [p for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47) if value % p == 0]
        if value and f[0] and g[0] and len(primes) >= 2 and value % (f[-1] ** 7) != 0:
            break
    moduli = [101, 103, 107, 109]
    lifted = list(f)
    lifted[-1] = 1

    def without_prime(submission):
        submission["primes"].pop()

    return {
        "problem": {"kind": "resultant", "f": f, "g": g, "prime_bound": 50, "moduli": moduli},
        "title": "Resultant of two integer polynomials of degrees 9 and 7",
        "instruction": """
`/app/input.json` holds two polynomials in one variable with integer coefficients: `f` and `g` list them from the constant term
upward. Find their resultant Res(f, g), the determinant of the Sylvester matrix with deg g shifted rows of the coefficients of f
(highest power first) above deg f shifted rows of those of g. Equivalently, with a and b the leading coefficients of f and g,
Res(f, g) = a^(deg g) b^(deg f) times the product of all differences (root of f) - (root of g).

The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `degrees`: the list `[deg f, deg g]`.
- `resultant`: Res(f, g).
- `common_root`: `true` if f and g have a common complex root, otherwise `false`.
- `primes`: all primes below `prime_bound` that divide Res(f, g), each once, in any order.
- `convention`: `"sylvester-f-then-g"`, the definition above (the schema also lists `"sylvester-g-then-f"` and `"monic"`; a value by
  another definition is not the answer to this task).
- `residues` (optional, graded on its own as an intermediate value and never part of the reward): for each number M in `moduli` a pair
  `[M, r]` with r the remainder of Res(f, g) in 0..M-1, in any order.

An integer in `resultant`, `primes` and `residues` may be a JSON integer or a string of decimal digits such as `"-12"`.
""",
        "schema": {
            "required": ["degrees", "resultant", "common_root", "primes", "convention"],
            "properties": {
                "degrees": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer", "minimum": 0, "maximum": 64}},
                "resultant": REF,
                "common_root": {"type": "boolean"},
                "primes": {"type": "array", "maxItems": 64, "items": REF},
                "convention": {"enum": ["sylvester-f-then-g", "sylvester-g-then-f", "monic"]},
                "residues": {"type": "array", "maxItems": 64, "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": REF}},
            },
            "$defs": {"number": NUMBER},
        },
        "metadata": {
            "domain": "exact-algebra", "difficulty": "medium", "affordance": "direct",
            "operations": ["polynomial.compute.resultant"],
            "derivation": "Own instance: random coefficients with odd degrees.",
        },
        "traps": [
            ("arguments-swapped", "resultant.value", "Res(g, f) has the opposite sign for odd degrees.", set_at("resultant", str(resultant(g, f)))),
            ("leading-coefficient-forgotten", "resultant.value", "f is taken as monic.", set_at("resultant", str(resultant(lifted, g)))),
            ("reversed-coefficients", "resultant.value", "The coefficients are read from the highest power down.",
             set_at("resultant", str(resultant(f[::-1], g[::-1]) + (1 if resultant(f[::-1], g[::-1]) == value else 0)))),
            ("prime-left-out", "primes.complete", "One dividing prime is left out.", edited(without_prime)),
            ("prime-beyond-bound", "primes.complete", "A prime above the bound is added.", edited(lambda s: s["primes"].append(53))),
            ("claims-common-root", "conclusion.true", "A common root is claimed beside a non-zero resultant.", set_at("common_root", True)),
            ("other-convention", "scope.convention", "The value is said to follow another definition.", set_at("convention", "monic")),
            wrong_instance(),
            *contract_traps(["degrees", 0]),
        ],
    }
