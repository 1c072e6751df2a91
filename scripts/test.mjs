// `npm test`: static checks, then unit, contract and end-to-end tests with a real Docker engine; ends with the totals.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const results = mkdtempSync(join(tmpdir(), "runner-test-"));
const started = process.hrtime.bigint();
const totals = { passed: 0, failed: 0 };
const broken = [];

function run(title, command, args) {
  const from = process.hrtime.bigint();
  process.stdout.write(`\n== ${title}\n`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  process.stdout.write(`== ${title}: ${status === 0 ? "ok" : `exit ${status}`} in ${seconds(from)} s\n`);
  if (status !== 0) broken.push(title);
  return status === 0;
}

function seconds(from) {
  return (Number((process.hrtime.bigint() - from) / 1_000_000n) / 1000).toFixed(1);
}

function suite(project) {
  const file = join(results, `${project}.json`);
  run(`${project} tests`, "npx", [
    "vitest",
    "run",
    "--project",
    project,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${file}`,
  ]);
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(file, "utf8"));
    totals.passed += numPassedTests;
    totals.failed += numFailedTests;
    if (numPendingTests + numTodoTests > 0)
      broken.push(`${project}: ${numPendingTests + numTodoTests} tests were skipped`);
  } catch (error) {
    broken.push(`${project}: no results (${error.message})`);
  }
}

run("build", "node", ["scripts/build.mjs"]);
run("types", "npx", ["tsc", "--noEmit"]);
run("lint and format", "npx", ["biome", "ci", "."]);
run("dependency direction", "node", ["scripts/check-imports.mjs"]);
// The engine comes first: where the host has no Python, unit tests of the verifiers run in the verifier's image.
if (
  run("Docker engine", "node", ["bin/runner.js", "doctor", "--fix"]) &&
  run("images", "node", ["bin/runner.js", "images", "build"])
) {
  suite("unit");
  suite("contract");
  suite("e2e");
}
rmSync(results, { recursive: true, force: true });

process.stdout.write(`\n${seconds(started)} s\n`);
for (const problem of broken) process.stdout.write(`failed: ${problem}\n`);
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed\n`);
process.exit(broken.length === 0 && totals.failed === 0 && totals.passed > 0 ? 0 : 1);
