"""Solve satisfiability-02 from its input."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from shared.kernel.files import run
from shared.satisfiability.solve import solve

run(solve)
