/** The parts of a new task that the agent sees. `NAME` stands for the task's name in every template. */

export const TASK_TOML = `schema_version = "1.4"
artifacts = ["/app/submission.json"]

[task]
name = "jacobian/NAME"
description = "Sum of a list of integers and the positions of its largest value"

[metadata]
coverage_class = "authored_task"
domain = "arithmetic"
difficulty = "easy"
contamination = "public-authored"
derivation = "Scaffold: replace the problem, the verifier, the oracle and the traps by your own."

[agent]
timeout_sec = 600.0

[verifier]
timeout_sec = 120.0
environment_mode = "separate"

VERIFIER_ENVIRONMENT[environment]
network_mode = "no-network"
workdir = "/app"
cpus = 1
memory_mb = 2048
storage_mb = 1024
`;

/** The split layout names the verifier's image; a bundle builds it from \`tests/Dockerfile\`. */
export const VERIFIER_ENVIRONMENT = `[verifier.environment]
docker_image = "jacobian-runner/verifier"
network_mode = "no-network"
cpus = 1
memory_mb = 2048

`;

export const INSTRUCTION = `# Sum and largest value

\`/app/input.json\` holds \`instance\`, a string, and \`numbers\`, a list of integers. Find the sum of the numbers and every position at
which their largest value stands (the first position is 0).

The submission has these keys:

- \`instance\`: the string \`instance\` of the input, copied.
- \`sum\`: the sum of all numbers (an integer).
- \`largest_at\`: the list of all positions of the largest value, in any order, each once.

## Handing in

Write your answer to \`/app/submission.json\`: one JSON object in UTF-8, at most 1 MiB, with exactly the keys described above
(\`/app/submission_schema.json\` is its JSON Schema). No key may occur twice. There is no network. Nothing but this file is read.
`;

export const DOCKERFILE = `FROM jacobian-runner/workbench
WORKDIR /app
COPY input.json submission_schema.json /app/
`;

export const INPUT = `{
  "instance": "NAME",
  "numbers": [17, -4, 92, 8, 92, -31, 60, 5]
}
`;

export const SUBMISSION_SCHEMA = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Submission",
  "type": "object",
  "additionalProperties": false,
  "required": ["instance", "sum", "largest_at"],
  "properties": {
    "instance": { "type": "string", "maxLength": 120 },
    "sum": { "type": "integer" },
    "largest_at": { "type": "array", "maxItems": 1000, "uniqueItems": true, "items": { "type": "integer", "minimum": 0 } }
  }
}
`;
