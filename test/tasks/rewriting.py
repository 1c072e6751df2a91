"""Random rewritings of a right submission that mean the same, and random single-field changes that do not."""

import json
import random

# Lists whose order means nothing, as paths of keys with "*" for every index.
UNORDERED = {
    "negative_control": [("degrees",), ("models",)],
    "graph_colouring": [("obstruction",)],
    "direction_ledger": [("ledger",), ("orbit_distribution",), ("kernels",), ("ledger", "*", "possible_ranks")],
    "polynomial_map": [("fibers",), ("fibers", "*", "sources"), ("fiber_sizes",), ("certificate", "inverse")],
    "resultant": [("primes",), ("residues",)],
    "discrete_log": [("order_factors",), ("residues",)],
    "factorisation": [("factors",)],
    "box_search": [("solutions",)],
    "satisfiability": [("model",)],
    "independent_set": [("set",)],
}

# Places of integers that may also be written as decimal strings.
DECIMAL = {
    "integer_matrix": [("invariants", "*"), ("determinantal_divisors", "*"), ("form", "*", "*"), ("transform", "*", "*")],
    "lattice": [("vector", "*"), ("coefficients", "*"), ("norm_squared",)],
    "resultant": [("resultant",), ("primes", "*"), ("residues", "*", "*")],
    "discrete_log": [("modulus",), ("order",), ("exponent",), ("order_factors", "*", "*"), ("residues", "*", "*")],
    "factorisation": [("number",), ("factors", "*", "*"), ("witness",)],
}

# Places of field elements (coordinate lists or encoding integers) and of rows over the prime field.
ELEMENTS = {
    "direction_ledger": [("ledger", "*", "direction", "*"), ("kernels", "*", "direction", "*")],
    "polynomial_map": [
        ("map", "coefficients", "*"),
        ("table", "*", "*"),
        ("fibers", "*", "image"),
        ("fibers", "*", "sources", "*"),
        ("certificate", "left"),
        ("certificate", "right"),
        ("certificate", "image"),
        ("certificate", "inverse", "*", "*"),
    ],
}
ROWS = {"direction_ledger": [("ledger", "*", "matrix", "*"), ("kernels", "*", "basis", "*")]}

# Optional parts that are graded on their own and never gate the reward.
INTERMEDIATE = {"determinantal_divisors", "transform", "kernels", "fiber_sizes", "residues", "witness", "solution_dimension"}

# Places where a changed value can be another right answer.
OPEN = {
    "graph_colouring": {"colouring", "obstruction"},
    "satisfiability": {"model", "proof"},
    "independent_set": {"set"},
    "linear_recurrence": {"coefficients"},
}


def places(value, pattern):
    """All (container, key) pairs that a pattern reaches."""
    spots = [(None, None, value)]
    for step in pattern:
        following = []
        for _, _, item in spots:
            if step == "*" and isinstance(item, list):
                following += [(item, index, entry) for index, entry in enumerate(item)]
            elif isinstance(item, dict) and step in item:
                following.append((item, step, item[step]))
        spots = following
    return [(container, key) for container, key, _ in spots]


def equivalent(rng, family, problem, submission):
    """Bytes of another encoding of the same submission."""
    value = json.loads(json.dumps(submission))
    for pattern in UNORDERED.get(family, ()):
        for container, key in places(value, pattern):
            if isinstance(container[key], list):
                rng.shuffle(container[key])
    for pattern in DECIMAL.get(family, ()):
        for container, key in places(value, pattern):
            number = int(container[key])
            container[key] = str(number) if rng.random() < 0.5 or abs(number) > 10**30 else number
    if family in ELEMENTS:
        p = problem["presentation"]["characteristic"]
        for pattern in ELEMENTS[family]:
            for container, key in places(value, pattern):
                if rng.random() < 0.5 and isinstance(container[key], list):
                    container[key] = sum(digit * p**index for index, digit in enumerate(container[key]))
        for pattern in ROWS.get(family, ()):
            for container, key in places(value, pattern):
                if rng.random() < 0.5:
                    container[key] = "".join(map(str, container[key]))
    return _text(rng, value).encode()


def _text(rng, value):
    """JSON with random key order, layout, escapes and number notation."""
    space = rng.choice(["", " ", "\n", "\t", "\r\n "])
    if isinstance(value, dict):
        items = list(value.items())
        rng.shuffle(items)
        body = f",{space}".join(f"{_text(rng, key)}{space}:{space}{_text(rng, item)}" for key, item in items)
        return "{" + space + body + space + "}"
    if isinstance(value, list):
        return "[" + space + f",{space}".join(_text(rng, item) for item in value) + space + "]"
    if isinstance(value, str):
        plain = json.dumps(value, ensure_ascii=False)
        if rng.random() < 0.2 and value and value.isascii():
            return '"' + "".join(f"\\u{ord(character):04x}" for character in value) + '"'
        return plain
    if type(value) is int and abs(value) < 10**15:
        style = rng.random()
        if style < 0.1:
            return f"{value}.0"
        if style < 0.15 and value % 10 == 0:
            return f"{value // 10}e1"
    return json.dumps(value)


def leaves(value, path=()):
    """Paths of all scalar values."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, (*path, index))]
    return [path]


def changed(rng, family, submission):
    """A copy with one gating field changed to a value that is wrong there, and the path; or None when the draw is open."""
    value = json.loads(json.dumps(submission))
    path = rng.choice([leaf for leaf in leaves(value) if leaf[0] not in INTERMEDIATE])
    if path[0] in OPEN.get(family, ()):
        return None
    container = value
    for step in path[:-1]:
        container = container[step]
    old = container[path[-1]]
    if isinstance(old, bool):
        new = not old
    elif isinstance(old, int):
        new = old + rng.choice([-3, -2, -1, 1, 2, 3, 10**6])
    elif old is None:
        new = rng.choice([0, 1, [], "x"])
    elif old.lstrip("-").isdigit():
        new = str(int(old) + rng.choice([-2, -1, 1, 2]))
    else:
        new = rng.choice([old + "x", "", old.upper() if old.upper() != old else old + " "])
    container[path[-1]] = new
    return value, path


def structural(rng, submission):
    """A copy with one key left out, one key added, or one list entry dropped, doubled or replaced by another type."""
    value = json.loads(json.dumps(submission))
    kind = rng.choice(["drop-key", "add-key", "retype"])
    keys = [key for key in value if key not in INTERMEDIATE]
    if kind == "drop-key":
        del value[rng.choice(keys)]
    elif kind == "add-key":
        value["comment"] = "the answer is certainly right"
    else:
        key = rng.choice([key for key in keys if value[key] is not None])
        value[key] = rng.choice([[[]], {}, 3.5, [None], {"value": value[key]}])
    return value


def rng_for(*labels):
    """A generator that depends on its labels only."""
    return random.Random("/".join(map(str, labels)))
