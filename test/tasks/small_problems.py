"""Small random problems of every family, drawn without the generators' selection."""


def _field(rng):
    p, modulus = rng.choice([(2, [1, 1, 1]), (2, [1, 1, 0, 1]), (2, [1, 0, 1, 1]), (3, [1, 0, 1]), (3, [2, 1, 1])])
    presentation = {
        "characteristic": p,
        "modulus_coefficients": modulus,
        "generator": rng.choice("abt"),
        "element_encoding_version": "power-basis-v1",
    }
    return presentation, p, len(modulus) - 1


def direction_ledger(rng):
    presentation, p, d = _field(rng)
    size, columns = rng.randint(1, 3), rng.randint(1, 2)
    matrices = [
        [[[rng.randrange(p) for _ in range(d)] for _ in range(columns)] for _ in range(2)] for _ in range(size)
    ]
    kind = "full"
    if rng.random() < 0.3 and p**d <= 4:
        kind = "partial"
        matrices[rng.randrange(size)][rng.randrange(2)][rng.randrange(columns)] = None
    return {
        "kind": kind,
        "presentation": presentation,
        "direction_axis": {"name": "rows", "labels": ["u", "v"]},
        "column_axis": {"name": "columns", "labels": [f"k{index}" for index in range(columns)]},
        "subspace_axis": {"name": "basis", "labels": [f"S{index}" for index in range(size)]},
        "matrices": matrices,
    }


def polynomial_map(rng):
    presentation, p, d = _field(rng)
    coefficients = [[rng.randrange(p) for _ in range(d)] for _ in range(rng.randint(1, 6))]
    return {
        "kind": "map",
        "presentation": presentation,
        "variable": "x",
        "coefficients": coefficients,
        "certificate_requested": rng.choice(["collision", "permutation"]),
    }


def integer_matrix(rng):
    if rng.random() < 0.5:
        rows, columns = rng.randint(1, 4), rng.randint(1, 4)
        bound = rng.choice([1, 3, 12])
        # Scaled rows make diagonals whose entries do not divide each other at first.
        scales = [rng.choice([1, 2, 3, 6]) for _ in range(rows)]
        return {
            "kind": "smith",
            "matrix": [[scale * rng.randint(-bound, bound) for _ in range(columns)] for scale in scales],
        }
    columns = rng.randint(1, 3)
    upper = [[rng.choice([1, 2, 3, -4]) if i == j else rng.randint(-6, 6) * (j > i) for j in range(columns)] for i in range(columns)]
    rows = upper + [[rng.randint(-9, 9) for _ in range(columns)] for _ in range(rng.randint(0, 2))]
    rng.shuffle(rows)
    return {"kind": "hermite", "matrix": rows}


def lattice(rng):
    size = rng.randint(2, 4)
    basis = [[rng.randint(1, 9) if i == j else rng.randint(-9, 9) * (j > i) for j in range(size)] for i in range(size)]
    for _ in range(6):
        a, b = rng.sample(range(size), 2)
        factor = rng.choice([-1, 1])
        basis[a] = [x + factor * y for x, y in zip(basis[a], basis[b])]
    return {"kind": "shortest", "basis": basis}


def graph_colouring(rng):
    size = rng.randint(3, 8)
    edges = [[a, b] for a in range(size) for b in range(a + 1, size) if rng.random() < 0.65]
    return {"colours": rng.choice([2, 3, 3, 4]), "vertex_count": size, "edges": edges}


def resultant(rng):
    f = [rng.randint(-5, 5) for _ in range(rng.randint(1, 4))] + [rng.choice([-2, -1, 1, 3])]
    g = [rng.randint(-5, 5) for _ in range(rng.randint(1, 4))] + [rng.choice([-2, -1, 1, 3])]
    return {"kind": "resultant", "f": f, "g": g, "prime_bound": 20, "moduli": [11, 13]}


def discrete_log(rng):
    p = rng.choice([11, 31, 101, 257, 1009, 7919, 10007])
    base = rng.randint(2, p - 1)
    return {
        "kind": "discrete-log",
        "modulus": str(p),
        "base": str(base),
        "target": str(pow(base, rng.randrange(p), p)),
    }


def factorisation(rng):
    return {"kind": "factorisation", "number": str(rng.choice([rng.randint(2, 10**4), rng.randint(10**6, 10**8)]))}


def linear_recurrence(rng):
    p = rng.choice([2, 3, 5, 7])
    return {"kind": "recurrence", "modulus": p, "terms": [rng.randrange(p) for _ in range(rng.randint(1, 12))]}


def box_search(rng):
    return {
        "kind": "box-search",
        "coefficients": [rng.randint(1, 9) for _ in range(3)],
        "value": rng.randint(0, 60),
        "bound": rng.randint(1, 6),
    }


def satisfiability(rng):
    count = rng.randint(3, 9)
    clauses = [
        [variable * rng.choice([1, -1]) for variable in rng.sample(range(1, count + 1), rng.randint(1, 3))]
        for _ in range(rng.randint(3, 6 * count))
    ]
    return {"kind": "cnf", "variable_count": count, "clauses": clauses}


def independent_set(rng):
    count = rng.randint(4, 14)
    masks = [0] * count
    for a in range(count):
        for b in range(a + 1, count):
            if rng.random() < 0.5:
                masks[a] |= 1 << b
                masks[b] |= 1 << a
    greatest = max(
        chosen.bit_count()
        for chosen in range(1, 1 << count)
        if all(not (chosen >> v & 1) or not masks[v] & chosen for v in range(count))
    )
    return {
        "kind": "independent-set",
        "vertex_count": count,
        "target_size": greatest,
        "adjacency_hex": [f"{mask:x}" for mask in masks],
    }


def negative_control(rng):
    kind = rng.choice(["parity-sum", "remainder", "degree-table", "truth-table"])
    if kind == "parity-sum":
        return {"kind": kind, "numbers": [rng.randint(0, 999) for _ in range(rng.randint(1, 9))]}
    if kind == "remainder":
        return {"kind": kind, "factors": [rng.randint(1, 999) for _ in range(3)], "modulus": rng.randint(2, 30)}
    if kind == "degree-table":
        size = rng.randint(2, 8)
        edges = [[a, b] for a in range(size) for b in range(a + 1, size) if rng.random() < 0.5]
        return {"kind": kind, "vertex_count": size, "edges": edges}
    clauses = [[v * rng.choice([1, -1]) for v in rng.sample([1, 2, 3], rng.randint(1, 3))] for _ in range(4)]
    return {"kind": kind, "variable_count": 3, "clauses": clauses}


def small_problem(rng, family):
    """A problem with its instance token."""
    return {"instance": f"small:{rng.getrandbits(32):08x}", **globals()[family](rng)}
