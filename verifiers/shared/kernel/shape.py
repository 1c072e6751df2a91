"""Closed shapes: each reader takes a parsed value and its place, and returns the value it means.

A reader accepts every documented notation of a value and nothing else; booleans are never integers.
"""

import re

_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)


class ShapeFault(Exception):
    """A value that the submission contract does not allow; the message names its place."""


def show(value):
    """Short ASCII text of a value for a verdict's detail."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def record(required, optional=None):
    """An object with exactly the required keys and any of the optional ones (absent ones read as None)."""
    optional = optional or {}

    def read(value, place):
        if not isinstance(value, dict):
            raise ShapeFault(f"{place}: an object is expected, not {show(value)}")
        for key in value:
            if key not in required and key not in optional:
                raise ShapeFault(f"{place}: key {show(key)} is not part of the contract")
        for key in required:
            if key not in value:
                raise ShapeFault(f"{place}: key {key!r} is missing")
        result = {key: reader(value[key], f"{place}/{key}") for key, reader in required.items()}
        for key, reader in optional.items():
            result[key] = reader(value[key], f"{place}/{key}") if key in value else None
        return result

    return read


def array(item, low, high):
    """A list of `low` to `high` items."""

    def read(value, place):
        if not isinstance(value, list):
            raise ShapeFault(f"{place}: an array is expected, not {show(value)}")
        if not low <= len(value) <= high:
            raise ShapeFault(f"{place}: {len(value)} items, {low} to {high} are allowed")
        return [item(entry, f"{place}/{index}") for index, entry in enumerate(value)]

    return read


def integer(low, high):
    """A JSON integer in a range; true and false are not integers."""

    def read(value, place):
        if type(value) is not int:
            raise ShapeFault(f"{place}: an integer is expected, not {show(value)}")
        if not low <= value <= high:
            raise ShapeFault(f"{place}: out of the range {low} to {high}")
        return value

    return read


def big_integer(max_digits):
    """An integer as a JSON integer or as a string of decimal digits without leading zeros."""

    def read(value, place):
        if isinstance(value, str):
            # A string of the right length only: int() of a huge text is slow.
            if len(value) > max_digits + 1 or not _DECIMAL.fullmatch(value):
                raise ShapeFault(f"{place}: not a decimal integer of at most {max_digits} digits")
            return int(value)
        if type(value) is not int:
            raise ShapeFault(f"{place}: an integer is expected, not {show(value)}")
        if abs(value) >= 10**max_digits:
            raise ShapeFault(f"{place}: more than {max_digits} digits")
        return value

    return read


def text(max_length):
    """A string of bounded length."""

    def read(value, place):
        if not isinstance(value, str):
            raise ShapeFault(f"{place}: a string is expected, not {show(value)}")
        if len(value) > max_length:
            raise ShapeFault(f"{place}: {len(value)} characters, at most {max_length} are allowed")
        return value

    return read


def choice(*options):
    """One of a few strings."""

    def read(value, place):
        if not isinstance(value, str) or value not in options:
            raise ShapeFault(f"{place}: {show(value)} is not one of {', '.join(options)}")
        return value

    return read


def flag(value, place):
    """true or false."""
    if not isinstance(value, bool):
        raise ShapeFault(f"{place}: true or false is expected, not {show(value)}")
    return value


def nullable(reader):
    """null, or what the reader accepts."""

    def read(value, place):
        return None if value is None else reader(value, place)

    return read
