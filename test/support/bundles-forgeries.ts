import { canonicalBytes } from "../../runner/base/canonical-json.ts";
import { digestBytes, digestJson } from "../../runner/base/digest.ts";
import type { Json } from "../../runner/base/json.ts";
import type { ObjectRef } from "../../runner/evidence/object-ref.ts";
import type { Condition } from "../../runner/study/order.ts";
import type { TrialRecord } from "../../runner/trial/record.ts";
import type { Parts } from "./bundles-forge.ts";

/** A change of a bundle's content that is then sealed again with every digest right; the evidence itself must give it away. */
export interface Forgery {
  readonly name: string;
  readonly place: RegExp;
  /** The side that has what is changed; both by default. */
  readonly only?: Condition;
  readonly change: (parts: Parts) => Promise<void> | void;
}

type Event = { type: string; seq: number; [key: string]: Json };

function first<T>(items: readonly T[], what: string): T {
  const [item] = items;
  if (item === undefined) throw new Error(`the bundle has no ${what} to forge`);
  return item;
}

/** Changes the first trial's record. */
function record(name: string, place: RegExp, change: (record: TrialRecord) => void, only?: Condition): Forgery {
  const forgery = { name: `record: ${name}`, place, change: ({ records }: Parts) => change(first(records, "record")) };
  return only === undefined ? forgery : { ...forgery, only };
}

function stepOf({ steps }: TrialRecord): TrialRecord["steps"][number] {
  return first(steps, "step");
}

/** Changes the first trial's trace, event by event. */
function trace(
  name: string,
  place: RegExp,
  change: (events: Event[]) => Event[] | undefined,
  only?: Condition,
): Forgery {
  const forgery = {
    name: `trace: ${name}`,
    place,
    change: async ({ records, text, put }: Parts) => {
      const { gateway } = first(records, "record");
      if (gateway === null) throw new Error("the trial has no trace to forge");
      const before = await text(gateway.trace);
      const events: Event[] = before
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      // Large bodies lie beside the trace; inside it they can be forged like the others, and are as valid.
      for (const event of events) await inline(event, gateway.objects, text);
      gateway.objects = [];
      const after = (change(events) ?? events).map((event) => `${JSON.stringify(event)}\n`).join("");
      if (after === before) throw new Error(`${name} changes nothing`);
      gateway.trace = await put(after);
    },
  };
  return only === undefined ? forgery : { ...forgery, only };
}

/** Puts the text of every stored body inside a value in the place of its reference. */
async function inline(value: unknown, objects: readonly ObjectRef[], text: Parts["text"]): Promise<void> {
  if (typeof value !== "object" || value === null) return;
  const body = value as { object?: boolean; digest?: string; text?: string };
  const ref = body.object === true ? objects.find(({ digest }) => digest === body.digest) : undefined;
  if (ref !== undefined) {
    delete body.object;
    body.text = await text(ref);
  }
  for (const member of Object.values(value)) await inline(member, objects, text);
}

/** Changes the first trial's trace as text. */
function rawTrace(name: string, place: RegExp, change: (text: string) => string): Forgery {
  return {
    name: `trace: ${name}`,
    place,
    change: async ({ records, text, put }) => {
      const { gateway } = first(records, "record");
      if (gateway === null) throw new Error("the trial has no trace to forge");
      const before = await text(gateway.trace);
      const after = change(before);
      if (after === before) throw new Error(`${name} changes nothing`);
      gateway.trace = await put(after);
    },
  };
}

function of(events: readonly Event[], type: string): Event {
  return first(
    events.filter((event) => event.type === type),
    type,
  );
}

/** The preflight that saw the surface; a server that is still starting fails some before. */
function seenSurface(events: readonly Event[]): Event {
  return first(
    events.filter(({ type, ok }) => type === "preflight" && ok === true),
    "successful preflight",
  );
}

/** Numbers events again and counts again what the end says, so that only the change itself is left to find. */
function renumber(events: Event[], counts: Record<string, number> = {}): Event[] {
  const numbered = events.map((event, seq): Event => ({ ...event, seq }));
  const end = numbered.at(-1);
  if (end?.type === "end") end.counts = { ...(end.counts as object), ...counts, events: numbered.length };
  return numbered;
}

function without(events: Event[], type: string): Event[] {
  return renumber(events.filter((event) => event.type !== type));
}

