"""Checks small tasks that a careful reader answers without any tool."""

from shared.kernel import shape

CHECKS = (
    ("binding.instance", "binding"),
    ("answer.complete", "completeness"),
    ("answer.values", "correctness"),
    ("answer.conclusion", "correctness"),
    ("scope.items", "scope"),
)


def contract(problem):
    """Shape of the submission for the problem's kind."""
    base = {"instance": shape.text(120), "items_used": shape.integer(0, 10**6)}
    small = shape.integer(-(10**12), 10**12)
    extra = {
        "parity-sum": {"sum": small, "parity": shape.choice("even", "odd")},
        "remainder": {"remainder": small, "divisible": shape.flag},
        "degree-table": {
            "degrees": shape.array(shape.array(shape.integer(0, 10**6), 2, 2), 0, 64),
            "regular": shape.flag,
        },
        "truth-table": {
            "models": shape.array(shape.array(shape.flag, 0, 16), 0, 256),
            "satisfiable": shape.flag,
        },
    }[problem["kind"]]
    return shape.record({**base, **extra})


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    expected, conclusion, given, complete, stated, items = _KINDS[problem["kind"]](problem, submission)
    report.check("scope.items", submission["items_used"] == items, f"{submission['items_used']} items are said to be used")
    report.check("answer.complete", complete, "an item is missing or occurs twice")
    report.check("answer.values", given == expected, "a value differs from the recomputed one")
    report.check("answer.conclusion", stated == conclusion, "the conclusion does not follow from the values")


def _parity_sum(problem, submission):
    # Column addition over decimal digits; the parity is that of the count of odd numbers.
    carry, digits, position = 0, [], 0
    texts = [str(number)[::-1] for number in problem["numbers"]]
    while position < max(map(len, texts)) or carry:
        carry += sum(int(text[position]) for text in texts if position < len(text))
        digits.append(carry % 10)
        carry //= 10
        position += 1
    odd = len([text for text in texts if text[0] in "13579"]) % 2
    total = int("".join(map(str, reversed(digits))) or "0")
    return total, ("even", "odd")[odd], submission["sum"], True, submission["parity"], len(texts)


def _remainder(problem, submission):
    # Horner over the digits of each factor, then repeated addition modulo the modulus.
    modulus = problem["modulus"]
    residue = 1 % modulus
    for factor in problem["factors"]:
        part = 0
        for digit in str(factor):
            part = (part * 10 + int(digit)) % modulus
        total = 0
        for _ in range(part):
            total = (total + residue) % modulus
        residue = total
    count = len(problem["factors"])
    return residue, residue == 0, submission["remainder"], True, submission["divisible"], count


def _degree_table(problem, submission):
    size = problem["vertex_count"]
    matrix = [[0] * size for _ in range(size)]
    for left, right in problem["edges"]:
        matrix[left][right] = matrix[right][left] = 1
    expected = {vertex: sum(row) for vertex, row in enumerate(matrix)}
    pairs = submission["degrees"]
    vertices = [vertex for vertex, _ in pairs]
    complete = sorted(vertices) == list(range(size))
    regular = min(expected.values()) == max(expected.values())
    return expected, regular, dict(map(tuple, pairs)), complete, submission["regular"], len(problem["edges"])


def _truth_table(problem, submission):
    # Clauses strike assignments from the full table.
    count = problem["variable_count"]
    left = set(range(2**count))
    for clause in problem["clauses"]:
        for code in list(left):
            if all(((code >> (abs(literal) - 1)) & 1) != int(literal > 0) for literal in clause):
                left.discard(code)
    rows = submission["models"]
    well_formed = all(len(row) == count for row in rows)
    codes = [sum(int(value) << index for index, value in enumerate(row)) for row in rows]
    complete = well_formed and len(set(codes)) == len(codes) == len(left)
    return left, bool(left), set(codes), complete, submission["satisfiable"], len(problem["clauses"])


_KINDS = {
    "parity-sum": _parity_sum,
    "remainder": _remainder,
    "degree-table": _degree_table,
    "truth-table": _truth_table,
}
