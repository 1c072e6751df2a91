import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RunnerError } from "../../../runner/base/errors.ts";
import { completionsUrl, parseConfig, readKeys } from "../../../runner/proof/config.ts";
import { parseData, selectRows } from "../../../runner/proof/data.ts";
import { fillPrompt, metaPrompt, policyPrompt, readPrompt, verifierPrompt } from "../../../runner/proof/prompts.ts";
import type { ProofRow, Task } from "../../../runner/proof/terms.ts";

function refusal(action: () => unknown): string {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof RunnerError) return `${thrown.code}: ${thrown.message}`;
    throw thrown;
  }
  return "accepted";
}
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
const problem = { problem_id: "p1", problem: "Prove it.", domain: "ugd" };
const annotated = {
  ...problem,
  proof_id: "v1",
  steps: ["a", "b", "c"],
  annotation: { first_fatal_error_step: 2, recoverable_error_steps: [1], reviewer_comment: "see step 1" },
};
const read = (text: string | Uint8Array, task: Task = "prover") => parseData(Buffer.from(text), "data.jsonl", task);
const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

describe("benchmark data", () => {
  it("is read line by line at \\n alone, with blank lines and CR LF, and derives missing ids from the content", () => {
    const text = "Zeige: café☕ \u2028 \u0085 x<y";
    const rows = read(
      `\n${JSON.stringify({ problem: text, domain: "qe", solution: "old name" })}\r\n  \n${line(problem)}`,
    );
    expect(rows).toEqual([
      { problem_id: `amb-p-${hash(text)}`, problem: text, reference_solution: "old name", domain: "qe", subject: "" },
      { problem_id: "p1", problem: "Prove it.", reference_solution: "", domain: "ugd", subject: "" },
    ]);
  });

  it("takes annotations nested or at the top level, and derives the ground truth", () => {
    const { annotation, ...flat } = annotated;
    const rows = read(
      line(annotated) + line({ ...flat, ...annotation, proof_id: undefined }),
      "verifier",
    ) as ProofRow[];
    expect(rows[0]).toMatchObject({ is_correct: false, first_error_step: 1 });
    expect(rows[1]).toMatchObject({
      is_correct: false,
      first_error_step: 1,
      annotation: { reviewer_comment: "see step 1", first_error_reason: "", remark: "" },
    });
    expect(rows[1]?.proof_id).toBe(`amb-v-${hash('["p1",["a","b","c"]]')}`);
    const correct = {
      ...annotated,
      annotation: { first_fatal_error_step: -1, recoverable_error_steps: [-1] },
      is_correct: true,
      first_error_step: -1,
    };
    expect(read(line(correct), "verifier")[0]).toMatchObject({ is_correct: true, first_error_step: -1 });
    const recoverable = { ...annotated, annotation: { first_fatal_error_step: -1, recoverable_error_steps: [2, 1] } };
    expect(read(line(recoverable), "verifier")[0]).toMatchObject({ is_correct: false, first_error_step: 1 });
  });

  const badProblems: [string, string, string][] = [
    [
      "no JSON",
      "{",
      "JSON_INVALID: data.jsonl, record on line 2: line 1, column 2: expected a key in double quotes, got the end",
    ],
    ["a list", "[]", "DATA_INVALID: data.jsonl, line 2: the record: expected an object, got []"],
    [
      "a duplicate key",
      '{"problem":"a","problem":"b","domain":"qe"}',
      'JSON_INVALID: data.jsonl, record on line 2: line 1, column 16: duplicate key "problem"',
    ],
    ["no problem", '{"domain":"qe"}', "DATA_INVALID: data.jsonl, line 2: problem: expected text, got nothing"],
    [
      "a blank problem",
      '{"problem":" \\n","domain":"qe"}',
      'DATA_INVALID: data.jsonl, line 2: problem: expected non-empty text, got " \\n"',
    ],
    [
      "a lone surrogate",
      '{"problem":"\\ud835","domain":"qe"}',
      'DATA_INVALID: data.jsonl, line 2: problem: expected text without lone surrogates, got "\\ud835"',
    ],
    [
      "another domain",
      '{"problem":"a","domain":"QE"}',
      'DATA_INVALID: data.jsonl, line 2: domain: expected "ugd" or "qe", got "QE"',
    ],
    [
      "a number as id",
      '{"problem":"a","domain":"qe","problem_id":7}',
      "DATA_INVALID: data.jsonl, line 2: problem_id: expected text, got 7",
    ],
    [
      "a list as reference",
      '{"problem":"a","domain":"qe","reference_solution":[]}',
      "DATA_INVALID: data.jsonl, line 2: reference_solution: expected text, got []",
    ],
    [
      "two texts for one id",
      '{"problem":"other","domain":"qe","problem_id":"p1"}',
      'DATA_INVALID: data.jsonl, line 2: problem_id: expected one problem text for each problem_id; this id has two, got "p1"',
    ],
    [
      "a duplicate id",
      JSON.stringify(problem),
      'DATA_INVALID: data.jsonl, line 2: problem_id: expected an id of its own; line 1 has it already, got "p1"',
    ],
  ];
  it.each(badProblems)("refuses %s and names the line", (_, bad, message) => {
    expect(refusal(() => read(`${line(problem)}${bad}\n`))).toBe(message);
  });

  const badLabels: [object, string][] = [
    [{ steps: [] }, "steps: expected a non-empty list of texts, got []"],
    [{ steps: ["a", " "] }, 'steps[1]: expected non-empty text, got " "'],
    [{ annotation: 3 }, "annotation: expected an object, got 3"],
    [{ annotation: {} }, "first_fatal_error_step: expected an integer in -1 .. 2, got nothing"],
    [
      { annotation: { first_fatal_error_step: false, recoverable_error_steps: [-1] } },
      "first_fatal_error_step: expected an integer in -1 .. 2, got false",
    ],
    [
      { annotation: { first_fatal_error_step: 3, recoverable_error_steps: [-1] } },
      "first_fatal_error_step: expected an integer in -1 .. 2, got 3",
    ],
    [
      { annotation: { first_fatal_error_step: -1, recoverable_error_steps: [] } },
      "recoverable_error_steps: expected [-1], or a non-empty list of step indices, got []",
    ],
    [
      { annotation: { first_fatal_error_step: -1, recoverable_error_steps: [-1, 0] } },
      "recoverable_error_steps: expected -1 alone or step indices alone, never mixed ([-1,0]), got [-1,0]",
    ],
    [
      { annotation: { first_fatal_error_step: -1, recoverable_error_steps: [true] } },
      "recoverable_error_steps[0]: expected an integer in -1 .. 2, got true",
    ],
    [
      { annotation: { first_fatal_error_step: -1, recoverable_error_steps: [1.5] } },
      "recoverable_error_steps[0]: expected an integer in -1 .. 2, got 1.5",
    ],
    [{ annotation: { ...annotated.annotation, reviewer_comment: 1 } }, "reviewer_comment: expected text, got 1"],
    [{ is_correct: true }, "is_correct: expected false, as the annotation says, got true"],
    [{ first_error_step: 2 }, "first_error_step: expected 1, as the annotation says, got 2"],
  ];
  it.each(badLabels)("refuses the labels %j", (change, message) => {
    expect(refusal(() => read(line({ ...annotated, ...change }), "verifier"))).toBe(
      `DATA_INVALID: data.jsonl, line 1: ${message}`,
    );
  });

  it("refuses a byte order mark by its name, since nobody sees it", () => {
    const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(line(problem))]);
    expect(refusal(() => read(bytes))).toBe(
      "DATA_INVALID: data.jsonl, line 1: the file: expected UTF-8 without a byte order mark, got U+FEFF before the first record",
    );
  });

  it("refuses an empty file, bytes that are no UTF-8, and a selection of nothing", () => {
    expect(refusal(() => read("\n \n"))).toBe("DATA_EMPTY: data.jsonl: there is no record in it");
    expect(refusal(() => read(Buffer.from([0xff, 0xfe])))).toBe(
      "JSON_INVALID: data.jsonl, record on line 1: the bytes are not UTF-8",
    );
    expect(refusal(() => selectRows(read(line(problem)), "qe", null))).toBe(
      "NOTHING_SELECTED: no row of domain qe is in the data file",
    );
  });
});

