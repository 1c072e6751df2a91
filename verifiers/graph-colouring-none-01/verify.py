"""Grade a submission of graph-colouring-none-01."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from shared.graph_colouring import check
from shared.kernel.grade import main

main(check, HERE)
