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

/** What chooses a plan. */
const planned = {
  study: { kind: "string", value: "FILE", summary: "study file (default: the demo's)" },
  tasks,
  repetitions: { kind: "integer", value: "N", summary: "fewer or more repetitions than the study says" },
  replay: { kind: "string", value: "DIR", summary: "cassettes that stand in for the model provider" },
  agent: { kind: "string", value: "NAME", summary: "agent in place of the study's" },
  model: { kind: "string", value: "ID", summary: "model in place of the study's" },
  reasoningEffort: { kind: "string", value: "E", summary: "reasoning effort in place of the study's" },
  imageMap,
  buildNetwork,
} as const;
/** Where anchors go beside the terminal. */
const keepers = {
  ledger: {
    kind: "string",
    value: "FILE",
    summary: "operator's ledger, outside of the evidence, to append anchors to",
  },
  sign: { kind: "string", value: "KEY", summary: "SSH key to sign the reports with, as <bundle>.report.sig" },
} as const;

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
  imagesPrune: { json },
  agentsList: { json },
  agentsCheck: {
    newest: { kind: "flag", summary: "check the newest npm release too, and say what changed" },
    idle: {
      kind: "integer",
      value: "SECONDS",
      summary: "let the agent wait that long, to see what it tells the world meanwhile",
    },
    json,
  },
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
  freeze: {
    dataset,
    tasks,
    study: {
      kind: "string",
      value: "FILE",
      summary: "also lock the outcomes of this study's replayed agents; its dataset and tasks are taken",
    },
    imageMap,
    buildNetwork,
    concurrency,
    out: { kind: "string", value: "FILE", required: true, summary: "the lock to write; review it like code" },
    evidence: { kind: "string", value: "DIR", summary: "where the evidence goes (default runs/freeze-<UTC time>)" },
    json,
  },
  regress: {
    imageMap,
    buildNetwork,
    concurrency,
    evidence: { kind: "string", value: "DIR", summary: "where the evidence goes (default runs/regress-<UTC time>)" },
    json,
  },
  plan: {
    ...planned,
    out: { kind: "string", value: "DIR", required: true, summary: "a new folder for the plan" },
    json,
  },
  execute: {
    plan: {
      kind: "string",
      value: "DIR",
      summary: "run this plan as `runner plan` wrote it, or say what no longer equals it",
    },
    ...planned,
    record: {
      kind: "string",
      value: "DIR",
      summary: "write the live conversations there as cassettes, for a later --replay",
    },
    condition: {
      kind: "string",
      value: "WHICH",
      choices: ["control", "treatment", "both"],
      required: true,
      summary: "what to run",
    },
    concurrency,
    out: { kind: "string", value: "DIR", summary: "where the evidence goes (default runs/<study>-<UTC time>)" },
    execute: {
      kind: "flag",
      summary: "really run; without it the plan and the call budget are printed and nothing is created",
    },
    ...keepers,
    json,
  },
  resume: {
    study: { kind: "string", value: "FILE", summary: "the study file, where it has moved since" },
    concurrency,
    ...keepers,
    json,
  },
  verify: {
    reportSha256: { kind: "string", value: "DIGEST", summary: "the anchor of a single bundle" },
    controlReportSha256: { kind: "string", value: "DIGEST", summary: "for a pair: the anchor of the control's run" },
    treatmentReportSha256: {
      kind: "string",
      value: "DIGEST",
      summary: "for a pair: the anchor of the treatment's run",
    },
    ledger: { kind: "string", value: "FILE", summary: "operator's ledger to take anchors from that are not given" },
    json,
  },
  trajectories: {
    reportSha256: { kind: "string", value: "DIGEST", summary: "the anchor that the run printed" },
    out: { kind: "string", value: "DIR", required: true, summary: "a new folder for the trajectories" },
    json,
  },
  compare: {
    controlReportSha256: { kind: "string", value: "DIGEST", summary: "the anchor that the control's run printed" },
    treatmentReportSha256: { kind: "string", value: "DIGEST", summary: "the anchor that the treatment's run printed" },
    ledger: { kind: "string", value: "FILE", summary: "operator's ledger to take anchors from that are not given" },
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
  benchEvidence: {
    trials: { kind: "integer", value: "N", summary: "trials of each condition (default 10000)" },
    megabytes: { kind: "integer", value: "N", summary: "size of both bundles together (default 20000)" },
    rounds: { kind: "integer", value: "N", summary: "how often everything is measured (default 1)" },
    dir: {
      kind: "string",
      value: "DIR",
      summary: "where the bundles are written and removed again (default: the temporary folder)",
    },
    json,
  },
  benchAgent: {
    agent: { kind: "string", value: "NAME", summary: "a model-driven agent (default: codex)" },
    trials: { kind: "integer", value: "N", summary: "starts of each kind in each condition (default 5)" },
    json,
  },
  benchResume: {
    trials: { kind: "integer", value: "N", summary: "trials of the run, ten of them left out (default 10000)" },
    json,
  },
  benchTrial: {
    trials: { kind: "integer", value: "N", summary: "trials of each kind (default 10)" },
    json,
  },
} as const;
