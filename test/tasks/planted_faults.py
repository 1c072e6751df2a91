"""Faults to plant, each as (family, module, text, replacement); the text occurs once in the module."""

FIELD_O = "shared/finite_field/field.py"
FIELD_V = "shared/finite_field/companion.py"
LEDGER_O = "shared/direction_ledger/solve.py"
LEDGER_V = "shared/direction_ledger/model.py"
MAP_O = "shared/polynomial_map/solve.py"
MAP_V = "shared/polynomial_map/model.py"

PRODUCER = (
    ("direction_ledger", FIELD_O, "- lead * self.modulus[k]", "- lead * self.modulus[self.d - k]"),
    ("direction_ledger", FIELD_O, "wide[i + j] + a * b", "wide[i + j] + a + b"),
    ("direction_ledger", FIELD_O, "value * inverse % p", "value % p"),
    ("direction_ledger", FIELD_O, "self.p**k % self.p", "self.p**(self.d - 1 - k) % self.p"),
    ("direction_ledger", LEDGER_O, "field.mul(matrix[r][c], coordinate)", "field.mul(matrix[c][r], coordinate)"),
    ("direction_ledger", LEDGER_O, "rows[c * field.d + k][j]", "rows[k * width + c][j]"),
    ("direction_ledger", LEDGER_O, "[[zero, one]] + [[one,", "[[one, zero]] + [[one,"),
    ("direction_ledger", LEDGER_O, "counts = {1: len(ledger)}", "counts = {}"),
    ("direction_ledger", LEDGER_O, 'field.p ** (target - entry["rank"])', 'field.p ** entry["rank"]'),
    ("direction_ledger", LEDGER_O, "for code in range(field.q):\n        value", "for code in range(field.q - 1):\n        value"),
    ("polynomial_map", FIELD_O, "- lead * self.modulus[k]", "- lead * self.modulus[self.d - k]"),
    ("polynomial_map", FIELD_O, "(a + b) % self.p", "(a - b) % self.p"),
    ("polynomial_map", MAP_O, "for coefficient in reversed(coefficients)", "for coefficient in coefficients"),
    ("polynomial_map", MAP_O, "for code in range(field.q)", "for code in range(field.q - 1)"),
    ("polynomial_map", MAP_O, '[places[key]]["sources"].append(source)', '[places[key]]["sources"].append(value)'),
    ("polynomial_map", MAP_O, "sorted(([value, source]", "sorted(([source, value]"),
    ("polynomial_map", MAP_O, 'if len(fiber["sources"]) > 1', 'if len(fiber["sources"]) > 2'),
    ("integer_matrix", "shared/integer_matrix/solve.py", "v % pivot for v", "v % 1 for v"),
    ("integer_matrix", "shared/integer_matrix/solve.py", "for index in range(top):", "for index in range(0):"),
    ("lattice", "shared/lattice/reduction.py", "if cost > best_norm + 1e-6:", "if cost > best_norm / 4:"),
    ("graph_colouring", "shared/graph_colouring/solve.py", "if choice not in taken:", "if choice not in taken or choice == 2:"),
    ("graph_colouring", "shared/graph_colouring/solve.py", "kept - {vertex}, colours) is None", "kept - {vertex}, colours) == 0"),
    ("resultant", "shared/resultant/solve.py", "(-1) ** (m * n)", "1"),
    ("discrete_log", "shared/discrete_log/solve.py", "* pow(modulus, -1, part) % part", "% part"),
    ("factorisation", "shared/discrete_log/solve.py", "if value < 4_000_000 or", "if value < 400_000_000 or"),
    ("linear_recurrence", "shared/linear_recurrence/solve.py", "2 * length - len(terms)", "2 * length - len(terms) - 1"),
    ("linear_recurrence", "shared/linear_recurrence/solve.py", "if 2 * length <= index", "if 2 * length < index"),
    ("box_search", "shared/box_search/solve.py", "abs(rest - part)", "(rest - part) ** 2"),
    ("satisfiability", "shared/satisfiability/search.py", "return [-pivot, *sorted", "return [pivot, *sorted"),
    ("independent_set", "shared/independent_set/solve.py", "candidates & free[vertex]", "candidates & ~free[vertex] & ~(1 << vertex)"),
    ("negative_control", "shared/negative_control/solve.py", "(x > 0)", "(x < 0)"),
)

CHECKER = (
    ("direction_ledger", FIELD_V, "-modulus[row] % self.p", "modulus[(row + 1) % size] % self.p"),
    ("direction_ledger", FIELD_V, "companion[row][row - 1] = 1", "companion[row - 1][row] = 1"),
    ("direction_ledger", FIELD_V, "tuple((a + k * b) % p", "tuple((a + b) % p"),
    ("direction_ledger", LEDGER_V, "for entries in zip(*matrix):", "for entries in matrix:"),
    ("direction_ledger", LEDGER_V, "counts[1] += 1", "counts[1] += 0"),
    ("direction_ledger", LEDGER_V, "points //= field.p", "points //= field.order"),
    ("direction_ledger", LEDGER_V, "[(field.zero(), field.one())] +", "[(field.one(), field.one())] +"),
    ("direction_ledger", LEDGER_V, "counts[len(orbit)] += 1", "counts[len(shifts) + 1] += 1"),
    ("direction_ledger", "shared/direction_ledger/partial.py", "for value in field.elements():", "for value in field.elements()[:1]:"),
    ("polynomial_map", FIELD_V, "-modulus[row] % self.p", "modulus[(row + 1) % size] % self.p"),
    ("polynomial_map", FIELD_V, "(a + b) % self.p for", "(a + 2 * b) % self.p for"),
    ("polynomial_map", MAP_V, "power, total = field.one()", "power, total = field.zero()"),
    ("polynomial_map", MAP_V, "power = field.times(source, power)", "power = field.times(power, power)"),
    ("polynomial_map", MAP_V, "for source in field.elements():", "for source in field.elements()[1:]:"),
    ("polynomial_map", MAP_V, "setdefault(value, set()).add(source)", "setdefault(source, set()).add(value)"),
    ("integer_matrix", "shared/integer_matrix/arithmetic.py", "previous = rows[step][step]", "previous = 1"),
    ("integer_matrix", "shared/integer_matrix/check.py", "factor = rest[pivot] // form[line][pivot]", "factor = rest[pivot]"),
    ("lattice", "shared/lattice/check.py", "form[k][m] -= form[k][i] * form[i][m]", "form[k][m] += form[k][i] * form[i][m]"),
    ("graph_colouring", "shared/graph_colouring/check.py", "if reached & sides[turn]:", "if reached & sides[turn ^ 1]:"),
    ("resultant", "shared/resultant/check.py", "first[::-1] +", "first +"),
    ("discrete_log", "shared/discrete_log/check.py", "order // prime, p) != 1", "order // prime, p) == 1"),
    ("factorisation", "shared/factorisation/check.py", "if value in (1, number - 1):", "if value in (1, 2):"),
    ("linear_recurrence", "shared/linear_recurrence/check.py", "[index - length : index][::-1]", "[index - length : index]"),
    ("box_search", "shared/box_search/check.py", "rest = left - part", "rest = left + part"),
    ("satisfiability", "shared/satisfiability/propagation.py", "if -literals[index] not in true:", "if literals[index] in true:"),
    ("independent_set", "shared/independent_set/check.py", "other in near[vertex] if other in inside", "other in chosen if other in near[vertex - 1]"),
    ("negative_control", "shared/negative_control/check.py", "int(literal > 0)", "int(literal < 0)"),
)
