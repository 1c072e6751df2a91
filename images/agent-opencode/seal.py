"""Keeps instruction files of a task out of opencode: seal.py PROGRAM.

When its model reads a file, the program adds the AGENTS.md, CLAUDE.md and CONTEXT.md of the file's folder and of those above it to what the
model sees, and has no setting against it. Their names stand in its source text once; names of the same length take their place. Exit code 70:
the names are not there as they should be.
"""

import re
import sys

NAMES = re.compile(rb'\["AGENTS\.md",(\.\.\.![\w$.]+\?)\["CLAUDE\.md"\]:\[\],"CONTEXT\.md"\]')
SEALED = rb'["no/ag.ent",\1["no/cl.ude"]:[],"no/con.ext"]'


def main():
    with open(sys.argv[1], "rb") as file:
        program = file.read()
    sealed, count = NAMES.subn(SEALED, program)
    if count != 1 or len(sealed) != len(program):
        print(f"runner: the names of instruction files stand {count} times in the program, not once", file=sys.stderr)
        sys.exit(70)
    with open(sys.argv[1], "r+b") as file:
        file.write(sealed)


main()
