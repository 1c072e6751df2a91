"""Grade a submission of independent-set-01."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from shared.independent_set import check
from shared.kernel.grade import main

main(check, HERE)
