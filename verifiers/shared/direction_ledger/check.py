"""Checks direction ledgers direction by direction: same counts never stand in for same entries."""

from shared.direction_ledger import model, partial
from shared.finite_field import notation
from shared.finite_field.companion import span
from shared.kernel import shape

_BINDING = (
    ("binding.instance", "binding"),
    ("binding.presentation", "binding"),
    ("binding.direction-axis", "binding"),
    ("binding.source-axis", "binding"),
    ("binding.target-axis", "binding"),
)

CHECKS = (
    *_BINDING,
    ("directions.normalised", "completeness"),
    ("directions.distinct", "completeness"),
    ("directions.complete", "completeness"),
    ("maps.size", "completeness"),
    ("maps.values", "correctness"),
    ("ranks.values", "correctness"),
    ("orbits.values", "correctness"),
    ("scope.exact", "scope"),
    ("intermediate.kernels", "intermediate"),
)


def contract(problem):
    """Shape of the submission."""
    presentation = problem["presentation"]
    p = presentation["characteristic"]
    element = notation.element(presentation)
    direction = shape.array(element, 2, 2)
    row = notation.prime_row(p, 64)
    matrix = shape.array(row, 0, 64)
    rank = shape.integer(0, 64)
    entry = {"direction": direction, "matrix": matrix, "rank": rank}
    orbits = shape.array(shape.array(shape.integer(0, 10**9), 2, 2), 0, 64)
    scope = {
        "directions": shape.integer(0, 10**6),
        "complete": shape.flag,
        "rank_field": shape.choice("prime-field", "extension-field"),
    }
    if problem["kind"] == "partial":
        entry = {
            "direction": direction,
            "matrix": shape.nullable(matrix),
            "rank": shape.nullable(rank),
            "possible_ranks": shape.array(rank, 0, 64),
        }
        orbits = shape.nullable(orbits)
        scope["determined"] = shape.integer(0, 10**6)
    kernel = shape.record({"direction": direction, "basis": shape.array(row, 0, 64)})
    return shape.record(
        {
            "instance": shape.text(120),
            "presentation": notation.presentation,
            "direction_axis": notation.axis,
            "source_axis": notation.axis,
            "target_axis": notation.axis,
            "ledger": shape.array(shape.record(entry), 0, 300),
            "orbit_distribution": orbits,
            "scope": shape.record(scope),
        },
        {} if problem["kind"] == "partial" else {"kernels": shape.array(kernel, 0, 300)},
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    field, matrices = model.load(problem)
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    report.check(
        "binding.presentation", submission["presentation"] == problem["presentation"], "another presentation of the field"
    )
    for key, axis in axes(problem).items():
        report.check(f"binding.{key.replace('_', '-')}", submission[key] == axis, f"{key} differs from the required one")
    line = model.directions(field)
    given = [tuple(entry["direction"]) for entry in submission["ledger"]]
    for direction in given:
        report.check(
            "directions.normalised", model.is_normalised(field, direction), f"{direction} is not a normalised point"
        )
    report.check("directions.normalised", True)
    report.check("directions.distinct", len(set(given)) == len(given), "a direction occurs twice")
    missing = [direction for direction in line if direction not in set(given)]
    report.need("directions.complete", not missing, f"{len(missing)} of {len(line)} directions are missing")
    if problem["kind"] == "partial":
        partial.grade(field, matrices, line, submission, report)
        return
    maps = {direction: model.restriction(field, matrices, direction) for direction in line}
    _entries(field, maps, submission, report)
    _orbits(model.orbit_distribution(field, maps.values()), submission["orbit_distribution"], report)
    scope = submission["scope"]
    exact = scope == {"directions": len(line), "complete": True, "rank_field": "prime-field"}
    report.check("scope.exact", exact, "the scope is not the complete line with ranks over the prime field")
    _kernels(field, maps, submission["kernels"], report)


def axes(problem):
    """The three axes that a submission must name."""
    columns = problem["column_axis"]
    generator = problem["presentation"]["generator"]
    degree = len(problem["presentation"]["modulus_coefficients"]) - 1
    powers = ["1", generator, *(f"{generator}^{k}" for k in range(2, degree))][:degree]
    return {
        "direction_axis": problem["direction_axis"],
        "source_axis": problem["subspace_axis"],
        "target_axis": {
            "name": f"Res({columns['name']})",
            "labels": [f"{label}:{power}" for label in columns["labels"] for power in powers],
        },
    }


def _entries(field, maps, submission, report):
    # Sizes first, so that a wrong size is named as such.
    for entry in submission["ledger"]:
        rows = maps.get(tuple(entry["direction"]))
        if rows is not None:
            sized = len(entry["matrix"]) == len(rows) and all(len(row) == len(rows[0]) for row in entry["matrix"])
            report.check("maps.size", sized, f"at {entry['direction']} the matrix must be {len(rows)} by {len(rows[0])}")
    for entry in submission["ledger"]:
        rows = maps.get(tuple(entry["direction"]))
        if rows is not None:
            report.check("maps.values", entry["matrix"] == rows, f"the map at {entry['direction']} is another one")
            true_rank = model.rank(field, rows)
            report.check("ranks.values", entry["rank"] == true_rank, f"the rank at {entry['direction']} is not {entry['rank']}")


def _orbits(counts, pairs, report):
    sizes = [size for size, _ in pairs]
    given = dict(map(tuple, pairs))
    report.check("orbits.values", len(set(sizes)) == len(sizes) and given == dict(counts), "the orbit distribution is another one")


def _kernels(field, maps, kernels, report):
    def sound(entry):
        rows = maps.get(tuple(entry["direction"]))
        if rows is None:
            return False
        width = len(rows[0])
        basis = entry["basis"]
        expected = width - model.rank(field, rows)
        if len(basis) != expected or any(len(vector) != width for vector in basis):
            return False
        if any(sum(a * b for a, b in zip(row, vector)) % field.p for row in rows for vector in basis):
            return False
        return len(span(basis, field.p, width)) == field.p**expected

    covered = kernels is not None and {tuple(entry["direction"]) for entry in kernels} == set(maps)
    passed = covered and len(kernels) == len(maps) and all(sound(entry) for entry in kernels)
    report.check("intermediate.kernels", passed, "no kernel basis for every direction")