/** Gives a scored trial another outcome, as though it had never been graded well. */
function relabel(outcome: TrialRecord["outcome"], code: string): (record: TrialRecord) => void {
  return (changed) => {
    changed.outcome = outcome;
    changed.cause = { code, detail: "it broke" };
    changed.reward = null;
    changed.rewards = null;
  };
}

/** The ledger's own line follows a forged outcome, so that the ledger cannot give it away. */
function follow(forgery: Forgery): Forgery {
  return {
    ...forgery,
    change: async (parts) => {
      await forgery.change(parts);
      for (const { number, attempt, outcome, task, repetition } of parts.records) {
        for (const event of parts.events) {
          if (event.type !== "trial-sealed" || event.number !== number || event.attempt !== attempt) continue;
          Object.assign(event, { outcome, task, repetition });
        }
      }
    },
  };
}

function report(
  name: string,
  place: RegExp,
  change: (parts: Parts) => Promise<void> | void,
  only?: Condition,
): Forgery {
  return only === undefined
    ? { name: `report: ${name}`, place, change }
    : { name: `report: ${name}`, place, change, only };
}

const other = digestJson("something else");

const RECORDS: readonly Forgery[] = [
  record("the reward alone", /trial \d+: the reward is/, (r) => {
    r.reward = r.reward === 1 ? 0 : 1;
  }),
  record("the reward and its dimensions", /trial \d+: the rewards .* do not come out/, (r) => {
    r.reward = r.reward === 1 ? 0 : 1;
    r.rewards = { ...r.rewards, reward: r.reward };
  }),
  record("the reward, its dimensions and its step's", /trial \d+: step \S+: the rewards are not those/, (r) => {
    r.reward = r.reward === 1 ? 0 : 1;
    r.rewards = { ...r.rewards, reward: r.reward };
    stepOf(r).rewards = { ...stepOf(r).rewards, reward: r.reward };
  }),
  record("a dimension beside the reward", /trial \d+: the rewards .* do not come out/, (r) => {
    r.rewards = { ...r.rewards, correctness: 0.5 };
  }),
  record("a dimension that no verifier gave", /trial \d+: the rewards .* do not come out/, (r) => {
    r.rewards = { ...r.rewards, beauty: 1 };
  }),
  record("a reward without a verifier", /trial \d+: step \S+ is graded and has no verifier/, (r) => {
    stepOf(r).verifier = null;
  }),
  record("a verifier that was ended", /trial \d+: step \S+: .*ended by timeout/, (r) => {
    const { verifier } = stepOf(r);
    if (verifier !== null) verifier.endedBy = "timeout";
  }),
  record("a verifier's file that is not listed", /trial \d+: step \S+: .*(although|not the verdict)/, (r) => {
    const { verifier } = stepOf(r);
    if (verifier !== null) verifier.files = verifier.files.filter(({ path }) => !path.endsWith("reward.json"));
  }),
  record("a verifier's file that is listed twice", /trial \d+: step \S+: the verifier's file .* twice/, (r) => {
    const { verifier } = stepOf(r);
    if (verifier !== null) verifier.files = [...verifier.files, ...verifier.files];
  }),
  record("a failed check that the verdict does not name", /trial \d+: step \S+: the failed check/, (r) => {
    stepOf(r).failedCheck = "another";
  }),
  ...(
    [
      ["provider_error", "PROVIDER_STATUS"],
      ["infra_error", "DISK_FULL"],
      ["interrupted", "SIGNAL"],
      ["invalid_condition", "CONDITION_TOOLS"],
      ["verifier_error", "REWARD_MISSING"],
    ] as const
  ).map(([outcome, code]) =>
    follow(record(`a score taken away as ${outcome}`, new RegExp(`trial \\d+: .*${outcome}`), relabel(outcome, code))),
  ),
  follow(
    record("a score taken away from its step too", /trial \d+: step \S+: it (failed with|has no)/, (r) => {
      relabel("verifier_error", "REWARD_MISSING")(r);
      stepOf(r).rewards = null;
      stepOf(r).failedCheck = null;
      stepOf(r).cause = r.cause;
    }),
  ),
  record("scored with a cause", /trial \d+: the outcome is scored and the cause/, (r) => {
    r.cause = { code: "X", detail: "x" };
  }),
  record("scored without a trace", /trial \d+: .*no trace/, (r) => {
    r.gateway = null;
  }),
  record("another task's digest", /trial \d+: task digest/, (r) => {
    r.taskDigest = other;
  }),
  record("another agent", /trial \d+: agent is/, (r) => {
    r.agent = { ...r.agent, name: "oracle" };
  }),
  record("another agent's version", /trial \d+: agent version/, (r) => {
    r.agent = { ...r.agent, version: "2" };
  }),
  record("another source of the model's words", /trial \d+: model source/, (r) => {
    r.modelSource = "live";
  }),
  record("another condition", /trial \d+: condition/, (r) => {
    r.condition = r.condition === "control" ? "treatment" : "control";
  }),
  follow(
    record("another repetition", /trial \d+: repetition/, (r) => {
      r.repetition += 1;
    }),
  ),
  follow(
    record("another task", /trial \d+: task is/, (r) => {
      r.task = "task-elsewhere";
    }),
  ),
  record("another gateway's image", /trial \d+: it ran the gateway image/, (r) => {
    r.images = { ...r.images, gateway: other };
  }),
  record("another environment than its task's other side", /ran the environment image/, (r) => {
    r.images = { ...r.images, environment: other };
  }),
  record(
    "a server's image in control",
    /control ran an MCP server's image/,
    (r) => {
      r.images = { ...r.images, mcp: other };
    },
    "control",
  ),
  record(
    "another server's image",
    /trial \d+: it ran the mcp image/,
    (r) => {
      r.images = { ...r.images, mcp: other };
    },
    "treatment",
  ),
  record(
    "a surface in control",
    /trial \d+: control saw an MCP server/,
    (r) => {
      if (r.gateway !== null) r.gateway.surface = r.gateway.trace;
    },
    "control",
  ),
  record(
    "no surface in the treatment",
    /trial \d+: it keeps no surface/,
    (r) => {
      if (r.gateway !== null) r.gateway.surface = null;
    },
    "treatment",
  ),
  record(
    "objects of the trace left out",
    /trial \d+: .*the record does not list it/,
    (r) => {
      if (r.gateway !== null) r.gateway.objects = [];
    },
    "treatment",
  ),
  record("an object that the trace does not name", /trial \d+: .*the trace does not name it/, (r) => {
    if (r.gateway !== null) r.gateway.objects = [...r.gateway.objects, r.gateway.trace];
  }),
  {
    name: "record: another trial's trace",
    place: /trial \d+: the trace belongs to another trial/,
    change: ({ records }) => {
      const [a, b] = records;
      if (a?.gateway == null || b?.gateway == null) throw new Error("two traces are needed");
      a.gateway = b.gateway;
    },
  },
  {
    name: "record: another trial's verifier files",
    place: /trial \d+: step \S+: (the rewards are not those|the failed check)/,
    change: async ({ records, put }) => {
      const { verifier } = stepOf(first(records, "record"));
      if (verifier === null) throw new Error("no verifier");
      const content = await put(canonicalBytes({ reward: 0.25, correctness: 0.25, completeness: 1 }));
      verifier.files = verifier.files.map((file) => (file.path.endsWith("reward.json") ? { ...file, content } : file));
    },
  },
  {
    name: "record: a reward file with a duplicate key",
    place: /trial \d+: step \S+: it is graded although/,
    change: async ({ records, put }) => {
      const changed = first(records, "record");
      const { verifier, rewards } = stepOf(changed);
      if (verifier === null) throw new Error("no verifier");
      const text = JSON.stringify(rewards).replace("{", '{"reward":0.5,');
      const content = await put(text);
      verifier.files = verifier.files.map((file) => (file.path.endsWith("reward.json") ? { ...file, content } : file));
    },
  },
];

