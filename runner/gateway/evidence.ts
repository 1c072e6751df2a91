import { createHash } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Digest } from "../base/digest.ts";
import { messageOf } from "../base/errors.ts";
import type { TraceCounts } from "../base/formats/gateway-protocol.ts";
import { makeBody, objectName, type TraceBody } from "../base/formats/trace-body.ts";
import type { TraceEvent, UnstampedEvent } from "../base/formats/trace-events.ts";
import { redact } from "./secrets.ts";

export interface EvidenceOptions {
  /** The folder; made when it is not there. */
  readonly folder: string;
  /** Most bytes of the trace and all objects together. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Byte strings that are replaced in everything that is written. */
  readonly secrets: readonly Buffer[];
  /** Called once when the evidence cannot be complete any more. */
  readonly onFatal: (code: "evidence-cap" | "evidence-write", detail: string) => void;
}

export interface ClosedEvidence {
  readonly counts: TraceCounts;
  readonly traceDigest: Digest;
  readonly traceBytes: number;
  readonly objects: number;
  readonly evidenceBytes: number;
}

/** Room for the last events, so that a trace that ends at its cap can still say so. */
const RESERVE_BYTES = 16 * 1024;

/**
 * The evidence folder of one trial: `trace.jsonl`, `objects/` and a few whole files. Writes are synchronous, so the order of the lines
 * is the order of the events, and what was written before a crash is there after it.
 */
export class Evidence {
  readonly #options: EvidenceOptions;
  readonly #trace: number;
  readonly #origin: number;
  readonly #hash = createHash("sha256");
  readonly #objects = new Set<string>();
  #seq = 0;
  #traceBytes = 0;
  #totalBytes = 0;
  #state: "open" | "failed" | "closed" = "open";
  readonly #counts = {
    events: 0,
    modelRequests: 0,
    modelRefusals: 0,
    providerErrors: 0,
    mcpExchanges: 0,
    mcpToolCalls: 0,
    mcpRefusals: 0,
    proxyDecisions: 0,
    requestsRefused: 0,
  };

  constructor(options: EvidenceOptions) {
    this.#options = options;
    mkdirSync(join(options.folder, "objects"), { recursive: true });
    this.#trace = openSync(join(options.folder, "trace.jsonl"), "wx");
    this.#origin = options.clock.micros();
  }

  /** Microseconds since the evidence began. */
  micros(): number {
    return this.#options.clock.micros() - this.#origin;
  }

  /** Writes one event. After a failure, and after the end, nothing is written any more. */
  emit(event: UnstampedEvent): void {
    if (this.#state !== "open") return;
    // The spread of a union loses its discriminant for the compiler, not its members.
    const stamped = { seq: this.#seq, us: this.micros(), ...event } as TraceEvent;
    this.#seq += 1;
    this.#count(event);
    const { bytes } = redact(Buffer.from(`${JSON.stringify(stamped)}\n`, "utf8"), this.#options.secrets);
    if (!this.#reserve(bytes.length, event.type === "end" || event.type === "phase")) return;
    this.#attempt(() => {
      writeFileSync(this.#trace, bytes);
      this.#hash.update(bytes);
      this.#traceBytes += bytes.length;
    });
  }

  /** Counts an MCP tool call, which is no event of its own. */
  countToolCall(): void {
    this.#counts.mcpToolCalls += 1;
  }

  /** Keeps exact bytes (but for secrets) and returns what stands for them in an event. */
  body(bytes: Uint8Array): TraceBody {
    const clean = redact(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), this.#options.secrets);
    const body = makeBody(clean.bytes, clean.count);
    if (body.object === true) {
      const name = objectName(body);
      if (!this.#objects.has(name) && this.#state === "open" && this.#reserve(clean.bytes.length, false)) {
        this.#attempt(() => writeDurable(join(this.#options.folder, "objects", name), clean.bytes));
        this.#objects.add(name);
      }
    }
    return body;
  }

  /** Writes a whole file of the folder, such as `surface.json`. */
  file(name: string, text: string): void {
    if (this.#state !== "open") return;
    const { bytes } = redact(Buffer.from(text, "utf8"), this.#options.secrets);
    if (!this.#reserve(bytes.length, false)) return;
    this.#attempt(() => writeDurable(join(this.#options.folder, name), bytes));
  }

  /** Writes the last event and closes everything. Null when the evidence had failed before. */
  close(): ClosedEvidence | null {
    const counts = { ...this.#counts, events: this.#counts.events + 1 };
    this.emit({ type: "end", counts });
    this.#attempt(() => {
      fsyncSync(this.#trace);
      closeSync(this.#trace);
    });
    if (this.#state !== "open") return null;
    this.#state = "closed";
    return {
      counts,
      traceDigest: `sha256:${this.#hash.digest("hex")}`,
      traceBytes: this.#traceBytes,
      objects: this.#objects.size,
      evidenceBytes: this.#totalBytes,
    };
  }

  #reserve(bytes: number, last: boolean): boolean {
    this.#totalBytes += bytes;
    if (this.#totalBytes <= this.#options.maxBytes - (last ? 0 : RESERVE_BYTES)) return true;
    this.#fail("evidence-cap", `the evidence is larger than the ${this.#options.maxBytes} bytes allowed`);
    return false;
  }

  #attempt(write: () => void): void {
    if (this.#state !== "open") return;
    try {
      write();
    } catch (thrown) {
      this.#fail("evidence-write", messageOf(thrown));
    }
  }

  #fail(code: "evidence-cap" | "evidence-write", detail: string): void {
    if (this.#state !== "open") return;
    this.#state = "failed";
    this.#options.onFatal(code, detail);
  }

  #count(event: UnstampedEvent): void {
    this.#counts.events += 1;
    switch (event.type) {
      case "model-request":
        this.#counts.modelRequests += 1;
        break;
      case "model-refused":
        this.#counts.modelRefusals += 1;
        break;
      case "provider-error":
        this.#counts.providerErrors += 1;
        break;
      case "mcp-request":
        this.#counts.mcpExchanges += 1;
        break;
      case "mcp-refused":
        this.#counts.mcpRefusals += 1;
        break;
      case "proxy":
        this.#counts.proxyDecisions += 1;
        break;
      case "request-refused":
        this.#counts.requestsRefused += 1;
        break;
      default:
    }
  }
}

function writeDurable(path: string, bytes: Uint8Array): void {
  const file = openSync(path, "wx");
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
