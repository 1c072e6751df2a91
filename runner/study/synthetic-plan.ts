import { TOOLLOOP } from "../agent/toolloop/agent.ts";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestBytes, digestJson } from "../base/digest.ts";
import { type Surface, surfaceDigest } from "../base/formats/surface.ts";
import { FIND_TOOL, RUN_TOOL } from "../trace/operation-stages.ts";
import type { PreparedPlan } from "./make-plan.ts";
import { type OracleEvidence, oracleKey } from "./oracle-evidence.ts";
import { orderTrials } from "./order.ts";
import { type Plan, planSchema, type TaskBinding } from "./plan.ts";

/** Stands for the cassette of every synthetic trial. */
const CASSETTE = canonicalBytes({ synthetic: "no conversation was held" });
const OWN_IMAGES = ["agent-toolloop", "gateway", "jacobian", "verifier"] as const;

export const SYNTHETIC_MODEL = "synthetic-model";
export const SYNTHETIC_OPERATIONS = ["matrix.normal_form.smith.compute", "lattice.basis.reduce"] as const;

/** What the synthetic treatment's server advertises: the two tools of a server whose operations are found and run. */
export const SYNTHETIC_SURFACE: Surface = {
  schemaVersion: "1",
  server: { name: "synthetic", version: "1" },
  protocolVersion: "2025-11-25",
  capabilities: { tools: { listChanged: false } },
  instructions: "Find an operation, look at it, and run it.",
  tools: [
    tool(FIND_TOOL, "Find operations by words, or look at one.", { query: { type: "string" } }),
    tool(RUN_TOOL, "Run an operation.", { operation_id: { type: "string" }, input: { type: "object" } }),
  ],
  catalog: null,
};

function tool(name: string, description: string, properties: object) {
  return { name, description, inputSchema: { type: "object", properties, additionalProperties: false } };
}

/** How large a synthetic study is. */
export interface SyntheticSize {
  readonly tasks: number;
  readonly repetitions: number;
  readonly seed: number;
}

/** A plan, bound and consistent like any other, of tasks that do not exist, with what sealing a run of it needs. */
export function syntheticPlan({ tasks, repetitions, seed }: SyntheticSize): PreparedPlan {
  const ids = Array.from({ length: tasks }, (_, index) => `synthetic-${String(index + 1).padStart(4, "0")}`);
  const bindings = ids.map(taskBinding);
  const trials = orderTrials(ids, repetitions, seed);
  const images = Object.fromEntries(OWN_IMAGES.map((name) => [name, syntheticImage(name)]));
  const plan: Plan = planSchema.parse({
    schemaVersion: "1",
    kind: "plan",
    studyId: "synthetic",
    studyDigest: digestJson({ tasks, repetitions, seed }),
    evidenceClass: "demo",
    causalClaimAuthorized: false,
    subset: false,
    runner: { version: "synthetic", digest: digestJson("synthetic source"), commit: "0".repeat(40), dirty: false },
    platform: { os: "linux", arch: "amd64" },
    datasetDigest: digestJson(bindings.map(({ id, digests }) => ({ id, digest: digests.task }))),
    tasks: bindings,
    images: Object.fromEntries(
      Object.entries(images).map(([name, { inputDigest, configDigest, packagesDigest }]) => [
        name,
        { inputDigest, configDigest, packagesDigest },
      ]),
    ),
    agent: { name: TOOLLOOP.name, version: TOOLLOOP.version, reasoningEffort: null, command: null },
    model: { id: SYNTHETIC_MODEL, api: "chat", baseUrl: null, source: "scripted", prices: null },
    cassettes: Object.fromEntries(trials.map(({ number }) => [String(number), digestBytes(CASSETTE)])),
    mcp: {
      name: "synthetic",
      image: "jacobian",
      command: ["synthetic"],
      url: "http://synthetic:8000/mcp",
      surface: surfaceDigest(SYNTHETIC_SURFACE),
      catalog: null,
    },
    budgets: { agentSeconds: 600, modelRequests: 60, tokens: 400_000, toolCalls: 80 },
    expectedOperations: Object.fromEntries(ids.map((id) => [id, [SYNTHETIC_OPERATIONS[0]]])),
    allowPublicNetwork: false,
    allowEnvironment: [],
    repetitions,
    seed,
    analysis: {
      primary: "reward",
      method: "ft15-and-sign-flip",
      alpha: 0.05,
      missing: "drop-pair",
      minCoverage: 0.8,
      maxDropImbalance: 0.1,
    },
    trials,
  });
  const cassette = { bytes: CASSETTE, digest: digestBytes(CASSETTE) };
  const sealed = {
    plan,
    surface: SYNTHETIC_SURFACE,
    own: { lock: { images } },
    tasks: new Map(bindings.map((binding) => [binding.id, { oracle: oracleOf(binding) }])),
    cassettes: new Map(trials.map(({ number }) => [number, cassette])),
  };
  // Nothing of a prepared plan that only a run needs exists for tasks that do not.
  return sealed as unknown as PreparedPlan;
}

/** An image of the runner's own, as the lock describes one. */
export function syntheticImage(name: string) {
  const packages = [{ kind: "deb", name: "base-files", version: "13" }];
  return {
    name,
    imageId: digestJson(`synthetic image ${name}`),
    configDigest: digestJson(`synthetic configuration ${name}`),
    inputDigest: digestJson(`synthetic input ${name}`),
    base: null,
    packages,
    packagesDigest: digestJson(packages),
    differences: [],
    diffIds: [digestJson(`synthetic layer ${name}`)],
  };
}

function taskBinding(id: string): TaskBinding {
  const part = (name: string): Digest => digestJson([id, name]);
  const [contract, verifier, oracle, traps] = [part("contract"), part("verifier"), part("oracle"), part("traps")];
  const hidden = digestJson({ verifier, oracle, traps });
  const digests = {
    contract,
    environment: part("environment"),
    verifier,
    oracle,
    traps,
    hidden,
    task: digestJson({ contract, hidden }),
  };
  const binding = {
    id,
    digests,
    environmentImage: part("environment image"),
    verifierImages: [syntheticImage("verifier").inputDigest],
    replaced: [],
    reward: { key: "reward", strategy: "mean" as const, steps: 1 },
  };
  return { ...binding, oracle: oracleKey(partsOf(binding)) };
}

function partsOf({ digests, environmentImage, verifierImages }: Omit<TaskBinding, "oracle">) {
  const { contract, verifier, oracle, traps } = digests;
  return {
    contract,
    verifier,
    oracle,
    traps,
    "environment image": environmentImage,
    "verifier images": digestJson(verifierImages),
  };
}

function oracleOf(binding: TaskBinding): OracleEvidence {
  const parts = partsOf(binding);
  return {
    schemaVersion: "1",
    kind: "oracle-evidence",
    task: binding.id,
    key: oracleKey(parts),
    parts,
    report: digestJson(`synthetic oracle run of ${binding.id}`),
    oracleRuns: 1,
    traps: 3,
    validatedAt: "2026-01-01T00:00:00.000Z",
  };
}
