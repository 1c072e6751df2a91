import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { linkGateway } from "../../../runner/trial/gateway-link.ts";

function wire() {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const sent: string[] = [];
  stdin.on("data", (chunk: Buffer) => sent.push(chunk.toString()));
  const link = linkGateway(stdin, stdout, () => "last words");
  const say = (notice: object): void => void stdout.write(`${JSON.stringify(notice)}\n`);
  return { stdout, sent, link, say };
}

const never = new AbortController().signal;

test("a notice is found whether it came before or after it was waited for", async () => {
  const { link, say } = wire();
  say({ notice: "idle", version: "1" });
  const ready = link.expect("ready", never);
  expect(await link.expect("idle", never)).toEqual({ notice: "idle", version: "1" });
  say({ notice: "ready", port: 8080 });
  expect(await ready).toEqual({ notice: "ready", port: 8080 });
});

test("an answer to a repeated question is the next one, not the first", async () => {
  const { link, say, sent } = wire();
  const failed = {
    notice: "preflight",
    ok: false,
    surfaceDigest: null,
    code: "unreachable",
    detail: "refused",
    micros: 1,
  };
  const first = link.ask({ do: "preflight" }, "preflight", never);
  say(failed);
  expect((await first).ok).toBe(false);
  const second = link.ask({ do: "preflight" }, "preflight", never);
  say({ ...failed, ok: true, surfaceDigest: `sha256:${"a".repeat(64)}`, code: null, detail: null });
  expect((await second).ok).toBe(true);
  expect(sent.join("")).toBe('{"do":"preflight"}\n{"do":"preflight"}\n');
});

test("the first trouble is kept, and later ones do not replace it", async () => {
  const { link, say } = wire();
  say({ notice: "budget-exhausted", budget: "tokens", limit: 10, used: 11 });
  say({ notice: "condition-violation", kind: "tools", detail: "x" });
  expect(await link.firstTrouble).toEqual({ notice: "budget-exhausted", budget: "tokens", limit: 10, used: 11 });
});

test("a gateway that goes away without finishing has died, and whoever waits is told its last words", async () => {
  const { link, stdout } = wire();
  const waiting = link.expect("finished", never);
  stdout.end();
  await expect(waiting).rejects.toThrow("the gateway failed: the gateway's output ended: last words");
  expect(await link.firstTrouble).toEqual({ notice: "died", detail: "the gateway's output ended: last words" });
});

test("a line that is no notice counts as the gateway's death", async () => {
  const { link, stdout } = wire();
  stdout.write("{broken\n");
  expect(await link.firstTrouble).toMatchObject({
    notice: "died",
    detail: expect.stringContaining("line 1, column 2"),
  });
});

test("an abort ends the waiting with its reason", async () => {
  const { link } = wire();
  const stop = new AbortController();
  const waiting = link.expect("ready", stop.signal);
  stop.abort(new Error("over"));
  await expect(waiting).rejects.toThrow("over");
});
