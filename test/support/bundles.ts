import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { TOOLLOOP } from "../../runner/agent/toolloop/agent.ts";
import { TOOLLOOP_NAMING, toolloopConfigSchema } from "../../runner/agent/toolloop/config.ts";
import { runLoop } from "../../runner/agent/toolloop/loop.ts";
import { canonicalBytes } from "../../runner/base/canonical-json.ts";
import { type Digest, digestBytes, digestJson } from "../../runner/base/digest.ts";
import { type Prices, pricesSchema } from "../../runner/base/formats/budgets.ts";
import type { CassetteInput } from "../../runner/base/formats/cassette.ts";
import { type Surface, surfaceDigest, surfaceSchema } from "../../runner/base/formats/surface.ts";
import { isObject, type Json } from "../../runner/base/json.ts";
import { BUNDLE, type BundleWriter, createBundle } from "../../runner/evidence/bundle.ts";
import { readLedger } from "../../runner/evidence/ledger.ts";
import type { ObjectRef } from "../../runner/evidence/object-ref.ts";
import { readAttempts, standingAttempts } from "../../runner/study/attempts.ts";
import { markCutOff } from "../../runner/study/cut-off.ts";
import type { PreparedPlan } from "../../runner/study/make-plan.ts";
import { type Condition, orderTrials, type PlannedTrial } from "../../runner/study/order.ts";
import { writePair } from "../../runner/study/pair-file.ts";
import { type Plan, planSchema } from "../../runner/study/plan.ts";
import { asEvent } from "../../runner/study/run-opening.ts";
import type { RunRequest } from "../../runner/study/run-request.ts";
import { sealRun, storeOracle } from "../../runner/study/seal-run.ts";
import { type TrialRecord, trialRecordSchema } from "../../runner/trial/record.ts";
import { jacobianFixture, startRecordedJacobian } from "./mcp-servers-jacobian.ts";
import { startGateway, testConfig } from "./model-provider-gateway.ts";

/** How one trial is to come out; by default it is solved in the treatment and not in control. */
export interface TrialScript {
  readonly reward?: number;
  /** Calls of the server in the treatment; default true. */
  readonly callsServer?: boolean;
  /** `verifier_error`: the verifier wrote no reward. `provider_error`: the provider answered 500. */
  readonly outcome?: "verifier_error" | "provider_error";
}

export interface PairOptions {
  readonly tasks?: readonly string[];
  readonly repetitions?: number;
  readonly runIds?: { readonly control: string; readonly treatment: string };
  readonly order?: "interleaved" | "separate";
  readonly host?: Partial<Record<Condition, Readonly<Record<string, Json>>>>;
  /** Changes the plan before anything is run under it. */
  readonly plan?: (plan: Plan) => Plan;
  readonly script?: (trial: PlannedTrial) => TrialScript;
  /**
   * Numbers of trials whose first attempt was cut off, and of those that failed before the run was sealed and resumed: by their provider, or
   * as `as` says.
   */
  readonly history?: Partial<
    Record<
      Condition,
      { readonly cutOff?: readonly number[]; readonly failed?: readonly number[]; readonly as?: TrialScript }
    >
  >;
}

/** A pair of sealed bundles and their anchors. */
export interface BundlePair {
  readonly control: string;
  readonly treatment: string;
  readonly anchors: { readonly control: Digest; readonly treatment: Digest };
}

/** Stands for the cassette of every trial: its digest is the one the test gateway writes. */
const CASSETTE = canonicalBytes("cassette");
const MODEL = "model-1";
/** What a run that was executed would have been asked; nothing here makes its plan again. */
const REQUEST: RunRequest = {
  study: "/study.json",
  tasks: [],
  repetitions: null,
  replay: null,
  agent: null,
  model: null,
  reasoningEffort: null,
  record: null,
  imageMap: [],
  buildNetwork: "default",
  cwd: "/",
};
const HOST = {
  version: "20.10.24",
  apiVersion: "1.41",
  serverApiVersion: "1.41",
  kernel: "6.1.0",
  arch: "amd64",
  os: "linux",
  operatingSystem: "Debian GNU/Linux 12 (bookworm)",
  cpus: 2,
  memoryBytes: 8_000_000_000,
  storageDriver: "overlay2",
  cgroupVersion: "2",
  dataRoot: "/var/lib/docker",
  securityOptions: ["name=seccomp,profile=default"],
};

