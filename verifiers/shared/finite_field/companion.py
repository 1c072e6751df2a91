"""Finite fields as matrix algebras: an element acts by a polynomial in the companion matrix of the modulus.

Nothing multiplies polynomials or reduces by the modulus here; products are products of matrices over F_p.
"""

from itertools import product


class Field:
    """F_p[a]/(m) for a presentation; elements are coordinate tuples over the power basis."""

    def __init__(self, presentation):
        self.p = presentation["characteristic"]
        modulus = presentation["modulus_coefficients"]
        self.degree = len(modulus) - 1
        self.order = self.p**self.degree
        size = self.degree
        companion = [[0] * size for _ in range(size)]
        for row in range(1, size):
            companion[row][row - 1] = 1
        for row in range(size):
            companion[row][size - 1] = -modulus[row] % self.p
        self._powers = [[[int(r == c) for c in range(size)] for r in range(size)]]
        for _ in range(size - 1):
            self._powers.append(self._multiply(self._powers[-1], companion))
        self._actions = {}

    def _multiply(self, left, right):
        return [[sum(a * b for a, b in zip(row, column)) % self.p for column in zip(*right)] for row in left]

    def action(self, element):
        """The matrix of multiplication by an element."""
        known = self._actions.get(element)
        if known is None:
            size = self.degree
            known = self._actions[element] = [
                [sum(element[k] * self._powers[k][r][c] for k in range(size)) % self.p for c in range(size)]
                for r in range(size)
            ]
        return known

    def times(self, left, right):
        """Product of two elements: the action of one on the coordinates of the other."""
        return tuple(sum(a * b for a, b in zip(row, right)) % self.p for row in self.action(left))

    def plus(self, left, right):
        """Sum of two elements."""
        return tuple((a + b) % self.p for a, b in zip(left, right))

    def zero(self):
        """The zero element."""
        return (0,) * self.degree

    def one(self):
        """The unit element."""
        return (1,) + (0,) * (self.degree - 1)

    def elements(self):
        """All elements in canonical order: the encoding counts up, the first coordinate fastest."""
        return [tuple(reversed(digits)) for digits in product(range(self.p), repeat=self.degree)]


def span(vectors, p, length):
    """All F_p-combinations of vectors, as a set of tuples, grown one generator at a time."""
    reached = {(0,) * length}
    for vector in vectors:
        if tuple(vector) in reached:
            continue
        reached = {
            tuple((a + k * b) % p for a, b in zip(point, vector)) for point in reached for k in range(p)
        }
    return reached
