import { join } from "node:path";
import { isDigest } from "../base/digest.ts";
import { pairReasons } from "./compare-bindings.ts";
import { CONDITIONS, type Condition } from "./order.ts";
import { pairFileReasons } from "./pair-file.ts";
import { type Inspection, inspectBundle } from "./verify-bundle.ts";

/** What a verification of both runs of a folder found. */
export interface PairVerification {
  readonly valid: boolean;
  readonly kind: "pair";
  /** Each with the side, or the document, that it is about. */
  readonly reasons: readonly string[];
  readonly trials: number;
  readonly objects: number;
  readonly bytes: number;
}

/** Recomputes both bundles of a folder, each against its anchor, and whether they are the pair that the folder's document names. */
export async function verifyPair(
  parent: string,
  anchors: Readonly<Record<Condition, string>>,
  signal: AbortSignal,
  program: URL | null = null,
): Promise<PairVerification> {
  const reasons: string[] = [];
  const found: Partial<Record<Condition, Inspection>> = {};
  let [trials, objects, bytes] = [0, 0, 0];
  for (const condition of CONDITIONS) {
    const side = await inspectBundle(join(parent, condition), anchors[condition], signal, program);
    found[condition] = side;
    const { verification } = side;
    reasons.push(...verification.reasons.map((reason) => `${condition}: ${reason}`));
    trials += verification.trials;
    objects += verification.objects;
    bytes += verification.bytes;
  }
  const [control, treatment] = [found.control?.run, found.treatment?.run];
  const { control: c, treatment: t } = anchors;
  if (control != null && treatment != null && isDigest(c) && isDigest(t)) {
    reasons.push(...pairReasons(control, treatment));
    const sides = {
      control: { condition: "control", anchor: c, report: control.report },
      treatment: { condition: "treatment", anchor: t, report: treatment.report },
    } as const;
    reasons.push(...(await pairFileReasons(parent, sides)));
  } else if (reasons.length === 0) reasons.push("one of the two bundles is no run");
  return { valid: reasons.length === 0, kind: "pair", reasons, trials, objects, bytes };
}
