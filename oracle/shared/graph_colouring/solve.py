"""Colours a graph by saturation-guided backtracking, or finds a vertex-critical obstruction by deletion."""


def solve(problem):
    """The submission for a colouring problem."""
    size, colours = problem["vertex_count"], problem["colours"]
    neighbours = [set() for _ in range(size)]
    for left, right in problem["edges"]:
        neighbours[left].add(right)
        neighbours[right].add(left)
    colouring = colour(neighbours, set(range(size)), colours)
    obstruction = None
    if colouring is None:
        obstruction = sorted(critical(neighbours, colours))
    return {
        "instance": problem["instance"],
        "conclusion": "none-exists" if colouring is None else "colouring",
        "colouring": None if colouring is None else [colouring[vertex] for vertex in range(size)],
        "obstruction": obstruction,
        "scope": {
            "colours": colours,
            "vertices": size,
            "edges": len(problem["edges"]),
            "statement": (
                "no-proper-colouring-with-these-colours" if colouring is None else "this-colouring-is-proper"
            ),
        },
    }


def critical(neighbours, colours):
    """Vertices of an uncolourable induced subgraph in which every vertex is needed."""
    kept = set(range(len(neighbours)))
    for vertex in sorted(kept, key=lambda v: len(neighbours[v])):
        if colour(neighbours, kept - {vertex}, colours) is None:
            kept.discard(vertex)
    return kept


def colour(neighbours, vertices, colours):
    """A proper colouring of the induced subgraph as a dict, or None."""
    assigned = {}

    def extend():
        if len(assigned) == len(vertices):
            return True
        vertex = max(
            (v for v in vertices if v not in assigned),
            key=lambda v: (len({assigned[n] for n in neighbours[v] if n in assigned}), len(neighbours[v] & vertices), -v),
        )
        taken = {assigned[n] for n in neighbours[vertex] if n in assigned}
        fresh = max(assigned.values(), default=-1) + 1
        # A colour that nobody has yet is tried once: unused colours are interchangeable.
        for choice in range(min(colours, fresh + 1)):
            if choice not in taken:
                assigned[vertex] = choice
                if extend():
                    return True
                del assigned[vertex]
        return False

    return dict(assigned) if extend() else None
