"""Finite field arithmetic on polynomials: multiply, then reduce by the modulus."""


class Field:
    """F_p[a]/(m); elements are coordinate lists over 1, a, a^2, ..."""

    def __init__(self, presentation):
        self.presentation = presentation
        self.p = presentation["characteristic"]
        self.modulus = presentation["modulus_coefficients"]
        self.d = len(self.modulus) - 1
        self.q = self.p**self.d

    def decode(self, code):
        """Element with a given encoding integer."""
        return [code // self.p**k % self.p for k in range(self.d)]

    def encode(self, element):
        """Encoding integer of an element."""
        code = 0
        for coordinate in reversed(element):
            code = code * self.p + coordinate
        return code

    def add(self, left, right):
        """Sum."""
        return [(a + b) % self.p for a, b in zip(left, right)]

    def mul(self, left, right):
        """Product: convolution and long division by the monic modulus."""
        wide = [0] * (2 * self.d - 1)
        for i, a in enumerate(left):
            for j, b in enumerate(right):
                wide[i + j] = (wide[i + j] + a * b) % self.p
        for top in range(len(wide) - 1, self.d - 1, -1):
            lead = wide[top]
            if lead:
                for k in range(self.d + 1):
                    wide[top - self.d + k] = (wide[top - self.d + k] - lead * self.modulus[k]) % self.p
        return wide[: self.d]


def rank(rows, p):
    """Rank over F_p by elimination."""
    return len(echelon(rows, p)[1])


def echelon(rows, p):
    """Reduced row echelon form over F_p and its pivot columns."""
    work = [[value % p for value in row] for row in rows]
    pivots, top = [], 0
    for column in range(len(work[0]) if work else 0):
        spot = next((i for i in range(top, len(work)) if work[i][column]), None)
        if spot is None:
            continue
        work[top], work[spot] = work[spot], work[top]
        inverse = pow(work[top][column], -1, p)
        work[top] = [value * inverse % p for value in work[top]]
        for i, row in enumerate(work):
            if i != top and row[column]:
                factor = row[column]
                work[i] = [(a - factor * b) % p for a, b in zip(row, work[top])]
        pivots.append(column)
        top += 1
    return work, pivots


def kernel(rows, p):
    """Basis of the kernel of a matrix over F_p."""
    width = len(rows[0])
    reduced, pivots = echelon(rows, p)
    basis = []
    for free in (column for column in range(width) if column not in pivots):
        vector = [0] * width
        vector[free] = 1
        for row, pivot in zip(reduced, pivots):
            vector[pivot] = -row[free] % p
        basis.append(vector)
    return basis
