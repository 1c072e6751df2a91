"""Lattices whose reduced basis does not begin with a shortest vector, and larger ones with a norm bound."""

from generate.draft import contract_traps, drop_last, edited, set_at, wrong_instance
from shared.lattice.reduction import lll, shortest

NUMBER = {"oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?(0|[1-9][0-9]*)$", "maxLength": 85}]}
REF = {"$ref": "#/$defs/number"}
VECTOR = {"type": "array", "maxItems": 64, "items": REF}

KEYS = """
- `instance`: the string `instance` of the input, copied.
- `vector`: the coordinates of v, one for each column of the basis.
- `coefficients`: the integers c1, c2, ... with v = c1 b1 + c2 b2 + ..., one for each row of the basis.
- `norm_squared`: the sum of the squares of the coordinates of v.
"""


def draft(draw, options):
    """One instance; `kind` or the variant number chooses the question."""
    kind = options.get("kind") or ("shortest", "bounded")[options.get("variant", 0) % 2]
    return _shortest(draw) if kind == "shortest" else _bounded(draw)


def _skewed(draw, rows, rounds):
    rows = [list(row) for row in rows]
    for _ in range(rounds):
        target, source = draw.sample(range(len(rows)), 2)
        factor = draw.pick([-2, -1, 1, 2])
        rows[target] = [a + factor * b for a, b in zip(rows[target], rows[source])]
    return rows


def _norm(vector):
    return sum(value * value for value in vector)


def _schema():
    return {
        "required": ["vector", "coefficients", "norm_squared", "claim"],
        "properties": {
            "vector": VECTOR, "coefficients": VECTOR, "norm_squared": REF,
            "claim": {"enum": ["shortest", "within-bound", "in-lattice"]},
        },
        "$defs": {"number": NUMBER},
    }


def _shortest(draw):
    size = 9
    while True:
        rows = [[draw.between(-14, 14) for _ in range(size)] for _ in range(size)]
        try:
            weak, _ = lll(rows, 3, 4)
        except ZeroDivisionError:
            continue
        best, _, norm = shortest(rows)
        strong, _ = lll(rows)
        if min(map(_norm, weak)) > norm and min(map(_norm, strong)) > norm:
            break
    basis = _skewed(draw, weak, 40)
    reduced, transform = lll(basis)
    index = min(range(size), key=lambda i: _norm(reduced[i]))
    if _norm(reduced[index]) <= norm:
        index = max(range(size), key=lambda i: _norm(reduced[i]))
    given = min(range(size), key=lambda i: _norm(basis[i]))

    def reduced_first(submission):
        submission.update(vector=reduced[index], coefficients=transform[index], norm_squared=_norm(reduced[index]))

    def input_row(submission):
        submission.update(vector=basis[given], coefficients=[int(i == given) for i in range(size)], norm_squared=_norm(basis[given]))

    def zero(submission):
        submission.update(vector=[0] * size, coefficients=[0] * size, norm_squared=0)

    def not_in_lattice(submission):
        submission["vector"] = [1] + [0] * (size - 1)
        submission["norm_squared"] = 1

    return {
        "problem": {"kind": "shortest", "basis": basis},
        "title": "A shortest non-zero vector of a lattice of dimension 9",
        "instruction": f"""
`/app/input.json` holds a list `basis` of linearly independent integer vectors b1, b2, ... (its rows). The lattice is the set of
all integer combinations of them. Find a non-zero lattice vector v of least Euclidean norm. Every vector of least norm is
accepted. A basis vector of a reduced basis is often short without being shortest.

The submission has these keys:
{KEYS}- `claim`: what your answer establishes: `"shortest"` here (the schema also lists the weaker `"within-bound"` and `"in-lattice"`).

An integer in `vector`, `coefficients` and `norm_squared` may be a JSON integer or a string of decimal digits such as `"-12"`.
""",
        "schema": _schema(),
        "metadata": {
            "domain": "lattices", "difficulty": "medium", "affordance": "partial",
            "operations": ["lattice.basis.reduce"],
            "roles": ["plausible-shortcut"],
            "derivation": "Own instance: the shortest row of a reduced basis is not a shortest lattice vector.",
        },
        "traps": [
            ("reduced-basis-vector", "vector.short-enough", "The shortest row of the LLL-reduced basis.", edited(reduced_first)),
            ("input-row", "vector.short-enough", "The shortest of the given rows.", edited(input_row)),
            ("zero-vector", "vector.non-zero", "The zero vector is shorter than all others.", edited(zero)),
            ("not-in-lattice", "vector.in-lattice", "A unit vector that is no lattice vector.", edited(not_in_lattice)),
            ("norm-not-squared", "vector.norm", "The root of the squared norm, rounded down.",
             edited(lambda s: s.__setitem__("norm_squared", int(s["norm_squared"] ** 0.5)))),
            ("coordinate-missing", "vector.size", "One coordinate is left out.", drop_last("vector")),
            ("claims-less", "scope.claim", "The claim is weaker than what was asked for.", set_at("claim", "in-lattice")),
            wrong_instance(),
        ],
    }


