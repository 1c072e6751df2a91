import { messageOf } from "../base/errors.ts";
import { type AsyncStack, withStack } from "../base/stack.ts";
import { packArchive } from "../docker/archive/pack.ts";
import { createCapture } from "../docker/capture.ts";
import type { Container } from "../docker/container.ts";
import { createContainer } from "../docker/container.ts";
import { resolveEnv } from "../task/env.ts";
import type { EnvTemplates, Step } from "../task/model.ts";
import { collect } from "./collect.ts";
import { KEEPER, limitsOf, TASK_CAPABILITIES } from "./confinement.ts";
import type { TrialContext } from "./context.ts";
import { decisiveFiles } from "./decisive.ts";
import { TrialFailure } from "./failure.ts";
import { plainPhaseNetwork } from "./phase-network.ts";
import type { StepRecord } from "./record.ts";
import type { TrialSpec } from "./spec.ts";
import { checkSubmission } from "./submission.ts";
import { type Graded, type Grading, grade } from "./verify.ts";
import { trialLabels } from "./world.ts";

interface GradingWork {
  readonly container: Container;
  readonly step: Step;
  readonly index: number;
  readonly environmentEnv: Readonly<Record<string, string>>;
  readonly workdir: string;
}

/**
 * Grades a step whose agent is dead and writes the findings into its record: first what the collect hooks add, then the public
 * contract, then the hidden verifier, as often as the trial asks for.
 */
export async function gradeStep(context: TrialContext, work: GradingWork, record: StepRecord): Promise<void> {
  const { observations } = context.draft;
  await withStack(
    (stack) => gradeIn(context, work, record, stack),
    (thrown) =>
      observations.push(
        `not all that the grading of step ${work.step.name} made could be removed: ${messageOf(thrown)}`,
      ),
  );
}

async function gradeIn(context: TrialContext, work: GradingWork, record: StepRecord, stack: AsyncStack): Promise<void> {
  const { world, spec, trialId, sets, draft, signal } = context;
  const { step, index } = work;
  const separate = spec.verifiers[index] ?? null;
  const shared = step.verifier.mode === "shared";
  if (shared) await clearGround(work.container, signal);
  const snapshot =
    shared || step.verifier.collect.length > 0
      ? stack.use(await work.container.commit({ labels: trialLabels(world, trialId, "snapshot"), signal }))
      : null;
  const volumes = snapshot === null ? [] : await work.container.anonymousVolumes({ signal });
  const image =
    step.verifier.collect.length > 0 && snapshot !== null
      ? await runHooks(context, work, record, snapshot.id, volumes, stack)
      : (snapshot?.id ?? null);
  record.submission = await checkSubmission(spec.task, record.artifacts, world.store);
  const graderImage = shared ? image : (separate?.id ?? null);
  if (graderImage === null) {
    throw new TrialFailure(
      "infra_error",
      "VERIFIER_IMAGE",
      `the verifier's image of step ${step.name} was not resolved`,
    );
  }
  const { phase } = await plainPhaseNetwork(world, stack, `${trialId}-verifier`, step.verifier.network, signal);
  const environment = shared ? spec.task.environment : (step.verifier.environment ?? spec.task.environment);
  const grading: Grading = {
    trialId,
    step,
    steps: spec.task.steps.length,
    rewardKey: spec.task.runner.rewardKey,
    image: graderImage,
    mode: shared ? "shared-filesystem" : "separate",
    environment,
    env: {
      ...(shared ? work.environmentEnv : resolve(spec, environment.env)),
      ...resolve(spec, step.verifier.env),
    },
    tests: sets.steps[index]?.tests ?? [],
    artifacts: record.artifacts,
    workdir: shared ? work.workdir : (environment.workdir ?? separate?.workdir ?? "/"),
    volumes: shared ? volumes : [],
    network: phase,
  };
  const graded = await grade(world, grading, signal).catch((thrown: unknown) => {
    // The step whose verifier could not be run is the one that has no verdict.
    if (thrown instanceof TrialFailure && thrown.outcome === "verifier_error") record.cause = thrown.failure;
    throw thrown;
  });
  if (graded.oomKilled)
    draft.observations.push(`a process in the verifier's container of step ${step.name} was ended for lack of memory`);
  record.verifier = graded.verifier;
  record.rewards = graded.rewards;
  record.failedCheck = graded.failedCheck;
  let fault = graded.fault;
  if (fault === null && spec.gradings === 2) {
    const again = await grade(world, grading, signal);
    record.regraded = again.verifier;
    fault = differs(graded, again);
  }
  if (fault !== null) {
    record.cause = fault.cause;
    record.rewards = null;
    draft.failure = fault;
  }
}

