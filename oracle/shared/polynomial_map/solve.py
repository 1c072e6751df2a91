"""Tabulates a polynomial over a finite field by Horner's rule and derives fibers and certificates."""

from collections import Counter

from shared.finite_field.field import Field


def solve(problem):
    """The submission for a polynomial-map problem."""
    field = Field(problem["presentation"])
    table = tabulate(field, problem["coefficients"])
    fibers = partition(field, table)
    sizes = Counter(len(fiber["sources"]) for fiber in fibers)
    return {
        "instance": problem["instance"],
        "map": {
            "domain": problem["presentation"],
            "codomain": problem["presentation"],
            "variable": problem["variable"],
            "coefficients": problem["coefficients"],
        },
        "table": table,
        "fibers": fibers,
        "certificate": certificate(field, problem["certificate_requested"], table, fibers),
        "scope": {"points": field.q, "complete": True, "statement": "on-this-field-only"},
        "fiber_sizes": [[size, sizes[size]] for size in sorted(sizes)],
    }


def tabulate(field, coefficients):
    """Pairs [source, value] in canonical order."""
    table = []
    for code in range(field.q):
        source = field.decode(code)
        value = field.decode(0)
        for coefficient in reversed(coefficients):
            value = field.add(field.mul(value, source), coefficient)
        table.append([source, value])
    return table


def partition(field, table):
    """Fibers in the order in which their images first occur."""
    places, fibers = {}, []
    for source, value in table:
        key = field.encode(value)
        if key not in places:
            places[key] = len(fibers)
            fibers.append({"image": value, "sources": []})
        fibers[places[key]]["sources"].append(source)
    return fibers


def certificate(field, asked, table, fibers):
    """The certificate that was asked for, or the code that says why there is none."""
    wide = next((fiber for fiber in fibers if len(fiber["sources"]) > 1), None)
    if asked == "collision":
        if wide is None:
            return {"kind": "none", "code": "FINITE_MAP_HAS_NO_COLLISION"}
        left, right = wide["sources"][:2]
        return {"kind": "collision", "left": left, "right": right, "image": wide["image"]}
    if wide is not None:
        return {"kind": "none", "code": "FINITE_MAP_NOT_PERMUTATION"}
    inverse = sorted(([value, source] for source, value in table), key=lambda pair: field.encode(pair[0]))
    return {"kind": "permutation", "inverse": inverse}
