"""What a family hands to the writer: one task instance with its texts, schema and traps.

A draft is a plain dict:
  problem      the family's part of input.json (task and instance are added by the writer)
  title        one line
  instruction  Markdown body after the title
  schema       properties and required keys of the submission beside `instance`
  metadata     domain, difficulty, affordance, operations, coverage_class, contamination, derivation (optional ones default)
  traps        list of (name, failed check, why, transformation of the right submission or bytes)
"""

import copy
import json

INSTANCE_NOTE = "- `instance`: the string `instance` of the input, copied."


def edited(change):
    """A trap transformation: apply `change` in place to a deep copy of the right submission."""

    def transform(submission):
        value = copy.deepcopy(submission)
        replaced = change(value)
        return value if replaced is None else replaced

    return transform


def set_at(*path_and_value):
    """A trap transformation that replaces the value at a path of keys and indices."""
    *path, value = path_and_value

    def change(submission):
        place = submission
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return edited(change)


def drop_last(*path):
    """A trap transformation that leaves out the last entry of the list at a path."""

    def change(submission):
        place = submission
        for key in path:
            place = place[key]
        place.pop()

    return edited(change)


def compact(value):
    """One-line JSON bytes: hidden files must not share whole lines with public ones."""
    return (json.dumps(value, separators=(",", ":")) + "\n").encode()


def raw(make):
    """A trap given as bytes computed from the compact right submission."""

    def transform(submission):
        return make(compact(submission))

    return transform


def contract_traps(integer_path):
    """Traps of the reading contract, for a submission that has an integer at `integer_path`."""

    def with_value(text):
        def make(submission):
            marker = "@@MARKER@@"
            value = copy.deepcopy(submission)
            place = value
            for key in integer_path[:-1]:
                place = place[key]
            place[integer_path[-1]] = marker
            return compact(value).replace(json.dumps(marker).encode(), text)

        return make

    def duplicate(submission):
        body = compact(submission).strip()
        first = json.dumps(next(iter(submission))).encode()
        return body[:-1] + b"," + first + b":" + json.dumps(submission["instance"]).encode() + b"}\n"

    return [
        ("boolean-as-integer", "submission.shape", "A boolean stands where an integer is asked for.", with_value(b"true")),
        ("duplicate-key", "submission.unique-keys", "A key occurs twice, so two readers could see two answers.", duplicate),
        ("oversized-number", "submission.numbers", "A number of many thousand digits.", with_value(b"9" * 6000)),
        ("deep-nesting", "submission.depth", "Arrays nested far beyond any answer.", with_value(b"[" * 3000 + b"]" * 3000)),
        ("not-a-number", "submission.numbers", "NaN is not a JSON number.", with_value(b"NaN")),
    ]


def wrong_instance():
    """The trap of an answer that is bound to another instance."""
    return (
        "other-instance",
        "binding.instance",
        "The right values, bound to another instance.",
        set_at("instance", "another-task:0000000000000000"),
    )
