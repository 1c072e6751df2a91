"""Readers for presentations, elements, axes and rows in every accepted notation."""

from shared.kernel import shape

_PRESENTATION = shape.record(
    {
        "characteristic": shape.integer(2, 97),
        "modulus_coefficients": shape.array(shape.integer(0, 96), 2, 9),
        "generator": shape.text(20),
        "element_encoding_version": shape.text(40),
    }
)

axis = shape.record({"name": shape.text(60), "labels": shape.array(shape.text(60), 0, 64)})


def presentation(value, place):
    """A field presentation, compared as a value: isomorphic is not equal."""
    return _PRESENTATION(value, place)


def element(field_presentation):
    """An element as coordinates over the power basis or as its encoding integer; gives a coordinate tuple."""
    p = field_presentation["characteristic"]
    degree = len(field_presentation["modulus_coefficients"]) - 1
    coordinates = shape.array(shape.integer(0, p - 1), degree, degree)
    encoding = shape.integer(0, p**degree - 1)

    def read(value, place):
        if isinstance(value, list):
            return tuple(coordinates(value, place))
        rest = encoding(value, place)
        digits = []
        for _ in range(degree):
            rest, digit = divmod(rest, p)
            digits.append(digit)
        return tuple(digits)

    return read


def prime_row(p, limit):
    """A row over F_p as a list of residues or as a string of digits (for p below 10)."""
    residues = shape.array(shape.integer(0, p - 1), 0, limit)

    def read(value, place):
        if isinstance(value, str) and p < 10:
            if len(value) > limit or any(character not in "0123456789"[:p] for character in value):
                raise shape.ShapeFault(f"{place}: not a string of residues modulo {p}")
            return tuple(int(character) for character in value)
        return tuple(residues(value, place))

    return read