/**
 * Makes a pair of bundles without Docker: the real gateway and agent on a scripted conversation against the recorded Jacobian write the
 * traces, and the product's own store, ledger and report writers seal them. Only the containers are missing.
 */
export async function makeBundlePair(dir: string, options: PairOptions = {}): Promise<BundlePair> {
  await mkdir(dir, { recursive: true });
  const tasks = options.tasks ?? ["task-a", "task-b", "task-c"];
  const surface = await recordedSurface();
  const drafted = makePlan(tasks, options.repetitions ?? 1, surface);
  const plan = planSchema.parse(options.plan?.(drafted) ?? drafted);
  const anchors: Partial<Record<Condition, Digest>> = {};
  for (const condition of ["control", "treatment"] as const) {
    anchors[condition] = await makeBundle(join(dir, condition), condition, plan, surface, options);
  }
  const { control, treatment } = anchors;
  if (control === undefined || treatment === undefined) throw new Error("a side was not sealed");
  if ((options.order ?? "interleaved") === "interleaved" && options.runIds === undefined) {
    const report = async (side: Condition) => JSON.parse(await readFile(join(dir, side, BUNDLE.report), "utf8"));
    await writePair(dir, [
      { condition: "control", anchor: control, report: await report("control") },
      { condition: "treatment", anchor: treatment, report: await report("treatment") },
    ]);
  }
  return { control: join(dir, "control"), treatment: join(dir, "treatment"), anchors: { control, treatment } };
}

/** A plan as {@link makeBundlePair} runs it. */
export async function recordedPlan(tasks: readonly string[], repetitions: number): Promise<Plan> {
  return planSchema.parse(makePlan(tasks, repetitions, await recordedSurface()));
}

async function makeBundle(
  dir: string,
  condition: Condition,
  plan: Plan,
  surface: Surface,
  options: PairOptions,
): Promise<Digest> {
  const runId = options.runIds?.[condition] ?? "20261130T120000Z-0badcafe";
  const order = options.order ?? "interleaved";
  const host = { ...HOST, ...options.host?.[condition] };
  const trials = plan.trials.filter((trial) => trial.condition === condition);
  const script = (trial: PlannedTrial): TrialScript => options.script?.(trial) ?? {};
  const known = prepared(plan, surface);
  await using bundle = await createBundle(dir);
  const { store, ledger } = bundle;
  await bundle.writeDocument(BUNDLE.plan, canonicalBytes(plan));
  const seen = condition === "treatment" ? canonicalBytes(surface) : null;
  const observedSurface = seen === null ? null : await store.put(seen);
  const startedAt = "2026-11-30T12:00:00.000Z";
  const opening = {
    ...({ type: "run-opened", kind: "run", runId, condition, order, startedAt, host, observedSurface } as const),
    plan: digestJson(plan),
    request: REQUEST,
    images: {},
    taskImages: {},
    oracle: await storeOracle(store, known),
  };
  await ledger.append(asEvent(opening));
  const attempt = async (planned: PlannedTrial, number: number, as: TrialScript | "cut-off"): Promise<void> => {
    const { task, repetition } = planned;
    const identity = { number: planned.number, attempt: number, task, condition, repetition };
    await ledger.append({ type: "trial-started", ...identity, agent: plan.agent.name });
    if (as === "cut-off") {
      await store.put(`what trial ${planned.number} had printed when it was cut off`);
      return;
    }
    const record = await makeRecord(bundle, runId, planned, number, plan, surface, as);
    const { digest, size } = await store.put(canonicalBytes(record));
    await ledger.append({ type: "trial-sealed", ...identity, outcome: record.outcome, record: { digest, size } });
  };
  const seal = async (earlier: readonly ObjectRef[]) => {
    await ledger.append({ type: "run-closed", runId });
    const standing = standingAttempts(readAttempts((await readLedger(join(dir, BUNDLE.ledger))).lines));
    return sealRun({
      ...{ bundle, runId, condition, order, prepared: known, surface: seen, startedAt, earlier: [...earlier] },
      trials: [...standing.trials],
      superseded: [...standing.superseded],
      cutOff: [...standing.cutOff],
      engine: { facts: host },
      finishedAt: "2026-11-30T12:10:00.000Z",
    });
  };
  const resume = async (supersedes: Digest | null) => {
    await markCutOff(ledger, (await readLedger(join(dir, BUNDLE.ledger))).lines);
    const event = {
      type: "run-resumed",
      runId,
      condition,
      startedAt,
      taskImages: {},
      observedSurface,
      supersedes,
    } as const;
    await ledger.append(asEvent(event));
  };
  // An interrupted session, one that is sealed with a failed provider, and one that makes the rest.
  const { cutOff = [], failed = [], as = { outcome: "provider_error" } } = options.history?.[condition] ?? {};
  for (const planned of trials) if (cutOff.includes(planned.number)) await attempt(planned, 1, "cut-off");
  if (cutOff.length > 0) await resume(null);
  for (const planned of trials) {
    const number = cutOff.includes(planned.number) ? 2 : 1;
    await attempt(planned, number, failed.includes(planned.number) ? as : script(planned));
  }
  const first = await seal([]);
  if (failed.length === 0) return first.anchor;
  await resume(first.anchor);
  const bytes = await readFile(join(dir, BUNDLE.report));
  const earlier = await store.put(bytes);
  for (const planned of trials) {
    const number = cutOff.includes(planned.number) ? 3 : 2;
    if (failed.includes(planned.number)) await attempt(planned, number, script(planned));
  }
  const sealed = await seal([earlier]);
  return sealed.anchor;
}