describe("prompts", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "proof-prompts-"));
  });
  afterAll(async () => rm(folder, { recursive: true }));
  const row = {
    ...(read(line({ ...annotated, reference_solution: "REFERENCE" }), "verifier")[0] as ProofRow),
    problem: "Show {solution} and $x$.",
  };

  it("are filled in one pass, so inserted text is never searched", () => {
    expect(
      fillPrompt("{problem}|{solution}|{unknown}|{problem}", { problem: "{solution}$&", solution: "{problem}" }),
    ).toBe("{solution}$&|{problem}|{unknown}|{solution}$&");
  });

  it("show the policy and the tested judge no annotation, and the reference only on request", () => {
    const template = "P {problem} H {human_solution} S {solution}";
    expect(policyPrompt("{problem}", row)).toBe("Show {solution} and $x$.");
    expect(verifierPrompt(template, row, row.steps, false)).toBe(
      "P Show {solution} and $x$. H None S <step0>\n\na\n\n</step0>\n\n<step1>\n\nb\n\n</step1>\n\n<step2>\n\nc\n\n</step2>",
    );
    expect(verifierPrompt(template, row, row.steps, true)).toContain("H REFERENCE S");
    expect(verifierPrompt(template, { ...row, reference_solution: "" }, row.steps, true)).toContain("H None S");
  });

  it("show the meta model the annotation beside the judgment", () => {
    const text = metaPrompt(
      "{solution_verification}\n--\n{human_ground_truth}",
      row,
      { assessment: "A", errors: "E", first_error_step: 1 },
      false,
    );
    expect(text).toBe(
      "<assessment>\n\nA\n\n</assessment>\n\n<errors>\n\nE\n\n</errors>\n--\n<reviewer_comment>\n\nsee step 1\n\n</reviewer_comment>\n\n<first_fatal_error_step>\n\n2\n\n</first_fatal_error_step>\n\n<recoverable_error_steps>\n\n[1]\n\n</recoverable_error_steps>",
    );
  });

  it("are refused when they lack a placeholder or would show what the reader must not see", async () => {
    const path = join(folder, "p.md");
    const of = async (text: string, name: "generation" | "verifier" | "meta") => {
      await writeFile(path, text);
      return readPrompt(path, name).then(
        () => "accepted",
        (thrown: RunnerError) => thrown.message.replace(folder, ""),
      );
    };
    expect(await of("{problem}", "generation")).toBe("accepted");
    expect(await of("{problem} {human_solution}", "generation")).toBe(
      "/p.md: the generation prompt may not show {human_solution}",
    );
    expect(await of("{problem}", "verifier")).toBe("/p.md: the verifier prompt lacks the placeholder {solution}");
    expect(await of("{problem}{solution}{human_ground_truth}", "verifier")).toBe(
      "/p.md: the verifier prompt may not show {human_ground_truth}",
    );
    expect(await of("{problem}{solution}{solution_verification}", "meta")).toBe(
      "/p.md: the meta prompt lacks the placeholder {human_ground_truth}",
    );
  });

  it("of the project keep to their contracts", async () => {
    for (const name of ["generation", "verifier", "meta"] as const) {
      const { text } = await readPrompt(join("benchmarks", "proof", "prompts", `${name}.md`), name);
      const contract = {
        generation: ["<step>"],
        verifier: ["<assessment>", "<errors>", "<first_error_step>"],
        meta: ["<level>", "EXACT_MATCH", "BASIC_MATCH", "POOR_MATCH", "WRONG_POLARITY"],
      }[name];
      for (const word of contract) expect(text).toContain(word);
    }
    expect((await readdir(join("benchmarks", "proof", "prompts"))).sort()).toEqual([
      "generation.md",
      "meta.md",
      "verifier.md",
    ]);
  });
});