const EXCHANGE = /trial \d+: the trace: event \d+ \(x\d+\): /;
const SCOPE = /trial \d+: the trace belongs to another trial/;

function body(event: Event): { text: string; bytes: number; digest: string } {
  return event.body as { text: string; bytes: number; digest: string };
}

/** Other bytes in a body, with their own length and digest. */
function rewrite(event: Event, change: (text: string) => string): void {
  const text = change(body(event).text);
  if (text === body(event).text) throw new Error("the body is as before");
  event.body = { ...body(event), text, bytes: Buffer.byteLength(text), digest: digestBytes(text) };
}

const TRACES: readonly Forgery[] = [
  trace("fewer tokens", EXCHANGE, (events) => {
    const response = of(events, "model-response");
    response.usage = { ...(response.usage as object), input: 1 };
    return undefined;
  }),
  trace("no output tokens", EXCHANGE, (events) => {
    const response = of(events, "model-response");
    response.usage = { ...(response.usage as object), output: 0 };
    return undefined;
  }),
  trace("another model", EXCHANGE, (events) => {
    of(events, "model-response").observedModel = "model-2";
  }),
  trace("a cost for a scripted answer", EXCHANGE, (events) => {
    of(events, "model-response").costMicroUsd = 5;
  }),
  trace("an answer's bytes under the old digest", /trial \d+: .*digest/, (events) => {
    const response = of(events, "model-response");
    response.body = { ...body(response), text: `${body(response).text} ` };
    return undefined;
  }),
  trace("an answer's bytes with their digest", EXCHANGE, (events) => {
    rewrite(of(events, "model-response"), (text) => text.replace(/"prompt_tokens":\d+/, '"prompt_tokens":7'));
    return undefined;
  }),
  trace("a request's tools", EXCHANGE, (events) => {
    rewrite(of(events, "model-request"), (text) => text.replace(/"name":"shell"/, '"name":"hidden"'));
    return undefined;
  }),
  trace("the tools that were offered", EXCHANGE, (events) => {
    of(events, "tools-offered").names = ["shell", "web"];
  }),
  trace("the digest of the tools", EXCHANGE, (events) => {
    of(events, "tools-offered").digest = other;
  }),
  trace("no record of the tools", /trial \d+: .*(no event says|no request offered)/, (events) =>
    without(events, "tools-offered"),
  ),
  trace(
    "a request without its record",
    /trial \d+: the trace: .*was not requested|trial \d+: .*modelRequests/,
    (events) => {
      const gone = of(events, "model-request");
      const requests = events.filter((event) => event.type === "model-request").length - 1;
      return renumber(
        events.filter((event) => event !== gone),
        { modelRequests: requests },
      );
    },
  ),
  trace("requests that the end counts and that are not there", /trial \d+: .*modelRequests/, (events) =>
    without(events, "model-request"),
  ),
  trace("another trial's name", SCOPE, (events) => {
    of(events, "start").trialId = "run-x-control-99-1";
  }),
  trace("another task", SCOPE, (events) => {
    of(events, "start").scope = { ...(of(events, "start").scope as object), task: "task-elsewhere" };
    return undefined;
  }),
  trace("another repetition", SCOPE, (events) => {
    of(events, "start").scope = { ...(of(events, "start").scope as object), repetition: 9 };
    return undefined;
  }),
  trace("another cassette", /trial \d+: the trace was made with the cassette/, (events) => {
    of(events, "start").cassetteDigest = other;
  }),
  trace("another model in its start", /trial \d+: the trace was made with the model/, (events) => {
    of(events, "start").model = { ...(of(events, "start").model as object), id: "model-2" };
    return undefined;
  }),
  trace("other prices in its start", /trial \d+: the trace was made with the prices/, (events) => {
    of(events, "start").prices = { input: 1, cachedInput: null, cacheWriteInput: null, output: 1 };
  }),
  trace("another budget in its start", /trial \d+: the trace was made with the budgets/, (events) => {
    of(events, "start").budgets = { ...(of(events, "start").budgets as object), toolCalls: 99 };
    return undefined;
  }),
  trace(
    "a server in control",
    /trial \d+: control saw an MCP server/,
    (events) => {
      of(events, "start").mcpUrl = "http://jacobian:8000/mcp";
    },
    "control",
  ),
  trace(
    "no server in the treatment",
    /trial \d+: the treatment's gateway had no MCP server/,
    (events) => {
      of(events, "start").mcpUrl = null;
    },
    "treatment",
  ),
  trace("no preflight", /trial \d+: the trace has no preflight/, (events) => without(events, "preflight"), "treatment"),
  trace(
    "a preflight that failed",
    /trial \d+: the trace has no preflight/,
    (events) => {
      seenSurface(events).ok = false;
    },
    "treatment",
  ),
  trace(
    "a preflight that saw another surface",
    /trial \d+: the trace has no preflight/,
    (events) => {
      seenSurface(events).surfaceDigest = other;
    },
    "treatment",
  ),
  trace(
    "fewer bytes of a call",
    EXCHANGE,
    (events) => {
      const end = of(events, "mcp-end");
      end.toAgent = { ...(end.toAgent as object), bytes: 1 };
      return undefined;
    },
    "treatment",
  ),
  trace(
    "a call's digest",
    EXCHANGE,
    (events) => {
      const end = of(events, "mcp-end");
      end.toServer = { ...(end.toServer as object), digest: other };
      return undefined;
    },
    "treatment",
  ),
  trace(
    "an error made a success",
    EXCHANGE,
    (events) => {
      const frame = events.find(
        (event) => event.type === "mcp-frame" && event.to === "agent" && body(event).text?.includes("error"),
      );
      if (frame === undefined) throw new Error("no answer carries an error");
      rewrite(frame, (text) => text.replaceAll("error", "value"));
      return undefined;
    },
    "treatment",
  ),
  trace(
    "a frame less",
    EXCHANGE,
    (events) => {
      const gone = of(events, "mcp-frame");
      return renumber(events.filter((event) => event !== gone));
    },
    "treatment",
  ),
  trace("a gap in its numbers", /trial \d+: .*trace.*expected event/, (events) => {
    const last = events.at(-1);
    if (last !== undefined) last.seq += 1;
    return undefined;
  }),
  trace("time that goes back", /trial \d+: .*time goes back/, (events) => {
    const last = events.at(-1);
    if (last !== undefined) last.us = 0;
    return undefined;
  }),
  trace("a line twice", /trial \d+: .*expected event/, (events) =>
    events.flatMap((event, index) => (index === 1 ? [event, event] : [event])),
  ),
  trace("two lines in the wrong order", /trial \d+: .*expected event/, (events) => {
    const [a, b, c, ...rest] = events;
    return a === undefined || b === undefined || c === undefined ? undefined : [a, c, b, ...rest];
  }),
  trace("no end", /trial \d+: .*trace is not complete/, (events) => events.slice(0, -1)),
  trace("a second end", /trial \d+: .*(after the (end|last)|expected event|end)/, (events) => {
    const last = events.at(-1);
    return last === undefined ? undefined : [...events, { ...last, seq: last.seq + 1 }];
  }),
  trace("an event of no known type", /trial \d+: .*trace/, (events) => {
    of(events, "phase").type = "rest";
  }),
  rawTrace("a torn last line", /trial \d+: .*trace is not complete/, (text) => text.slice(0, -9)),
  rawTrace("half of it", /trial \d+: .*trace is not complete/, (text) => text.slice(0, text.length / 2)),
  rawTrace("nothing but its first line", /trial \d+: .*trace is not complete/, (text) =>
    text.slice(0, text.indexOf("\n") + 1),
  ),
  rawTrace("empty", /trial \d+: /, () => ""),
  rawTrace("a duplicate key", /trial \d+: .*trace/, (text) => text.replace('{"seq":1,', '{"seq":1,"seq":1,')),
  rawTrace("text after its end", /trial \d+: .*after the last event/, (text) => `${text}{}`),
  rawTrace("lines that end otherwise", /trial \d+: /, (text) => text.replaceAll("\n", "\u2028")),
];

