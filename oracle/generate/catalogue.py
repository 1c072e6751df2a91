"""The families, and the tasks of this repository with their frozen seeds.

A task is (id, family, seed, options). Its files are a function of this row and the family's code; a test
compares them with what is committed.
"""

FAMILIES = ("negative_control", "integer_matrix", "lattice", "graph_colouring")

COMMITTED = (
    ("parity-sum-01", "negative_control", "parity-1", {"kind": "parity-sum"}),
    ("remainder-01", "negative_control", "remainder-1", {"kind": "remainder"}),
    ("degree-table-01", "negative_control", "degree-1", {"kind": "degree-table"}),
    ("truth-table-01", "negative_control", "truth-1", {"kind": "truth-table"}),
    ("smith-normal-form-01", "integer_matrix", "smith-1", {"kind": "smith"}),
    ("hermite-normal-form-01", "integer_matrix", "hermite-1", {"kind": "hermite"}),
    ("shortest-vector-01", "lattice", "shortest-1", {"kind": "shortest"}),
    ("short-vector-bound-01", "lattice", "bounded-1", {"kind": "bounded"}),
    ("graph-colouring-none-01", "graph_colouring", "none-1", {"exists": False}),
    ("graph-colouring-01", "graph_colouring", "exists-1", {"exists": True}),
)
