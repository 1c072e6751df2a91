"""Short lattice vectors by reduction and enumeration."""

from shared.lattice.reduction import shortest


def solve(problem):
    """The submission for a shortest-vector or a bounded-vector problem."""
    limit = problem["norm_squared_bound"] if problem["kind"] == "bounded" else None
    vector, coefficients, norm = shortest(problem["basis"], limit)
    if limit is not None and norm > limit:
        raise ValueError(f"the shortest vector has squared norm {norm}, above {limit}")
    return {
        "instance": problem["instance"],
        "vector": vector,
        "coefficients": [str(value) for value in coefficients],
        "norm_squared": norm,
        "claim": "shortest" if limit is None else "within-bound",
    }
