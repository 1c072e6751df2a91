"""Integral LLL reduction (all-integer Gram-Schmidt), and enumeration of short vectors in the reduced basis."""

from math import ceil, floor, sqrt


def lll(basis, numerator=99, denominator=100):
    """LLL-reduced basis and the integer transform from the given rows to it."""
    size = len(basis)
    rows = [list(row) + [int(i == j) for j in range(size)] for i, row in enumerate(basis)]
    width = len(basis[0])
    dots = lambda a, b: sum(x * y for x, y in zip(a[:width], b[:width]))  # noqa: E731
    d = [1] + [0] * size
    lam = [[0] * size for _ in range(size)]

    def orthogonalise(k):
        for j in range(k + 1):
            value = dots(rows[k], rows[j])
            for i in range(j):
                value = (d[i + 1] * value - lam[k][i] * lam[j][i]) // d[i]
            if j < k:
                lam[k][j] = value
            else:
                d[k + 1] = value

    def reduce(k, j):
        if 2 * abs(lam[k][j]) <= d[j + 1]:
            return
        factor = (2 * lam[k][j] + d[j + 1]) // (2 * d[j + 1])
        rows[k] = [a - factor * b for a, b in zip(rows[k], rows[j])]
        lam[k][j] -= factor * d[j + 1]
        for i in range(j):
            lam[k][i] -= factor * lam[j][i]

    def swap(k):
        rows[k], rows[k - 1] = rows[k - 1], rows[k]
        for j in range(k - 1):
            lam[k][j], lam[k - 1][j] = lam[k - 1][j], lam[k][j]
        value = lam[k][k - 1]
        fresh = (d[k - 1] * d[k + 1] + value * value) // d[k]
        for i in range(k + 1, top + 1):
            other = lam[i][k]
            lam[i][k] = (d[k + 1] * lam[i][k - 1] - value * other) // d[k]
            lam[i][k - 1] = (fresh * other + value * lam[i][k]) // d[k + 1]
        d[k] = fresh

    k, top = 1, 0
    orthogonalise(0)
    while k < size:
        if k > top:
            top = k
            orthogonalise(k)
        reduce(k, k - 1)
        if denominator * (d[k + 1] * d[k - 1] + lam[k][k - 1] ** 2) < numerator * d[k] * d[k]:
            swap(k)
            k = max(1, k - 1)
        else:
            for j in range(k - 2, -1, -1):
                reduce(k, j)
            k += 1
    return [row[:width] for row in rows], [row[width:] for row in rows]


def shortest(basis, limit=None):
    """A shortest vector of the lattice, or the first one with squared norm at most `limit`; with its coefficients."""
    rows, transform = lll(basis)
    size = len(rows)
    mu, norms = _gram_schmidt(rows)
    best = list(rows[0])
    best_norm = sum(v * v for v in best)
    best_point = [1] + [0] * (size - 1)
    point = [0] * size

    def descend(level, used):
        nonlocal best, best_norm, best_point
        if limit is not None and best_norm <= limit:
            return
        if level < 0:
            vector = [sum(c * row[k] for c, row in zip(point, rows)) for k in range(len(rows[0]))]
            norm = sum(v * v for v in vector)
            if 0 < norm < best_norm:
                best, best_norm, best_point = vector, norm, list(point)
            return
        center = -sum(mu[j][level] * point[j] for j in range(level + 1, size))
        radius = sqrt(max(0.0, (best_norm - used) / norms[level])) + 1e-9
        low, high = ceil(center - radius), floor(center + radius)
        for value in sorted(range(low, high + 1), key=lambda v: abs(v - center)):
            cost = used + (value - center) ** 2 * norms[level]
            if cost > best_norm + 1e-6:
                break
            point[level] = value
            descend(level - 1, cost)
        point[level] = 0

    descend(size - 1, 0.0)
    coefficients = [sum(c * row[k] for c, row in zip(best_point, transform)) for k in range(size)]
    return best, coefficients, best_norm


def _gram_schmidt(rows):
    size = len(rows)
    mu = [[0.0] * size for _ in range(size)]
    stars, norms = [], []
    for i, row in enumerate(rows):
        star = [float(v) for v in row]
        for j in range(i):
            mu[i][j] = sum(a * b for a, b in zip(row, stars[j])) / norms[j]
            star = [a - mu[i][j] * b for a, b in zip(star, stars[j])]
        stars.append(star)
        norms.append(sum(v * v for v in star))
    return mu, norms
