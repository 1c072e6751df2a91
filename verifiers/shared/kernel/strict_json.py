"""Read a submission strictly: one regular file, bounded, one meaning.

Each refusal names the contract check that failed. Nothing is repaired and nothing is guessed:
a byte sequence that two readers could understand differently is refused.
"""

import json
import os
import re
import stat

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
MAX_DIGITS = 4000

# Checks in the order in which they are decided.
CONTRACT_CHECKS = (
    "submission.present",
    "submission.regular-file",
    "submission.size",
    "submission.utf8",
    "submission.depth",
    "submission.numbers",
    "submission.syntax",
    "submission.unique-keys",
)

# A string without an end runs to the end of the text, so that no text is scanned twice.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_EXPONENT_LIMIT = 400


class Refusal(Exception):
    """A submission that cannot be read; `check` is the failed contract check."""

    def __init__(self, check, detail):
        super().__init__(detail)
        self.check = check
        self.detail = detail


class NotAnInteger:
    """A JSON number with a fractional value. No task accepts one, so only its text is kept."""

    def __init__(self, text):
        self.text = text[:40]

    def __repr__(self):
        return self.text


def read_bytes(path):
    """Bytes of the regular file at `path`; links, devices and large files are refused before reading."""
    try:
        before = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise Refusal("submission.present", "no file at the submission's path") from None
    if not stat.S_ISREG(before.st_mode):
        raise Refusal("submission.regular-file", "the submission is not a regular file")
    if before.st_size > MAX_BYTES:
        raise Refusal("submission.size", f"{before.st_size} bytes, at most {MAX_BYTES} are read")
    # A file swapped after lstat must not be followed, nor block on a pipe.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Refusal("submission.regular-file", f"cannot be opened: errno {error.errno}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refusal("submission.regular-file", "the submission is not a regular file")
        chunks = []
        left = MAX_BYTES + 1
        while left > 0:
            chunk = os.read(descriptor, min(left, 65536))
            if not chunk:
                break
            chunks.append(chunk)
            left -= len(chunk)
    finally:
        os.close(descriptor)
    data = b"".join(chunks)
    if len(data) > MAX_BYTES:
        raise Refusal("submission.size", f"more than {MAX_BYTES} bytes")
    return data


def parse(data):
    """Value of strict JSON text. Integral numbers become `int` whatever their notation."""
    try:
        text = data.decode("utf-8", errors="strict")
    except UnicodeDecodeError as error:
        raise Refusal("submission.utf8", f"invalid UTF-8 at byte {error.start}") from None
    _check_depth(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_decimal,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        raise Refusal("submission.syntax", f"not JSON at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise Refusal("submission.depth", "nested too deeply to be read") from None
    _check_text(value)
    return value


def _check_depth(text):
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise Refusal("submission.depth", f"nested deeper than {MAX_DEPTH} levels")
        elif token in "]}":
            depth -= 1


def _object(pairs):
    result = {}
    for key, value in pairs:
        if key in result:
            raise Refusal("submission.unique-keys", f"key {key[:60]!r} occurs twice in one object")
        result[key] = value
    return result


def _integer(text):
    if len(text) > MAX_DIGITS:
        raise Refusal("submission.numbers", f"a number of {len(text)} digits, at most {MAX_DIGITS} are read")
    return int(text)


def _decimal(text):
    if len(text) > MAX_DIGITS:
        raise Refusal("submission.numbers", f"a number of {len(text)} characters, at most {MAX_DIGITS} are read")
    mantissa, _, exponent_text = text.lower().partition("e")
    if len(exponent_text) > 6 or abs(int(exponent_text or "0")) > _EXPONENT_LIMIT:
        raise Refusal("submission.numbers", "an exponent out of range")
    whole, _, fraction = mantissa.partition(".")
    shift = int(exponent_text or "0") - len(fraction)
    digits = int(whole + fraction)
    if shift >= 0:
        return digits * 10**shift
    if digits % 10**-shift == 0:
        # Sign-safe: the division is exact.
        return digits // 10**-shift
    return NotAnInteger(text)


def _constant(text):
    raise Refusal("submission.numbers", f"{text} is not a JSON number")


def _check_text(value):
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if any("\ud800" <= character <= "\udfff" for character in item):
                raise Refusal("submission.utf8", "a lone surrogate in a string")
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
