"""Exact integer matrix arithmetic of the checker: determinants by fraction-free elimination, minors, gcds."""

from itertools import combinations
from math import gcd


def determinant(matrix):
    """Determinant by Bareiss elimination."""
    rows = [list(row) for row in matrix]
    size, sign, previous = len(rows), 1, 1
    for step in range(size - 1):
        if rows[step][step] == 0:
            other = next((index for index in range(step + 1, size) if rows[index][step]), None)
            if other is None:
                return 0
            rows[step], rows[other] = rows[other], rows[step]
            sign = -sign
        for row in range(step + 1, size):
            for column in range(step + 1, size):
                rows[row][column] = (
                    rows[row][column] * rows[step][step] - rows[row][step] * rows[step][column]
                ) // previous
        previous = rows[step][step]
    return sign * rows[-1][-1] if size else 1


def minors_gcd(matrix, order):
    """Gcd of all minors of an order; 0 when all vanish."""
    found = 0
    for rows in combinations(matrix, order):
        for columns in combinations(range(len(matrix[0])), order):
            found = gcd(found, determinant([[row[column] for column in columns] for row in rows]))
            if found == 1:
                return 1
    return found


def determinantal_divisors(matrix):
    """The gcds of the minors of order 1, 2, ... up to min(rows, columns)."""
    return [minors_gcd(matrix, order) for order in range(1, min(len(matrix), len(matrix[0])) + 1)]


def product(left, right):
    """Matrix product."""
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*right)] for row in left]
