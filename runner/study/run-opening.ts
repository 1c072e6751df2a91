import { z } from "zod";
import type { Digest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { parseInput } from "../base/zod-input.ts";
import type { LedgerEvent, LedgerLine } from "../evidence/ledger.ts";
import { digestSchema, objectRefSchema } from "../evidence/object-ref.ts";
import { runRequestSchema } from "./run-request.ts";

/** Image ids of a task by role; a role whose image could not be made is left out. */
const taskImagesSchema = z.record(z.string(), z.record(z.string(), digestSchema));

/** What a run bound when it was opened, beyond its plan: a resume is held against it. */
export const openingSchema = z.strictObject({
  type: z.literal("run-opened"),
  runId: z.string().min(1),
  kind: z.literal("run"),
  condition: z.enum(["control", "treatment"]),
  /** `interleaved`: the run executes both conditions in one order. */
  order: z.enum(["interleaved", "separate"]),
  plan: digestSchema,
  /** Wall-clock label. */
  startedAt: z.string(),
  request: runRequestSchema,
  /** Facts of the engine. */
  host: z.record(z.string(), z.unknown()),
  /** Ids of the runner's own images by name. */
  images: z.record(z.string(), digestSchema),
  taskImages: taskImagesSchema,
  /** The oracle evidence that was relied on, by task. */
  oracle: z.record(z.string(), objectRefSchema),
  /** The surface that the preflight saw; null in control. */
  observedSurface: objectRefSchema.nullable(),
  /** Wall-clock label of an earlier reading of the same server image's catalog that was relied on; null: it was read now, or there is none. */
  catalogReadAt: z.string().nullable().optional(),
});

/** A later opening of the same run. */
export const resumptionSchema = z.strictObject({
  type: z.literal("run-resumed"),
  runId: z.string().min(1),
  condition: z.enum(["control", "treatment"]),
  /** Wall-clock label. */
  startedAt: z.string(),
  taskImages: taskImagesSchema,
  observedSurface: objectRefSchema.nullable(),
  catalogReadAt: openingSchema.shape.catalogReadAt,
  /** The anchor that this resumption supersedes; null when the run had not been sealed. */
  supersedes: digestSchema.nullable(),
});

export type Opening = z.infer<typeof openingSchema>;
export type Resumption = z.infer<typeof resumptionSchema>;

/** An opening as a ledger's event. */
export function asEvent(opening: Opening | Resumption): LedgerEvent {
  return opening as unknown as LedgerEvent;
}

/** Everything a ledger says about the openings of its run. */
export interface Openings {
  readonly opening: Opening;
  readonly resumptions: readonly Resumption[];
}

/**
 * Reads the openings of a run's ledger; null for a ledger in which nothing was begun.
 * @throws RunnerError `INPUT_INVALID` naming the line, `LEDGER_BROKEN` for one that opens no run.
 */
export function readOpenings(lines: readonly LedgerLine[], path: string): Openings | null {
  const [first] = lines;
  if (first === undefined) return null;
  if (first.event.type !== "run-opened" || first.event.kind !== "run") {
    throw new RunnerError("input", "NOT_A_RUN", `${path}, line 1: opens no run that could be resumed`, {
      hint: "Name the folder of a run, or the folder that holds control and treatment.",
    });
  }
  const opening = parseInput(openingSchema, first.event, `${path}, line 1`);
  const resumptions = lines.flatMap(({ event }, index) =>
    event.type === "run-resumed" ? [parseInput(resumptionSchema, event, `${path}, line ${index + 1}`)] : [],
  );
  return { opening, resumptions };
}

/** The anchors of a run's earlier reports, in their order. */
export function supersededAnchors({ resumptions }: Openings): Digest[] {
  return [...new Set(resumptions.flatMap(({ supersedes }) => (supersedes === null ? [] : [supersedes])))];
}

/** The image ids that a run has bound so far: what it opened with, and what a resumption could make since. */
export function boundTaskImages({ opening, resumptions }: Openings): Opening["taskImages"] {
  const bound: Opening["taskImages"] = structuredClone(opening.taskImages);
  for (const { taskImages } of resumptions) {
    for (const [task, images] of Object.entries(taskImages)) bound[task] = { ...images, ...bound[task] };
  }
  return bound;
}
