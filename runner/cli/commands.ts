import { BENCH_PROOF_OPTIONS } from "../proof/bench-options.ts";
import { PROVER_OPTIONS, VERIFIER_OPTIONS } from "../proof/options.ts";
import { type CommandSpec, command } from "./command.ts";
import { OPTIONS } from "./options.ts";

/** Summaries of the words that stand before a subcommand. */
export const GROUPS: Readonly<Record<string, string>> = {
  tasks: "load, lint and scaffold task bundles",
  images: "pinned container images",
  agents: "the agents that can be studied",
  bench: "performance, each figure beside its yardstick in one run",
};

/** The commands, in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  command({
    path: ["demo"],
    summary: "the whole story on a fresh machine, with no model and no key",
    options: OPTIONS.demo,
    load: () => import("./demo.ts"),
  }),
  command({
    path: ["doctor"],
    summary: "is everything here? Docker engine, disk, images",
    options: OPTIONS.doctor,
    load: () => import("./doctor.ts"),
  }),
  command({
    path: ["tasks", "list"],
    summary: "list the tasks of a dataset with their digests",
    options: OPTIONS.tasksList,
    load: () => import("./tasks-list.ts"),
  }),
  command({
    path: ["tasks", "check"],
    summary: "lint tasks: leaks, unpinned bases, verifiers, traps, schemas",
    positionals: ["task?"],
    options: OPTIONS.tasksCheck,
    load: () => import("./tasks-check.ts"),
  }),
  command({
    path: ["tasks", "new"],
    summary: "scaffold a task that passes the linter",
    positionals: ["name"],
    options: OPTIONS.tasksNew,
    load: () => import("./tasks-new.ts"),
  }),
  command({
    path: ["tasks", "generate"],
    summary: "fresh, proven instances of a family of tasks",
    positionals: ["family?"],
    options: OPTIONS.tasksGenerate,
    load: () => import("./tasks-generate.ts"),
  }),
  command({
    path: ["inventory"],
    summary: "count a dataset's tasks by coverage class, family, affordance and difficulty; never one summed figure",
    options: OPTIONS.inventory,
    load: () => import("./inventory.ts"),
  }),
  command({
    path: ["images", "build"],
    summary: "build the pinned images that are missing here",
    options: OPTIONS.imagesBuild,
    load: () => import("./images-build.ts"),
  }),
  command({
    path: ["images", "lock"],
    summary: "write the locked surface of the MCP server from a live one, and the pins of what was built",
    options: OPTIONS.imagesLock,
    load: () => import("./images-lock.ts"),
  }),
  command({
    path: ["images", "verify"],
    summary: "compare what this machine built with the committed pins",
    options: OPTIONS.imagesVerify,
    load: () => import("./images-verify.ts"),
  }),
  command({
    path: ["images", "prune"],
    summary: "remove earlier versions of the runner's images and the tasks' images, which the next run builds again",
    options: OPTIONS.imagesPrune,
    load: () => import("./images-prune.ts"),
  }),
  command({
    path: ["agents", "list"],
    summary: "versions, APIs and tools of the agents",
    options: OPTIONS.agentsList,
    load: () => import("./agents-list.ts"),
  }),
  command({
    path: ["agents", "check"],
    summary: "lead one agent, or each, through scripted conversations in containers, under both conditions",
    positionals: ["agent?"],
    options: OPTIONS.agentsCheck,
    load: () => import("./agents-check.ts"),
  }),
  command({
    path: ["oracle"],
    summary: "is every task solvable (oracle 1) and discriminating (nop 0, every trap 0)?",
    options: OPTIONS.oracle,
    load: () => import("./oracle.ts"),
  }),
  command({
    path: ["plan"],
    summary: "freeze a study: digests of everything, trial order from the seed, budgets, analysis",
    options: OPTIONS.plan,
    load: () => import("./plan.ts"),
  }),
  command({
    path: ["execute"],
    summary: "run one condition (or both) of a study",
    options: OPTIONS.execute,
    load: () => import("./execute.ts"),
  }),
  command({
    path: ["resume"],
    summary: "continue an interrupted run, exactly the missing trials",
    positionals: ["dir"],
    options: OPTIONS.resume,
    load: () => import("./resume.ts"),
  }),
  command({
    path: ["verify"],
    summary: "recompute a run's evidence against its external anchor",
    positionals: ["dir"],
    options: OPTIONS.verify,
    load: () => import("./verify.ts"),
  }),
  command({
    path: ["trajectories"],
    summary: "write the trajectories of a run's trials in Harbor's format (ATIF)",
    positionals: ["dir"],
    options: OPTIONS.trajectories,
    load: () => import("./trajectories.ts"),
  }),
  command({
    path: ["compare"],
    summary: "compare the two conditions' runs, or refuse with every reason",
    positionals: ["control", "treatment?"],
    options: OPTIONS.compare,
    load: () => import("./compare.ts"),
  }),
  command({
    path: ["freeze"],
    summary: "lock a dataset, its images and the outcomes of oracle, nop, traps and replayed agents",
    options: OPTIONS.freeze,
    load: () => import("./freeze.ts"),
  }),
  command({
    path: ["regress"],
    summary: "run again what a lock expects, and tell drift of inputs from drift of outcomes",
    positionals: ["lock"],
    options: OPTIONS.regress,
    load: () => import("./regress.ts"),
  }),
  command({
    path: ["prover"],
    summary: "ProverBench: have proofs written and judged, and score the policy",
    options: PROVER_OPTIONS,
    load: () => import("../proof/prover-command.ts"),
  }),
  command({
    path: ["verifier"],
    summary: "VerifierBench: score a verifier of proofs against human annotations",
    options: VERIFIER_OPTIONS,
    load: () => import("../proof/verifier-command.ts"),
  }),
  command({
    path: ["bench", "proof"],
    summary: "the proof benchmarks' inference and summary beside their ideals",
    options: BENCH_PROOF_OPTIONS,
    load: () => import("../proof/bench-command.ts"),
  }),
  command({
    path: ["reference"],
    summary: "print the reference page of the command line, or a completion script",
    options: OPTIONS.reference,
    load: () => import("./reference-command.ts"),
  }),
  command({
    path: ["report"],
    summary: "rebuild a run's or a pair's report from its bundle: Markdown, JSON, JUnit, CSV, HTML with plots",
    positionals: ["subject"],
    options: OPTIONS.report,
    load: () => import("./report.ts"),
  }),
  command({
    path: ["review"],
    summary: "bind an operator's note to a report's digest, and keep it beside the bundle",
    positionals: ["subject"],
    options: OPTIONS.review,
    load: () => import("./review.ts"),
  }),
  command({
    path: ["bench", "calibration"],
    summary: "do the intervals and tests keep what they promise? simulated coverage, false positives and power",
    options: OPTIONS.benchCalibration,
    load: () => import("./bench-calibration.ts"),
  }),
  command({
    path: ["bench", "evidence"],
    summary: "verify, compare and report of thousands of synthetic trials beside sha256sum",
    options: OPTIONS.benchEvidence,
    load: () => import("./bench-evidence.ts"),
  }),
  command({
    path: ["bench", "resume"],
    summary: "how soon a long run that was cut off goes on",
    options: OPTIONS.benchResume,
    load: () => import("./bench-resume.ts"),
  }),
  command({
    path: ["bench", "agent"],
    summary: "from execute to an agent's first model request, beside bare engine calls",
    options: OPTIONS.benchAgent,
    load: () => import("./bench-agent.ts"),
  }),
  command({
    path: ["bench", "trial"],
    summary: "the runner's overhead over the bare engine",
    options: OPTIONS.benchTrial,
    load: () => import("./bench-trial.ts"),
  }),
];
