import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, onTestFinished, test } from "vitest";
import { RunnerError } from "../../../runner/base/errors.ts";
import { type Cassette, cassetteSchema } from "../../../runner/base/formats/cassette.ts";
import { surfaceSchema } from "../../../runner/base/formats/surface.ts";
import { parseStrictJson } from "../../../runner/base/strict-json.ts";
import { parseInput } from "../../../runner/base/zod-input.ts";
import { cassetteFor, loadCassettes } from "../../../runner/study/cassettes.ts";
import { orderTrials } from "../../../runner/study/order.ts";
import { loadStudy } from "../../../runner/study/study-file.ts";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const DEMO = join(ROOT, "benchmarks/config/demo.json");
const CASSETTES = join(ROOT, "benchmarks/cassettes");
const SCHEMA = join(ROOT, "benchmarks/config/schemas/study.schema.json");

const demo = await loadStudy(DEMO);
const replay = demo.study.model?.replay ?? "";
const cassettes = await loadCassettes(demo.resolve(replay));
const conversations = cassettes.flatMap(({ name, cassette }) =>
  cassette.conversations.map(({ scope, exchanges }) => ({ name, scope, exchanges })),
);

function readJson(path: string) {
  return JSON.parse(readFileSync(path, "utf8"));
}

async function temporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), "cassettes-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function validator(schema: object) {
  return new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
}

test("every committed cassette parses", () => {
  const files = readdirSync(CASSETTES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const source = join(CASSETTES, file);
    const cassette = parseInput<Cassette>(cassetteSchema, parseStrictJson(readFileSync(source), { source }), source);
    expect(cassette.description, file).not.toBe("");
  }
});

test("every planned trial of the demo has exactly one conversation, and every conversation a trial", () => {
  const { tasks, repetitions, seed, model } = demo.study;
  const trials = orderTrials(tasks, repetitions, seed);
  const fitting = trials.map((trial) => ({
    task: trial.task,
    condition: trial.condition,
    file: cassetteFor(cassettes, trial, model?.api ?? "chat").name,
    conversations: conversations.filter(
      ({ scope }) =>
        scope.task === trial.task &&
        [trial.condition, "any"].includes(scope.condition) &&
        [trial.repetition, "any"].includes(scope.repetition),
    ).length,
  }));
  const byName = (a: { task: string; condition: string }, b: { task: string; condition: string }) =>
    `${a.task} ${a.condition}` < `${b.task} ${b.condition}` ? -1 : 1;
  expect(fitting.toSorted(byName)).toEqual(
    tasks
      .flatMap((task) =>
        ["control", "treatment"].map((condition) => ({ task, condition, file: `${task}.json`, conversations: 1 })),
      )
      .toSorted(byName),
  );
  expect(conversations).toHaveLength(trials.length);
});

test("the demo's cassettes say that they are written by hand, number their turns, and end with words", () => {
  expect(new Set(cassettes.map(({ source }) => source))).toEqual(new Set(["scripted"]));
  for (const { name, scope, exchanges } of conversations) {
    const at = `${name} ${scope.condition}`;
    expect(
      exchanges.map(({ match }) => ("turn" in match ? match.turn : null)),
      at,
    ).toEqual(exchanges.map((_, index) => index + 1));
    const calls = exchanges.map(({ reply }) => reply?.toolCalls.length ?? 0);
    expect(
      calls.slice(0, -1).every((count) => count > 0),
      at,
    ).toBe(true);
    expect(calls.at(-1), at).toBe(0);
    expect(
      exchanges.every(({ reply }) => (reply?.text ?? "") !== "" && reply?.usage != null),
      at,
    ).toBe(true);
  }
});

test("every turn of the demo asserts what it answers: the instruction first, then real tool results", () => {
  for (const { name, scope, exchanges } of conversations) {
    exchanges.forEach(({ match }, index) => {
      const on = "expect" in match ? match.expect.map((assertion) => assertion.on) : [];
      expect(new Set(on), `${name} ${scope.condition}, turn ${index + 1}`).toEqual(
        new Set([index === 0 ? "instruction" : "toolResult"]),
      );
    });
  }
});

