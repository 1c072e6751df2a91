"""Grade a submission of polynomial-map-cube-f8-01."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from shared.polynomial_map import check
from shared.kernel.grade import main

main(check, HERE)