const RELABELLED = /trial \d+, attempt 1: its outcome is \w+ although/;

/** Sets the first trial's attempt aside, relabelled as `outcome` if there is one, and puts another like it in its place. */
async function drawAgain(parts: Parts, outcome: TrialRecord["outcome"] | null = null): Promise<void> {
  const record = first(parts.records, "record");
  const { number, attempt, task, condition, repetition } = record;
  const cause = { code: "ENGINE_FAILED", detail: "the engine failed" };
  const aside = outcome === null ? record : { ...record, outcome, cause, reward: null, rewards: null };
  const ref = await parts.put(canonicalBytes(aside));
  parts.report.superseded.push({ number, attempt, record: ref });
  const sealed = parts.events.find((event) => event.type === "trial-sealed" && event.number === number);
  if (sealed !== undefined) Object.assign(sealed, { outcome: aside.outcome, record: { ...ref } });
  record.attempt = 2;
  const identity = { number, attempt: 2, task, condition, repetition };
  parts.events.splice(
    parts.events.findIndex(({ type }) => type === "run-closed"),
    0,
    { type: "trial-started", ...identity, agent: "toolloop" },
    { type: "trial-sealed", ...identity, outcome: record.outcome, record: null },
  );
}

const REPORTS: readonly Forgery[] = [
  report("another run's id", /runId|open run/, ({ report: r }) => {
    r.runId = "run-elsewhere";
  }),
  report("another study's id", /studyId/, ({ report: r }) => {
    r.studyId = "other";
  }),
  report("another condition", /not planned for (control|treatment)/, ({ report: r }) => {
    r.condition = r.condition === "control" ? "treatment" : "control";
  }),
  report("a better evidence class", /evidenceClass/, ({ report: r }) => {
    r.evidenceClass = "held-out-comparison";
  }),
  report("a subset that is none", /subset/, ({ report: r }) => {
    r.subset = !r.subset;
  }),
  report("another order of execution", /order/, ({ report: r }) => {
    r.order = r.order === "separate" ? "interleaved" : "separate";
  }),
  report("live instead of scripted", /modelSource/, ({ report: r }) => {
    r.modelSource = "live";
  }),
  report("another architecture", /host\.arch/, ({ report: r }) => {
    r.host.arch = "arm64";
  }),
  report("another system", /host\.os/, ({ report: r }) => {
    r.host.os = "windows";
  }),
  report("another engine", /host\.version/, ({ report: r }) => {
    r.host.version = "99";
  }),
  report("another storage driver", /host\.storageDriver/, ({ report: r }) => {
    r.host.storageDriver = "vfs";
  }),
  report("an image's packages", /image \S+: its packages/, ({ report: r }) => {
    const image = first(Object.values(r.images), "image") as { packages: { version: string }[] };
    first(image.packages, "package").version = "0";
  }),
  report("an image's configuration", /image \S+ is not the plan's/, ({ report: r }) => {
    (first(Object.values(r.images), "image") as { configDigest: string }).configDigest = other;
  }),
  report("an image's id", /images\/|image/, ({ report: r }) => {
    (first(Object.values(r.images), "image") as { imageId: string }).imageId = other;
  }),
  report(
    "an image less",
    /image \S+ is not there/,
    ({ report: r }) => void delete r.images[first(Object.keys(r.images), "image")],
  ),
  report("an image more", /image extra is not in the plan/, ({ report: r }) => {
    r.images.extra = first(Object.values(r.images), "image");
  }),
  report("a trial less", /trial \d+ is missing/, (parts) => {
    const gone = parts.records.pop();
    parts.events = parts.events.filter((event) => event.number !== gone?.number);
  }),
  report(
    "a trial twice",
    /trial \d+ is there twice/,
    (parts) => void parts.records.push(first(parts.records, "record")),
  ),
  report("trials in another order", /trial \d+ stands after/, (parts) => void parts.records.reverse()),
  report("a trial under another number", /trial \d+ is (not planned|missing)|trial \d+/, ({ records }) => {
    first(records, "record").number = 999;
  }),
  report("a trial in another's place", /trial \d+ is (there twice|missing)/, ({ records }) => {
    const [a, b] = records;
    if (a !== undefined && b !== undefined) a.number = b.number;
  }),
  report("a score superseded by another", /it is superseded although its outcome is scored/, (parts) =>
    drawAgain(parts),
  ),
  ...(["infra_error", "interrupted", "provider_error"] as const).map((outcome) =>
    report(`a score relabelled as ${outcome} and drawn again`, RELABELLED, (parts) => drawAgain(parts, outcome)),
  ),
  report(
    "no oracle evidence",
    /holds no oracle evidence/,
    ({ report: r }) => void delete r.oracle[first(Object.keys(r.oracle), "task")],
  ),
  report("oracle evidence of another task", /oracle evidence/, ({ report: r }) => {
    const [a, b] = Object.keys(r.oracle);
    const taken = r.oracle[b ?? ""];
    if (a !== undefined && taken !== undefined) r.oracle[a] = taken;
  }),
  ...(["key", "verifier", "task", "oracleRuns", "unknown"] as const).map((what) =>
    report(`stale oracle evidence (${what})`, /oracle evidence|oracle/, async ({ report: r, text, put }) => {
      const id = first(Object.keys(r.oracle), "task");
      const ref = r.oracle[id];
      if (ref === undefined) return;
      const evidence = JSON.parse(await text(ref));
      if (what === "key") evidence.key = other;
      else if (what === "verifier") evidence.parts.verifier = other;
      else if (what === "task") evidence.task = "task-elsewhere";
      else if (what === "oracleRuns") evidence.oracleRuns = 0;
      else evidence.note = "fine";
      r.oracle[id] = await put(canonicalBytes(evidence));
    }),
  ),
  report("oracle evidence that fits itself and not the plan", /stale/, async ({ report: r, text, put }) => {
    const id = first(Object.keys(r.oracle), "task");
    const ref = r.oracle[id];
    if (ref === undefined) return;
    const evidence = JSON.parse(await text(ref));
    evidence.parts.verifier = other;
    evidence.key = digestJson(evidence.parts);
    r.oracle[id] = await put(canonicalBytes(evidence));
  }),
  report(
    "a cassette less",
    /trial \d+: its cassette/,
    ({ report: r }) => void delete r.cassettes[first(Object.keys(r.cassettes), "cassette")],
  ),
  report("a cassette more", /trial 999: it has a cassette/, ({ report: r }) => {
    r.cassettes["999"] = first(Object.values(r.cassettes), "cassette");
  }),
  report("another cassette", /trial \d+: its cassette/, async ({ report: r, put }) => {
    r.cassettes[first(Object.keys(r.cassettes), "cassette")] = await put("another conversation");
  }),
  report("another locked surface", /locked surface/, async ({ report: r, text, put }) => {
    const surface = JSON.parse(await text(r.lockedSurface));
    surface.instructions = "Do as you like.";
    r.lockedSurface = await put(canonicalBytes(surface));
  }),
  report(
    "the server's surface in control",
    /control saw an MCP server/,
    ({ report: r }) => {
      r.observedSurface = r.lockedSurface;
    },
    "control",
  ),
  report(
    "no observed surface",
    /the treatment has no observed surface/,
    ({ report: r }) => {
      r.observedSurface = null;
    },
    "treatment",
  ),
  report(
    "another observed surface",
    /the surface that the preflight saw/,
    async ({ report: r, text, put }) => {
      const surface = JSON.parse(await text(r.lockedSurface));
      surface.tools = surface.tools.slice(1);
      r.observedSurface = await put(canonicalBytes(surface));
    },
    "treatment",
  ),
];

