"""Polynomial maps of a finite field into itself: permutations, collisions, and certificates that do not exist."""

from generate.draft import contract_traps, edited, set_at, wrong_instance
from generate.finite_fields import MODULI, conventions, definitions, element_text, presentation
from shared.finite_field.field import Field
from shared.polynomial_map.solve import certificate, partition, tabulate

# Field, modulus, generator, certificate asked for, whether the map is injective.
VARIANTS = (
    ("F8", 0, "a", "permutation", True),
    ("F9", 0, "i", "collision", False),
    ("F16", 0, "a", "collision", True),
    ("F25", 0, "r", "permutation", False),
    ("F27", 0, "a", "permutation", True),
    ("F16", 1, "z", "collision", False),
    ("F9", 2, "u", "collision", True),
    ("F8", 1, "t", "permutation", False),
)


def draft(draw, options):
    """One instance; option `shape` is a row like those of VARIANTS, `polynomial` fixes the coefficients."""
    row = options.get("shape") or VARIANTS[options.get("variant", draw.below(len(VARIANTS))) % len(VARIANTS)]
    name, index, generator, asked, injective = row
    given = presentation(name, index, generator)
    field = Field(given)
    fixed = options.get("polynomial")
    coefficients = fixed or _polynomial(draw, field, injective, name, index)
    table = tabulate(field, coefficients)
    if (len(partition(field, table)) == field.q) != injective:
        raise ValueError("the fixed polynomial is not of the stated kind")
    problem = {
        "kind": "map", "presentation": given, "variable": "x", "coefficients": coefficients,
        "certificate_requested": asked,
    }  # fmt: skip
    return {
        "problem": problem,
        "title": f"A polynomial map of F_{field.q}: table, fibers and a {asked} certificate",
        "instruction": _instruction(given, field, coefficients, asked),
        "schema": _schema(),
        "metadata": {
            "domain": "finite-fields",
            "difficulty": "easy" if field.q < 9 else "medium",
            "affordance": "direct",
            "operations": [
                "finite_field.polynomial_map.table.compute", "finite_field.polynomial_map.fibers.compute",
                f"finite_field.polynomial_map.{asked}.analyze",
            ],
            "roles": [] if (asked == "permutation") == injective else ["no-such-object"],
            "coverage_class": options.get("coverage_class", "authored_task"),
            "derivation": options.get("derivation", "Own instance: a drawn polynomial whose trap answers differ from the truth."),
        },
        "traps": _traps(field, given, name, index, coefficients, asked, injective, options.get("all_traps", False)),
    }


def _polynomial(draw, field, injective, name, index):
    """Coefficients of a map of the kind that is asked for, of degree at least 2 and not a monomial."""
    while True:
        if injective:
            coefficients = _permutation(draw, field)
        else:
            degree = draw.between(3, min(6, field.q - 2))
            coefficients = [field.decode(draw.below(field.q)) for _ in range(degree + 1)]
        while len(coefficients) > 1 and not any(coefficients[-1]):
            coefficients.pop()
        if len(coefficients) < 3 or sum(1 for entry in coefficients if any(entry)) < 2:
            continue
        table = tabulate(field, coefficients)
        images = len(partition(field, table))
        if injective == (images == field.q) and images > field.q // 3:
            return coefficients


def _permutation(draw, field):
    """A random permutation polynomial: affine maps around a power map with an exponent prime to q - 1, multiplied out."""
    exponents = [e for e in range(2, field.q - 1) if _coprime(e, field.q - 1) and e % field.p]
    exponent = draw.pick(exponents) if exponents else field.p
    exponent = draw.pick([exponent, exponent if exponent < 8 else exponents[0] if exponents else field.p])
    shift = field.decode(draw.between(1, field.q - 1))
    result = [field.decode(1)]
    for _ in range(exponent):
        longer = [field.decode(0)] + result
        for power, value in enumerate(result):
            longer[power] = field.add(longer[power], field.mul(shift, value))
        result = longer
    scale, constant = field.decode(draw.between(1, field.q - 1)), field.decode(draw.below(field.q))
    result = [field.mul(scale, value) for value in result]
    result[0] = field.add(result[0], constant)
    return result


