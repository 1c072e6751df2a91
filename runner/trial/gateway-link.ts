import type { Writable } from "node:stream";
import { messageOf, RunnerError } from "../base/errors.ts";
import { type GatewayCommand, type GatewayNotice, gatewayNoticeSchema } from "../base/formats/gateway-protocol.ts";
import { readLines } from "../base/lines.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";

type NoticeOf<K extends GatewayNotice["notice"]> = Extract<GatewayNotice, { notice: K }>;

/** Something that ends the agent early, as the gateway saw it; `died` is the gateway itself going away. */
export type GatewayTrouble =
  | NoticeOf<"budget-exhausted">
  | NoticeOf<"provider-error">
  | NoticeOf<"condition-violation">
  | NoticeOf<"fatal">
  | { readonly notice: "died"; readonly detail: string };

const TROUBLE: readonly string[] = ["budget-exhausted", "provider-error", "condition-violation", "fatal"];

/** The runner's side of the gateway's standard streams. */
export interface GatewayLink {
  readonly send: (command: GatewayCommand) => void;
  /**
   * Waits for a notice of this kind, also one that came before the call.
   * @throws RunnerError `GATEWAY_FAILED` when the gateway says `fatal` or goes away first, and what the signal was aborted with.
   */
  readonly expect: <K extends GatewayNotice["notice"]>(kind: K, signal: AbortSignal) => Promise<NoticeOf<K>>;
  /** Sends a command and waits for the next notice of a kind, passing over those that came before. Fails as `expect` does. */
  readonly ask: <K extends GatewayNotice["notice"]>(
    command: GatewayCommand,
    kind: K,
    signal: AbortSignal,
  ) => Promise<NoticeOf<K>>;
  /** The first trouble, or undefined so far. */
  readonly trouble: () => GatewayTrouble | undefined;
  /** Resolves with the first trouble; never rejects. */
  readonly firstTrouble: Promise<GatewayTrouble>;
}

/** Speaks the control protocol over a gateway container's attached streams. `tail` gives the last words of its stderr. */
export function linkGateway(stdin: Writable, stdout: AsyncIterable<Uint8Array>, tail: () => string): GatewayLink {
  const seen: GatewayNotice[] = [];
  const waiting = new Set<() => void>();
  let first: GatewayTrouble | undefined;
  let ended: string | undefined;
  let tell: (trouble: GatewayTrouble) => void = () => undefined;
  const firstTrouble = new Promise<GatewayTrouble>((resolve) => {
    tell = resolve;
  });
  // A gateway that is gone shows at the other stream; writing to it must not crash the process.
  stdin.on("error", () => undefined);

  const note = (trouble: GatewayTrouble): void => {
    first ??= trouble;
    tell(first);
  };
  const wake = (): void => {
    for (const check of [...waiting]) check();
  };
  const listen = async (): Promise<void> => {
    try {
      for await (const { bytes } of readLines(stdout, 1024 * 1024)) {
        const source = "the gateway's notice";
        const notice = parseInput(gatewayNoticeSchema, parseStrictJson(bytes, { source }), source);
        seen.push(notice);
        if (isTrouble(notice)) note(notice);
        wake();
      }
      ended = `the gateway's output ended${tail() === "" ? "" : `: ${tail()}`}`;
    } catch (thrown) {
      ended = messageOf(thrown);
    }
    if (!seen.some((notice) => notice.notice === "finished")) note({ notice: "died", detail: ended });
    wake();
  };
  void listen();

  const noticeAfter = <K extends GatewayNotice["notice"]>(
    kind: K,
    from: number,
    signal: AbortSignal,
  ): Promise<NoticeOf<K>> =>
    new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        waiting.delete(check);
        signal.removeEventListener("abort", abort);
        finish();
      };
      const abort = (): void => settle(() => reject(signal.reason));
      const check = (): void => {
        const found = seen.slice(from).find((notice): notice is NoticeOf<K> => notice.notice === kind);
        if (found !== undefined) settle(() => resolve(found));
        else if (first?.notice === "fatal" || ended !== undefined) {
          const detail = first?.notice === "fatal" ? `${first.code}: ${first.detail}` : (ended ?? "");
          settle(() => reject(new RunnerError("environment", "GATEWAY_FAILED", `the gateway failed: ${detail}`)));
        }
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      waiting.add(check);
      signal.addEventListener("abort", abort, { once: true });
      check();
    });

  const send = (command: GatewayCommand): void => void stdin.write(`${JSON.stringify(command)}\n`);
  return {
    send,
    expect: (kind, signal) => noticeAfter(kind, 0, signal),
    ask: (command, kind, signal) => {
      const from = seen.length;
      send(command);
      return noticeAfter(kind, from, signal);
    },
    trouble: () => first,
    firstTrouble,
  };
}

function isTrouble(notice: GatewayNotice): notice is Exclude<GatewayTrouble, { notice: "died" }> {
  return TROUBLE.includes(notice.notice);
}