/** Only the plan of this side is changed; a plan that both sides share is another study. */
const PLANS: readonly Forgery[] = [
  ...(
    [
      [
        "seed",
        (p) => {
          p.seed += 1;
        },
        /seed|order is not/,
      ],
      [
        "alpha",
        (p) => {
          p.analysis.alpha = 0.5;
        },
        /plan\/analysis\/alpha/,
      ],
      [
        "least coverage",
        (p) => {
          p.analysis.minCoverage = 0;
        },
        /plan\/analysis\/minCoverage/,
      ],
      [
        "a budget",
        (p) => {
          p.budgets.tokens = 1;
        },
        /plan\/budgets\/tokens|made with the budgets/,
      ],
      [
        "a budget that is none",
        (p) => {
          p.budgets.tokens = -1;
        },
        /the plan's budgets: tokens/,
      ],
      [
        "the agent's version",
        (p) => {
          p.agent.version = "2";
        },
        /plan\/agent\/version|agent version/,
      ],
      [
        "the runner's source",
        (p) => {
          p.runner.digest = other;
        },
        /plan\/runner\/digest/,
      ],
      [
        "a hidden digest",
        (p) => {
          first(p.tasks, "task").digests.hidden = other;
        },
        /digests of task \S+ do not belong/,
      ],
      [
        "a verifier's digest",
        (p) => {
          first(p.tasks, "task").digests.verifier = other;
        },
        /digests of task \S+ do not belong/,
      ],
      [
        "an oracle's key",
        (p) => {
          first(p.tasks, "task").oracle = other;
        },
        /oracle evidence is stale/,
      ],
      [
        "the rule of the reward",
        (p) => {
          first(p.tasks, "task").reward.key = "completeness";
        },
        /plan\/tasks\/0\/reward|the reward/,
      ],
      [
        "the dataset's digest",
        (p) => {
          p.datasetDigest = other;
        },
        /dataset digest/,
      ],
      ["the order of the trials", (p) => void p.trials.reverse(), /order is not the one its seed draws/],
      [
        "the server's surface",
        (p) => {
          p.mcp.surface = other;
        },
        /locked surface is not the plan's/,
      ],
      [
        "the server's command",
        (p) => {
          p.mcp.command = ["true"];
        },
        /plan\/mcp\/command/,
      ],
      [
        "the platform",
        (p) => {
          p.platform.arch = "arm64";
        },
        /host\.arch|plan\/platform/,
      ],
      [
        "the evidence class",
        (p) => {
          p.evidenceClass = "held-out-comparison";
        },
        /evidenceClass/,
      ],
      [
        "a causal claim",
        (p) => {
          (p as { causalClaimAuthorized: boolean }).causalClaimAuthorized = true;
        },
        /the plan: causalClaimAuthorized/,
      ],
      [
        "an image",
        (p) => {
          first(Object.values(p.images), "image").inputDigest = other;
        },
        /image \S+ is not the plan's/,
      ],
      [
        "an allowed variable that is not bound",
        (p) => {
          p.allowEnvironment = ["REGION"];
        },
        /the plan does not bind the environment variables that it allows/,
      ],
      [
        "a bound variable that is not allowed",
        (p) => {
          p.environment = { REGION: null };
        },
        /the plan does not bind the environment variables that it allows/,
      ],
      ["a task twice", (p) => void p.tasks.push(first(p.tasks, "task")), /task \S+ is there twice/],
      [
        "the operations it expects",
        (p) => {
          p.expectedOperations = {};
        },
        /plan\/expectedOperations/,
      ],
    ] as const satisfies readonly (readonly [string, (plan: Parts["plan"]) => void, RegExp])[]
  ).map(([name, change, place]): Forgery => ({ name: `plan: ${name}`, place, change: ({ plan }) => change(plan) })),
];

