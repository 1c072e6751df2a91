"""Conflict-driven search that keeps every learned clause, so that a refutation is the list of them."""


def search(count, clauses):
    """The pair (model, None) or (None, learned clauses ending with the empty one)."""
    clauses = [list(dict.fromkeys(clause)) for clause in clauses]
    occurrences = {literal: [] for literal in range(-count, count + 1) if literal}
    for index, clause in enumerate(clauses):
        for literal in clause:
            occurrences[literal].append(index)
    level, reason, trail = {}, {}, []
    activity = {variable: 0.0 for variable in range(1, count + 1)}
    for clause in clauses:
        for literal in clause:
            activity[abs(literal)] += 2.0 ** -len(clause)
    proof, bump, depth = [], 1.0, 0
    phase = {}

    def assign(literal, why):
        level[literal] = depth
        reason[literal] = why
        phase[abs(literal)] = literal
        trail.append(literal)

    def propagate(start):
        position = start
        while position < len(trail):
            for index in occurrences[-trail[position]]:
                free = None
                for literal in clauses[index]:
                    if literal in level:
                        break
                    if -literal not in level:
                        if free is not None:
                            break
                        free = literal
                else:
                    if free is None:
                        return index
                    assign(free, index)
            position += 1
        return None

    def analyse(index):
        learned, seen, open_count = set(), set(), 0
        clause, position = clauses[index], len(trail) - 1
        while True:
            for literal in clause:
                fact = -literal
                if fact in level and fact not in seen and level[fact] > 0:
                    seen.add(fact)
                    activity[abs(literal)] += bump
                    if level[fact] == depth:
                        open_count += 1
                    else:
                        learned.add(literal)
            while trail[position] not in seen:
                position -= 1
            pivot = trail[position]
            position -= 1
            open_count -= 1
            if open_count == 0:
                return [-pivot, *sorted(learned, key=lambda literal: -level[-literal])]
            clause = [literal for literal in clauses[reason[pivot]] if literal != pivot]

    def undo(target):
        while trail and level[trail[-1]] > target:
            literal = trail.pop()
            del level[literal], reason[literal]

    for index, clause in enumerate(clauses):
        if len(clause) == 1 and clause[0] not in level:
            if -clause[0] in level:
                return None, [[]]
            assign(clause[0], index)
    start = 0
    while True:
        conflict = propagate(start)
        if conflict is not None:
            if depth == 0:
                return None, [*proof, []]
            learned = analyse(conflict)
            proof.append(learned)
            bump *= 1.05
            if bump > 1e100:
                for variable in activity:
                    activity[variable] *= 1e-100
                bump *= 1e-100
            depth = level[-learned[1]] if len(learned) > 1 else 0
            undo(depth)
            clauses.append(learned)
            for literal in learned:
                occurrences[literal].append(len(clauses) - 1)
            start = len(trail)
            assign(learned[0], len(clauses) - 1)
            continue
        if len(trail) == count:
            return sorted(trail, key=abs), None
        variable = max((v for v in activity if v not in level and -v not in level), key=lambda v: (activity[v], -v))
        depth += 1
        start = len(trail)
        assign(phase.get(variable, variable), None)
