"""Smith and Hermite normal forms with planted structure hidden by unimodular mixing."""

from generate.draft import contract_traps, drop_last, edited, set_at, wrong_instance
from shared.integer_matrix.solve import hermite, smith

DIGITS = 60
NUMBER = {
    "oneOf": [
        {"type": "integer"},
        {"type": "string", "pattern": "^-?(0|[1-9][0-9]*)$", "maxLength": DIGITS + 1},
    ]
}
REF = {"$ref": "#/$defs/number"}
MATRIX = {"type": "array", "maxItems": 16, "items": {"type": "array", "maxItems": 16, "items": REF}}
COUNT = {"type": "integer", "minimum": 0, "maximum": 64}


def draft(draw, options):
    """One instance; `kind` or the variant number chooses between Smith and Hermite."""
    kind = options.get("kind") or ("smith", "hermite")[options.get("variant", 0) % 2]
    return _smith(draw) if kind == "smith" else _hermite(draw)


def _mixed(draw, diagonal, rows, columns, rounds):
    """A matrix with a given Smith diagonal, mixed by random elementary operations."""
    matrix = [[diagonal[i] if i == j else 0 for j in range(columns)] for i in range(rows)]
    for _ in range(rounds):
        factor = draw.pick([-2, -1, 1, 2])
        if draw.below(2):
            target, source = draw.sample(range(rows), 2)
            matrix[target] = [a + factor * b for a, b in zip(matrix[target], matrix[source])]
        else:
            target, source = draw.sample(range(columns), 2)
            for row in matrix:
                row[target] += factor * row[source]
    return matrix


def _smith(draw):
    while True:
        small = draw.pick([2, 3])
        middle = small * draw.pick([2, 3, 5])
        large = middle * small * draw.pick([7, 11, 13])
        diagonal = [1, 1, 1, small, small, middle, large, 0]
        matrix = _mixed(draw, diagonal, 8, 8, 44)
        flat = [abs(value) for row in matrix for value in row]
        pivots = [next((v for v in row if v), 0) for row in hermite(matrix)[0]]
        if max(flat) <= 9999 and flat.count(0) <= 6 and pivots != diagonal and _unlike(matrix):
            break
    if smith(matrix) != diagonal:
        raise ValueError("the planted diagonal was not found again")
    traps = [
        ("hermite-pivots", "form.canonical" if not _chain(pivots) else "form.values",
         "The pivots of the Hermite form stand for the Smith diagonal.", set_at("invariants", pivots)),
        ("same-product-other-split", "form.values", "A factor moves between two invariants, so the determinant looks right.",
         edited(lambda s: s.__setitem__("invariants", [1, 1, 1, 1, small, middle * small, large, 0]))),
        ("zero-left-out", "form.size", "The zero of the rank defect is left out.", edited(_drop_last)),
        ("units-left-out", "form.size", "Only the non-trivial invariants are listed.",
         edited(lambda s: s.__setitem__("invariants", [v for v in s["invariants"] if v != 1]))),
        ("descending", "form.canonical", "The invariants stand in the opposite order.", edited(lambda s: s["invariants"].reverse())),
        ("negative-invariant", "form.canonical", "One invariant has a sign.",
         edited(lambda s: s["invariants"].__setitem__(6, -s["invariants"][6]))),
        ("rational-form", "scope.exact", "The domain is the rationals, where every invariant is a unit.", set_at("domain", "rationals")),
        ("rational-invariants", "form.values", "The diagonal of ones that holds over the rationals.", set_at("invariants", [1] * 7 + [0])),
        ("full-rank", "form.rank", "The rank defect is missed.", set_at("rank", 8)),
        wrong_instance(),
        *contract_traps(["rank"]),
    ]
    return {
        "problem": {"kind": "smith", "matrix": matrix},
        "title": "Smith normal form of an integer matrix of size 8 by 8",
        "instruction": """
`/app/input.json` holds an integer matrix A as a list `matrix` of rows. Over the integers there are matrices U and V with
determinant 1 or -1 such that U A V is diagonal with entries d1, d2, ..., each non-negative and each a divisor of the next
(0 is divisible by everything and divides only 0). These entries are unique. Find all of them.

The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `rows`, `columns`: the numbers of rows and columns of A.
- `domain`: `"integers"`, the ring over which the form is taken (the schema also lists `"rationals"` and `"modular"`; a form
  over those is not the answer to this task).
- `rank`: the rank of A.
- `invariants`: the whole diagonal d1, d2, ... in order, ones and zeros included.
- `determinantal_divisors` (optional, graded on its own as an intermediate value and never part of the reward): the greatest common
  divisors of all minors of order 1, 2, ..., up to the size of the matrix, non-negative.

An entry of `invariants` or `determinantal_divisors` may be a JSON integer or a string of decimal digits such as `"-12"`.
""",
        "schema": {
            "required": ["rows", "columns", "domain", "rank", "invariants"],
            "properties": {
                "rows": COUNT, "columns": COUNT,
                "domain": {"enum": ["integers", "rationals", "modular"]},
                "rank": COUNT,
                "invariants": {"type": "array", "maxItems": 32, "items": REF},
                "determinantal_divisors": {"type": "array", "maxItems": 32, "items": REF},
            },
            "$defs": {"number": NUMBER},
        },
        "metadata": {
            "domain": "exact-linear-algebra", "difficulty": "medium", "affordance": "direct",
            "operations": ["matrix.normal_form.smith.compute", "matrix.normal_form.smith.certified.compute", "matrix.invariant_factors.compute"],
            "derivation": "Own instance: a planted diagonal mixed by elementary operations.",
        },
        "traps": traps,
    }