const LEDGERS: readonly Forgery[] = [
  ...(
    [
      [
        "an outcome",
        (e) => {
          first(
            e.filter(({ type }) => type === "trial-sealed"),
            "seal",
          ).outcome = "infra_error";
        },
        /the ledger says outcome/,
      ],
      [
        "a task",
        (e) => {
          first(
            e.filter(({ type }) => type === "trial-sealed"),
            "seal",
          ).task = "task-elsewhere";
        },
        /the ledger says task/,
      ],
      [
        "a seal without a start",
        (e) => e.filter(({ type }, index) => !(type === "trial-started" && index === 1)),
        /ledger\.jsonl, line \d+: .*was not started/,
      ],
      ["no opening", (e) => e.filter(({ type }) => type !== "run-opened"), /ledger\.jsonl, line 1: does not open/],
      ["no closing", (e) => e.filter(({ type }) => type !== "run-closed"), /ledger\.jsonl, line \d+: does not close/],
      [
        "a seal twice",
        (e) => e.flatMap((event) => (event.type === "trial-sealed" ? [event, event] : [event])),
        /ledger\.jsonl, line \d+: .*sealed twice/,
      ],
      [
        "a start twice",
        (e) => e.flatMap((event) => (event.type === "trial-started" ? [event, event] : [event])),
        /ledger\.jsonl, line \d+: .*started twice/,
      ],
      ["no seal", (e) => e.filter(({ type }) => type !== "trial-sealed"), /the ledger does not seal it/],
      [
        "a seal of an attempt that is not listed",
        (e) =>
          e.flatMap((event) =>
            event.type === "run-closed"
              ? [
                  {
                    ...first(
                      e.filter(({ type }) => type === "trial-sealed"),
                      "seal",
                    ),
                    attempt: 7,
                  },
                  event,
                ]
              : [event],
          ),
        /the ledger seals \d+ attempts|was not started/,
      ],
      [
        "another run's opening",
        (e) => {
          first(e, "event").runId = "run-elsewhere";
        },
        /ledger\.jsonl, line 1: does not open/,
      ],
    ] as const satisfies readonly (readonly [
      string,
      (events: Parts["events"]) => Parts["events"] | undefined,
      RegExp,
    ])[]
  ).map(
    ([name, change, place]): Forgery => ({
      name: `ledger: ${name}`,
      place,
      change: (parts) => {
        parts.events = change(parts.events) ?? parts.events;
      },
    }),
  ),
];

/** Everything that is forged, sealed again and held against a new anchor. */
export const FORGERIES: readonly Forgery[] = [...RECORDS, ...TRACES, ...REPORTS, ...PLANS, ...LEDGERS];
