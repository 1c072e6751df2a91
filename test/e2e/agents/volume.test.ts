import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectEngine } from "../../../runner/docker/engine.ts";
import { LABEL } from "../../../runner/docker/ownership.ts";
import { RUNTIME_ROLE } from "../../../runner/docker/runtime-volume.ts";
import { spokenBy, testedAgents } from "../../support/agents.ts";
import { oracle, readObject, recordsOf, scratch, writeBundle } from "../../support/e2e.ts";
import { execute, talk, writeStudy } from "../../support/e2e-study.ts";

const TASK = "e2e-volume";

interface EngineEvent {
  readonly Type: string;
  readonly Action: string;
  readonly Actor: { readonly ID: string; readonly Attributes: Readonly<Record<string, string>> };
}

let dir: string;
let remove: () => Promise<void>;
let dataset: string;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  dataset = join(dir, "tasks");
  await writeBundle(dataset, TASK);
  const proven = await oracle(dataset, join(dir, "oracle"));
  expect(proven.code, proven.stderr).toBe(0);
});
afterAll(() => remove());

/** The labels of every volume that holds an agent's runtime, by name. */
async function runtimeVolumes(): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  await using engine = await connectEngine();
  const { Volumes: volumes } = await engine.docker.listVolumes({
    filters: { label: [`${LABEL.role}=${RUNTIME_ROLE}`] },
  });
  return new Map(volumes.map(({ Name: name, Labels: labels }) => [name, labels]));
}

/** Notes what the engine does from now on. */
async function watchEngine(): Promise<AsyncDisposable & { readonly seen: () => readonly EngineEvent[] }> {
  const engine = await connectEngine();
  const stream = (await engine.docker.getEvents()) as NodeJS.ReadableStream & { destroy(): void };
  let text = "";
  stream.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
  });
  stream.on("error", () => undefined);
  return {
    seen: () =>
      text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as EngineEvent),
    [Symbol.asyncDispose]: async () => {
      stream.destroy();
      await engine[Symbol.asyncDispose]();
    },
  };
}

test.each(testedAgents(["claude-code"]).map((agent) => [agent.name, agent] as const))(
  "ten trials of %s mount one volume that was there before; nothing is fetched for them, and nothing is copied into it",
  async (name, agent) => {
    const home = join(dir, name);
    const [api = "chat"] = agent.apis;
    const study = await writeStudy(home, {
      dataset,
      tasks: [TASK],
      agent: { name },
      model: { id: "scripted", api, replay: "cassettes" },
      conversations: spokenBy(agent, [talk(TASK, "echo 42 > /app/answer.txt")]),
    });
    const first = await execute(study, "control", join(home, "first"));
    expect(first.code, first.stderr).toBe(0);

    const before = await runtimeVolumes();
    await using engine = await watchEngine();
    const { code, stderr, result } = await execute(study, "both", join(home, "run"), { args: ["--repetitions", "5"] });
    expect(code, stderr).toBe(0);
    const trials = new Set<string>();
    for (const { dir: bundle } of result.runs) {
      for (const { outcome, gateway } of await recordsOf(bundle)) {
        expect(outcome).toBe("scored");
        if (gateway === null) throw new Error("a trial left no trace");
        const [line = ""] = (await readObject(bundle, gateway.trace)).toString("utf8").split("\n", 1);
        trials.add((JSON.parse(line) as { trialId: string }).trialId);
      }
    }
    expect(trials.size).toBe(10);

    const events = engine.seen();
    const of = (type: string, action: string) =>
      events.filter((event) => event.Type === type && event.Action === action);
    const agents = of("container", "create").filter(
      ({ Actor: { Attributes: told } }) => told[LABEL.role] === "agent" && trials.has(told[LABEL.trial] ?? ""),
    );
    expect(agents).toHaveLength(10);
    const ids = new Set(agents.map(({ Actor }) => Actor.ID));
    const mounts = of("volume", "mount").filter(({ Actor }) => ids.has(Actor.Attributes.container ?? ""));
    const runtimes = mounts.filter(({ Actor }) => Actor.Attributes.destination === agent.runtime);
    expect(new Set(runtimes.map(({ Actor }) => Actor.Attributes.container))).toEqual(ids);
    expect(new Set(runtimes.map(({ Actor }) => Actor.Attributes["read/write"]))).toEqual(new Set(["false"]));
    const volumes = new Set(runtimes.map(({ Actor }) => Actor.ID));
    expect(volumes.size).toBe(1);
    // Each fill marks the volume that it makes.
    const [volume = ""] = volumes;
    expect(before.get(volume)).toBeDefined();
    expect((await runtimeVolumes()).get(volume)).toEqual(before.get(volume));
    expect(of("image", "pull")).toEqual([]);
    const copies = of("container", "extract-to-dir").filter(({ Actor }) => ids.has(Actor.ID));
    expect(copies.filter(({ Actor }) => Actor.Attributes.path?.startsWith(agent.runtime))).toEqual([]);
    expect(copies.length).toBeGreaterThan(0);
  },
);
