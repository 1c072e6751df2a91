import { expect, test } from "vitest";
import { type CommandIo, command } from "../../../runner/cli/command.ts";
import { COMMANDS, GROUPS } from "../../../runner/cli/commands.ts";
import { createProgram } from "../../../runner/cli/program.ts";

function world() {
  const out: string[] = [];
  const io: CommandIo = {
    out: (text) => void out.push(text),
    say: () => undefined,
    env: {},
    cwd: "/",
    projectRoot: "/",
    signal: new AbortController().signal,
    interactive: false,
  };
  return { io, printed: () => out.join("") };
}

const seen: unknown[] = [];
const probe = command({
  path: ["group", "probe"],
  summary: "a command for tests",
  positionals: ["name?"],
  options: {
    imageMap: { kind: "list", value: "FROM=TO", summary: "maps" },
    concurrency: { kind: "integer", value: "N", summary: "how many" },
    mode: { kind: "string", value: "MODE", choices: ["a", "b"], summary: "which" },
    json: { kind: "flag", summary: "as JSON" },
  },
  load: async () => ({
    run: async (options, positionals) => {
      seen.push([options, positionals]);
      return 1;
    },
  }),
});

async function parse(...argv: string[]): Promise<unknown> {
  const { io } = world();
  return createProgram([probe], { group: "a group" }, "1.2.3", io)
    .parse(argv)
    .catch((error: { code: string; message: string }) => `${error.code}: ${error.message}`);
}

test("options reach the command typed, with absent ones filled in", async () => {
  seen.length = 0;
  expect(await parse("group", "probe", "x", "--image-map", "a=b", "c=d", "--concurrency", "3")).toBe(1);
  expect(await parse("group", "probe", "--json", "--mode", "b")).toBe(1);
  expect(seen).toEqual([
    [{ imageMap: ["a=b", "c=d"], concurrency: 3, mode: undefined, json: false }, ["x"]],
    [{ imageMap: [], concurrency: undefined, mode: "b", json: true }, []],
  ]);
});

test("a negated flag is its own option, and the two sides are told apart", async () => {
  const both = command({
    path: ["probe"],
    summary: "x",
    options: {
      useIt: { kind: "flag", summary: "do" },
      noUseIt: { kind: "flag", summary: "do not" },
    },
    load: async () => ({
      run: async (options) => {
        seen.push(options);
        return 0;
      },
    }),
  });
  seen.length = 0;
  for (const argv of [["probe"], ["probe", "--use-it"], ["probe", "--no-use-it"]]) {
    await createProgram([both], {}, "1", world().io).parse(argv);
  }
  expect(seen).toEqual([
    { useIt: false, noUseIt: false },
    { useIt: true, noUseIt: false },
    { useIt: false, noUseIt: true },
  ]);
});

test("bad usage is one error each", async () => {
  expect([
    await parse("group", "probe", "--concurrency", "0"),
    await parse("group", "probe", "--concurrency", "1.5"),
    await parse("group", "probe", "--mode", "c"),
    await parse("group", "probe", "--unknown"),
    await parse("group", "probe", "x", "y"),
    await parse("nothing"),
  ]).toMatchInlineSnapshot(`
    [
      "USAGE: expected --concurrency to be an integer of at least 1, got "0"",
      "USAGE: expected --concurrency to be an integer of at least 1, got "1.5"",
      "USAGE: option '--mode <MODE>' argument 'c' is invalid. Allowed choices are a, b.",
      "USAGE: unknown option '--unknown'",
      "USAGE: too many arguments for 'probe'. Expected 1 argument but got 2.",
      "USAGE: unknown command 'nothing'",
    ]
  `);
});

test("the help of the whole program lists every command and group", async () => {
  const { io, printed } = world();
  expect(await createProgram(COMMANDS, GROUPS, "1.2.3", io).parse(["--help"])).toBe(0);
  for (const { path } of COMMANDS) expect(printed()).toContain(path[0]);
});

test("every command has a help of its own with every option", async () => {
  for (const spec of COMMANDS) {
    const { io, printed } = world();
    expect(await createProgram(COMMANDS, GROUPS, "1.2.3", io).parse([...spec.path, "--help"])).toBe(0);
    for (const key of Object.keys(spec.options)) {
      expect(printed()).toContain(`--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
    }
  }
});
