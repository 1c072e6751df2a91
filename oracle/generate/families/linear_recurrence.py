"""Shortest recurrences of finite sequences: sometimes the terms determine the next one, sometimes they do not."""

from generate.draft import contract_traps, edited, set_at, wrong_instance
from shared.linear_recurrence.solve import massey


def draft(draw, options):
    """One instance; option `determined` or the seed chooses whether the next term follows."""
    determined = options.get("determined")
    if determined is None:
        determined = draw.below(2) == 1
    p = draw.pick([101, 103, 107, 109, 113, 127])
    while True:
        length = draw.between(7, 9)
        count = 2 * length + draw.between(2, 4) if determined else 2 * length - draw.between(2, 3)
        rule = [draw.below(p) for _ in range(length - 1)] + [draw.between(1, p - 1)]
        terms = [draw.below(p) for _ in range(length)]
        while len(terms) < count:
            terms.append(sum(c * terms[-1 - back] for back, c in enumerate(rule)) % p)
        found, coefficients = massey(terms, p)
        if found == length:
            break
    guess = sum(c * terms[-1 - back] for back, c in enumerate(coefficients)) % p
    following = sum(c * terms[-1 - back] for back, c in enumerate(rule)) % p

    def longer(submission):
        submission["length"] += 1
        submission["coefficients"].append(0)
        shifted = submission["coefficients"]
        # f(x) (x - 1) is a longer recurrence that holds as well.
        full = [p - 1] + shifted[:-1]
        product = [0] * (len(full) + 1)
        for place, value in enumerate(full):
            product[place] = (product[place] + value) % p
            product[place + 1] = (product[place + 1] - value) % p
        submission["coefficients"] = product[1 : submission["length"] + 1]

    def claims_next(submission):
        submission.update(next_term=guess, statement="next-term-determined", unique=True)

    traps = [
        ("coefficient-changed", "recurrence.holds", "One coefficient is changed.",
         edited(lambda s: s["coefficients"].__setitem__(0, (s["coefficients"][0] + 1) % p))),
        ("coefficients-reversed", "recurrence.holds", "The coefficients stand in the opposite order.", edited(lambda s: s["coefficients"].reverse())),
        ("longer-recurrence", "recurrence.length", "A longer recurrence that also holds.", edited(longer)),
        ("coefficient-left-out", "recurrence.size", "One coefficient is left out.", edited(_drop)),
        ("whole-sequence-claimed", "scope.statement", "All further terms are called determined.", set_at("statement", "sequence-determined")),
        ("terms-left-out", "binding.terms", "The answer says that it covers fewer terms.", set_at("terms_used", count - 1)),
        wrong_instance(),
        *contract_traps(["length"]),
    ]
    if determined:
        traps.append(("next-term-withheld", "next-term.value", "The next term is called open though it follows.",
                      edited(lambda s: s.update(next_term=None))))
        traps.append(("next-term-wrong", "next-term.value", "Another next term.", set_at("next_term", (following + 1) % p)))
    else:
        traps.append(("next-term-claimed", "uniqueness.true", "The next term of one fitting recurrence is called determined.", edited(claims_next)))
        traps.append(("next-term-guessed", "next-term.value", "A next term is stated beside an open statement.", set_at("next_term", guess)))
    return {
        "problem": {"kind": "recurrence", "modulus": p, "terms": terms},
        "title": f"Shortest linear recurrence of a finite sequence modulo {p}",
        "instruction": """
`/app/input.json` holds a prime `modulus` p and a list `terms` of residues s_0, s_1, ..., s_(N-1) modulo p. A recurrence of length L
is a list c_1, ..., c_L of residues with s_n = c_1 s_(n-1) + c_2 s_(n-2) + ... + c_L s_(n-L) modulo p for every n with L <= n < N.
Find the least L for which there is one (the recurrence may end in zeros, and for L = 0 it says that all terms are zero), and one such
recurrence. Say whether it is the only one of this length, and whether the given terms determine the next term s_N, when nothing more is
assumed than that some recurrence of this least length goes on to hold for n = N.

The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `terms_used`: N, the number of terms that the answer covers.
- `length`: the least L.
- `coefficients`: c_1, ..., c_L in this order, each in 0..p-1; every recurrence of that length is accepted.
- `unique`: `true` if there is exactly one recurrence of that length, otherwise `false`.
- `next_term`: s_N in 0..p-1 if all recurrences of that length give the same s_N, otherwise `null`.
- `statement`: `"next-term-determined"` or `"next-term-not-determined"`, accordingly. The schema also lists `"sequence-determined"`: that
  all further terms are known cannot follow from finitely many terms, so it claims too much.
- `solution_dimension` (optional, graded on its own as an intermediate value and never part of the reward): the dimension of the affine
  space of all recurrences of length L over F_p (0 if there is exactly one).
""",
        "schema": {
            "required": ["terms_used", "length", "coefficients", "unique", "next_term", "statement"],
            "properties": {
                "terms_used": {"type": "integer", "minimum": 0, "maximum": 4096},
                "length": {"type": "integer", "minimum": 0, "maximum": 256},
                "coefficients": {"type": "array", "maxItems": 256, "items": {"type": "integer", "minimum": 0, "maximum": 126}},
                "unique": {"type": "boolean"},
                "next_term": {"type": ["integer", "null"], "minimum": 0, "maximum": 126},
                "statement": {"enum": ["next-term-determined", "next-term-not-determined", "sequence-determined"]},
                "solution_dimension": {"type": "integer", "minimum": 0, "maximum": 256},
            },
        },
        "metadata": {
            "domain": "exact-algebra", "difficulty": "medium", "affordance": "none",
            "roles": [] if determined else ["honest-partial", "plausible-shortcut"],
            "derivation": "Own instance: a drawn recurrence, cut off before or after its terms determine it.",
        },
        "traps": traps,
    }


def _drop(submission):
    submission["coefficients"].pop()