/** The verifier's folders must be folders: links or files that an agent put in their place would lead its files astray. */
async function clearGround(container: Container, signal: AbortSignal): Promise<void> {
  const folders = ["tests", "logs", "logs/verifier"].map((path) => ({ path, type: "directory", mode: 0o755 }) as const);
  await container.putArchive(packArchive(folders), "/", { signal, replace: true });
}

/** Grading the same artifacts twice must give the same files, byte for byte. */
function differs(first: Graded, second: Graded): Graded["fault"] {
  const [once, twice] = [decisiveFiles(first.verifier), decisiveFiles(second.verifier)];
  if (once === twice) return null;
  return {
    outcome: "verifier_error",
    cause: {
      code: "GRADING_DIFFERS",
      detail: `grading the same artifacts twice gave ${once || "no files"} and then ${twice || "no files"}`,
    },
  };
}

/**
 * Runs the collect hooks in a container made from the dead agent's snapshot, and collects again from there. Returns the image that holds
 * what the hooks left, for a shared verifier.
 */
async function runHooks(
  context: TrialContext,
  work: GradingWork,
  record: StepRecord,
  snapshot: string,
  volumes: Awaited<ReturnType<Container["anonymousVolumes"]>>,
  stack: AsyncDisposableStack,
): Promise<string> {
  const { world, spec, trialId, draft, signal } = context;
  const { step } = work;
  const container = stack.use(
    await createContainer(
      world.engine,
      {
        ...KEEPER,
        image: snapshot,
        labels: trialLabels(world, trialId, "collect"),
        env: Object.entries(work.environmentEnv).map(([name, value]) => `${name}=${value}`),
        workdir: work.workdir,
        network: "none",
        mounts: volumes.map(({ name, target }) => ({ volume: name, target })),
        limits: limitsOf(spec.task.environment),
        capAdd: TASK_CAPABILITIES,
      },
      { signal },
    ),
  );
  await container.start({ signal });
  for (const hook of step.verifier.collect) {
    const output = createCapture({ headBytes: 0, tailBytes: 4096 });
    const result = await container.exec({
      argv: ["/bin/sh", "-c", hook.command],
      ...(hook.user === null ? {} : { user: hook.user }),
      timeoutMicros: hook.timeoutMicros,
      stdout: output.write,
      stderr: output.write,
      clock: world.clock,
      signal,
    });
    if (result.endedBy !== "self" || result.exitCode !== 0) {
      const why = result.endedBy === "self" ? `exit code ${result.exitCode ?? "unknown"}` : result.endedBy;
      draft.observations.push(`the collect hook ${JSON.stringify(hook.command)} of step ${step.name} failed: ${why}`);
      if (result.endedBy === "timeout") break;
    }
  }
  await container.kill({ signal });
  const { length: steps } = spec.task.steps;
  const collected = await collect(container, world.store, step.artifacts, work.workdir, steps, signal);
  record.artifacts = collected.artifacts;
  record.refused = collected.refused;
  return stack.use(await container.commit({ labels: trialLabels(world, trialId, "snapshot"), signal })).id;
}

function resolve(spec: TrialSpec, templates: EnvTemplates): Readonly<Record<string, string>> {
  return resolveEnv(templates, { allow: new Set(Object.keys(spec.hostVariables)), host: spec.hostVariables }).env;
}
