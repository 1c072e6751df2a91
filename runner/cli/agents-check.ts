import type { ModelAgent } from "../agent/model-agent.ts";
import { findAgent, MODEL_AGENTS } from "../agent/registry.ts";
import type { Digest } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { requireDisk } from "../docker/disk.ts";
import type { Engine } from "../docker/engine.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { ownerLabels, thisOwner } from "../docker/ownership.ts";
import { buildImages } from "../image/build-images.ts";
import { type AgentCheck, checkAgent } from "../study/check-agent.ts";
import { compareChecks } from "../study/compare-checks.ts";
import { buildNewest } from "../study/newest-release.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { newRunId } from "../trial/open-world.ts";
import type { CommandIo, Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

/** One agent's result: the pinned release, and the newest beside it where that was asked for. */
interface Checked {
  readonly agent: string;
  readonly pinned: AgentCheck;
  /** null: not asked for, or the pinned release is the newest. */
  readonly newest: {
    readonly release: string;
    readonly check: AgentCheck | null;
    /** What a lock of it says. */
    readonly releases: readonly string[];
    readonly changes: readonly string[];
  } | null;
}

export const run: Run<typeof OPTIONS.agentsCheck> = async ({ newest, idle, json }, [name], io) => {
  const agents = name === undefined ? MODEL_AGENTS : [modelAgent(name)];
  await using engine = await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, io.projectRoot, io.say, io.signal);
  const images = await ownImages(engine, agents, io);
  const results: Checked[] = [];
  for (const agent of agents) {
    const options = { engine, idleSeconds: idle ?? 0, report: io.say, signal: io.signal };
    const pinned = await checkAgent({ ...options, agent, images });
    results.push({
      agent: agent.name,
      pinned,
      newest: newest ? await checkNewest(pinned, agent, images, options, io) : null,
    });
  }
  if (json) io.out(`${JSON.stringify({ agents: results })}\n`);
  else for (const result of results) io.out(textOf(result));
  const bad = results.some(
    ({ pinned, newest: other }) => pinned.problems.length > 0 || (other?.changes.length ?? 0) > 0,
  );
  return bad ? 1 : 0;
};

async function checkNewest(
  pinned: AgentCheck,
  agent: ModelAgent,
  images: ReadonlyMap<string, Digest>,
  options: {
    readonly engine: Engine;
    readonly idleSeconds: number;
    readonly report: (line: string) => void;
    readonly signal: AbortSignal;
  },
  io: CommandIo,
): Promise<Checked["newest"]> {
  const labels = ownerLabels(await thisOwner(), { run: newRunId(), role: "image-build" });
  try {
    const found = await buildNewest({ ...options, projectRoot: io.projectRoot, agent, labels, env: io.env });
    if (found === null) return null;
    const check = await checkAgent({
      ...options,
      agent: found.agent,
      images: new Map([...images, [agent.runtimeImage, found.image]]),
    });
    const { releases } = found;
    return { release: check.release, check, releases, changes: compareChecks(pinned, check) };
  } catch (thrown) {
    io.signal.throwIfAborted();
    const release = `the newest ${agent.npm?.package ?? agent.name}`;
    return {
      release,
      check: null,
      releases: [],
      changes: [`it cannot be built or run as the pinned one is: ${messageOf(thrown)}`],
    };
  } finally {
    // The newest release's image took the tag `latest`; the pinned one gets it back.
    await ownImages(options.engine, [agent], io);
  }
}

async function ownImages(
  engine: Engine,
  agents: readonly ModelAgent[],
  io: CommandIo,
): Promise<ReadonlyMap<string, Digest>> {
  const { images } = await buildImages({
    docker: engine.docker,
    projectRoot: io.projectRoot,
    names: ["base", "workbench", "gateway", ...agents.map(({ runtimeImage }) => runtimeImage)],
    labels: ownerLabels(await thisOwner(), { run: newRunId(), role: "image-build" }),
    report: io.say,
    env: io.env,
    signal: io.signal,
  });
  return new Map(Object.entries(images).map(([image, { imageId }]) => [image, imageId]));
}

function modelAgent(name: string): ModelAgent {
  const agent = findAgent(name);
  if (typeof agent !== "string") return agent;
  throw new RunnerError("usage", "AGENT_WITHOUT_MODEL", `${name} has no model, and nothing of it can be checked`, {
    hint: `Name one of ${MODEL_AGENTS.map((candidate) => candidate.name).join(", ")}.`,
  });
}

function textOf({ agent, pinned, newest }: Checked): string {
  const lines = [`${agent} ${pinned.release}: ${pinned.problems.length === 0 ? "as expected" : "NOT as expected"}`];
  for (const facts of pinned.cases) {
    lines.push(`  ${facts.name}: ${facts.outcome}${facts.detail === null ? "" : ` (${facts.detail})`}`);
    for (const tools of facts.tools) lines.push(`    tools: ${tools.join(", ")}`);
    if (facts.requestsWithoutTools > 0) lines.push(`    requests without tools: ${facts.requestsWithoutTools}`);
    lines.push(`    hosts outside: ${facts.hosts.join(", ") || "none"}`);
    for (const problem of facts.problems) lines.push(`    ! ${problem}`);
  }
  if (newest !== null) {
    lines.push(`${agent} ${newest.release}: ${newest.changes.length === 0 ? "nothing changed" : "changed"}`);
    for (const change of newest.changes) lines.push(`  ${change}`);
    for (const release of newest.releases) lines.push(`  to pin: ${release}`);
  }
  return `${lines.join("\n")}\n`;
}
