"""Read the task's input and write the submission; the paths default to those of the agent's container."""

import argparse
import json


def run(solve):
    """Apply `solve` to the parsed input and write what it returns as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", default="/app/input.json")
    parser.add_argument("--output", default="/app/submission.json")
    options = parser.parse_args()
    with open(options.input, encoding="utf-8") as stream:
        problem = json.load(stream)
    submission = solve(problem)
    with open(options.output, "w", encoding="utf-8") as stream:
        json.dump(submission, stream, indent=1)
        stream.write("\n")
