"""Restriction of scalars along every direction of the projective line, with ranks by elimination."""

from shared.finite_field.field import Field, kernel, rank


def solve(problem):
    """The submission for a full or a partial ledger problem."""
    field = Field(problem["presentation"])
    base = {
        "instance": problem["instance"],
        "presentation": problem["presentation"],
        "direction_axis": problem["direction_axis"],
        "source_axis": problem["subspace_axis"],
        "target_axis": target_axis(problem),
    }
    if problem["kind"] == "partial":
        return base | partial(field, problem["matrices"])
    ledger = full_ledger(field, problem["matrices"])
    return base | {
        "ledger": ledger,
        "orbit_distribution": orbits(field, ledger),
        "scope": {"directions": len(ledger), "complete": True, "rank_field": "prime-field"},
        "kernels": [
            {"direction": entry["direction"], "basis": kernel(entry["matrix"], field.p)} for entry in ledger
        ],
    }


def target_axis(problem):
    """Axis of the restricted column space: column label major, then powers of the generator."""
    axis = problem["column_axis"]
    name = problem["presentation"]["generator"]
    degree = len(problem["presentation"]["modulus_coefficients"]) - 1
    power = {0: "1", 1: name}
    return {
        "name": f"Res({axis['name']})",
        "labels": [f"{label}:{power.get(k, f'{name}^{k}')}" for label in axis["labels"] for k in range(degree)],
    }


def line(field):
    """Normalised points of the projective line."""
    zero, one = field.decode(0), field.decode(1)
    return [[zero, one]] + [[one, field.decode(code)] for code in range(field.q)]


def restricted(field, matrices, direction):
    """Rows over F_p of the restricted map at a direction."""
    width = len(matrices[0][0])
    rows = [[0] * len(matrices) for _ in range(width * field.d)]
    for j, matrix in enumerate(matrices):
        for c in range(width):
            total = field.decode(0)
            for r, coordinate in enumerate(direction):
                total = field.add(total, field.mul(matrix[r][c], coordinate))
            for k, value in enumerate(total):
                rows[c * field.d + k][j] = value
    return rows


def full_ledger(field, matrices):
    """One entry for each direction."""
    ledger = []
    for direction in line(field):
        rows = restricted(field, matrices, direction)
        ledger.append({"direction": direction, "matrix": rows, "rank": rank(rows, field.p)})
    return ledger


def orbits(field, ledger):
    """Orbit distribution from the ranks alone."""
    target = len(ledger[0]["matrix"])
    counts = {1: len(ledger)}
    for entry in ledger:
        size = field.p ** entry["rank"]
        counts[size] = counts.get(size, 0) + field.p ** (target - entry["rank"])
    return [[size, counts[size]] for size in sorted(counts)]


def partial(field, matrices):
    """What holds for every value of the one entry that is not given."""
    ledgers = []
    for code in range(field.q):
        value = field.decode(code)
        full = [[[value if entry is None else entry for entry in row] for row in matrix] for matrix in matrices]
        ledgers.append(full_ledger(field, full))
    entries = []
    for versions in zip(*ledgers):
        ranks = sorted({version["rank"] for version in versions})
        same = all(version["matrix"] == versions[0]["matrix"] for version in versions)
        entries.append(
            {
                "direction": versions[0]["direction"],
                "matrix": versions[0]["matrix"] if same else None,
                "rank": ranks[0] if len(ranks) == 1 else None,
                "possible_ranks": ranks,
            }
        )
    distributions = [orbits(field, ledger) for ledger in ledgers]
    same = all(other == distributions[0] for other in distributions)
    determined = sum(1 for entry in entries if entry["rank"] is not None)
    return {
        "ledger": entries,
        "orbit_distribution": distributions[0] if same else None,
        "scope": {
            "directions": len(entries),
            "complete": determined == len(entries),
            "rank_field": "prime-field",
            "determined": determined,
        },
    }
