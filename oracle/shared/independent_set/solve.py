"""Maximum independent sets by branch and bound with a greedy partition into cliques as the bound."""


def solve(problem):
    """The submission for an independent-set problem."""
    masks = [int(text, 16) for text in problem["adjacency_hex"]]
    best = maximum(masks, problem["target_size"])
    return {
        "instance": problem["instance"],
        "vertices": len(masks),
        "edges": sum(mask.bit_count() for mask in masks) // 2,
        "set": sorted(best),
        "size": len(best),
        "claim": "at-least",
    }


def maximum(masks, enough=None):
    """A maximum independent set, or the first one of a size that is enough."""
    count = len(masks)
    order = sorted(range(count), key=lambda v: masks[v].bit_count())
    place = {vertex: index for index, vertex in enumerate(order)}
    free = []
    for vertex in order:
        near = 0
        for other in range(count):
            if masks[vertex] >> other & 1:
                near |= 1 << place[other]
        free.append((1 << count) - 1 & ~near & ~(1 << place[vertex]))
    best = []

    def expand(candidates, chosen):
        nonlocal best
        if enough is not None and len(best) >= enough:
            return
        # Each clique of the partition gives at most one vertex.
        ranked, bound, left = [], 0, candidates
        while left:
            bound += 1
            pool = left
            while pool:
                low = pool & -pool
                vertex = low.bit_length() - 1
                ranked.append((vertex, bound))
                left &= ~low
                pool &= ~low & ~free[vertex]
        for vertex, limit in reversed(ranked):
            if len(chosen) + limit <= len(best):
                return
            chosen.append(vertex)
            rest = candidates & free[vertex]
            if rest:
                expand(rest, chosen)
            elif len(chosen) > len(best):
                best = list(chosen)
            chosen.pop()
            candidates &= ~(1 << vertex)

    expand((1 << count) - 1, [])
    return [order[index] for index in best]
