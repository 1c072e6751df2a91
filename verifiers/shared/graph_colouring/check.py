"""Checks colourings and obstructions to colouring.

Colourability is decided by peeling maximal independent sets, with a breadth-first two-colouring at the end;
no vertex is ever assigned a colour and taken back.
"""

from functools import lru_cache

from shared.kernel import shape

STATEMENTS = (
    "this-colouring-is-proper",
    "no-proper-colouring-with-these-colours",
    "no-proper-colouring-with-one-colour-more",
    "chromatic-number-determined",
)

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.graph", "binding"),
    ("answer.complete", "completeness"),
    ("conclusion.true", "correctness"),
    ("colouring.proper", "correctness"),
    ("obstruction.uncolourable", "correctness"),
    ("obstruction.minimal", "correctness"),
    ("scope.statement", "scope"),
)


def contract(problem):
    """Shape of the submission."""
    return shape.record(
        {
            "instance": shape.text(120),
            "conclusion": shape.choice("colouring", "none-exists"),
            "colouring": shape.nullable(shape.array(shape.integer(0, 63), 0, 64)),
            "obstruction": shape.nullable(shape.array(shape.integer(0, 63), 0, 64)),
            "scope": shape.record(
                {
                    "colours": shape.integer(0, 64),
                    "vertices": shape.integer(0, 64),
                    "edges": shape.integer(0, 4096),
                    "statement": shape.choice(*STATEMENTS),
                }
            ),
        }
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    size, edges, colours = problem["vertex_count"], problem["edges"], problem["colours"]
    graph = Graph(size, edges)
    scope = submission["scope"]
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    covered = (scope["vertices"], scope["edges"], scope["colours"])
    report.check("binding.graph", covered == (size, len(edges), colours), "another graph or palette is said to be covered")
    exists = graph.colourable(graph.everything, colours)
    report.check("conclusion.true", (submission["conclusion"] == "colouring") == exists, "the conclusion is false")
    statement = STATEMENTS[0] if exists else STATEMENTS[1]
    report.check("scope.statement", scope["statement"] == statement, f"{scope['statement']} is not what the answer shows")
    if submission["conclusion"] == "colouring":
        # The other object is not asked for, so its checks have nothing to refuse.
        report.check("obstruction.uncolourable", True)
        report.check("obstruction.minimal", True)
        _grade_colouring(problem, submission, report)
    else:
        report.check("colouring.proper", True)
        _grade_obstruction(graph, colours, submission, report)


def _grade_colouring(problem, submission, report):
    colouring = submission["colouring"]
    report.need(
        "answer.complete",
        colouring is not None and len(colouring) == problem["vertex_count"] and submission["obstruction"] is None,
        "a colouring of all vertices and no obstruction belong to this conclusion",
    )
    palette = all(colour < problem["colours"] for colour in colouring)
    report.check("colouring.proper", palette, "a colour outside the palette")
    for left, right in problem["edges"]:
        report.check("colouring.proper", colouring[left] != colouring[right], f"edge {left}-{right} has one colour")


def _grade_obstruction(graph, colours, submission, report):
    vertices = submission["obstruction"]
    report.need(
        "answer.complete",
        vertices is not None
        and submission["colouring"] is None
        and len(set(vertices)) == len(vertices)
        and all(vertex < graph.size for vertex in vertices),
        "a set of vertices of the graph and no colouring belong to this conclusion",
    )
    chosen = sum(1 << vertex for vertex in vertices)
    report.need(
        "obstruction.uncolourable", not graph.colourable(chosen, colours), "the induced subgraph has a proper colouring"
    )
    for vertex in vertices:
        report.check(
            "obstruction.minimal",
            graph.colourable(chosen & ~(1 << vertex), colours),
            f"without vertex {vertex} there is still no proper colouring",
        )


class Graph:
    """Adjacency by bit masks, for graphs of a few dozen vertices."""

    def __init__(self, size, edges):
        self.size = size
        self.everything = (1 << size) - 1
        self.near = [0] * size
        for left, right in edges:
            self.near[left] |= 1 << right
            self.near[right] |= 1 << left
        self.colourable = lru_cache(maxsize=200_000)(self._colourable)

    def _colourable(self, vertices, colours):
        if vertices == 0:
            return True
        if colours == 0:
            return False
        if colours == 2:
            return self._bipartite(vertices)
        lowest = (vertices & -vertices).bit_length() - 1
        rest = vertices & ~self.near[lowest] & ~(1 << lowest)
        return any(
            self.colourable(vertices & ~chosen, colours - 1)
            for chosen in self._maximal(1 << lowest, rest, 0)
        )

    def _maximal(self, chosen, candidates, excluded):
        """All maximal independent sets that contain `chosen` and extend it by candidates."""
        if candidates == 0:
            if excluded == 0:
                yield chosen
            return
        # Every maximal set meets the closed neighbourhood of any candidate.
        pivot = min(_bits(candidates), key=lambda v: (self.near[v] & candidates).bit_count())
        for vertex in _bits(candidates & (self.near[pivot] | 1 << pivot)):
            here = 1 << vertex
            far = ~self.near[vertex] & ~here
            yield from self._maximal(chosen | here, candidates & far, excluded & far)
            candidates &= ~here
            excluded |= here

    def _bipartite(self, vertices):
        left = vertices
        while left:
            sides = [left & -left, 0]
            frontier, turn = sides[0], 0
            while frontier:
                reached = 0
                for vertex in _bits(frontier):
                    reached |= self.near[vertex]
                reached &= vertices
                if reached & sides[turn]:
                    return False
                turn ^= 1
                frontier = reached & ~sides[turn]
                sides[turn] |= frontier
            left &= ~(sides[0] | sides[1])
        return True


def _bits(mask):
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
