"""The families, and the tasks of this repository with their frozen seeds.

A task is (id, family, seed, options). Its files are a function of this row and the family's code; a test
compares them with what is committed.
"""

FAMILIES = (
    "negative_control", "integer_matrix", "lattice", "graph_colouring", "direction_ledger", "polynomial_map",
    "resultant", "discrete_log", "factorisation", "linear_recurrence", "box_search",
    "satisfiability", "independent_set",
)

# Further shared folders of a family, the same names on both sides and no common code.
SHARED = {
    "direction_ledger": ("finite_field",),
    "polynomial_map": ("finite_field",),
    "resultant": ("integer_matrix",),
    "factorisation": ("discrete_log",),
}

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
    ("direction-ledger-reference-01", "direction_ledger", "reference-1", {"reference": True, "contamination": "public-source"}),
    ("direction-ledger-f4-01", "direction_ledger", "f4-1", {"shape": ("F4", 0, "w", 3, 3)}),
    ("direction-ledger-f9-01", "direction_ledger", "f9-1", {"shape": ("F9", 0, "i", 4, 2)}),
    ("direction-ledger-f16-01", "direction_ledger", "f16-1", {"shape": ("F16", 0, "a", 5, 2)}),
    ("direction-ledger-f8-01", "direction_ledger", "f8-1", {"shape": ("F8", 1, "t", 4, 2), "all_traps": True}),
    ("direction-ledger-f25-01", "direction_ledger", "f25-1", {"shape": ("F25", 0, "r", 3, 2)}),
    ("direction-ledger-f27-01", "direction_ledger", "f27-1", {"shape": ("F27", 0, "a", 4, 1)}),
    ("direction-ledger-partial-01", "direction_ledger", "partial-1", {"shape": ("F9", 1, "u", 4, 2), "partial": True}),
    ("polynomial-map-cube-f8-01", "polynomial_map", "cube-1", {
        "shape": ("F8", 0, "a", "permutation", True), "polynomial": [[0, 0, 0]] * 3 + [[1, 0, 0]], "all_traps": True,
        "coverage_class": "upstream_reproduction", "contamination": "public-source",
        "derivation": "The cube map over the presentation of the upstream scenario FF905-B; all values are recomputed.",
    }),
    ("polynomial-map-f9-01", "polynomial_map", "f9-1", {"shape": ("F9", 0, "i", "collision", False), "all_traps": True}),
    ("polynomial-map-f16-01", "polynomial_map", "f16-1", {"shape": ("F16", 0, "a", "collision", True)}),
    ("polynomial-map-f25-01", "polynomial_map", "f25-1", {"shape": ("F25", 0, "r", "permutation", False)}),
    ("polynomial-map-f27-01", "polynomial_map", "f27-1", {"shape": ("F27", 0, "a", "permutation", True)}),
    ("polynomial-map-f16-02", "polynomial_map", "f16-2", {"shape": ("F16", 1, "z", "collision", False)}),
    ("polynomial-map-f8-01", "polynomial_map", "f8-1", {"shape": ("F8", 1, "t", "permutation", False)}),
    ("resultant-01", "resultant", "resultant-1", {}),
    ("discrete-log-01", "discrete_log", "log-1", {}),
    ("factorisation-01", "factorisation", "pseudoprime-1", {}),
    ("linear-recurrence-01", "linear_recurrence", "open-1", {"determined": False}),
    ("linear-recurrence-02", "linear_recurrence", "closed-1", {"determined": True}),
    ("cubic-box-search-01", "box_search", "empty-1", {"empty": True}),
    ("cubic-box-search-02", "box_search", "some-1", {"empty": False}),
    ("satisfiability-01", "satisfiability", "unsat-1", {"satisfiable": False}),
    ("satisfiability-02", "satisfiability", "sat-1", {"satisfiable": True}),
    ("independent-set-01", "independent_set", "set-1", {}),
)
