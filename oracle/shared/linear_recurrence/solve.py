"""Shortest linear recurrences over F_p by Berlekamp and Massey's algorithm."""


def solve(problem):
    """The submission for a recurrence problem."""
    p, terms = problem["modulus"], problem["terms"]
    length, coefficients = massey(terms, p)
    free = max(0, 2 * length - len(terms))
    following = None
    if free == 0:
        following = sum(c * terms[-1 - back] for back, c in enumerate(coefficients)) % p
    return {
        "instance": problem["instance"],
        "terms_used": len(terms),
        "length": length,
        "coefficients": coefficients,
        "unique": free == 0,
        "next_term": following,
        "statement": "next-term-determined" if free == 0 else "next-term-not-determined",
        "solution_dimension": free,
    }


def massey(terms, p):
    """Least length and the coefficients c_1, ..., c_L of one recurrence of that length."""
    current, previous = [1], [1]
    length, gap, last = 0, 1, 1
    for index, term in enumerate(terms):
        defect = term
        for back in range(1, length + 1):
            if back < len(current):
                defect += current[back] * terms[index - back]
        defect %= p
        if defect == 0:
            gap += 1
            continue
        factor = defect * pow(last, -1, p) % p
        updated = current + [0] * max(0, len(previous) + gap - len(current))
        for place, value in enumerate(previous):
            updated[place + gap] = (updated[place + gap] - factor * value) % p
        if 2 * length <= index:
            length, previous, last, gap = index + 1 - length, current, defect, 1
        else:
            gap += 1
        current = updated
    padded = current + [0] * (length + 1 - len(current))
    return length, [-value % p for value in padded[1 : length + 1]]
