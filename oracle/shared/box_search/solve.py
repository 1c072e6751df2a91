"""Searches the whole box triple by triple."""


def solve(problem):
    """The submission for a box-search problem."""
    bound = problem["bound"]
    solutions, distance, count = enumerate_box(problem["coefficients"], problem["value"], bound)
    return {
        "instance": problem["instance"],
        "bound": bound,
        "triples_covered": (2 * bound + 1) ** 3,
        "solutions": solutions,
        "closest": {"distance": distance, "count": count},
        "conclusion": "solutions-in-box" if solutions else "none-in-box",
        "outside_box": "not-concluded",
    }


def enumerate_box(coefficients, value, bound):
    """Solutions, least distance and its multiplicity by looking at every triple."""
    a, b, c = coefficients
    span = range(-bound, bound + 1)
    third = [c * z**3 for z in span]
    solutions, best, count = [], None, 0
    for x in span:
        for y in span:
            rest = value - a * x**3 - b * y**3
            distances = [abs(rest - part) for part in third]
            least = min(distances)
            if best is None or least < best:
                best, count = least, 0
            if least == best:
                count += distances.count(least)
            if least == 0:
                solutions += [[x, y, z - bound] for z, distance in enumerate(distances) if distance == 0]
    return solutions, best, count
