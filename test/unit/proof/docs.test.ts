import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { BENCH_PROOF_OPTIONS } from "../../../runner/proof/bench-options.ts";
import { parseConfig } from "../../../runner/proof/config.ts";
import { PROVER_OPTIONS, type ProofOptions, VERIFIER_OPTIONS } from "../../../runner/proof/options.ts";
import { problems, proofCase, proofs, verdict } from "./support/proof-case.ts";
import { scriptedEndpoint } from "./support/scripted-endpoint.ts";

const page = await readFile("docs/proof-benchmarks.md", "utf8");
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, text]) => text ?? "");
const commands = blocks("sh")
  .flatMap((block) => block.split("\n"))
  .filter((line) => line.startsWith("runner "));

type Table = Readonly<Record<string, { readonly kind: string }>>;
const TABLES: Readonly<Record<string, Table>> = {
  prover: PROVER_OPTIONS,
  verifier: VERIFIER_OPTIONS,
  bench: BENCH_PROOF_OPTIONS,
};

/** Parses an example by the option table that the command line is made from. */
function parse(line: string): { command: string; options: Record<string, unknown> } {
  const [command = "", ...words] = line.split(" ").slice(1);
  const table = TABLES[command] ?? {};
  const options: Record<string, unknown> = {};
  for (let at = command === "bench" ? 1 : 0; at < words.length; at += 1) {
    const key = (words[at] ?? "")
      .replace(/^--/, "")
      .replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const spec = table[key];
    if (spec === undefined) throw new Error(`${line}: ${words[at]} is no option of ${command}`);
    if (spec.kind === "flag") options[key] = true;
    else {
      at += 1;
      options[key] = spec.kind === "integer" ? Number(words[at]) : words[at];
    }
  }
  return { command, options };
}

describe("the page about proof benchmarks", () => {
  it("shows a config that is accepted", () => {
    const [config = ""] = blocks("json");
    expect(Object.keys(parseConfig(JSON.parse(config), "the page", ["policy", "verifier"]))).toEqual([
      "policy",
      "verifier",
    ]);
  });

  it("shows commands that run", async () => {
    expect(commands.map((line) => parse(line).command)).toEqual([
      "prover",
      "verifier",
      "prover",
      "prover",
      "verifier",
      "verifier",
      "verifier",
      "bench",
    ]);
    await using endpoint = await scriptedEndpoint(({ model }) => ({
      content: model === "policy" ? "<step>a</step>" : model === "meta" ? "<level>EXACT_MATCH</level>" : verdict(-1),
    }));
    const config = Object.fromEntries(
      ["policy", "verifier", "meta"].map((model) => [model, { model, base_url: endpoint.url }]),
    );
    await using prover = await proofCase("prover", problems(1), config);
    await using verifier = await proofCase("verifier", proofs(2), config);
    for (const line of commands) {
      const { command, options } = parse(line);
      if (command === "bench") continue;
      const given: ProofOptions = options;
      const data = given.demo === true ? { data: undefined, config: undefined } : { data: "data.jsonl" };
      const result = await (command === "prover" ? prover : verifier).run({ ...given, ...data });
      expect(result.error?.message, line).toBeUndefined();
      expect(result.code, line).toBe(0);
    }
  });

  it("names every key of the config, every file of the output and only options that exist", () => {
    for (const key of [
      "model",
      "base_url",
      "api_key_env",
      "generation",
      "max_retries",
      "timeout_s",
      "rate_limit_patience_s",
      "prices_micro_usd_per_mtok",
    ]) {
      expect(page).toContain(`\`${key}\``);
    }
    const known = new Set(
      Object.values(TABLES)
        .flatMap((table) => Object.keys(table))
        .map((key) => `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`),
    );
    const named = [...page.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*/g)].map(([option]) => option);
    expect([...new Set(named)].filter((option) => !known.has(option) && option !== "--report-sha256")).toEqual([]);
  });
});
