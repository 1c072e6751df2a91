import { describe, expect, it } from "vitest";
import type { Config } from "../../../runner/proof/config.ts";
import { duration, startProgress } from "../../../runner/proof/progress.ts";
import { makeTally } from "../../../runner/proof/tally.ts";
import type { Reply } from "../../../runner/proof/terms.ts";

const endpoint = {
  backend: "api",
  model: "m",
  base_url: "http://h/v1",
  generation: {},
  timeout_s: 1,
  max_retries: 0,
  rate_limit_patience_s: 0,
} as const;
const config: Config = {
  policy: { ...endpoint, prices_micro_usd_per_mtok: { input: 1_000_000, cached_input: 100_000, output: 10_000_000 } },
  verifier: endpoint,
};
const reply = (more: Partial<Reply> = {}): Reply => ({
  text: "x",
  reasoning_content: "",
  finish_reason: "stop",
  usage: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 400, reasoning_tokens: null },
  error: null,
  model: "observed",
  attempts: 1,
  micros: 1,
  raw: null,
  redacted: false,
  ...more,
});

describe("the totals of calls", () => {
  it("price cached, other and output tokens apart", () => {
    const tally = makeTally(config, false);
    tally.addReply("policy", reply(), null);
    expect(tally.result().policy).toEqual({
      calls: 1,
      valid: 1,
      invalid: {},
      transport_retries: 0,
      redacted: 0,
      tokens: {
        prompt: 1000,
        completion: 100,
        cached: 400,
        reasoning: { unknown: "missing", detail: "1 of 1 replies do not report it" },
        reported: { calls: 1, prompt: 1000, completion: 100 },
      },
      // 600 at $1, 400 at $0.10 and 100 at $10 a million tokens.
      cost_micro_usd: 600 + 40 + 1000,
      observed_models: ["observed"],
    });
  });

  it("are unknown, never too small, when a reply reports no usage, was repeated, or has no price", () => {
    const cases: [Partial<Reply>, "policy" | "verifier"][] = [
      [{ usage: null }, "policy"],
      [{ attempts: 2 }, "policy"],
      [{}, "verifier"],
    ];
    for (const [change, role] of cases) {
      const tally = makeTally(config, false);
      tally.addReply(role, reply(), null);
      tally.addReply(role, reply(change), null);
      expect(tally.result()[role]?.cost_micro_usd).toMatchObject({ unknown: "unavailable" });
    }
    const tally = makeTally(config, false);
    tally.addReply("policy", reply(), null);
    tally.addReply("policy", reply({ usage: null }), null);
    expect(tally.result().policy?.tokens).toMatchObject({
      prompt: { unknown: "missing", detail: "1 of 2 replies do not report it" },
      reported: { calls: 1, prompt: 1000 },
    });
  });

  it("count a replay as free, and sort faults into few reasons", () => {
    const tally = makeTally(config, true);
    tally.addReply("verifier", reply({ usage: null, attempts: 3 }), "HTTP_503");
    tally.addReply("verifier", reply(), "expected exactly one <errors>, found 0");
    tally.addReply("verifier", reply(), "first_error_step is out of range -1 .. 2");
    expect(tally.result().verifier).toMatchObject({
      invalid: { HTTP_503: 1, format: 2 },
      transport_retries: 2,
      cost_micro_usd: 0,
    });
  });
});

describe("progress", () => {
  const start = (interactive: boolean) => {
    const said: string[] = [];
    let now = 0;
    const tally = makeTally(config, false);
    const progress = startProgress({
      budget: { selected_rows: 10, policy_calls: 10, verifier_calls_max: 80, meta_calls_max: 0, note: "" },
      records: () => ({ done: 1, all: 10 }),
      tally,
      say: (line) => said.push(line),
      interactive,
      nowMs: () => now,
    });
    return { said, tally, progress, at: (time: number) => (now = time) };
  };

  it("shows counts, rate, time left, tokens and cost, and forgets calls that will not be made", () => {
    const { progress, tally, at } = start(false);
    expect(progress.line()).toBe("records 1/10 · calls 0/90 · 0.0 calls/s · left unknown · tokens 0 · cost $0.0000");
    tally.addReply("policy", reply(), null);
    for (let call = 0; call < 8; call += 1) progress.called(true);
    progress.called(false);
    progress.spared(1);
    at(2000);
    expect(progress.line()).toBe("records 1/10 · calls 9/89 · 4.0 calls/s · left 20s · tokens 1100 · cost $0.0016");
    tally.addReply("verifier", reply({ usage: null }), null);
    expect(progress.line()).toContain("tokens at least 1100 · cost unknown");
    progress[Symbol.dispose]();
  });

  it("ends with a plain line where nobody watches", () => {
    const { progress, said } = start(false);
    progress[Symbol.dispose]();
    expect(said).toEqual(["records 1/10 · calls 0/90 · 0.0 calls/s · left unknown · tokens 0 · cost $0.0000"]);
  });

  it("tells time left in the units that a person thinks in", () => {
    expect([0.2, 61, 3599, 7500].map(duration)).toEqual(["1s", "1m 01s", "59m 59s", "2h 05m"]);
  });
});