/** The parts of a prepared plan that sealing reads. */
function prepared(plan: Plan, surface: Surface): PreparedPlan {
  const images = Object.fromEntries(Object.keys(plan.images).map((name) => [name, lockedImage(name)]));
  const oracle = plan.tasks.map((task) => {
    const { contract, verifier, oracle: solution, traps } = task.digests;
    const parts = {
      contract,
      verifier,
      oracle: solution,
      traps,
      "environment image": task.environmentImage,
      "verifier images": digestJson(task.verifierImages),
    };
    const evidence = {
      schemaVersion: "1",
      kind: "oracle-evidence",
      task: task.id,
      key: digestJson(parts),
      parts,
      report: digestJson(`oracle run of ${task.id}`),
      oracleRuns: 1,
      traps: 3,
      validatedAt: "2026-11-30T11:00:00.000Z",
    };
    return [task.id, { oracle: evidence }] as const;
  });
  const cassettes = plan.trials.map(
    ({ number }) => [number, { bytes: CASSETTE, digest: digestBytes(CASSETTE) }] as const,
  );
  return {
    plan,
    surface,
    own: { lock: { images } },
    tasks: new Map(oracle),
    cassettes: new Map(cassettes),
  } as unknown as PreparedPlan;
}

function lockedImage(name: string) {
  const packages = [{ kind: "deb", name: "base-files", version: "13" }];
  return {
    name,
    imageId: digestJson(`image ${name}`),
    configDigest: digestJson(`config ${name}`),
    inputDigest: digestJson(`input ${name}`),
    base: null,
    packages,
    packagesDigest: digestJson(packages),
    differences: [],
    diffIds: [digestJson(`layer ${name}`)],
  };
}

function makePlan(tasks: readonly string[], repetitions: number, surface: Surface): Plan {
  const bindings = tasks.map((id) => {
    const [contract, environment, verifier, oracle, traps] = ["c", "e", "v", "o", "t"].map((part) =>
      digestJson([id, part]),
    ) as [Digest, Digest, Digest, Digest, Digest];
    const hidden = digestJson({ verifier, oracle, traps });
    const environmentImage = digestJson([id, "environment image"]);
    const verifierImages = [digestJson("verifier image")];
    const parts = {
      contract,
      verifier,
      oracle,
      traps,
      "environment image": environmentImage,
      "verifier images": digestJson(verifierImages),
    };
    return {
      id,
      digests: { contract, environment, verifier, oracle, traps, hidden, task: digestJson({ contract, hidden }) },
      environmentImage,
      verifierImages,
      replaced: [],
      oracle: digestJson(parts),
      reward: { key: "reward", strategy: "mean" as const, steps: 1 },
    };
  });
  const trials = orderTrials(tasks, repetitions, 7);
  return {
    schemaVersion: "1",
    kind: "plan",
    studyId: "recorded",
    studyDigest: digestJson("study"),
    evidenceClass: "public-regression-observation",
    causalClaimAuthorized: false,
    subset: false,
    runner: { version: "0.1.0", digest: digestJson("source"), commit: "0".repeat(40), dirty: false },
    platform: { os: "linux", arch: "amd64" },
    datasetDigest: digestJson(bindings.map(({ id, digests }) => ({ id, digest: digests.task }))),
    tasks: bindings,
    images: Object.fromEntries(
      ["agent-toolloop", "gateway", "jacobian", "verifier"].map((name) => {
        const { inputDigest, configDigest, packagesDigest } = lockedImage(name);
        return [name, { inputDigest, configDigest, packagesDigest }];
      }),
    ),
    agent: { name: TOOLLOOP.name, version: TOOLLOOP.version, reasoningEffort: null, command: null },
    model: { id: MODEL, api: "chat", baseUrl: null, source: "scripted", prices: null },
    cassettes: Object.fromEntries(trials.map(({ number }) => [String(number), digestBytes(CASSETTE)])),
    mcp: {
      name: "jacobian",
      image: "jacobian",
      command: ["jacobian-remote-mcp"],
      url: "http://jacobian:8000/mcp",
      surface: surfaceDigest(surface),
      catalog: null,
    },
    budgets: { agentSeconds: 60, modelRequests: 8, tokens: 200_000, toolCalls: 8 },
    expectedOperations: Object.fromEntries(tasks.map((task) => [task, ["matrix.normal_form.smith.compute"]])),
    allowPublicNetwork: false,
    allowEnvironment: [],
    repetitions,
    seed: 7,
    analysis: {
      primary: "reward",
      method: "ft15-and-sign-flip",
      alpha: 0.05,
      missing: "drop-pair",
      minCoverage: 0.8,
      maxDropImbalance: 0.1,
    },
    trials,
  };
}

