import { describe, expect, it } from "vitest";
import { problems, proofCase, proofs, verdict } from "./support/proof-case.ts";
import { type Asked, type Behaviour, scriptedEndpoint } from "./support/scripted-endpoint.ts";

const KEY = "sk-test-0123456789abcdef";
const section = (model: string, url: string, more: object = {}) => ({
  model,
  base_url: url,
  api_key_env: "TEST_KEY",
  ...more,
});
const configOf = (url: string, more: object = {}) => ({
  policy: section("policy-model", url, more),
  verifier: section("verifier-model", url, more),
  meta: section("meta-model", url, more),
});
const env = { TEST_KEY: KEY };

/** Judges of VerifierBench that meet `behaviours` in turn, one proof each. */
async function judged(behaviours: (asked: Asked) => Behaviour, count: number, more: object = {}) {
  await using endpoint = await scriptedEndpoint(behaviours);
  await using one = await proofCase("verifier", proofs(count), configOf(endpoint.url, more));
  const result = await one.run({ concurrency: 1 }, { env });
  const records =
    result.error === null
      ? await Promise.all(
          Array.from({ length: count }, (_, index) => one.record(`${String(index).padStart(6, "0")}_000`)),
        )
      : [];
  return {
    result,
    records,
    asked: endpoint.asked,
    files: await one.files(),
    summary: await one.json("summary.json").catch(() => null),
  };
}
const trialOf = ({
  verifier_trials: [trial],
}: {
  verifier_trials: readonly { error: string | null; valid: boolean; response: { attempts: number } }[];
}) => ({
  error: trial?.error,
  valid: trial?.valid,
  attempts: trial?.response.attempts,
});

