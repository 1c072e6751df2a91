"""Graphs near the colouring threshold: some have a colouring, some have only an obstruction."""

from generate.draft import contract_traps, drop_last, edited, set_at, wrong_instance
from shared.graph_colouring.solve import colour, critical

COLOURS = 3
STATEMENTS = [
    "this-colouring-is-proper",
    "no-proper-colouring-with-these-colours",
    "no-proper-colouring-with-one-colour-more",
    "chromatic-number-determined",
]


def draft(draw, options):
    """One instance; option `exists` fixes the truth, otherwise the seed decides it."""
    exists = options.get("exists")
    if exists is None:
        exists = draw.below(2) == 1
    while True:
        size, count = 22, draw.between(46, 54)
        pairs = [[a, b] for a in range(size) for b in range(a + 1, size)]
        edges = sorted(draw.sample(pairs, count))
        neighbours = [set() for _ in range(size)]
        for left, right in edges:
            neighbours[left].add(right)
            neighbours[right].add(left)
        if min(map(len, neighbours)) < 2 or _has_clique(neighbours, edges):
            continue
        found = colour(neighbours, set(range(size)), COLOURS)
        if (found is not None) != exists:
            continue
        if exists and max(_greedy(neighbours).values()) < COLOURS:
            continue
        if not exists and not 9 <= len(critical(neighbours, COLOURS)) <= 16:
            continue
        break
    return {
        "problem": {"colours": COLOURS, "vertex_count": size, "edges": edges},
        "title": "Proper colouring of a graph with three colours, or an obstruction",
        "instruction": _INSTRUCTION,
        "schema": _SCHEMA,
        "metadata": {
            "domain": "graph-theory", "difficulty": "medium",
            "affordance": "direct" if exists else "partial",
            "operations": ["graph.coloring.k_colorability.decide", "graph.invariant.chromatic_number.compute"],
            "roles": ["plausible-shortcut"] if exists else ["no-such-object"],
            "derivation": "Own instance: a random graph without K4 near the threshold of three colours.",
        },
        "traps": _traps_exists(edges, neighbours, found) if exists else _traps_none(edges, neighbours, size),
    }


def _has_clique(neighbours, edges):
    for left, right in edges:
        common = neighbours[left] & neighbours[right]
        if any(b in neighbours[a] for a in common for b in common):
            return True
    return False


def _greedy(neighbours):
    colouring = {}
    for vertex in range(len(neighbours)):
        taken = {colouring.get(n) for n in neighbours[vertex]}
        colouring[vertex] = next(c for c in range(len(neighbours)) if c not in taken)
    return colouring


def _four(neighbours):
    found = colour(neighbours, set(range(len(neighbours))), COLOURS + 1)
    return [found[vertex] for vertex in range(len(neighbours))]


def _nearly(edges, neighbours):
    """A colouring with three colours that fails on few edges: the four-colouring with its rarest colour merged."""
    four = _four(neighbours)
    rare = min(set(four), key=four.count)
    kept = [c for c in sorted(set(four)) if c != rare]
    result = []
    for vertex, value in enumerate(four):
        if value != rare:
            result.append(kept.index(value))
        else:
            used = [four[n] for n in neighbours[vertex]]
            result.append(min(range(len(kept)), key=lambda k: used.count(kept[k])))
    return result


def _traps_none(edges, neighbours, size):
    nearly = _nearly(edges, neighbours)

    def false_colouring(colouring):
        def change(submission):
            submission.update(conclusion="colouring", colouring=colouring, obstruction=None)
            submission["scope"]["statement"] = STATEMENTS[0]

        return edited(change)

    return [
        ("nearly-proper-colouring", "conclusion.true", "A colouring that fails on a few edges only.", false_colouring(nearly)),
        ("one-colour-more", "conclusion.true", "A proper colouring that uses a fourth colour.", false_colouring(_four(neighbours))),
        ("no-evidence", "answer.complete", "The right conclusion with nothing to show for it.", set_at("obstruction", None)),
        ("obstruction-too-small", "obstruction.uncolourable", "One needed vertex is left out.", drop_last("obstruction")),
        ("obstruction-not-minimal", "obstruction.minimal", "The whole graph is no minimal obstruction.", set_at("obstruction", list(range(size)))),
        ("vertex-twice", "answer.complete", "A vertex stands twice.", edited(lambda s: s["obstruction"].append(s["obstruction"][0]))),
        ("claims-one-colour-more", "scope.statement", "It is claimed that four colours do not suffice either.", set_at("scope", "statement", STATEMENTS[2])),
        ("claims-chromatic-number", "scope.statement", "A lower bound alone does not determine the chromatic number.", set_at("scope", "statement", STATEMENTS[3])),
        ("other-palette", "binding.graph", "The answer says that it covers two colours.", set_at("scope", "colours", 2)),
        ("edges-left-out", "binding.graph", "The answer says that it covers fewer edges.",
         edited(lambda s: s["scope"].__setitem__("edges", s["scope"]["edges"] - 1))),
        wrong_instance(),
        *contract_traps(["scope", "edges"]),
    ]


