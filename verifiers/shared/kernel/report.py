"""Collects check results and derives the reward and the diagnostic dimensions from them."""

DIMENSIONS = ("correctness", "binding", "completeness", "scope", "intermediate")
MAX_DETAIL = 240


class Stop(Exception):
    """A check failed that the later ones stand on; they stay unevaluated."""


class Report:
    """Results of the declared checks, in declared order.

    `checks` is a sequence of (id, dimension). A check may be decided many times (once for each part it
    covers): its first failure stays. A declared check that was never decided counts as failed.
    Dimension "contract" gates everything; "intermediate" gates nothing but itself.
    """

    def __init__(self, checks):
        self._dimension = dict(checks)
        self._results = {}
        if len(self._dimension) != len(checks):
            raise ValueError("a check id is declared twice")

    def check(self, identifier, passed, detail=""):
        """Record one decision and return it."""
        if identifier not in self._dimension:
            raise ValueError(f"undeclared check {identifier}")
        known = self._results.get(identifier)
        if known is None or (known[0] and not passed):
            self._results[identifier] = (bool(passed), "" if passed else _bounded(detail))
        return bool(passed)

    def need(self, identifier, passed, detail=""):
        """Record one decision; end the grading when it is negative."""
        if not self.check(identifier, passed, detail):
            raise Stop(identifier)

    def verdict(self):
        """The pair (reward.json object, verdict.json object)."""
        rows = []
        for identifier, dimension in self._dimension.items():
            passed, detail = self._results.get(identifier, (False, "not evaluated"))
            rows.append((identifier, dimension, passed, detail))
        contract = all(passed for _, dimension, passed, _ in rows if dimension == "contract")
        declared = {dimension for _, dimension, _, _ in rows}
        reward = {"reward": int(all(passed for _, dimension, passed, _ in rows if dimension != "intermediate"))}
        for name in DIMENSIONS:
            if name in declared:
                own = all(passed for _, dimension, passed, _ in rows if dimension == name)
                reward[name] = int(contract and own)
        failed = next(
            (identifier for identifier, dimension, passed, _ in rows if not passed and dimension != "intermediate"),
            None,
        )
        checks = [{"id": i, "passed": passed, "detail": detail} for i, _, passed, detail in rows]
        return reward, {"schemaVersion": "1", "checks": checks, "failed": failed}


def _bounded(detail):
    text = ascii(str(detail))[1:-1]
    return text if len(text) <= MAX_DETAIL else text[: MAX_DETAIL - 3] + "..."