describe("the config", () => {
  const endpoint = { model: "m", base_url: "https://host.example/v1" };
  const parse = (section: object) =>
    refusal(() =>
      parseConfig({ policy: endpoint, verifier: { ...endpoint, ...section } }, "config.json", ["policy", "verifier"]),
    );

  it("fills in defaults and keeps only the sections that the run needs", () => {
    const full = {
      model: "m",
      base_url: "http://127.0.0.1:8000/v1",
      api_key_env: "KEY",
      generation: { temperature: 1, max_tokens: 10, top_p: 0.9 },
    };
    expect(parseConfig({ policy: full, verifier: endpoint, meta: endpoint }, "c", ["policy"])).toEqual({
      policy: { ...full, backend: "api", timeout_s: 1800, max_retries: 2, rate_limit_patience_s: 120 },
    });
  });

  const bad: [object, string][] = [
    [
      { api_key: "sk-live-abcdef" },
      "CONFIG_SECRET: config.json: verifier.api_key: keys and headers do not belong in a config",
    ],
    [
      { generation: { extra: [{ Authorization: "Bearer sk-live" }] } },
      "CONFIG_SECRET: config.json: verifier.generation.extra.0.Authorization: keys and headers do not belong in a config",
    ],
    [
      { api_key_env: "sk-live-abcdef" },
      "CONFIG_SECRET: config.json: verifier.api_key_env: expected the name of an environment variable, got something else (not repeated here)",
    ],
    [
      { base_url: "https://user:pw@host/v1" },
      "CONFIG_SECRET: config.json: verifier.base_url: expected a URL without credentials, query and fragment (not repeated here)",
    ],
    [
      { base_url: "https://host/v1?key=sk-live" },
      "CONFIG_SECRET: config.json: verifier.base_url: expected a URL without credentials, query and fragment (not repeated here)",
    ],
    ...["http:///user:pw@host/v1", "http:user:pw@host/v1", "http:\\\\user:pw@host/v1", "https:/user@host/v1"].map(
      (base_url): [object, string] => [
        { base_url },
        "CONFIG_SECRET: config.json: verifier.base_url: expected a URL without credentials, query and fragment (not repeated here)",
      ],
    ),
    ...["x-api-key", "X_Api_Key", "client_secret", "extra_headers", "bearer_token"].map((name): [object, string] => [
      { generation: { nested: { [name]: "sk-live-abcdef" } } },
      `CONFIG_SECRET: config.json: verifier.generation.nested.${name}: keys and headers do not belong in a config`,
    ]),
    [
      { base_url: "sk-live-abcdef" },
      "CONFIG_SECRET: config.json: verifier.base_url: expected an absolute URL, got something else (not repeated here)",
    ],
    [
      { base_url: "ftp://host/v1" },
      'INPUT_INVALID: config.json: verifier.base_url: expected an http or https URL, got "ftp://host/v1"',
    ],
    [
      { base_url: "https://host" },
      'INPUT_INVALID: config.json: verifier.base_url: expected a URL that ends in /v1 or in the full path /chat/completions, got "https://host"',
    ],
    ...[
      "https://host/",
      "https://host/api",
      "https://host/v1/chat",
      "https://host/v1/completions",
      "https://host/v2",
    ].map((base_url): [object, string] => [
      { base_url },
      `INPUT_INVALID: config.json: verifier.base_url: expected a URL that ends in /v1 or in the full path /chat/completions, got "${base_url}"`,
    ]),
    [
      { base_url: "https://host/v1#chat" },
      "CONFIG_SECRET: config.json: verifier.base_url: expected a URL without credentials, query and fragment (not repeated here)",
    ],
    [
      { generation: { stream: true } },
      "INPUT_INVALID: config.json: verifier.generation.stream: is set by the runner, got true",
    ],
    [{ generation: { n: 2 } }, "INPUT_INVALID: config.json: verifier.generation.n: is set by the runner, got 2"],
    [
      { generation: { max_tokens: 1, max_completion_tokens: 1 } },
      "INPUT_INVALID: config.json: verifier.generation: use only one of max_tokens and max_completion_tokens",
    ],
    [
      { generation: { max_tokens: true } },
      "INPUT_INVALID: config.json: verifier.generation.max_tokens: expected a positive integer, got true",
    ],
    [
      { backend: "transformers" },
      'INPUT_INVALID: config.json: verifier.backend: "api" is the only backend: serve local weights behind a Chat Completions endpoint, got "transformers"',
    ],
  ];
  it.each(bad)("refuses %j with one error that repeats no secret", (section, message) => {
    expect(parse(section)).toBe(message);
    expect(message).not.toContain("sk-live");
  });

  it("takes a base_url that ends in /v1, also below a path, or the full path, with or without a slash at its end", () => {
    for (const [base_url, url] of [
      ["https://host/v1", "https://host/v1/chat/completions"],
      ["https://host/openai/v1//", "https://host/openai/v1/chat/completions"],
      ["http://host:8000/any/chat/completions/", "http://host:8000/any/chat/completions"],
    ] as const) {
      expect(parse({ base_url })).toBe("accepted");
      const { verifier } = parseConfig({ verifier: { ...endpoint, base_url } }, "c", ["verifier"]);
      expect(verifier === undefined ? "" : completionsUrl(verifier).href).toBe(url);
    }
  });

  it("refuses unknown keys and missing sections by name", () => {
    expect(parse({ max_retry: 1 })).toContain('config.json: verifier: Unrecognized key: "max_retry"');
    expect(parse({ max_retries: 11 })).toContain("config.json: verifier.max_retries: ");
    expect(refusal(() => parseConfig({ verifier: endpoint }, "config.json", ["policy", "verifier"]))).toBe(
      'CONFIG_ROLE: config.json: the section "policy" is missing',
    );
  });

  it("takes keys from the named environment variables only", () => {
    const config = parseConfig({ verifier: { ...endpoint, api_key_env: "SOME_KEY" } }, "c", ["verifier"]);
    expect(readKeys(config, { SOME_KEY: "sk-1" })).toEqual(new Map([["verifier", "sk-1"]]));
    expect(refusal(() => readKeys(config, {}))).toBe("KEY_MISSING: the environment variable SOME_KEY is not set");
    expect(refusal(() => readKeys(config, { SOME_KEY: "sk-1\n" }))).toBe(
      "KEY_MALFORMED: the value of SOME_KEY cannot be sent in a header",
    );
  });
});