test("no assertion of the demo rests on how long something took", () => {
  expect(cassettes.filter(({ bytes }) => bytes.includes("runtime_ms")).map(({ name }) => name)).toEqual([]);
});

test("control calls the shell alone, and every call of the treatment fits the locked surface", () => {
  const source = demo.resolve(demo.study.conditions.treatment.mcp.surface);
  const surface = parseInput(surfaceSchema, parseStrictJson(readFileSync(source), { source }), source);
  const offered = new Map(
    surface.tools.map((tool) => {
      const { name, inputSchema } = tool as { name: string; inputSchema: object };
      return [name, validator(inputSchema)];
    }),
  );
  const used = new Set<string>();
  for (const { name, scope, exchanges } of conversations) {
    for (const call of exchanges.flatMap(({ reply }) => reply?.toolCalls ?? [])) {
      if (call.name === "shell") {
        expect(call.arguments, name).toEqual({ command: expect.any(String) });
        continue;
      }
      expect(scope.condition, name).toBe("treatment");
      const fits = offered.get(call.name);
      expect([call.name, fits?.(call.arguments), fits?.errors ?? []], name).toEqual([call.name, true, []]);
      used.add(call.name);
    }
  }
  expect([...used].sort()).toEqual([...offered.keys()].sort());
});

test("every submission that a conversation writes out fits its task's schema", () => {
  const written = conversations.flatMap(({ scope, exchanges }) =>
    exchanges
      .flatMap(({ reply }) => reply?.toolCalls ?? [])
      .flatMap(({ arguments: { command } }) => {
        const document = /^cat > \/app\/submission\.json <<'END'\n(.*)\nEND$/s.exec(String(command))?.[1];
        return document === undefined ? [] : [{ task: scope.task, submission: JSON.parse(document) }];
      }),
  );
  expect(written).toHaveLength(6);
  for (const { task, submission } of written) {
    const folder = join(ROOT, "tasks", task, "environment");
    const fits = validator(readJson(join(folder, "submission_schema.json")));
    expect([task, fits(submission), fits.errors ?? []]).toEqual([task, true, []]);
    expect(submission.instance).toBe(readJson(join(folder, "input.json")).instance);
  }
});

test("what the treatment sends to the server are the tasks' own matrices and graphs", () => {
  const payloads = (task: string) =>
    conversations
      .filter(({ scope }) => scope.task === task && scope.condition === "treatment")
      .flatMap(({ exchanges }) => exchanges.flatMap(({ reply }) => reply?.toolCalls ?? []))
      .filter(({ name }) => name === "math.run")
      .map(({ arguments: { payload } }) => payload);
  const input = (task: string) => readJson(join(ROOT, "tasks", task, "environment/input.json"));
  const texts = (rows: readonly (readonly number[])[]) => rows.map((row) => row.map(String));

  const { matrix } = input("smith-normal-form-01");
  expect(payloads("smith-normal-form-01")).toEqual([{ matrix }, { matrix: { entries: texts(matrix) } }]);

  const { basis } = input("shortest-vector-01");
  expect(payloads("shortest-vector-01")).toEqual([{ basis: { entries: texts(basis) } }]);

  const { vertex_count, edges } = input("graph-colouring-none-01");
  const vertices = [1, 3, 11, 12, 13, 15, 16, 18, 20];
  const induced = edges
    .map((edge: readonly number[]) => edge.map((vertex) => vertices.indexOf(vertex)))
    .filter((edge: readonly number[]) => edge.every((vertex) => vertex >= 0));
  expect(payloads("graph-colouring-none-01")).toEqual([
    { graph: { vertex_count, edges }, colors: 3 },
    { graph: { vertex_count: 9, edges: induced }, colors: 3 },
  ]);
});

