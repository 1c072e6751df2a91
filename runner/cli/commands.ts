import { BENCH_PROOF_OPTIONS } from "../proof/bench-options.ts";
import { PROVER_OPTIONS, VERIFIER_OPTIONS } from "../proof/options.ts";
import { type CommandSpec, command } from "./command.ts";

const json = { kind: "flag", summary: "print the result as JSON on stdout" } as const;
const concurrency = {
  kind: "integer",
  value: "N",
  summary: "trials at once (default: the number of processors)",
} as const;
const tasks = { kind: "list", value: "TASK", summary: "only these tasks" } as const;
const imageMap = {
  kind: "list",
  value: "FROM=TO",
  summary:
    "replace a base image reference in FROM lines and docker_image; recorded, and part of the environment digest",
} as const;
const buildNetwork = {
  kind: "string",
  value: "MODE",
  choices: ["default", "none", "host"],
  summary: "network of task image builds (default: default)",
} as const;
const dataset = { kind: "string", value: "DIR", summary: "folder of task bundles (default: tasks)" } as const;

/** Summaries of the words that stand before a subcommand. */
export const GROUPS: Readonly<Record<string, string>> = {
  tasks: "load, lint and scaffold task bundles",
  images: "pinned container images",
  bench: "performance, each figure beside its yardstick in one run",
};

/** Every option table by command; modules take their option types from here. */
export const OPTIONS = {
  doctor: { fix: { kind: "flag", summary: "install and start what is missing (Debian, root)" }, json },
  tasksList: { dataset, json },
  tasksCheck: {
    dataset,
    imageMap,
    layers: { kind: "flag", summary: "build the images and look for leaks in their layers too" },
    json,
  },
  tasksNew: {
    dataset,
    harbor: { kind: "flag", summary: "write a self-contained Harbor bundle instead of the split layout" },
    json,
  },
  tasksGenerate: {
    seed: {
      kind: "string",
      value: "SEED",
      required: true,
      summary: "what the instances are drawn from; written nowhere",
    },
    out: { kind: "string", value: "DIR", required: true, summary: "where the bundles go" },
    count: { kind: "integer", value: "N", summary: "how many instances (default 1)" },
    json,
  },
  inventory: { dataset, json },
  imagesBuild: { only: { kind: "list", value: "NAME", summary: "only these images and their bases" }, json },
  imagesLock: {
    study: {
      kind: "string",
      value: "FILE",
      summary: "study whose MCP server's surface is locked (default: the demo's)",
    },
    surface: { kind: "flag", summary: "lock the surface alone; leave the pins of the images as they are" },
    json,
  },
  imagesVerify: { json },
  oracle: {
    dataset,
    tasks,
    imageMap,
    buildNetwork,
    concurrency,
    repeat: { kind: "integer", value: "N", summary: "oracle runs of each task (default 1)" },
    out: { kind: "string", value: "DIR", summary: "where the evidence goes (default runs/oracle-<UTC time>)" },
    json,
  },
  execute: {
    study: { kind: "string", value: "FILE", summary: "study file (default: the demo's)" },
    condition: {
      kind: "string",
      value: "WHICH",
      choices: ["control", "treatment", "both"],
      required: true,
      summary: "what to run",
    },
    tasks,
    repetitions: { kind: "integer", value: "N", summary: "fewer or more repetitions than the study says" },
    replay: { kind: "string", value: "DIR", summary: "cassettes that stand in for the model provider" },
    imageMap,
    buildNetwork,
    concurrency,
    out: { kind: "string", value: "DIR", summary: "where the evidence goes (default runs/<study>-<UTC time>)" },
    execute: {
      kind: "flag",
      summary: "really run; without it the plan and the call budget are printed and nothing is created",
    },
    json,
  },
  verify: {
    reportSha256: { kind: "string", value: "DIGEST", required: true, summary: "the anchor that the run printed" },
    json,
  },
  compare: {
    controlReportSha256: { kind: "string", value: "DIGEST", summary: "the anchor that the control's run printed" },
    treatmentReportSha256: { kind: "string", value: "DIGEST", summary: "the anchor that the treatment's run printed" },
    out: { kind: "string", value: "FILE", summary: "also write the comparison here, as canonical JSON" },
    failOn: {
      kind: "string",
      value: "VERDICTS",
      summary: "exit with 1 on these verdicts too, such as worse,indecisive (default: only on invalid)",
    },
    json,
  },
  report: {
    format: {
      kind: "string",
      value: "FORMAT",
      choices: ["md", "json", "junit", "csv", "html"],
      summary: "what to write (default: md)",
    },
    out: { kind: "string", value: "FILE", summary: "write it here instead of stdout" },
    reportSha256: {
      kind: "string",
      value: "DIGEST",
      summary: "the anchor of a single bundle, or a comparison's digest",
    },
    controlReportSha256: { kind: "string", value: "DIGEST", summary: "the anchor that the control's run printed" },
    treatmentReportSha256: { kind: "string", value: "DIGEST", summary: "the anchor that the treatment's run printed" },
    ledger: { kind: "string", value: "FILE", summary: "operator's ledger to take anchors from that are not given" },
    trial: {
      kind: "list",
      value: "N",
      summary: "trials whose timelines are drawn (default: the first twelve by task)",
    },
    review: { kind: "list", value: "FILE", summary: "operator's notes to show beside the figures" },
    allowedSigners: {
      kind: "string",
      value: "FILE",
      summary: "ssh-keygen's allowed signers; notes must then be signed",
    },
  },
  review: {
    reportSha256: {
      kind: "string",
      value: "DIGEST",
      required: true,
      summary: "digest of the report the note is about",
    },
    note: { kind: "string", value: "FILE", required: true, summary: "the note, UTF-8" },
    sign: { kind: "string", value: "KEY", summary: "SSH key to sign the review with" },
    json,
  },
  demo: {
    out: { kind: "string", value: "DIR", summary: "where the evidence goes (default runs/demo-<UTC time>)" },
    json,
  },
  reference: { completion: { kind: "flag", summary: "print a completion script for bash instead" } },
  benchCalibration: {
    size: {
      kind: "string",
      value: "SIZE",
      choices: ["small", "whole", "held-out"],
      summary: "how many cells of the grid (default: small)",
    },
    simulations: { kind: "integer", value: "N", summary: "simulations of each cell" },
    cells: { kind: "flag", summary: "print every cell as CSV too" },
    json,
  },
  benchTrial: {
    trials: { kind: "integer", value: "N", summary: "trials of each kind (default 10)" },
    json,
  },
} as const;

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
    path: ["oracle"],
    summary: "is every task solvable (oracle 1) and discriminating (nop 0, every trap 0)?",
    options: OPTIONS.oracle,
    load: () => import("./oracle.ts"),
  }),
  command({
    path: ["execute"],
    summary: "run one condition (or both) of a study",
    options: OPTIONS.execute,
    load: () => import("./execute.ts"),
  }),
  command({
    path: ["verify"],
    summary: "recompute a run's evidence against its external anchor",
    positionals: ["dir"],
    options: OPTIONS.verify,
    load: () => import("./verify.ts"),
  }),
  command({
    path: ["compare"],
    summary: "compare the two conditions' runs, or refuse with every reason",
    positionals: ["control", "treatment?"],
    options: OPTIONS.compare,
    load: () => import("./compare.ts"),
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
    path: ["bench", "trial"],
    summary: "the runner's overhead over the bare engine",
    options: OPTIONS.benchTrial,
    load: () => import("./bench-trial.ts"),
  }),
];
