import { expect, test } from "vitest";
import { RunnerError } from "../../../runner/base/errors.ts";
import { apiError } from "../../../runner/docker/api-error.ts";

function answered(statusCode: number, words: string): Error {
  return Object.assign(new Error(`(HTTP code ${statusCode}) server error - ${words} `), { statusCode });
}

test("what the engine answers becomes one error in its own words", () => {
  expect(apiError("start a container", answered(500, "it is tired"))).toMatchObject({
    kind: "environment",
    code: "DOCKER_FAILED",
    message: "could not start a container: it is tired",
    details: { status: 500 },
  });
});

test("a full disk is told apart, so that it is never read as a wrong answer (D3)", () => {
  const full = answered(500, "write /var/lib/docker/tmp/x: no space left on device");
  expect(apiError("create a container", full)).toMatchObject({ kind: "environment", code: "NO_SPACE" });
});

test("an engine that went away, a forbidden socket and an abort have codes of their own", () => {
  const system = (code: string) => Object.assign(new Error(`connect ${code}`), { code });
  expect(apiError("x", system("ECONNREFUSED")).code).toBe("NO_DOCKER");
  expect(apiError("x", system("ENOENT")).code).toBe("NO_DOCKER");
  expect(apiError("x", system("EACCES")).code).toBe("DOCKER_PERMISSION");
  expect(apiError("x", new DOMException("aborted", "AbortError"))).toMatchObject({
    kind: "interrupted",
    code: "ABORTED",
    message: "stopped while trying to x",
  });
  expect(apiError("x", answered(500, "y"), AbortSignal.abort()).code).toBe("ABORTED");
});

test("an error that says what happened already passes unchanged", () => {
  const known = new RunnerError("integrity", "ANY", "as it was");
  expect(apiError("x", known)).toBe(known);
});