def _traps_exists(edges, neighbours, found):
    greedy = [_greedy(neighbours)[vertex] for vertex in range(len(neighbours))]

    def claims_none(submission):
        submission.update(conclusion="none-exists", colouring=None, obstruction=list(range(len(neighbours))))
        submission["scope"]["statement"] = STATEMENTS[1]

    def one_conflict(submission):
        left, right = edges[0]
        submission["colouring"][left] = submission["colouring"][right]

    return [
        ("greedy-colouring", "colouring.proper", "The greedy colouring in the given order needs a fourth colour.", set_at("colouring", greedy)),
        ("claims-none", "conclusion.true", "The graph is called uncolourable because greedy colouring failed.", edited(claims_none)),
        ("one-conflict", "colouring.proper", "One edge has the same colour at both ends.", edited(one_conflict)),
        ("vertex-missing", "answer.complete", "One vertex has no colour.", drop_last("colouring")),
        ("claims-chromatic-number", "scope.statement", "A colouring alone does not determine the chromatic number.", set_at("scope", "statement", STATEMENTS[3])),
        wrong_instance(),
    ]


_INSTRUCTION = """
`/app/input.json` describes a simple undirected graph: `vertex_count` vertices numbered from 0, a list `edges` of pairs, and a
number `colours`. A proper colouring gives every vertex one of the colours 0 to `colours` - 1 so that the two ends of every edge
differ. Decide whether there is one.

- If there is, hand in one; every proper colouring is accepted.
- If there is none, hand in an obstruction: a set of vertices whose induced subgraph (these vertices and all edges of the input
  between them) has no proper colouring with these colours, and which is minimal: leaving out any one of its vertices gives an
  induced subgraph that has one. Every such set is accepted.

The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `conclusion`: `"colouring"` if there is a proper colouring, `"none-exists"` if there is none.
- `colouring`: with conclusion `"colouring"` the list of the colours of vertices 0, 1, 2, ...; otherwise `null`.
- `obstruction`: with conclusion `"none-exists"` the list of the vertices of an obstruction, each once, in any order; otherwise `null`.
- `scope`: an object that says exactly what your answer covers, with the keys
  - `colours`: how many colours the statement is about;
  - `vertices`, `edges`: how many vertices and edges of the input the statement covers (the whole graph is asked for);
  - `statement`: the one statement that the handed-in object itself establishes:
    `"this-colouring-is-proper"` or `"no-proper-colouring-with-these-colours"`. The schema lists two further statements,
    `"no-proper-colouring-with-one-colour-more"` and `"chromatic-number-determined"`; neither object can carry evidence for
    them, so they claim too much and score 0, whether true or not.
"""

_SCHEMA = {
    "required": ["conclusion", "colouring", "obstruction", "scope"],
    "properties": {
        "conclusion": {"enum": ["colouring", "none-exists"]},
        "colouring": {"type": ["array", "null"], "maxItems": 64, "items": {"type": "integer", "minimum": 0, "maximum": 63}},
        "obstruction": {"type": ["array", "null"], "maxItems": 64, "items": {"type": "integer", "minimum": 0, "maximum": 63}},
        "scope": {
            "type": "object",
            "additionalProperties": False,
            "required": ["colours", "vertices", "edges", "statement"],
            "properties": {
                "colours": {"type": "integer", "minimum": 0, "maximum": 64},
                "vertices": {"type": "integer", "minimum": 0, "maximum": 64},
                "edges": {"type": "integer", "minimum": 0, "maximum": 4096},
                "statement": {"enum": STATEMENTS},
            },
        },
    },
}
