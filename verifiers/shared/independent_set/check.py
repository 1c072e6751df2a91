"""Checks independent sets edge by edge against a target size."""

from shared.kernel import shape

CHECKS = (
    ("binding.instance", "binding"),
    ("binding.graph", "binding"),
    ("set.members", "completeness"),
    ("set.size", "completeness"),
    ("set.independent", "correctness"),
    ("scope.claim", "scope"),
)


def contract(problem):
    """Shape of the submission."""
    return shape.record(
        {
            "instance": shape.text(120),
            "vertices": shape.integer(0, 10**6),
            "edges": shape.integer(0, 10**6),
            "set": shape.array(shape.integer(0, 10**6), 0, 1000),
            "size": shape.integer(0, 10**6),
            "claim": shape.choice("at-least", "maximum", "maximal"),
        }
    )


def grade(problem, submission, report):
    """Decide every check from the problem alone."""
    count, target = problem["vertex_count"], problem["target_size"]
    near = [[] for _ in range(count)]
    edges = 0
    for vertex, text in enumerate(problem["adjacency_hex"]):
        mask = int(text, 16)
        for other in range(vertex + 1, count):
            if mask >> other & 1:
                near[vertex].append(other)
                edges += 1
    chosen = submission["set"]
    report.check("binding.instance", submission["instance"] == problem["instance"], "another instance is answered")
    covered = (submission["vertices"], submission["edges"]) == (count, edges)
    report.check("binding.graph", covered, "another graph is said to be covered")
    report.check("scope.claim", submission["claim"] == "at-least", f"{submission['claim']} is not shown by a set alone")
    members = len(set(chosen)) == len(chosen) and all(vertex < count for vertex in chosen)
    report.need("set.members", members, "a vertex twice or outside the graph")
    size = submission["size"] == len(chosen) and len(chosen) >= target
    report.check("set.size", size, f"{len(chosen)} vertices, {target} are asked for")
    inside = set(chosen)
    for vertex in chosen:
        clash = next((other for other in near[vertex] if other in inside), None)
        report.check("set.independent", clash is None, f"edge {vertex}-{clash} lies inside the set")
    report.check("set.independent", True)
