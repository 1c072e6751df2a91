"""Field presentations for generated instances, the schema parts of the finite-field families, and trap helpers."""

import json
import os

from shared.finite_field.field import Field

FORMATS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tasks", "formats")
ENCODING = "power-basis-v1"

# Irreducible monic moduli, low degree first; the first two of a degree are not interchangeable as values.
MODULI = {
    "F4": (2, [[1, 1, 1]]),
    "F8": (2, [[1, 1, 0, 1], [1, 0, 1, 1]]),
    "F9": (3, [[1, 0, 1], [2, 1, 1], [2, 2, 1]]),
    "F16": (2, [[1, 1, 0, 0, 1], [1, 0, 0, 1, 1], [1, 1, 1, 1, 1]]),
    "F25": (5, [[2, 0, 1], [1, 1, 1], [3, 0, 1]]),
    "F27": (3, [[1, 2, 0, 1], [2, 2, 0, 1]]),
}


def presentation(name, index=0, generator="a"):
    """A presentation as it stands in inputs and submissions."""
    p, moduli = MODULI[name]
    return {
        "characteristic": p,
        "modulus_coefficients": moduli[index],
        "generator": generator,
        "element_encoding_version": ENCODING,
    }


def definitions():
    """The `$defs` of the passive format."""
    with open(os.path.join(FORMATS, "finite-field.schema.json"), encoding="utf-8") as stream:
        return json.load(stream)["$defs"]


def polynomial_text(coefficients, variable):
    """Readable polynomial over F_p, highest power first."""
    terms = []
    for power in range(len(coefficients) - 1, -1, -1):
        value = coefficients[power]
        if value:
            name = "1" if power == 0 else variable if power == 1 else f"{variable}^{power}"
            terms.append(name if value == 1 else str(value) if power == 0 else f"{value}{name}")
    return " + ".join(terms)


def element_text(element, generator):
    """Readable element, lowest power first."""
    parts = []
    for power, value in enumerate(element):
        if value:
            name = "1" if power == 0 else generator if power == 1 else f"{generator}^{power}"
            parts.append(name if value == 1 else str(value) if power == 0 else f"{value}{name}")
    return " + ".join(parts) or "0"


def extension_rank(field, rows):
    """Rank over the extension field itself (the wrong field for a ledger)."""
    work = [[list(value) for value in row] for row in rows]
    top = 0
    for column in range(len(work[0])):
        spot = next((i for i in range(top, len(work)) if any(work[i][column])), None)
        if spot is None:
            continue
        work[top], work[spot] = work[spot], work[top]
        inverse = _inverse(field, work[top][column])
        work[top] = [field.mul(inverse, value) for value in work[top]]
        for i in range(top + 1, len(work)):
            factor = [-value % field.p for value in work[i][column]]
            work[i] = [field.add(a, field.mul(factor, b)) for a, b in zip(work[i], work[top])]
        top += 1
    return top


def _inverse(field, element):
    one = field.decode(1)
    return next(other for other in (field.decode(code) for code in range(field.q)) if field.mul(element, other) == one)


def field_of(name, index=0, generator="a"):
    """A field of the reference side."""
    return Field(presentation(name, index, generator))


CONVENTIONS = """
**The field.** `presentation` describes a finite field F_q = F_p[{g}]/(m): `characteristic` is the prime p, `modulus_coefficients` are
the coefficients of the monic irreducible polynomial m from the constant term upward, `generator` is the name of the class of the
variable, and `element_encoding_version` is `"power-basis-v1"`: an element is the list of its d coordinates in 0..p-1 over the
ordered basis 1, {g}, {g}^2, ... (d is the degree of m), or equally the integer c0 + c1 p + c2 p^2 + ... of these coordinates, its
encoding. Here m = {modulus}, so q = {q}. A field with another modulus or another generator name is another value, even when it is
isomorphic. The canonical order of the elements is that of their encodings 0, 1, ..., q - 1.
"""


def conventions(given):
    """The paragraph about the field for an instruction."""
    p = given["characteristic"]
    degree = len(given["modulus_coefficients"]) - 1
    return CONVENTIONS.format(
        g=given["generator"], modulus=polynomial_text(given["modulus_coefficients"], given["generator"]), q=p**degree
    ).strip()
