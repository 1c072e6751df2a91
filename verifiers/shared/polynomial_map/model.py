"""Values of a polynomial by sums of powers in the matrix algebra, and the fibers they give."""

from shared.finite_field.companion import Field


def table(field, coefficients):
    """All pairs (source, value) in canonical order."""
    rows = []
    for source in field.elements():
        power, total = field.one(), field.zero()
        for coefficient in coefficients:
            total = field.plus(total, field.times(coefficient, power))
            power = field.times(source, power)
        rows.append((source, total))
    return rows


def fibers(rows):
    """Sources by value."""
    parts = {}
    for source, value in rows:
        parts.setdefault(value, set()).add(source)
    return parts


def load(problem):
    """The field and the coefficients as tuples."""
    return Field(problem["presentation"]), [tuple(entry) for entry in problem["coefficients"]]
