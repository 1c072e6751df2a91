"""A short run of the fuzzer for every family; the long one is `fuzz.py all`."""

import os
import unittest

import fuzz
from sides import FAMILIES

COUNT = int(os.environ.get("TASK_FUZZ_COUNT", "60"))


class Fuzz(unittest.TestCase):
    def test_every_hostile_input_gets_a_bounded_verdict_and_no_unexplained_reward(self):
        for family in FAMILIES:
            tally = fuzz.run(family, COUNT, "test")
            self.assertEqual((tally["findings"], tally["inputs"]), ([], COUNT), family)
            self.assertGreater(len(tally["failedChecks"]), 3, family)


if __name__ == "__main__":
    unittest.main()
