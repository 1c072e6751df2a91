"""Direction ledgers: restriction of scalars of a matrix space along every point of the projective line."""

from generate.draft import contract_traps, edited, set_at, wrong_instance
from generate.finite_fields import MODULI, conventions, definitions, extension_rank, presentation
from shared.direction_ledger.solve import full_ledger, orbits, partial, restricted, solve
from shared.finite_field.field import Field, rank

# Upstream's scenario and its unit test use this instance; the numbers are recomputed by both sides.
REFERENCE = {
    "field": "F8", "modulus": 0, "generator": "a",
    "matrices": [
        [[[1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]],
        [[[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 0]]],
        [[[1, 0, 1], [1, 0, 0]], [[0, 1, 0], [0, 0, 1]]],
        [[[1, 0, 1], [0, 0, 1]], [[1, 0, 1], [0, 0, 1]]],
    ],
}  # fmt: skip

# Field, modulus, generator, dimension of the space, columns.
VARIANTS = (
    ("F4", 0, "w", 3, 3),
    ("F9", 0, "i", 4, 2),
    ("F16", 0, "a", 5, 2),
    ("F8", 1, "t", 4, 2),
    ("F25", 0, "r", 3, 2),
    ("F27", 0, "a", 4, 1),
    ("F9", 1, "u", 3, 2),
    ("F16", 2, "z", 4, 2),
)


def draft(draw, options):
    """One instance; options: `reference`, or field/modulus/generator/dimension/columns, `partial`."""
    if options.get("reference"):
        spec, matrices = REFERENCE, REFERENCE["matrices"]
        given = presentation(spec["field"], spec["modulus"], spec["generator"])
        names = {"rows": ["b1", "b2"], "columns": ["y1", "y2"], "basis": [f"B{j + 1}" for j in range(4)]}
        return _build(given, spec["field"], spec["modulus"], matrices, names, None, True, options)
    row = options.get("shape") or VARIANTS[options.get("variant", draw.below(len(VARIANTS))) % len(VARIANTS)]
    name, index, generator, dimension, columns = row
    hidden = options.get("partial", "variant" in options and options["variant"] % 5 == 4)
    given = presentation(name, index, generator)
    names = {
        "rows": draw.shuffled(["u", "v"]),
        "columns": draw.shuffled(["k1", "k2", "k3"][:columns]),
        "basis": draw.shuffled([f"S{j + 1}" for j in range(dimension)]),
    }
    field = Field(given)
    while True:
        matrices = [
            [[field.decode(draw.below(field.q)) for _ in range(columns)] for _ in range(2)] for _ in range(dimension)
        ]
        hole = None
        if hidden:
            hole = (draw.below(dimension), draw.below(2), draw.below(columns))
        if _telling(field, given, name, index, matrices, hole):
            return _build(given, name, index, matrices, names, hole, False, options)


def _telling(field, given, name, index, matrices, hole):
    """The traps of the family give other answers than the truth, and the matrices are independent."""
    flat = [[value for row in matrix for entry in row for value in entry] for matrix in matrices]
    if rank(flat, field.p) < len(matrices):
        return False
    ledger = full_ledger(field, matrices)
    ranks = [entry["rank"] for entry in ledger]
    if len(set(ranks)) < 2:
        return False
    if [_extension_rank(field, matrices, entry["direction"]) for entry in ledger] == ranks:
        return False
    if hole:
        punched = _punch(matrices, hole)
        facts = partial(field, punched)
        known = facts["scope"]["determined"]
        return 2 <= known < len(ledger) and facts["orbit_distribution"] is None
    if len(matrices[0][0]) == 2 and [e["rank"] for e in full_ledger(field, _transposed(matrices))] == ranks:
        return False
    return True


def _transposed(matrices):
    return [[list(column) for column in zip(*matrix)] for matrix in matrices]


def _punch(matrices, hole):
    j, r, c = hole
    return [
        [[None if (a, b, d) == (j, r, c) else entry for d, entry in enumerate(row)] for b, row in enumerate(matrix)]
        for a, matrix in enumerate(matrices)
    ]


def _problem(given, matrices, names, kind):
    return {
        "kind": kind,
        "presentation": given,
        "direction_axis": {"name": "rows", "labels": names["rows"]},
        "column_axis": {"name": "columns", "labels": names["columns"]},
        "subspace_axis": {"name": "basis", "labels": names["basis"]},
        "matrices": matrices,
    }


def _build(given, name, index, matrices, names, hole, reference, options):
    field = Field(given)
    kind = "partial" if hole else "full"
    problem = _problem(given, _punch(matrices, hole) if hole else matrices, names, kind)
    target = len(names["columns"]) * field.d
    text = _instruction(given, names, field, target, kind)
    if hole:
        traps = _partial_traps(field, matrices, problem, hole)
    else:
        traps = _traps(field, given, name, index, matrices, problem, reference or options.get("all_traps", False))
    return {
        "problem": problem,
        "title": (
            f"Direction ledger over F_{field.q} with one entry not given" if hole
            else f"Direction ledger of a {len(matrices)}-dimensional matrix space over F_{field.q}"
        ),
        "instruction": text,
        "schema": _schema(kind),
        "metadata": {
            "domain": "finite-fields",
            "difficulty": "medium" if field.q < 16 and not hole else "hard",
            "affordance": "partial" if hole else "direct",
            "operations": [
                "finite_field.projective_line.enumerate", "finite_field.restrict_scalars.compute",
                "finite_field.linear_map.rank.compute", "finite_field.direction_rank_ledger.compute",
                "finite_field.orbit_distribution.compute",
            ],
            "roles": ["honest-partial"] if hole else [],
            "coverage_class": "upstream_reproduction" if reference else "authored_task",
            "derivation": (
                "The matrices are those of the upstream scenario FF905-A, which cites arXiv 2607.23857, Theorem 1.2; all values are recomputed."
                if reference else "Own instance: random independent matrices whose trap answers differ from the truth."
            ),
        },
        "traps": traps,
    }


def _traps(field, given, name, index, matrices, problem, everything):
    truth = full_ledger(field, matrices)
    ranks = [entry["rank"] for entry in truth]
    low = ranks.index(min(ranks))
    high = ranks.index(max(ranks))
    target = len(truth[0]["matrix"])
    square = len(matrices[0][0]) == 2

    def other_ledger(other):
        def change(submission):
            submission["ledger"] = other
            submission["orbit_distribution"] = orbits(field, other)

        return edited(change)

    def ranks_only(other_ranks, with_orbits=True):
        def change(submission):
            for entry, value in zip(submission["ledger"], other_ranks):
                entry["rank"] = value
            if with_orbits:
                submission["orbit_distribution"] = orbits(field, submission["ledger"])

        return edited(change)

    def swapped(submission):
        ledger = submission["ledger"]
        ledger[low]["rank"], ledger[high]["rank"] = ledger[high]["rank"], ledger[low]["rank"]

    def scaled_direction(submission):
        factor = field.decode(field.q - 1)
        entry = submission["ledger"][-1]
        entry["direction"] = [field.mul(factor, value) for value in entry["direction"]]
        entry["matrix"] = restricted(field, matrices, entry["direction"])

    def duplicated(submission):
        submission["ledger"][high] = submission["ledger"][low]

    def extra_copy(submission):
        submission["ledger"].append(submission["ledger"][low])

    def missing(submission):
        submission["ledger"].pop(high)
        submission["scope"]["directions"] -= 1
        submission["orbit_distribution"] = orbits(field, submission["ledger"])

    def permuted_source(submission):
        submission["source_axis"] = {**submission["source_axis"], "labels": submission["source_axis"]["labels"][::-1]}
        for entry in submission["ledger"]:
            entry["matrix"] = [row[::-1] for row in entry["matrix"]]

    def permuted_source_silently(submission):
        for entry in submission["ledger"]:
            entry["matrix"] = [row[::-1] for row in entry["matrix"]]

    def power_major(submission):
        d, columns = field.d, target // field.d
        order = [c * d + k for k in range(d) for c in range(columns)]
        labels = submission["target_axis"]["labels"]
        submission["target_axis"] = {**submission["target_axis"], "labels": [labels[i] for i in order]}
        for entry in submission["ledger"]:
            entry["matrix"] = [entry["matrix"][i] for i in order]

    def swapped_directions(submission):
        labels = submission["direction_axis"]["labels"]
        submission["direction_axis"] = {**submission["direction_axis"], "labels": labels[::-1]}

    def orbit_edit(submission):
        edited_ledger = [dict(entry) for entry in submission["ledger"]]
        edited_ledger[low]["rank"] = max(ranks)
        submission["orbit_distribution"] = orbits(field, edited_ledger)

    def without_fixed_points(submission):
        submission["orbit_distribution"] = [
            [size, count - (len(truth) if size == 1 else 0)]
            for size, count in submission["orbit_distribution"] if size != 1 or count > len(truth)
        ]

    traps = [
        ("other-generator-name", "binding.presentation", "The same field with another name of its generator.",
         set_at("presentation", {**given, "generator": given["generator"] + "x"})),
        ("permuted-basis", "binding.source-axis", "The basis of the space is taken in another order, labels and columns alike.", edited(permuted_source)),
        ("permuted-basis-unlabelled", "maps.values", "The columns are permuted under the required labels.", edited(permuted_source_silently)),
        ("extension-field-rank", "ranks.values", "Ranks over the extension field instead of the prime field.",
         ranks_only([_extension_rank(field, matrices, entry["direction"]) for entry in truth])),
        ("rank-replaced", "ranks.values", "One rank is replaced by another one in range.", ranks_only([max(ranks) if i == low else r for i, r in enumerate(ranks)])),
        ("ranks-swapped", "ranks.values", "The ranks of two directions are swapped; multiset and orbits stay right.", edited(swapped)),
        ("missing-direction", "directions.complete", "One direction is left out and the counts are adapted.", edited(missing)),
        ("duplicate-direction", "directions.distinct", "One direction stands twice in the place of another.", edited(duplicated)),
        ("non-normalised-direction", "directions.normalised", "One direction is scaled; it is the same point by another representative.", edited(scaled_direction)),
        ("edited-ledger-orbits", "orbits.values", "The orbit counts belong to a ledger with one rank edited.", edited(orbit_edit)),
    ]  # fmt: skip
    if square:
        other = full_ledger(field, _transposed(matrices))
        traps += [
            ("transposed-action", "maps.values", "The matrices act on the direction, not their transposes.", other_ledger(other)),
            ("transposed-ranks", "ranks.values", "Right maps with the ranks of the transposed action.",
             ranks_only([entry["rank"] for entry in other])),
        ]
    moduli = MODULI[name][1]
    if len(moduli) > 1:
        second = (index + 1) % len(moduli)
        foreign = {**given, "modulus_coefficients": moduli[second]}
        other = full_ledger(Field(foreign), matrices)

        def isomorphic(submission):
            submission["presentation"] = foreign
            submission["ledger"] = other
            submission["orbit_distribution"] = orbits(field, other)

        traps += [
            ("isomorphic-field", "binding.presentation", "A whole ledger over an isomorphic field with another modulus.", edited(isomorphic)),
            ("isomorphic-field-unlabelled", "maps.values", "The other modulus is used and the required one is stated.", other_ledger(other)),
        ]
    if everything:
        traps += [
            ("permuted-target-axis", "binding.target-axis", "Rows ordered by power first, labels and rows alike.", edited(power_major)),
            ("swapped-direction-axis", "binding.direction-axis", "The row labels are swapped.", edited(swapped_directions)),
            ("direction-added-twice", "directions.distinct", "All directions stand there, one of them twice.", edited(extra_copy)),
            ("no-fixed-points", "orbits.values", "The singletons of the directions are left out of the counts.", edited(without_fixed_points)),
            ("extension-rank-scope", "scope.exact", "Ranks are said to be over the extension field.", set_at("scope", "rank_field", "extension-field")),
            ("claims-incomplete", "scope.exact", "A complete ledger is called incomplete.", set_at("scope", "complete", False)),
            wrong_instance(),
            *contract_traps(["ledger", 0, "rank"]),
        ]
    return traps


def _extension_rank(field, matrices, direction):
    """Rank over F_q of the matrix whose columns are B_j^T b."""
    columns = []
    for matrix in matrices:
        column = []
        for entries in zip(*matrix):
            total = field.decode(0)
            for entry, coordinate in zip(entries, direction):
                total = field.add(total, field.mul(entry, coordinate))
            column.append(total)
        columns.append(column)
    return extension_rank(field, [list(row) for row in zip(*columns)])


def _partial_traps(field, matrices, problem, hole):
    truth = solve({"instance": "", **problem})
    open_at = next(i for i, entry in enumerate(truth["ledger"]) if entry["rank"] is None)
    single = next(
        i for i, entry in enumerate(truth["ledger"]) if entry["rank"] is not None and entry["matrix"] is None
    ) if any(e["rank"] is not None and e["matrix"] is None for e in truth["ledger"]) else None
    zero_filled = [
        [[field.decode(0) if entry is None else entry for entry in row] for row in matrix] for matrix in problem["matrices"]
    ]
    assumed = full_ledger(field, zero_filled)

    def as_zero(submission):
        submission["ledger"] = [{**entry, "possible_ranks": [entry["rank"]]} for entry in assumed]
        submission["orbit_distribution"] = orbits(field, assumed)
        submission["scope"].update(complete=True, determined=len(assumed))

    def guessed_rank(submission):
        entry = submission["ledger"][open_at]
        entry["rank"] = entry["possible_ranks"][-1]

    def dropped_possibility(submission):
        submission["ledger"][open_at]["possible_ranks"].pop()

    def withheld(submission):
        known = next(entry for entry in submission["ledger"] if entry["rank"] is not None)
        known["rank"] = None

    def missing(submission):
        submission["ledger"].pop(open_at)

    traps = [
        ("entry-taken-as-zero", "maps.values", "The entry that is not given is taken as zero and everything follows from that.", edited(as_zero)),
        ("guessed-rank", "ranks.values", "A rank that the data leave open is stated.", edited(guessed_rank)),
        ("possibility-left-out", "ranks.values", "One attainable rank is left out.", edited(dropped_possibility)),
        ("known-rank-withheld", "ranks.values", "A rank that the data determine is called open.", edited(withheld)),
        ("orbits-claimed", "orbits.values", "An orbit distribution is stated though the data leave it open.", set_at("orbit_distribution", orbits(field, assumed))),
        ("claims-complete", "scope.exact", "The ledger is called complete.", set_at("scope", "complete", True)),
        ("open-direction-left-out", "directions.complete", "An open direction is left out of the ledger.", edited(missing)),
        wrong_instance(),
    ]  # fmt: skip
    if single is not None:
        traps.append(
            ("map-claimed", "maps.values", "A map that depends on the entry is stated because its rank does not.",
             set_at("ledger", single, "matrix", assumed[single]["matrix"]))
        )
    return traps


def _schema(kind):
    defs = definitions()
    row = {"$ref": "#/$defs/prime_row"}
    matrix = {"type": "array", "maxItems": 64, "items": row}
    count = {"type": "integer", "minimum": 0, "maximum": 64}
    orbit_items = {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer", "minimum": 0, "maximum": 10**9}}
    entry = {"direction": {"$ref": "#/$defs/direction"}, "matrix": matrix, "rank": count}
    scope = {
        "directions": {"type": "integer", "minimum": 0, "maximum": 10**6},
        "complete": {"type": "boolean"},
        "rank_field": {"enum": ["prime-field", "extension-field"]},
    }
    orbit = {"type": "array", "maxItems": 64, "items": orbit_items}
    if kind == "partial":
        entry = {
            "direction": {"$ref": "#/$defs/direction"},
            "matrix": {"oneOf": [{"type": "null"}, matrix]},
            "rank": {"oneOf": [{"type": "null"}, count]},
            "possible_ranks": {"type": "array", "maxItems": 64, "items": count},
        }
        orbit = {"oneOf": [{"type": "null"}, orbit]}
        scope["determined"] = {"type": "integer", "minimum": 0, "maximum": 10**6}
    properties = {
        "presentation": {"$ref": "#/$defs/presentation"},
        "direction_axis": {"$ref": "#/$defs/axis"},
        "source_axis": {"$ref": "#/$defs/axis"},
        "target_axis": {"$ref": "#/$defs/axis"},
        "ledger": {"type": "array", "maxItems": 300, "items": _closed(entry)},
        "orbit_distribution": orbit,
        "scope": _closed(scope),
    }
    required = list(properties)
    if kind == "full":
        properties["kernels"] = {
            "type": "array", "maxItems": 300,
            "items": _closed({"direction": {"$ref": "#/$defs/direction"}, "basis": matrix}),
        }
    return {"required": required, "properties": properties, "$defs": defs}


def _closed(properties):
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def _instruction(given, names, field, target, kind):
    g, p, d, q = given["generator"], field.p, field.d, field.q
    k = len(names["basis"])
    first, last = names["columns"][0], names["columns"][-1]
    powers = ["1", g, *(f"{g}^{e}" for e in range(2, d))][:d]
    labels = ", ".join(f'`"{names["columns"][0]}:{power}"`' for power in powers)
    axis_text = f"""
**The space.** `matrices` lists {k} matrices B_1, ..., B_{k} over F_q in the order of `subspace_axis.labels`. Each has two rows, in the order
of `direction_axis.labels`, and {len(names["columns"])} column{"s" if len(names["columns"]) > 1 else ""}, in the order of
`column_axis.labels`. They are linearly independent over F_p and span an F_p-space of dimension {k}.

**Directions.** The directions are the points of the projective line over F_q, each by its representative b = (b_1, b_2) whose first
non-zero coordinate is 1: (0, 1), and (1, v) for every v in F_q. There are q + 1 = {q + 1} of them.

**The map at a direction.** For a direction b, the F_p-linear map F_p^{k} -> F_p^{target} sends the j-th unit vector to B_j^T b (for each
column c the field element y_c = sum over r of B_j[r][c] b_r), written out in F_p-coordinates over the power basis. Its matrix has
{target} rows and {k} columns. Column j belongs to B_j. The rows run over the columns c first and over the powers of {g} within each c.

**The rank** at b is the rank of that matrix over the prime field F_p, not over F_q.

**Orbits.** For each direction b take a copy of F_p^{target}, on which the image of the map at b acts by translation, and one further point
that this group fixes. The orbit distribution says how many orbits of each size there are in all these sets together, over all directions.
"""
    keys_head = f"""
- `instance`: the string `instance` of the input, copied.
- `presentation`: the presentation of the field that you computed in (the one of the input, copied).
- `direction_axis`: the axis of the same name of the input, copied (an object with `name` and `labels`).
- `source_axis`: the axis of the columns of your matrices: `subspace_axis` of the input, copied.
- `target_axis`: the axis of the rows of your matrices: its `name` is `"Res(columns)"`, its `labels` are `<column label>:<power>` in the
  order of the rows; those of the column {first} are {labels}, and the last one is `"{last}:{powers[-1]}"`.
"""
    notations = f"""
An element of F_q, in `direction`, may be written as its list of coordinates or as its encoding integer. A row of a matrix
is a list of integers in 0..{p - 1} or a string of such digits, one for each column."""
    if kind == "partial":
        return f"""
{conventions(given)}

{axis_text.strip()}

**What is not given.** One entry of one matrix is `null` in the input: it is some element of F_q, and nothing more is known about it.
(The matrices are independent for the actual value, but every element of F_q counts as possible.) Say for every direction what
holds for every possible value of that entry, and claim no more than that.

The submission has these keys:
{keys_head}- `ledger`: a list with one object for each direction, in any order, with the keys
  - `direction`: the pair of coordinates of b;
  - `matrix`: the matrix of the map at b as a list of rows if it is the same for every value of the entry, otherwise `null`;
  - `rank`: the rank at b if it is the same for every value of the entry, otherwise `null`;
  - `possible_ranks`: the list of all ranks that occur at b for some value of the entry, each once, in any order.
- `orbit_distribution`: a list of pairs `[size, number of orbits]` with each size once, in any order, if it is the same for every value
  of the entry, otherwise `null`.
- `scope`: an object with the keys `directions` (how many directions the ledger covers), `determined` (at how many of them the rank is
  determined), `complete` (`true` if the rank is determined at every direction, otherwise `false`) and `rank_field` (`"prime-field"`
  for ranks over F_p, `"extension-field"` for ranks over F_q).
{notations}
"""
    return f"""
{conventions(given)}

{axis_text.strip()}

The submission has these keys:
{keys_head}- `ledger`: a list with one object for each direction, in any order, with the keys
  - `direction`: the pair of coordinates of b;
  - `matrix`: the matrix of the map at b as a list of rows;
  - `rank`: the rank at b.
- `orbit_distribution`: a list of pairs `[size, number of orbits]`, each size once, in any order, sizes that do not occur left out.
- `scope`: an object with the keys `directions` (how many directions the ledger covers), `complete` (`true` if these are all of
  them) and `rank_field` (`"prime-field"` for ranks over F_p, `"extension-field"` for ranks over F_q).
- `kernels` (optional, graded on its own as an intermediate value and never part of the reward): a list with one object for each
  direction with the keys `direction` and `basis`, a basis of the kernel of the map at b as a list of vectors of F_p^{k}.
{notations}
"""
