import { messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";

/** Largest reward file that is read, in bytes. */
export const MAX_REWARD_BYTES = 64 * 1024;

/** The reward files as found in `/logs/verifier`, exact bytes; null when absent. A caller need not read more than the cap plus one byte. */
export interface RewardFiles {
  readonly json: Uint8Array | null;
  readonly txt: Uint8Array | null;
}

export type RewardFault =
  /** Neither file is there. */
  | "missing"
  /** A file is empty or blank, or the object has no key. */
  | "empty"
  | "too-large"
  /** Not UTF-8, not JSON, a duplicate key, or not one decimal number. */
  | "malformed"
  | "not-an-object"
  /** A value is a boolean, string, null, list or object. */
  | "not-a-number"
  | "not-finite"
  /** The primary reward is outside [0, 1]. */
  | "out-of-range"
  /** The primary key is not there. */
  | "wrong-key"
  /** Both files are there and differ. */
  | "conflict";

/** A valid reward, or why there is none. */
export type RewardReading =
  | {
      readonly state: "valid";
      readonly rewards: Readonly<Record<string, number>>;
      /** The primary reward, in [0, 1]. */
      readonly primary: number;
      readonly source: "reward.json" | "reward.txt" | "both";
    }
  | { readonly state: "fault"; readonly cause: RewardFault; readonly detail: string };

type Parsed =
  | { readonly rewards: Readonly<Record<string, number>> }
  | { readonly cause: RewardFault; readonly detail: string };

/**
 * Reads the verifier's reward strictly. `reward.json` is a flat object of finite numbers; `reward.txt` is one decimal number. The primary key
 * must be there and lie in [0, 1]; other keys are dimensions. Two files must agree. Nothing is coerced and nothing becomes 0 by default.
 */
export function readReward(files: RewardFiles, primaryKey = "reward"): RewardReading {
  if (files.json === null && files.txt === null) {
    return fault("missing", "the verifier wrote neither reward.json nor reward.txt");
  }
  const json = files.json === null ? null : parseJson(files.json);
  const txt = files.txt === null ? null : parseText(files.txt, primaryKey);
  for (const parsed of [json, txt]) if (parsed !== null && "cause" in parsed) return fault(parsed.cause, parsed.detail);
  const rewards = { ...rewardsOf(txt), ...rewardsOf(json) };
  const primary = rewards[primaryKey];
  if (primary === undefined || (json !== null && !Object.hasOwn(rewardsOf(json), primaryKey))) {
    const keys = Object.keys(rewardsOf(json))
      .map((key) => JSON.stringify(key))
      .join(", ");
    return fault("wrong-key", `reward.json has no key ${JSON.stringify(primaryKey)}; it has ${keys}`);
  }
  const other = rewardsOf(txt)[primaryKey];
  if (txt !== null && other !== primary) {
    return fault("conflict", `conflicting reward files: reward.json says ${primary}, reward.txt says ${other}`);
  }
  if (primary < 0 || primary > 1)
    return fault("out-of-range", `${JSON.stringify(primaryKey)} is ${primary}, outside [0, 1]`);
  const source = json === null ? "reward.txt" : txt === null ? "reward.json" : "both";
  return { state: "valid", rewards, primary, source };
}

function parseJson(bytes: Uint8Array): Parsed {
  const source = "reward.json";
  const size = checkSize(bytes, source);
  if (size !== null) return size;
  let value: unknown;
  try {
    value = parseStrictJson(bytes, { source, maxBytes: MAX_REWARD_BYTES, maxDepth: 8 });
  } catch (thrown) {
    const cause = /is not finite$/.test(messageOf(thrown)) ? "not-finite" : "malformed";
    return { cause, detail: `${messageOf(thrown)}; the file is ${quote(bytes)}` };
  }
  if (!isObject(value)) return { cause: "not-an-object", detail: `reward.json holds ${quote(bytes)}, not an object` };
  const rewards: Record<string, number> = {};
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== "number") {
      const seen = JSON.stringify(member).slice(0, 80);
      return { cause: "not-a-number", detail: `reward.json: ${JSON.stringify(key)} is ${seen}, not a number` };
    }
    Object.defineProperty(rewards, key, { value: member + 0, enumerable: true, configurable: true, writable: true });
  }
  return Object.keys(rewards).length === 0
    ? { cause: "empty", detail: "reward.json is an object without keys" }
    : { rewards };
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const NON_FINITE = /^[+-]?(?:inf|infinity|nan)$/i;

function parseText(bytes: Uint8Array, primaryKey: string): Parsed {
  const size = checkSize(bytes, "reward.txt");
  if (size !== null) return size;
  const text = Buffer.from(bytes).toString("utf8").trim();
  if (NON_FINITE.test(text))
    return { cause: "not-finite", detail: `reward.txt holds ${quote(bytes)}, which is not finite` };
  if (!DECIMAL.test(text))
    return { cause: "malformed", detail: `reward.txt holds ${quote(bytes)}, which is not one decimal number` };
  const value = Number(text);
  if (!Number.isFinite(value))
    return { cause: "not-finite", detail: `reward.txt holds ${quote(bytes)}, which is not finite` };
  return { rewards: { [primaryKey]: value + 0 } };
}

function checkSize(bytes: Uint8Array, source: string): Parsed | null {
  if (bytes.byteLength > MAX_REWARD_BYTES) {
    return { cause: "too-large", detail: `${source} has more than ${MAX_REWARD_BYTES} bytes` };
  }
  const blank = Buffer.from(bytes).toString("latin1").trim() === "";
  return blank
    ? { cause: "empty", detail: `${source} is ${bytes.byteLength === 0 ? "empty" : `blank: ${quote(bytes)}`}` }
    : null;
}

function quote(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, 120)).toString("utf8");
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}

function rewardsOf(parsed: Parsed | null): Readonly<Record<string, number>> {
  return parsed !== null && "rewards" in parsed ? parsed.rewards : {};
}

function fault(cause: RewardFault, detail: string): RewardReading {
  return { state: "fault", cause, detail };
}
