"""Unit propagation with two watched literals over a growing set of clauses."""


class Clauses:
    """Clauses over variables 1..count; `implies` asks whether assuming a clause false leads to a conflict."""

    def __init__(self, count, clauses):
        self._watches = {literal: [] for literal in range(-count, count + 1) if literal}
        self._units = []
        self._broken = False
        for clause in clauses:
            self.add(clause)

    def add(self, clause):
        """Add a clause for good."""
        literals = list(dict.fromkeys(clause))
        if not literals:
            self._broken = True
        elif len(literals) == 1:
            self._units.append(literals[0])
        else:
            for literal in literals[:2]:
                self._watches[literal].append(literals)

    def implies(self, clause):
        """True when the negation of the clause propagates to a conflict."""
        if self._broken:
            return True
        true = set()
        queue = []
        for literal in [-literal for literal in clause] + self._units:
            if -literal in true:
                return True
            if literal not in true:
                true.add(literal)
                queue.append(literal)
        while queue:
            false = -queue.pop()
            kept = []
            watching = self._watches[false]
            for position, literals in enumerate(watching):
                if literals[0] == false:
                    literals[0], literals[1] = literals[1], literals[0]
                other = literals[0]
                if other in true:
                    kept.append(literals)
                    continue
                for index in range(2, len(literals)):
                    if -literals[index] not in true:
                        literals[1], literals[index] = literals[index], literals[1]
                        self._watches[literals[1]].append(literals)
                        break
                else:
                    kept.append(literals)
                    if -other in true:
                        self._watches[false] = kept + watching[position + 1 :]
                        return True
                    true.add(other)
                    queue.append(other)
            self._watches[false] = kept
        return False