def _coprime(a, b):
    while b:
        a, b = b, a % b
    return a == 1


def _traps(field, given, name, index, coefficients, asked, injective, everything):
    table = tabulate(field, coefficients)
    other_coefficients = [list(entry) for entry in coefficients]
    other_coefficients[1] = field.add(other_coefficients[1], field.decode(1))
    other_table = tabulate(field, other_coefficients)
    exists = (asked == "permutation") == injective

    def rebuilt(submission, rows):
        submission["table"] = rows
        submission["fibers"] = partition(field, rows)

    def truncated(submission):
        submission["table"].pop()

    def duplicated(submission):
        submission["table"][-1] = submission["table"][0]

    def reordered(submission):
        submission["table"] = submission["table"][1:] + submission["table"][:1]

    def forged(submission):
        rows = [[list(s), list(v)] for s, v in table]
        rows[-1][1] = field.add(rows[-1][1], field.decode(1))
        rebuilt(submission, rows)

    def swapped_table(submission):
        rebuilt(submission, other_table)
        submission["certificate"] = certificate(field, asked, other_table, partition(field, other_table))

    def swapped_map(submission):
        swapped_table(submission)
        submission["map"]["coefficients"] = other_coefficients

    def dropped_fiber(submission):
        submission["fibers"].pop()

    def split_fiber(submission):
        fiber = max(submission["fibers"], key=lambda entry: len(entry["sources"]))
        if len(fiber["sources"]) > 1:
            submission["fibers"].append({"image": fiber["image"], "sources": [fiber["sources"].pop()]})
        else:
            submission["fibers"].append({"image": fiber["image"], "sources": []})

    def merged_fibers(submission):
        first, second = submission["fibers"][0], submission["fibers"].pop()
        first["sources"] = first["sources"] + second["sources"]

    traps = [
        ("truncated-table", "table.complete", "The last row of the table is left out.", edited(truncated)),
        ("duplicated-row", "table.complete", "One row stands twice in the place of another.", edited(duplicated)),
        ("reordered-table", "table.order", "All rows are there, but not in canonical order.", edited(reordered)),
        ("forged-row", "table.values", "One value is changed, and the fibers with it.", edited(forged)),
        ("table-of-another-map", "table.values", "Table, fibers and certificate of another polynomial.", edited(swapped_table)),
        ("another-map", "binding.polynomial", "Another polynomial is answered, consistently.", edited(swapped_map)),
        ("codomain-replaced", "binding.codomain", "The codomain has another generator name.",
         set_at("map", "codomain", {**given, "generator": given["generator"] + "x"})),
        ("dropped-fiber", "fibers.partition", "The last fiber is left out.", edited(dropped_fiber)),
        ("split-fiber", "fibers.partition", "One image has two fibers.", edited(split_fiber)),
        ("merged-fibers", "fibers.values", "Two fibers are merged under one image.", edited(merged_fibers)),
        ("beyond-this-field", "scope.exact", "The statement is extended to every larger field.", set_at("scope", "statement", "on-every-extension-field")),
    ]  # fmt: skip
    traps += _false_certificates(field, coefficients, table, other_table, asked, exists)
    moduli = MODULI[name][1]
    if len(moduli) > 1:
        foreign = {**given, "modulus_coefficients": moduli[(index + 1) % len(moduli)]}
        foreign_field = Field(foreign)
        foreign_table = tabulate(foreign_field, coefficients)

        def isomorphic(submission):
            submission["map"].update(domain=foreign, codomain=foreign)
            rebuilt(submission, foreign_table)
            submission["certificate"] = certificate(foreign_field, asked, foreign_table, partition(foreign_field, foreign_table))

        def other_parent_silently(submission):
            rebuilt(submission, foreign_table)

        traps.append(("isomorphic-field", "binding.domain", "Everything over an isomorphic field with another modulus.", edited(isomorphic)))
        if foreign_table != table:
            traps.append(("other-modulus-table", "table.values", "The table is that of the other modulus.", edited(other_parent_silently)))
    if everything:
        traps += [
            ("domain-replaced", "binding.domain", "The domain has another generator name.",
             set_at("map", "domain", {**given, "generator": given["generator"] + "x"})),
            ("claims-incomplete", "scope.exact", "A complete table is called incomplete.", set_at("scope", "complete", False)),
            ("wrong-variable", "binding.polynomial", "The variable has another name.", set_at("map", "variable", "y")),
            wrong_instance(),
            *contract_traps(["scope", "points"]),
        ]
    return traps