let surfaceOnce: Promise<Surface> | undefined;

/** The surface of the recorded Jacobian as the gateway reads it. */
function recordedSurface(): Promise<Surface> {
  surfaceOnce ??= (async () => {
    await using server = await startRecordedJacobian();
    await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }), { open: false });
    await gateway.gateway.preflight();
    return surfaceSchema.parse(JSON.parse(await readFile(join(gateway.folder, "surface.json"), "utf8")));
  })();
  return surfaceOnce;
}

async function makeRecord(
  bundle: BundleWriter,
  runId: string,
  planned: PlannedTrial,
  attempt: number,
  plan: Plan,
  surface: Surface,
  script: TrialScript,
): Promise<TrialRecord> {
  const { number, task, repetition, condition } = planned;
  const { store } = bundle;
  const treated = condition === "treatment";
  const reward = script.reward ?? (treated ? 1 : 0);
  const gateway = await makeTrace(bundle, `${runId}-${condition}-${number}-${attempt}`, planned, plan, surface, script);
  const empty = { bytes: 0, head: await store.put(""), tail: null, truncated: false };
  const rewards = { reward, correctness: reward, completeness: 1 };
  const verdict = {
    schemaVersion: "1",
    checks: [{ id: "answer", passed: reward === 1 }],
    failed: reward === 1 ? null : "answer",
  };
  const unverified = script.outcome === "provider_error";
  const files = [
    ...(script.outcome === "verifier_error"
      ? []
      : [{ path: "/logs/verifier/reward.json", content: await store.put(canonicalBytes(rewards)) }]),
    { path: "/logs/verifier/verdict.json", content: await store.put(canonicalBytes(verdict)) },
  ];
  const cause =
    script.outcome === "verifier_error"
      ? { code: "REWARD_MISSING", detail: "the verifier wrote neither reward.json nor reward.txt" }
      : script.outcome === "provider_error"
        ? { code: "PROVIDER_STATUS", detail: "the provider failed (status 500)" }
        : null;
  const scored = script.outcome === undefined;
  const submission = Buffer.from(`{"task":"${task}","condition":"${condition}","repetition":${repetition}}`);
  return trialRecordSchema.parse({
    schemaVersion: "1",
    number,
    attempt,
    task,
    taskDigest: plan.tasks.find(({ id }) => id === task)?.digests.task,
    condition,
    repetition,
    agent: { name: plan.agent.name, version: plan.agent.version },
    modelSource: "scripted",
    outcome: script.outcome ?? "scored",
    cause,
    reward: scored ? reward : null,
    rewards: scored ? rewards : null,
    steps: [
      {
        name: "main",
        agentEnd: { by: "self", exitCode: 0, detail: null },
        agentOutput: { stdout: empty, stderr: empty },
        artifacts: unverified
          ? []
          : [
              {
                path: "/app/submission.json",
                type: "file",
                mode: 0o644,
                content: await store.put(submission),
                linkTarget: null,
              },
            ],
        refused: [],
        planted: [],
        submission: unverified ? { unknown: "missing" } : { status: "valid", places: [] },
        verifier: unverified
          ? null
          : {
              mode: "separate",
              image: digestJson("verifier image id"),
              endedBy: "self",
              exitCode: 0,
              stdout: empty,
              stderr: empty,
              files,
            },
        rewards: scored ? rewards : null,
        failedCheck: scored ? verdict.failed : null,
        cause: script.outcome === "verifier_error" ? cause : null,
      },
    ],
    images: {
      environment: digestJson([task, "environment image id"]),
      "verifier-1": digestJson("verifier image id"),
      gateway: lockedImage("gateway").imageId,
      ...(treated ? { mcp: lockedImage("jacobian").imageId } : {}),
    },
    gateway,
    elapsed: { gateway: 1000, provision: 2000, agent: 3000 + 10 * number, collect: 500, verify: 700, total: 9000 },
    observations: [],
    startedAt: "2026-11-30T12:00:01.000Z",
    finishedAt: "2026-11-30T12:00:02.000Z",
  });
}