def _bounded(draw):
    while True:
        instance = _bounded_instance(draw)
        if instance:
            return instance


def _bounded_instance(draw):
    """An instance, or None when plain reduction already finds a vector as short as the shortest."""
    size = 32
    # A q-ary lattice: half of the rows carry random residues, the others the modulus.
    modulus = draw.pick([1009, 1013, 1019, 1021])
    half = size // 2
    rows = [
        [int(i == j) for j in range(half)] + [draw.below(modulus) for _ in range(half)] for i in range(half)
    ] + [[0] * half + [modulus * int(i == j) for j in range(half)] for i in range(half)]
    reduced, _ = lll(rows)
    basis = _skewed(draw, reduced, 260)
    best, _, norm = shortest(basis)
    weak, transform = lll(basis, 3, 4)
    index = min(range(size), key=lambda i: _norm(weak[i]))
    strong = min(map(_norm, lll(basis)[0]))
    if min(strong, _norm(weak[index])) <= norm:
        return None
    bound = norm + (min(strong, _norm(weak[index])) - norm - 1) // 2

    def weak_vector(submission):
        submission.update(vector=weak[index], coefficients=[str(v) for v in transform[index]], norm_squared=_norm(weak[index]))

    def zero(submission):
        submission.update(vector=[0] * size, coefficients=[0] * size, norm_squared=0)

    def doubled(submission):
        submission["vector"] = [2 * v for v in submission["vector"]]
        submission["coefficients"] = [2 * int(v) for v in submission["coefficients"]]
        submission["norm_squared"] *= 4

    return {
        "problem": {"kind": "bounded", "norm_squared_bound": bound, "basis": basis},
        "title": "A lattice vector below a norm bound in dimension 32",
        "instruction": f"""
`/app/input.json` holds a list `basis` of linearly independent integer vectors b1, b2, ... (its rows) and an integer
`norm_squared_bound`. The lattice is the set of all integer combinations of the basis vectors. Find a non-zero lattice vector v
whose squared Euclidean norm is at most the bound. There is one; any such vector is accepted.

The submission has these keys:
{KEYS}- `claim`: what your answer establishes. A vector below the bound establishes `"within-bound"`; that no shorter vector exists
  is not shown by such an answer, so `"shortest"` claims too much and scores 0, and `"in-lattice"` claims too little.

An integer in `vector`, `coefficients` and `norm_squared` may be a JSON integer or a string of decimal digits such as `"-12"`.
""",
        "schema": _schema(),
        "metadata": {
            "domain": "lattices", "difficulty": "hard", "affordance": "partial",
            "operations": ["lattice.basis.reduce"],
            "roles": ["non-ceiling"],
            "derivation": "Own instance: a q-ary lattice with a skewed basis and a bound below what plain LLL reduction reaches.",
        },
        "traps": [
            ("reduced-basis-vector", "vector.short-enough", "The shortest row of a weakly reduced basis is above the bound.", edited(weak_vector)),
            ("zero-vector", "vector.non-zero", "The zero vector is below every bound.", edited(zero)),
            ("doubled", "vector.short-enough", "Twice a good vector is in the lattice, but too long.", edited(doubled)),
            ("claims-shortest", "scope.claim", "Nothing in the answer shows that no shorter vector exists.", set_at("claim", "shortest")),
            ("wrong-norm", "vector.norm", "The stated squared norm is the bound.", edited(lambda s: s.__setitem__("norm_squared", s["norm_squared"] + 1))),
            ("other-coefficients", "vector.in-lattice", "The coefficients give another vector.",
             edited(lambda s: s["coefficients"].__setitem__(0, str(int(s["coefficients"][0]) + 1)))),
            wrong_instance(),
            *contract_traps(["norm_squared"]),
        ],
    }