def _false_certificates(field, coefficients, table, other_table, asked, exists):
    zero, one = field.decode(0), field.decode(1)
    value = {field.encode(source): image for source, image in table}
    inverse = [[image, source] for source, image in sorted(table, key=lambda row: field.encode(row[1]))]
    fake_collision = {"kind": "collision", "left": zero, "right": one, "image": value[0]}
    equal_inputs = {"kind": "collision", "left": one, "right": one, "image": value[1]}
    permutation = {"kind": "permutation", "inverse": inverse}
    none_collision = {"kind": "none", "code": "FINITE_MAP_HAS_NO_COLLISION"}
    none_permutation = {"kind": "none", "code": "FINITE_MAP_NOT_PERMUTATION"}

    def use(name, check, why, given):
        return (name, check, why, set_at("certificate", given))

    if asked == "collision" and exists:
        unequal = next(s for s, v in table if v != value[0])
        return [
            use("collision-not-in-table", "certificate.values", "Two sources with different values.", {**fake_collision, "right": unequal}),
            use("collision-of-equal-inputs", "certificate.values", "A source does not collide with itself.", equal_inputs),
            use("claims-no-collision", "certificate.kind", "A non-conclusion where there is a collision.", none_collision),
            use("claims-permutation", "certificate.kind", "A permutation certificate for a map that is not injective.", permutation),
        ]
    if asked == "collision":
        return [
            use("collision-of-equal-inputs", "certificate.kind", "A source does not collide with itself.", equal_inputs),
            use("invented-collision", "certificate.kind", "Two sources with different values are called a collision.", fake_collision),
            use("wrong-code", "certificate.values", "The code of another non-conclusion.", none_permutation),
            use("another-certificate", "certificate.kind", "A true permutation certificate where a collision was asked for.", permutation),
        ]
    if exists:
        short = {"kind": "permutation", "inverse": inverse[:-1]}
        moved = [[a, b] for a, b in inverse]
        moved[0], moved[1] = [moved[0][0], moved[1][1]], [moved[1][0], moved[0][1]]
        other = [[image, source] for source, image in other_table]
        return [
            use("inverse-truncated", "certificate.values", "One row of the inverse table is left out.", short),
            use("inverse-with-two-values-swapped", "certificate.values", "Two values of the inverse are swapped.", {"kind": "permutation", "inverse": moved}),
            use("inverse-of-another-map", "certificate.values", "The inverse table of another polynomial.", {"kind": "permutation", "inverse": other}),
            use("forward-table-as-inverse", "certificate.values", "The table itself instead of its inverse.", {"kind": "permutation", "inverse": table}),
            use("claims-not-permutation", "certificate.kind", "A non-conclusion for a permutation.", none_permutation),
        ]
    wide = certificate(field, "collision", table, partition(field, table))
    return [
        use("claims-permutation", "certificate.kind", "A permutation certificate for a map that is not injective.", permutation),
        use("wrong-code", "certificate.values", "The code of another non-conclusion.", none_collision),
        use("another-certificate", "certificate.kind", "A true collision where a permutation certificate was asked for.", wide),
    ]


