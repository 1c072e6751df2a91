"""Checks ledgers of problems with one entry not given: what holds for every value of it, and no more."""

from shared.direction_ledger import model


def completions(field, matrices):
    """The matrices with the missing entry replaced by each element in turn."""
    for value in field.elements():
        yield [[[value if entry is None else entry for entry in row] for row in matrix] for matrix in matrices]


def grade(field, matrices, line, submission, report):
    """Decide the checks on entries, orbits and scope."""
    filled = list(completions(field, matrices))
    facts = {}
    for direction in line:
        maps = [model.restriction(field, full, direction) for full in filled]
        facts[direction] = (maps, sorted({model.rank(field, rows) for rows in maps}))
    determined = sum(1 for _, ranks in facts.values() if len(ranks) == 1)
    for entry in submission["ledger"]:
        fact = facts.get(tuple(entry["direction"]))
        if fact is None:
            continue
        maps, ranks = fact
        known = maps[0] if all(rows == maps[0] for rows in maps) else None
        given = entry["matrix"]
        if given is not None:
            sized = len(given) == len(maps[0]) and all(len(row) == len(maps[0][0]) for row in given)
            report.check("maps.size", sized, f"the matrix at {entry['direction']} has another size")
        report.check("maps.size", True)
        report.check("maps.values", given == known, f"the map at {entry['direction']} is not what the data determine")
        single = ranks[0] if len(ranks) == 1 else None
        report.check(
            "ranks.values",
            entry["rank"] == single and sorted(entry["possible_ranks"]) == ranks,
            f"the ranks at {entry['direction']} are not what the data determine",
        )
    distributions = [
        dict(model.orbit_distribution(field, [maps[index] for maps, _ in facts.values()])) for index in range(len(filled))
    ]
    pairs = submission["orbit_distribution"]
    if any(other != distributions[0] for other in distributions):
        report.check("orbits.values", pairs is None, "the data do not determine an orbit distribution")
    else:
        sound = pairs is not None and len(dict(map(tuple, pairs))) == len(pairs)
        report.check("orbits.values", sound and dict(map(tuple, pairs)) == distributions[0], "the orbit distribution is another one")
    scope = {
        "directions": len(line),
        "complete": determined == len(line),
        "rank_field": "prime-field",
        "determined": determined,
    }
    report.check("scope.exact", submission["scope"] == scope, "the scope claims more or less than the data determine")
    # Intermediate values are not asked for here, so nothing can be wrong with them.
    report.check("intermediate.kernels", True)
