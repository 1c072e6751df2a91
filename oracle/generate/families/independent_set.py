"""Large independent sets of random graphs, at a size that greedy search does not reach."""

from generate.draft import contract_traps, edited, set_at, wrong_instance
from shared.independent_set.solve import maximum

COUNT = 200


def draft(draw, options):
    """One instance: a random graph of density one half; the target is the greatest size there is."""
    while True:
        masks = [0] * COUNT
        for a in range(COUNT):
            for b in range(a + 1, COUNT):
                if draw.below(2):
                    masks[a] |= 1 << b
                    masks[b] |= 1 << a
        best = maximum(masks)
        greedy = _greedy(masks)
        if len(best) >= len(greedy) + 2:
            break
    target = len(best)
    edges = sum(mask.bit_count() for mask in masks) // 2
    outside = next(v for v in range(COUNT) if v not in best and masks[v])

    def greedy_set(submission):
        submission.update(set=greedy, size=len(greedy))

    def one_more(submission):
        submission["set"].append(outside)
        submission["size"] += 1

    def wrong_size(submission):
        submission["size"] += 1

    def clique(submission):
        full = (1 << COUNT) - 1
        found = maximum([full & ~mask & ~(1 << v) for v, mask in enumerate(masks)])
        submission["set"] = (found + [v for v in range(COUNT) if v not in found])[:target]

    return {
        "problem": {
            "kind": "independent-set", "vertex_count": COUNT, "target_size": target,
            "adjacency_hex": [f"{mask:x}" for mask in masks],
        },
        "title": "An independent set of a given size in a graph on 200 vertices",
        "instruction": """
`/app/input.json` describes a simple undirected graph on `vertex_count` vertices numbered from 0: entry v of `adjacency_hex` is a
hexadecimal number whose bit of value 2^w is set exactly when v and w are joined by an edge. Find a set of at least `target_size`
vertices no two of which are joined. There is one; any such set is accepted.

The submission has these keys:

- `instance`: the string `instance` of the input, copied.
- `vertices`, `edges`: the numbers of vertices and edges of the graph.
- `set`: the vertices of the set, each once, in any order.
- `size`: how many vertices the set has.
- `claim`: what your answer shows about the greatest size of an independent set: `"at-least"` (there is one of this size). The schema also
  lists `"maximum"` and `"maximal"`; the submission has no place for evidence that there is no larger set, so `"maximum"` claims too much,
  and `"maximal"` (no vertex can be added) is another statement than the one asked for.
""",
        "schema": {
            "required": ["vertices", "edges", "set", "size", "claim"],
            "properties": {
                "vertices": {"type": "integer", "minimum": 0, "maximum": 10**6},
                "edges": {"type": "integer", "minimum": 0, "maximum": 10**6},
                "set": {"type": "array", "maxItems": 1000, "items": {"type": "integer", "minimum": 0, "maximum": 10**6}},
                "size": {"type": "integer", "minimum": 0, "maximum": 10**6},
                "claim": {"enum": ["at-least", "maximum", "maximal"]},
            },
        },
        "metadata": {
            "domain": "graph-theory", "difficulty": "hard", "affordance": "none",
            "roles": ["non-ceiling", "honest-partial"],
            "derivation": "Own instance: a random graph whose greatest independent set is at least two larger than a greedy one.",
        },
        "traps": [
            ("greedy-set", "set.size", "The set that greedy choice by degree finds is too small.", edited(greedy_set)),
            ("one-vertex-too-many", "set.independent", "A vertex is added that is joined to the set.", edited(one_more)),
            ("clique-instead", "set.independent", "Joined vertices, as if edges meant compatibility.", edited(clique)),
            ("vertex-twice", "set.members", "A vertex is counted twice.", edited(lambda s: s["set"].append(s["set"][0]))),
            ("size-misstated", "set.size", "The stated size is not that of the set.", edited(wrong_size)),
            ("claims-maximum", "scope.claim", "Nothing shows that no larger set exists.", set_at("claim", "maximum")),
            ("edges-counted-twice", "binding.graph", "Each edge is counted from both ends.", set_at("edges", 2 * edges)),
            wrong_instance(),
            *contract_traps(["size"]),
        ],
    }


def _greedy(masks):
    left, chosen = set(range(len(masks))), []
    while left:
        vertex = min(left, key=lambda v: (sum(1 for w in left if masks[v] >> w & 1), v))
        chosen.append(vertex)
        left = {w for w in left if w != vertex and not masks[vertex] >> w & 1}
    return chosen
