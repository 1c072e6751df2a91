"""Checks bounded searches for a x^3 + b y^3 + c z^3 = k: for each x and y the fitting z follow from a cube root."""

from shared.kernel import shape

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.box", "binding"),
    ("solutions.hold", "correctness"),
    ("solutions.complete", "completeness"),
    ("closest.values", "correctness"),
    ("conclusion.true", "correctness"),
    ("scope.outside", "scope"),
)


def contract(problem):
    """Shape of the submission."""
    bound = problem["bound"]
    coordinate = shape.integer(-bound, bound)
    return shape.record(
        {
            "instance": shape.text(120),
            "bound": shape.integer(0, 10**6),
            "triples_covered": shape.integer(0, 10**12),
            "solutions": shape.array(shape.array(coordinate, 3, 3), 0, 2000),
            "closest": shape.record({"distance": shape.integer(0, 10**9), "count": shape.integer(0, 10**9)}),
            "conclusion": shape.choice("solutions-in-box", "none-in-box"),
            "outside_box": shape.choice("not-concluded", "none", "some"),
        }
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    bound = problem["bound"]
    found, distance, count = search(problem["coefficients"], problem["value"], bound)
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    covered = submission["bound"] == bound and submission["triples_covered"] == (2 * bound + 1) ** 3
    report.check("binding.box", covered, "another box is said to be covered")
    given = [tuple(triple) for triple in submission["solutions"]]
    a, b, c = problem["coefficients"]
    for x, y, z in given:
        holds = a * x**3 + b * y**3 + c * z**3 == problem["value"]
        report.check("solutions.hold", holds, f"{(x, y, z)} is no solution")
    report.check("solutions.hold", True)
    complete = len(set(given)) == len(given) and set(given) == found
    report.check("solutions.complete", complete, f"{len(found)} solutions lie in the box")
    closest = submission["closest"] == {"distance": distance, "count": count}
    report.check("closest.values", closest, "another least distance, or another number of triples that attain it")
    conclusion = "solutions-in-box" if found else "none-in-box"
    report.check("conclusion.true", submission["conclusion"] == conclusion, "the conclusion is false")
    report.check("scope.outside", submission["outside_box"] == "not-concluded", "nothing follows for points outside the box")


def search(coefficients, value, bound):
    """Solutions in the box, the least distance from the value, and how many triples attain it."""
    a, b, c = coefficients
    found, best, count = set(), None, 0
    cubes = [b * y**3 for y in range(-bound, bound + 1)]
    for x in range(-bound, bound + 1):
        left = value - a * x**3
        for y, part in enumerate(cubes, -bound):
            rest = left - part
            low = _floor_root(rest // c)
            for z in {max(-bound, min(bound, low)), max(-bound, min(bound, low + 1))}:
                distance = abs(rest - c * z**3)
                if distance == 0:
                    found.add((x, y, z))
                if best is None or distance < best:
                    best, count = distance, 0
                if distance == best:
                    count += 1
    return found, best, count


def _floor_root(number):
    """Greatest integer whose cube is at most the number."""
    if number < 0:
        root = -_floor_root(-number)
        return root if root**3 <= number else root - 1
    root = round(number ** (1 / 3))
    while root**3 > number:
        root -= 1
    while (root + 1) ** 3 <= number:
        root += 1
    return root
