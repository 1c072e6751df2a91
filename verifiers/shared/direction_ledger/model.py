"""The true ledger of a problem: maps, ranks and orbits, by matrix actions, spans and literal orbit counting."""

from collections import Counter
from itertools import product

from shared.finite_field.companion import Field, span


def restriction(field, matrices, direction):
    """Rows over F_p of the map that sends the j-th unit vector to the coordinates of B_j^T b."""
    columns = []
    for matrix in matrices:
        column = []
        for entries in zip(*matrix):
            value = field.zero()
            for entry, coordinate in zip(entries, direction):
                value = field.plus(value, field.times(entry, coordinate))
            column.extend(value)
        columns.append(column)
    return [tuple(row) for row in zip(*columns)]


def image(field, rows):
    """All values of the map given by rows."""
    return span(list(zip(*rows)), field.p, len(rows))


def rank(field, rows):
    """Dimension of the image, from the number of its points."""
    points, dimension = len(image(field, rows)), 0
    while points > 1:
        points //= field.p
        dimension += 1
    return dimension


def directions(field):
    """The projective line by representatives whose first non-zero coordinate is 1."""
    return [(field.zero(), field.one())] + [(field.one(), value) for value in field.elements()]


def is_normalised(field, direction):
    """True when the first non-zero coordinate is 1."""
    lead = direction[0] if any(direction[0]) else direction[1]
    return lead == field.one()


def orbit_distribution(field, maps):
    """Orbit sizes with their counts: translations by each image, and a fixed point for each direction."""
    counts = Counter()
    for rows in maps:
        shifts = image(field, rows)
        unseen = set(product(range(field.p), repeat=len(rows)))
        while unseen:
            point = next(iter(unseen))
            orbit = {tuple((a + b) % field.p for a, b in zip(point, shift)) for shift in shifts}
            unseen -= orbit
            counts[len(orbit)] += 1
        counts[1] += 1
    return counts


def load(problem):
    """The field and the matrices (entries as tuples, or None for an entry that is not given)."""
    field = Field(problem["presentation"])
    matrices = [
        [[None if entry is None else tuple(entry) for entry in row] for row in matrix] for matrix in problem["matrices"]
    ]
    return field, matrices