test("a trial without a conversation, and one with two, are refused by name", async () => {
  const conversation = {
    scope: { task: "t", condition: "control" },
    exchanges: [{ match: { turn: 1 }, reply: { text: "Done." } }],
  };
  const folder = await temporaryFolder();
  for (const name of ["one.json", "two.json"]) {
    const cassette = { schemaVersion: "1", modelSource: "recorded", conversations: [conversation] };
    await writeFile(join(folder, name), JSON.stringify(cassette));
  }
  const loaded = await loadCassettes(folder);
  expect(loaded.map(({ name, source }) => ({ name, source }))).toEqual([
    { name: "one.json", source: "replayed" },
    { name: "two.json", source: "replayed" },
  ]);
  const refusal = (condition: "control" | "treatment") => {
    try {
      return cassetteFor(loaded, { task: "t", condition, repetition: 2 }, "chat").name;
    } catch (thrown) {
      return thrown instanceof RunnerError ? [thrown.code, thrown.message] : thrown;
    }
  };
  expect(refusal("control")).toEqual([
    "CASSETTE_AMBIGUOUS",
    "both one.json and two.json hold a conversation for t, control, repetition 2, API chat",
  ]);
  expect(refusal("treatment")).toEqual([
    "CASSETTE_MISSING",
    "no cassette holds a conversation for t, treatment, repetition 2, API chat",
  ]);
});

test("a folder without cassettes, and a damaged cassette, are refused with their path", async () => {
  const folder = await temporaryFolder();
  await expect(loadCassettes(folder)).rejects.toThrow(`the replay folder ${folder} holds no cassette (*.json)`);
  await expect(loadCassettes(join(folder, "none"))).rejects.toMatchObject({ code: "REPLAY_UNREADABLE" });
  const path = join(folder, "a.json");
  await writeFile(path, JSON.stringify({ schemaVersion: "1", modelSource: "live", conversations: [] }));
  await expect(loadCassettes(folder)).rejects.toThrow(`${path}: modelSource: `);
});

test("the published study schema is current", () => {
  const output = execFileSync(process.execPath, [join(ROOT, "scripts/write-schemas.mjs"), "--check"], {
    encoding: "utf8",
  });
  expect(output).toBe("schemas are current\n");
});

test("the published study schema takes every committed study, and refuses what is misspelt or missing", () => {
  const fits = validator(readJson(SCHEMA));
  const places = (study: object) => (fits(study) ? [] : (fits.errors ?? []).map((error) => error.message));
  const study = readJson(DEMO);
  const folder = dirname(DEMO);
  const studies = readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => ({ name, content: readJson(join(folder, name)) }))
    .filter(({ content }) => "studyId" in content);
  expect(studies.map(({ name }) => name)).toContain("demo.json");
  expect(studies.map(({ name, content }) => [name, places(content)])).toEqual(studies.map(({ name }) => [name, []]));
  const { seed: _, ...unseeded } = study;
  expect(places(unseeded)).toEqual(["must have required property 'seed'"]);
  expect(places({ ...study, repetition: 1 })).toEqual(["must NOT have additional properties"]);
  expect(places({ ...study, causalClaimAuthorized: true })).toEqual(["must be equal to constant"]);
});

test("the whole study of the documentation is a study", async () => {
  const text = readFileSync(join(ROOT, "docs/studies.md"), "utf8");
  const whole = /```json\n(\{\n {2}"\$schema"[\s\S]*?\n\})\n```/.exec(text)?.[1] ?? "";
  const path = join(await temporaryFolder(), "study.json");
  await writeFile(path, whole);
  const { study } = await loadStudy(path);
  expect(validator(readJson(SCHEMA))(JSON.parse(whole))).toBe(true);
  const dataset = readdirSync(join(ROOT, "tasks"));
  expect(study.tasks.filter((task) => !dataset.includes(task))).toEqual([]);
});
