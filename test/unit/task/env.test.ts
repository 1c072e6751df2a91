import { expect, test } from "vitest";
import { RunnerError } from "../../../runner/base/errors.ts";
import { isStudyKey, resolveEnv, templateVariables } from "../../../runner/task/env.ts";

// Spelled apart, so that the editor does not take them for template literals.
const T = (body: string) => `$${`{${body}}`}`;

function resolve(
  templates: Record<string, string>,
  allow: string[] = [],
  host: Record<string, string> = {},
  forbidden: string[] = [],
) {
  try {
    return resolveEnv(templates, { allow: new Set(allow), host, forbidden: new Set(forbidden) });
  } catch (thrown) {
    if (thrown instanceof RunnerError) return `${thrown.code}: ${thrown.message}`;
    throw thrown;
  }
}

test("only a whole value is a template", () => {
  const templates = { A: "plain", B: `x${T("HOST")}`, C: `${T("HOST")}${T("HOST")}`, D: "$HOST", E: T("no name") };
  expect(resolve(templates, ["HOST"], { HOST: "h" })).toEqual({ env: templates, fromHost: [], defaulted: [] });
});

test("an allowed name is read from the host, every other takes its default", () => {
  const templates = { A: T("ONE:-x"), B: T("TWO:-y"), C: T("THREE:-"), D: T("FOUR") };
  expect(resolve(templates, ["ONE", "THREE", "FOUR"], { ONE: "1", TWO: "2", THREE: "", FOUR: "" })).toEqual({
    env: { A: "1", B: "y", C: "", D: "" },
    fromHost: ["FOUR", "ONE"],
    defaulted: ["THREE", "TWO"],
  });
});

test("what cannot be resolved is named with its reason, all at once", () => {
  const templates = { A: T("ONE"), B: T("TWO"), C: T("OPENAI_API_KEY"), D: T("STUDY_SECRET") };
  const host = { TWO: "2", OPENAI_API_KEY: "k", STUDY_SECRET: "s" };
  expect(resolve(templates, ["ONE", "OPENAI_API_KEY", "STUDY_SECRET"], host, ["STUDY_SECRET"])).toBe(
    [
      `ENV_UNRESOLVED: A = ${T("ONE")}: ONE is not set on this host and the template has no default`,
      `B = ${T("TWO")}: TWO is not among the names the operator allows`,
      `C = ${T("OPENAI_API_KEY")}: OPENAI_API_KEY is a provider's key, which no task may have`,
      `D = ${T("STUDY_SECRET")}: STUDY_SECRET is a provider's key, which no task may have`,
    ].join("; "),
  );
});

test("a provider's key with a default resolves to the default, even when it is allowed and set", () => {
  expect(
    resolve({ A: T("ANTHROPIC_AUTH_TOKEN:-none") }, ["ANTHROPIC_AUTH_TOKEN"], { ANTHROPIC_AUTH_TOKEN: "k" }),
  ).toEqual({
    env: { A: "none" },
    fromHost: [],
    defaulted: ["ANTHROPIC_AUTH_TOKEN"],
  });
});

test.each([
  ["OPENAI_API_KEY", true],
  ["MY_API_KEY", true],
  ["AWS_SECRET_ACCESS_KEY", true],
  ["CLAUDE_CODE_OAUTH_TOKEN", true],
  ["OPENAI_BASE_URL", false],
  ["DATABASE_PASSWORD", false],
  ["KEYBOARD", false],
])("%s counts as a provider's key: %s", (name, expected) => {
  expect(isStudyKey(name)).toBe(expected);
});

test("the variables that templates name are listed once, sorted", () => {
  expect(templateVariables({ A: T("B"), C: T("A:-x"), D: T("B:-"), E: "plain" })).toEqual(["A", "B"]);
});