def _unlike(matrix):
    """No two rows and no two columns are equal or opposite."""
    lines = [tuple(row) for row in matrix] + [tuple(column) for column in zip(*matrix)]
    return len({max(line, tuple(-value for value in line)) for line in lines}) == len(lines)


def _drop_last(submission):
    submission["invariants"].pop()


def _chain(values):
    return all(v >= 0 for v in values) and all((b == 0) if a == 0 else b % a == 0 for a, b in zip(values, values[1:]))


def _hermite(draw):
    while True:
        matrix = [[draw.between(-25, 25) for _ in range(5)] for _ in range(6)]
        scale = draw.pick([2, 3])
        for row in matrix:
            row[1] *= scale
        form, _ = hermite(matrix)
        pivots = [form[i][i] for i in range(5)]
        if all(pivots) and sum(1 for value in pivots if value > 1) >= 2 and any(form[0][j] for j in range(1, 5)):
            break
    spot = next((i, j) for j in range(4, 0, -1) for i in range(j) if form[i][j] and form[j][j] > 1)
    i, j = spot
    smith_rows = [[smith(matrix)[r] if r == c else 0 for c in range(5)] for r in range(6)]

    def negative_entry(submission):
        submission["form"][i] = [a - b for a, b in zip(submission["form"][i], submission["form"][j])]

    def scaled(submission):
        submission["form"][4] = [2 * value for value in submission["form"][4]]

    def zero_first(submission):
        submission["form"] = [[0] * 5] + submission["form"][:5]

    def unreduced(submission):
        submission["form"][i] = [a + b for a, b in zip(submission["form"][i], submission["form"][j])]

    return {
        "problem": {"kind": "hermite", "matrix": matrix},
        "title": "Row-style Hermite normal form of an integer matrix of size 6 by 5",
        "instruction": """
`/app/input.json` holds an integer matrix A as a list `matrix` of rows. Its columns are linearly independent. Find its row-style
Hermite normal form H: the matrix H = U A, for some integer matrix U with determinant 1 or -1, such that

- the first non-zero entry of each row (its pivot) is positive and stands strictly to the right of the pivot of the row above;
- rows of zeros come last;
- every entry above a pivot p lies in the range 0 to p - 1.

These conditions determine H. The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `rows`, `columns`: the numbers of rows and columns of A.
- `domain`: `"integers"`, the ring over which the form is taken (the schema also lists `"rationals"` and `"modular"`; a form
  over those is not the answer to this task).
- `rank`: the rank of A.
- `form`: H as a list of rows, as many as A has, rows of zeros included.
- `transform` (optional, graded on its own as an intermediate value and never part of the reward): a matrix U as above, as a list of rows.

An entry of `form` or `transform` may be a JSON integer or a string of decimal digits such as `"-12"`.
""",
        "schema": {
            "required": ["rows", "columns", "domain", "rank", "form"],
            "properties": {
                "rows": COUNT, "columns": COUNT,
                "domain": {"enum": ["integers", "rationals", "modular"]},
                "rank": COUNT, "form": MATRIX, "transform": MATRIX,
            },
            "$defs": {"number": NUMBER},
        },
        "metadata": {
            "domain": "exact-linear-algebra", "difficulty": "medium", "affordance": "direct",
            "operations": ["lattice.hermite_normal_form.compute", "lattice.canonical_basis.compute"],
            "derivation": "Own instance: random entries with one scaled column.",
        },
        "traps": [
            ("negative-above-pivot", "form.canonical", "An entry above a pivot is reduced to the negative side.", edited(negative_entry)),
            ("unreduced-entry", "form.canonical", "An entry above a pivot is not reduced.", edited(unreduced)),
            ("sublattice", "form.values", "The last pivot is doubled, so the rows span a proper sublattice.", edited(scaled)),
            ("smith-diagonal", "form.values", "The Smith form stands for the Hermite form.", set_at("form", smith_rows)),
            ("zero-row-left-out", "form.size", "The row of zeros is left out.", drop_last("form")),
            ("zero-row-first", "form.canonical", "The row of zeros comes first.", edited(zero_first)),
            ("rational-echelon", "form.values", "The reduced echelon form over the rationals.",
             set_at("form", [[int(r == c) for c in range(5)] for r in range(6)])),
            ("wrong-rank", "form.rank", "The number of rows is taken for the rank.", set_at("rank", 6)),
            wrong_instance(),
        ],
    }
