"""Grade a submission of linear-recurrence-02."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from shared.linear_recurrence import check
from shared.kernel.grade import main

main(check, HERE)
