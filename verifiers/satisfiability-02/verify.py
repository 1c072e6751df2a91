"""Grade a submission of satisfiability-02."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from shared.satisfiability import check
from shared.kernel.grade import main

main(check, HERE)