/** Runs the reference agent through a real gateway and stores the evidence that the gateway wrote. */
async function makeTrace(
  { store }: BundleWriter,
  trialId: string,
  { task, condition, repetition }: PlannedTrial,
  plan: Plan,
  surface: Surface,
  script: TrialScript,
): Promise<NonNullable<TrialRecord["gateway"]>> {
  const treated = condition === "treatment";
  await using server = treated ? await startRecordedJacobian() : null;
  await using gateway = await startGateway(
    testConfig({
      trialId,
      scope: { task, condition, repetition },
      model: { id: MODEL, baseUrl: null, pricesMicroUsdPerMTok: pricesOf(plan) },
      replay: true,
      budgets: plan.budgets,
      mcp: server === null ? null : { url: server.url },
      tools: { naming: TOOLLOOP_NAMING, serverTools: surface.tools.map(({ name }) => name) },
    }),
    { cassette: conversation(task, condition, script), open: false },
  );
  if (treated) await gateway.gateway.preflight();
  gateway.gateway.agentStarted();
  const config = toolloopConfigSchema.parse({
    schemaVersion: "1",
    instruction: "Find the Smith normal form.",
    model: MODEL,
    baseUrl: `${gateway.url}/v1`,
    mcpUrl: treated ? `${gateway.url}/mcp` : null,
    workdir: "/",
  });
  await runLoop(config, () => undefined);
  await gateway.gateway.agentEnded();
  await gateway.finish();
  const folder = join(gateway.folder, "objects");
  const objects = [];
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : [])
    objects.push(await store.put(await readFile(join(folder, name))));
  return {
    trace: await store.put(await readFile(join(gateway.folder, "trace.jsonl"))),
    objects,
    surface: treated ? await store.put(await readFile(join(gateway.folder, "surface.json"))) : null,
  };
}

function pricesOf({ model }: Plan): Prices | null {
  return model?.prices == null ? null : pricesSchema.parse(model.prices);
}

function conversation(task: string, condition: Condition, script: TrialScript): CassetteInput {
  const usage = (input: number, output: number) => ({ input, cachedInput: 10, output, reasoning: 2 });
  const calls = condition === "treatment" && script.callsServer !== false;
  const last = calls ? 3 : 1;
  const turns: CassetteInput["conversations"][number]["exchanges"] = [
    ...(calls
      ? [
          { match: { turn: 1 }, reply: { toolCalls: [asCall("find-search")], usage: usage(100, 20) } },
          {
            match: { turn: 2 },
            reply: { toolCalls: [asCall("run-smith"), asCall("run-bad-payload")], usage: usage(300, 20) },
          },
        ]
      : []),
    script.outcome === "provider_error"
      ? { match: { turn: last }, response: { status: 500, text: "down" } }
      : { match: { turn: last }, reply: { text: "diag(2, 4)", usage: usage(500, 10) } },
  ];
  return {
    schemaVersion: "1",
    modelSource: "scripted",
    conversations: [{ scope: { task, condition }, exchanges: turns }],
  };
}

/** The tool call of a recorded exchange, as a model would write it. */
function asCall(fixture: string): { name: string; arguments: { [key: string]: Json } } {
  const request: unknown = JSON.parse(jacobianFixture(fixture).request.body ?? "");
  if (!isObject(request) || !isObject(request.params)) throw new Error(`${fixture} is no call`);
  return request.params as { name: string; arguments: { [key: string]: Json } };
}
