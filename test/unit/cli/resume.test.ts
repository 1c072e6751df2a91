import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { CommandIo } from "../../../runner/cli/command.ts";
import { run } from "../../../runner/cli/resume.ts";
import { appendAnchor, readOperatorLedger } from "../../../runner/evidence/operator-ledger.ts";
import { signBytes, verifySignature } from "../../../runner/evidence/signature.ts";
import { readableStore } from "../../../runner/evidence/store.ts";
import type { RunReport } from "../../../runner/study/run-report.ts";
import { type BundlePair, makeBundlePair } from "../../support/bundles.ts";

let dir: string;
let key: string;
let pair: BundlePair;
let report: RunReport;
/** The report that the control's resumption superseded. */
let earlier: { readonly digest: string; readonly bytes: Buffer };

/** A run whose control was sealed with a failed trial and resumed. The runner that resumed it kept no anchor: it was killed after the seal. */
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "resume-cli-"));
  key = join(dir, "operator");
  await execa("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  await writeFile(join(dir, "signers"), `operator@example.org ${await readFile(`${key}.pub`, "utf8")}`);
  const numbers: number[] = [];
  await makeBundlePair(join(dir, "plain"), {
    script: ({ number, condition }) => {
      if (condition === "control") numbers.push(number);
      return {};
    },
  });
  pair = await makeBundlePair(join(dir, "run"), { history: { control: { failed: numbers.slice(0, 1) } } });
  report = JSON.parse(await readFile(join(pair.control, "report.json"), "utf8"));
  const [ref] = report.earlier ?? [];
  if (ref === undefined) throw new Error("no report was superseded");
  earlier = { digest: ref.digest, bytes: await readableStore(pair.control).readAll(ref) };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const signature = (side: string) => join(dir, "run", `${side}.report.sig`);
const aside = () => join(dir, "run", `control.report.${earlier.digest.slice("sha256:".length).slice(0, 16)}.sig`);

beforeEach(async () => {
  for (const path of [signature("control"), signature("treatment"), aside()]) await rm(path, { force: true });
});

async function resume(options: { readonly ledger?: string; readonly sign?: string }) {
  const said: string[] = [];
  const printed: string[] = [];
  const io = {
    cwd: dir,
    projectRoot: dir,
    env: process.env,
    signal: new AbortController().signal,
    out: (text: string) => void printed.push(text),
    say: (line: string) => void said.push(line),
  } as unknown as CommandIo;
  const none = { ledger: undefined, sign: undefined, study: undefined, concurrency: undefined, json: true };
  const code = await run({ ...none, ...options } as Parameters<typeof run>[0], [join(dir, "run")], io);
  return { code, said: said.join("\n"), json: JSON.parse(printed.join("")) as unknown };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function signs(path: string, bytes: Uint8Array): Promise<boolean> {
  const request = { signature: await readFile(path, "utf8"), allowedSigners: join(dir, "signers"), signer: null };
  return (await verifySignature({ bytes, ...request })).valid;
}

test.each([false, true])(
  "a signature that a killed resume left of the superseded report is put aside, and the present report's takes its place if there is a key (%s)",
  async (signed) => {
    const stale = await signBytes(earlier.bytes, key);
    await writeFile(signature("control"), stale);
    const { code } = await resume(signed ? { sign: key } : {});
    expect(code).toBe(0);
    expect(await readFile(aside(), "utf8")).toBe(stale);
    expect(await exists(signature("control"))).toBe(signed);
    const present = await readFile(join(pair.control, "report.json"));
    if (signed) expect(await signs(signature("control"), present)).toBe(true);
    // Doing it once more changes nothing, with the key and without.
    for (const again of [{}, { sign: key }]) {
      await resume(signed ? again : {});
      expect(await exists(signature("control"))).toBe(signed);
      if (signed) expect(await signs(signature("control"), present)).toBe(true);
      expect(await readFile(aside(), "utf8")).toBe(stale);
    }
  },
);

test("a signature of neither report is put aside under its own digest", async () => {
  await writeFile(signature("control"), await signBytes(Buffer.from("something else"), key));
  const { said } = await resume({});
  const [, kept = ""] = /signature of another report: (\S+)/.exec(said) ?? [];
  expect([await exists(signature("control")), await exists(kept)]).toEqual([false, true]);
  await rm(kept);
});

test("the ledger gets the new anchor with the one that it supersedes, once, and the output says both", async () => {
  const ledger = join(dir, "ledger.jsonl");
  const { runId, studyId, condition } = report;
  const first = { runId, studyId, condition, reportSha256: earlier.digest as `sha256:${string}` };
  await appendAnchor(ledger, { ...first, supersedes: null, recordedAt: "2026-11-30T12:00:00.000Z" });
  for (const said of [/anchor of control appended/, /anchor of control is there/]) {
    const resumed = await resume({ ledger });
    expect(resumed.said).toMatch(said);
    expect(resumed.said).toContain(`superseded ${earlier.digest} control`);
    expect(resumed.json).toMatchObject({
      nothingMissing: true,
      runs: [
        { condition: "control", report_sha256: pair.anchors.control, supersedes: earlier.digest },
        { condition: "treatment", report_sha256: pair.anchors.treatment, supersedes: null },
      ],
    });
    const { anchors } = await readOperatorLedger(ledger);
    expect(anchors.map(({ condition: side, reportSha256, supersedes }) => [side, reportSha256, supersedes])).toEqual([
      ["control", earlier.digest, null],
      ["control", pair.anchors.control, earlier.digest],
      ["treatment", pair.anchors.treatment, null],
    ]);
  }
});
