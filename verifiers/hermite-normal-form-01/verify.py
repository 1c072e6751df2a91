"""Grade a submission of hermite-normal-form-01."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from shared.integer_matrix import check
from shared.kernel.grade import main

main(check, HERE)
