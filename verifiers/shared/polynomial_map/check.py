"""Checks polynomial maps: the complete table, the exact partition into fibers, and the certificate asked for."""

from collections import Counter

from shared.finite_field import notation
from shared.kernel import shape
from shared.polynomial_map import model

NO_COLLISION = "FINITE_MAP_HAS_NO_COLLISION"
NOT_PERMUTATION = "FINITE_MAP_NOT_PERMUTATION"

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.domain", "binding"),
    ("binding.codomain", "binding"),
    ("binding.polynomial", "binding"),
    ("table.complete", "completeness"),
    ("table.order", "completeness"),
    ("table.values", "correctness"),
    ("fibers.partition", "completeness"),
    ("fibers.values", "correctness"),
    ("certificate.kind", "correctness"),
    ("certificate.values", "correctness"),
    ("scope.exact", "scope"),
    ("intermediate.fiber-sizes", "intermediate"),
)


def contract(problem):
    """Shape of the submission."""
    element = notation.element(problem["presentation"])
    pair = shape.array(element, 2, 2)
    return shape.record(
        {
            "instance": shape.text(120),
            "map": shape.record(
                {
                    "domain": notation.presentation,
                    "codomain": notation.presentation,
                    "variable": shape.text(20),
                    "coefficients": shape.array(element, 0, 128),
                }
            ),
            "table": shape.array(pair, 0, 600),
            "fibers": shape.array(shape.record({"image": element, "sources": shape.array(element, 0, 600)}), 0, 600),
            "certificate": certificate(element, pair),
            "scope": shape.record(
                {
                    "points": shape.integer(0, 10**6),
                    "complete": shape.flag,
                    "statement": shape.choice("on-this-field-only", "on-every-extension-field"),
                }
            ),
        },
        {"fiber_sizes": shape.array(shape.array(shape.integer(0, 10**6), 2, 2), 0, 600)},
    )


def certificate(element, pair):
    """A certificate is told apart by its kind; each kind has its own closed shape."""
    kinds = {
        "collision": {"left": element, "right": element, "image": element},
        "permutation": {"inverse": shape.array(pair, 0, 600)},
        "none": {"code": shape.choice(NO_COLLISION, NOT_PERMUTATION)},
    }
    kind = shape.choice(*kinds)

    def read(value, place):
        if not isinstance(value, dict) or "kind" not in value:
            raise shape.ShapeFault(f"{place}: an object with the key 'kind' is expected")
        return shape.record({"kind": kind, **kinds[kind(value["kind"], f"{place}/kind")]})(value, place)

    return read


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    field, coefficients = model.load(problem)
    presentation = problem["presentation"]
    given = submission["map"]
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    report.check("binding.domain", given["domain"] == presentation, "another domain")
    report.check("binding.codomain", given["codomain"] == presentation, "another codomain")
    same = given["variable"] == problem["variable"] and given["coefficients"] == coefficients
    report.check("binding.polynomial", same, "another polynomial")
    rows = model.table(field, coefficients)
    _table(rows, submission["table"], report)
    parts = model.fibers(rows)
    _fibers(rows, parts, submission["fibers"], report)
    exact = submission["scope"] == {"points": field.order, "complete": True, "statement": "on-this-field-only"}
    report.check("scope.exact", exact, "the scope is not all points of this field and no other field")
    sizes = submission["fiber_sizes"]
    expected = Counter(len(part) for part in parts.values())
    sound = sizes is not None and len(sizes) == len(expected) and dict(map(tuple, sizes)) == dict(expected)
    report.check("intermediate.fiber-sizes", sound, "the fiber sizes are absent or wrong")
    _certificate(problem, rows, parts, submission["certificate"], report)


def _table(rows, table, report):
    sources = [source for source, _ in rows]
    given = [source for source, _ in table]
    complete = len(given) == len(sources) and set(given) == set(sources)
    report.check("table.complete", complete, f"the table must have each of {len(sources)} sources once")
    report.check("table.order", given == sources, "the sources are not in canonical order")
    values = dict(rows)
    for source, value in table:
        report.check("table.values", values[source] == value, f"the value at {source} is another one")
    report.check("table.values", True)


def _fibers(rows, parts, fibers, report):
    images = [fiber["image"] for fiber in fibers]
    sources = [source for fiber in fibers for source in fiber["sources"]]
    partition = (
        len(set(images)) == len(images)
        and all(fiber["sources"] for fiber in fibers)
        and len(sources) == len(rows)
        and len(set(sources)) == len(rows)
    )
    report.check("fibers.partition", partition, "not a partition of all sources with one fiber for each image")
    exact = {fiber["image"]: set(fiber["sources"]) for fiber in fibers} == parts
    report.check("fibers.values", exact, "a fiber is not the set of sources of its image")


def _certificate(problem, rows, parts, given, report):
    injective = len(parts) == len(rows)
    asked = problem["certificate_requested"]
    exists = injective if asked == "permutation" else not injective
    expected = asked if exists else "none"
    report.need("certificate.kind", given["kind"] == expected, f"a certificate of kind {given['kind']} is not the answer")
    values = dict(rows)
    if expected == "none":
        code = NOT_PERMUTATION if asked == "permutation" else NO_COLLISION
        report.check("certificate.values", given["code"] == code, f"{given['code']} is another non-conclusion")
    elif expected == "collision":
        sound = given["left"] != given["right"] and values[given["left"]] == values[given["right"]] == given["image"]
        report.check("certificate.values", sound, "not two different sources with the stated common value")
    else:
        backward = given["inverse"]
        sound = len(backward) == len(rows) and {(source, value) for value, source in backward} == set(rows)
        report.check("certificate.values", sound, "the inverse table is not that of the map")
