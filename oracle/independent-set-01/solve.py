"""Solve independent-set-01 from its input."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from shared.kernel.files import run
from shared.independent_set.solve import solve

run(solve)