describe("a scripted endpoint", () => {
  it("is asked as the protocol says: one user message, no stream, one answer, generation passed through, key in the header alone", async () => {
    const { asked, result } = await judged(() => ({ content: verdict(-1) }), 1, {
      generation: { temperature: 0.5, max_tokens: 7 },
    });
    expect(result.code).toBe(0);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.authorization).toBe(`Bearer ${KEY}`);
    expect(asked[0]?.body).toEqual({
      model: "verifier-model",
      messages: [{ role: "user", content: asked[0]?.prompt }],
      stream: false,
      n: 1,
      temperature: 0.5,
      max_tokens: 7,
    });
    expect(asked[0]?.prompt).not.toContain("SECRET COMMENT");
    expect(asked[0]?.prompt).not.toContain("REFERENCE 0");
  });

  it("that fails for a moment is asked again, and the retries are counted", async () => {
    const faults: Behaviour[] = [
      { status: 500, body: "ERROR BODY" },
      { broken: "reset" },
      { content: verdict(-1) },
      { status: 504 },
      { broken: "truncated" },
    ];
    const { records, result, asked } = await judged(({ nth }) => faults[nth] ?? { content: verdict(-1) }, 2);
    expect(records.map(trialOf)).toEqual([
      { error: null, valid: true, attempts: 3 },
      { error: null, valid: true, attempts: 3 },
    ]);
    expect(asked).toHaveLength(6);
    expect(JSON.parse(result.out).calls.verifier).toMatchObject({
      calls: 2,
      valid: 2,
      transport_retries: 4,
      cost_micro_usd: { unknown: "unavailable" },
    });
  });

  it.each<[string, Behaviour, string, number]>([
    ["answers 500 for ever", { status: 500, body: "ERROR BODY" }, "HTTP_500", 3],
    ["resets every connection", { broken: "reset" }, "network_error", 3],
    ["cuts every body", { broken: "truncated" }, "network_error", 3],
    ["refuses the request", { status: 400, body: "ERROR BODY" }, "HTTP_400", 1],
    ["finds the request too large", { status: 413, body: "ERROR BODY" }, "HTTP_413", 1],
    ["sends no JSON", { raw: "ERROR BODY" }, "invalid_chat_response", 1],
    [
      "sends an error object with status 200",
      { raw: '{"error":{"message":"ERROR BODY"}}' },
      "invalid_chat_response",
      1,
    ],
    ["sends no choice", { raw: '{"choices":[],"x":"ERROR BODY"}' }, "invalid_chat_response", 1],
    ["runs out of length", { content: verdict(-1), finish: "length" }, "non_stop_finish", 1],
    ["filters the content", { content: verdict(-1), finish: "content_filter" }, "non_stop_finish", 1],
    ["puts everything into reasoning_content", { content: null, reasoning: verdict(-1) }, "empty_final_answer", 1],
    ["answers with an open thought", { content: `<think>${verdict(-1)}` }, "empty_final_answer", 1],
    ["answers twice", { content: verdict(-1) + verdict(-1) }, "expected exactly one <assessment>, found 2", 1],
  ])(
    "that %s earns zero in both classes and is not asked for another sample",
    async (_, behaviour, error, attempts) => {
      // The first proof is judged well, so that the endpoint is known to work.
      const { records, summary, files, asked } = await judged(
        ({ nth }) => (nth === 0 ? { content: verdict(-1) } : behaviour),
        3,
      );
      expect(records.map(trialOf)).toEqual([
        { error: null, valid: true, attempts: 1 },
        { error, valid: false, attempts },
        { error, valid: false, attempts },
      ]);
      expect(asked).toHaveLength(1 + 2 * attempts);
      expect(summary).toMatchObject({
        splits: {
          all: { metrics: { proofs: 3, rough_tpr: 0.5, rough_tnr: 0, rough_bal_f1: 0, verifier_valid_rate: 1 / 3 } },
        },
      });
      for (const [name, bytes] of files) expect(bytes.includes("ERROR BODY"), name).toBe(false);
    },
  );

  it("keeps reasoning apart from the answer", async () => {
    const { records } = await judged(() => ({ content: verdict(-1), reasoning: "a long thought" }), 1);
    expect(records[0]?.verifier_trials[0]?.response).toMatchObject({
      text: verdict(-1),
      reasoning_content: "a long thought",
      finish_reason: "stop",
      model: "answering-model",
      usage: { prompt_tokens: 100, completion_tokens: 10, cached_tokens: null, reasoning_tokens: null },
    });
  });

  it("that answers 429 with Retry-After is left alone, and no call is lost however often it does so", async () => {
    await using endpoint = await scriptedEndpoint(({ nth }) =>
      nth < 12 ? { status: 429, headers: { "retry-after": "0.02" }, body: "ERROR BODY" } : { content: verdict(-1) },
    );
    await using one = await proofCase("verifier", proofs(8), configOf(endpoint.url));
    const { out, error } = await one.run({ concurrency: 8 }, { env });
    expect(error).toBeNull();
    expect(JSON.parse(out).calls.verifier).toMatchObject({ calls: 8, valid: 8, invalid: {}, transport_retries: 12 });
  });

  it("that never takes a call stops the run instead of scoring it as wrong, and the run can go on later", async () => {
    let open = false;
    await using endpoint = await scriptedEndpoint(() =>
      open ? { content: verdict(-1) } : { status: 429, headers: { "retry-after": "0" } },
    );
    await using one = await proofCase(
      "verifier",
      proofs(3),
      configOf(endpoint.url, { rate_limit_patience_s: 0.05, max_retries: 1 }),
    );
    const stopped = await one.run({ concurrency: 1 }, { env });
    expect(stopped.error?.code).toBe("ENDPOINT_OVERLOADED");
    expect(await one.json("summary.json")).toMatchObject({
      complete: false,
      splits: { all: { completed_records: 0, metrics: null } },
    });
    open = true;
    expect((await one.run({ concurrency: 1, resume: true }, { env })).code).toBe(0);
  });

  it("that answers 429 with no retry allowed is counted as it is", async () => {
    const { records } = await judged(({ nth }) => (nth === 0 ? { content: verdict(-1) } : { status: 429 }), 2, {
      max_retries: 0,
    });
    expect(records.map(trialOf)).toEqual([
      { error: null, valid: true, attempts: 1 },
      { error: "HTTP_429", valid: false, attempts: 1 },
    ]);
  });

  it.each<[string, Behaviour]>([
    ["HTTP_400", { status: 400, body: "ERROR BODY" }],
    ["HTTP_422", { status: 422 }],
    ["HTTP_500", { status: 500 }],
    ["network_error", { broken: "reset" }],
    ["invalid_chat_response", { raw: "<html>ERROR BODY</html>" }],
  ])(
    "that fails every call with %s stops the run without a score, and the run can go on when it works",
    async (error, behaviour) => {
      let works = false;
      await using endpoint = await scriptedEndpoint(() => (works ? { content: verdict(-1) } : behaviour));
      await using one = await proofCase("verifier", proofs(30), configOf(endpoint.url, { max_retries: 0 }));
      for (const concurrency of [1, 4]) {
        const before = endpoint.asked.length;
        const stopped = await one.run({ concurrency, resume: before > 0 }, { env });
        const tried = endpoint.asked.length - before;
        expect(`${stopped.error?.code}: ${stopped.error?.message}`).toBe(
          `ENDPOINT_NEVER_ANSWERS: the "verifier" endpoint ${endpoint.url}/chat/completions has not answered a single call (${error} ${tried})`,
        );
        expect(tried).toBe(8 + concurrency);
        expect(await one.json("summary.json")).toMatchObject({
          splits: { all: { completed_records: 0, complete: false, metrics: null } },
        });
      }
      works = true;
      const { out } = await one.run({ resume: true }, { env });
      expect(JSON.parse(out)).toMatchObject({
        callsMade: 30,
        callsFound: 0,
        calls: { verifier: { valid: 30, invalid: {} } },
      });
    },
  );

  it("that works is known to work after an interruption, so that a failure counts at once", async () => {
    const controller = new AbortController();
    await using endpoint = await scriptedEndpoint(({ nth }) => {
      if (nth === 0) controller.abort();
      return nth === 0 ? { content: verdict(-1) } : { status: 400 };
    });
    await using one = await proofCase("verifier", proofs(2), configOf(endpoint.url));
    expect((await one.run({ concurrency: 1 }, { env, signal: controller.signal })).error?.code).toBe("INTERRUPTED");
    const { out } = await one.run({ concurrency: 1, resume: true }, { env });
    expect(JSON.parse(out).calls.verifier).toMatchObject({ calls: 2, valid: 1, invalid: { HTTP_400: 1 } });
  });

  it("of the judges that never answers stops the run after a few proofs, not after all of them", async () => {
    await using endpoint = await scriptedEndpoint(({ model }) =>
      model === "policy-model" ? { content: "<step>a</step>" } : { status: 400 },
    );
    await using one = await proofCase("prover", problems(60), configOf(endpoint.url));
    const { error } = await one.run({ concurrency: 4, verifierRepeats: 2 }, { env });
    expect(error?.code).toBe("ENDPOINT_NEVER_ANSWERS");
    expect(error?.message).toContain('the "verifier" endpoint');
    expect(endpoint.asked.length).toBeLessThan(40);
  });

  it("that refuses the first calls and answers later ones gives them their zero, in the order of the data", async () => {
    const { records } = await judged(({ nth }) => (nth < 5 ? { status: 400 } : { content: verdict(-1) }), 7);
    expect(records.map((record) => trialOf(record).error)).toEqual([
      ...Array.from({ length: 5 }, () => "HTTP_400"),
      null,
      null,
    ]);
  });

  it.each([301, 308, 401, 402, 403, 404, 405, 407])(
    "that answers %i to the first call stops the run: no score is made of a wrong key",
    async (status) => {
      const { result, files } = await judged(() => ({ status, body: `ERROR BODY for ${KEY}` }), 2);
      expect(result.error?.code).toBe("ENDPOINT_REFUSES");
      expect([...files.keys()].filter((name) => name.startsWith("records/"))).toEqual([]);
      for (const [name, bytes] of files) expect(bytes.includes("ERROR BODY") || bytes.includes(KEY), name).toBe(false);
    },
  );

  it("that cannot be reached stops the run and names the endpoint", async () => {
    const endpoint = await scriptedEndpoint(() => ({ content: "" }));
    await endpoint[Symbol.asyncDispose]();
    await using one = await proofCase("verifier", proofs(1), configOf(endpoint.url));
    const { error } = await one.run({}, { env });
    expect(`${error?.code}: ${error?.message}`).toBe(
      `ENDPOINT_UNREACHABLE: the "verifier" endpoint ${new URL(endpoint.url).origin} cannot be reached (ECONNREFUSED)`,
    );
  });

  it("that repeats the key finds it in no file, neither plain nor escaped", async () => {
    const escaped = `\\u0073${KEY.slice(1)}`;
    const raw = (content: string) =>
      `{"choices":[{"message":{"content":${JSON.stringify(content)}},"finish_reason":"stop"}],"note":"${escaped}"}`;
    const { records, files, result } = await judged(() => ({ raw: raw(verdict(-1, `I was called with ${KEY}.`)) }), 1);
    expect(records[0]?.verifier_trials[0]?.parsed?.assessment).toBe("I was called with [redacted].");
    expect(records[0]?.verifier_trials[0]?.response.redacted).toBe(true);
    for (const [name, bytes] of files) expect(bytes.includes(KEY) || bytes.includes(escaped), name).toBe(false);
    expect(result.out + result.said).not.toContain(KEY);
  });

  it("sees at most the asked concurrency, reaches it, and needs no more connections than that", async () => {
    await using endpoint = await scriptedEndpoint(({ model }) => ({
      content: model === "policy-model" ? "<step>a</step>" : verdict(-1),
      delayMs: 5,
    }));
    await using one = await proofCase("prover", problems(6), configOf(endpoint.url));
    const { code, out } = await one.run({ concurrency: 5, samples: 2, verifierRepeats: 4 }, { env });
    expect(code).toBe(0);
    expect(endpoint.most()).toBe(5);
    expect(endpoint.connections()).toBeLessThanOrEqual(10);
    expect(JSON.parse(out)).toMatchObject({
      callsMade: 60,
      callsFound: 0,
      calls: { policy: { calls: 12 }, verifier: { calls: 48, transport_retries: 0 } },
    });
  });
});