def _schema():
    element = {"$ref": "#/$defs/element"}
    pair = {"type": "array", "minItems": 2, "maxItems": 2, "items": element}
    count = {"type": "integer", "minimum": 0, "maximum": 10**6}
    defs = definitions()
    kept = {name: defs[name] for name in ("presentation", "element")}
    return {
        "required": ["map", "table", "fibers", "certificate", "scope"],
        "properties": {
            "map": _closed({
                "domain": {"$ref": "#/$defs/presentation"}, "codomain": {"$ref": "#/$defs/presentation"},
                "variable": {"type": "string", "maxLength": 20},
                "coefficients": {"type": "array", "maxItems": 128, "items": element},
            }),
            "table": {"type": "array", "maxItems": 600, "items": pair},
            "fibers": {
                "type": "array", "maxItems": 600,
                "items": _closed({"image": element, "sources": {"type": "array", "maxItems": 600, "items": element}}),
            },
            "certificate": {
                "oneOf": [
                    _closed({"kind": {"const": "collision"}, "left": element, "right": element, "image": element}),
                    _closed({"kind": {"const": "permutation"}, "inverse": {"type": "array", "maxItems": 600, "items": pair}}),
                    _closed({"kind": {"const": "none"}, "code": {"enum": ["FINITE_MAP_HAS_NO_COLLISION", "FINITE_MAP_NOT_PERMUTATION"]}}),
                ]
            },
            "scope": _closed({
                "points": count, "complete": {"type": "boolean"},
                "statement": {"enum": ["on-this-field-only", "on-every-extension-field"]},
            }),
            "fiber_sizes": {
                "type": "array", "maxItems": 600,
                "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": count},
            },
        },
        "$defs": kept,
    }  # fmt: skip


def _closed(properties):
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def _formula(coefficients, generator):
    terms = []
    for power in range(len(coefficients) - 1, -1, -1):
        if any(coefficients[power]):
            factor = element_text(coefficients[power], generator)
            name = "" if power == 0 else "x" if power == 1 else f"x^{power}"
            if factor == "1" and name:
                terms.append(name)
            else:
                terms.append(f"({factor}) {name}".strip() if " " in factor and name else f"{factor} {name}".strip())
    return " + ".join(terms)


def _instruction(given, field, coefficients, asked):
    return f"""
{conventions(given)}

**The map.** `coefficients` lists the coefficients of a polynomial f in the variable `variable`, from the constant term upward. Here
f = {_formula(coefficients, given["generator"])}. It is read as a map from F_q to F_q, both given by `presentation`.

**The certificate.** `certificate_requested` says what is asked for: here `"{asked}"`. A collision certificate is a pair of different
elements with the same value. A permutation certificate is the complete inverse table. If there is no certificate of the kind asked
for, the answer is a certificate of kind `"none"` with the code that says so, and nothing else in its place.

The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `map`: an object with `domain` and `codomain` (each the presentation of the input, copied), `variable` and `coefficients` (those of the
  input, none added, none left out).
- `table`: all q pairs `[x, f(x)]`, the x in canonical order.
- `fibers`: one object for each element that occurs as a value, in any order, with `image` (that value) and `sources` (all x
  with this value, each once, in any order).
- `certificate`: one of
  - `{{"kind": "collision", "left": ..., "right": ..., "image": ...}}` with two different elements and their common value (any such pair);
  - `{{"kind": "permutation", "inverse": [...]}}` with all q pairs `[f(x), x]`, in any order;
  - `{{"kind": "none", "code": ...}}` with `"FINITE_MAP_HAS_NO_COLLISION"` where a collision was asked for and there is none, or
    `"FINITE_MAP_NOT_PERMUTATION"` where a permutation certificate was asked for and there is none.
- `scope`: an object with `points` (how many x the table covers), `complete` (`true` if these are all elements of F_q) and `statement`
  (the fields on which your table and fibers are the whole map: `"on-this-field-only"` or `"on-every-extension-field"`; that a collision
  is one in every larger field too does not matter here).
- `fiber_sizes` (optional, graded on its own as an intermediate value and never part of the reward): a list of pairs
  `[size, number of fibers of this size]`, each size that occurs once, in any order.

An element of F_q may be written as its list of coordinates or as its encoding integer, everywhere.
"""
