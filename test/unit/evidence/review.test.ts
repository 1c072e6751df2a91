import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { RunnerError } from "../../../runner/base/errors.ts";
import { readReview, type WriteReviewInput, writeReview } from "../../../runner/evidence/review.ts";
import { signReport, verifySignature } from "../../../runner/evidence/signature.ts";

const exec = promisify(execFile);
const REPORT = '{"kind":"run"}';
const ANCHOR = digestBytes(REPORT);

let dir: string;
let bundle: string;
let input: WriteReviewInput;
let signers: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "review-"));
  bundle = join(dir, "run", "control");
  await mkdir(join(bundle, "objects"), { recursive: true });
  await writeFile(join(bundle, "report.json"), REPORT);
  await writeFile(join(dir, "note.txt"), "Two tasks share an idea.\nCount them with care.\n");
  input = {
    subject: bundle,
    reportSha256: ANCHOR,
    noteFile: join(dir, "note.txt"),
    key: null,
    writtenAt: "2026-11-30T12:00:00.000Z",
  };
  signers = join(dir, "signers");
});
afterEach(() => rm(dir, { recursive: true }));

async function makeKey(name: string): Promise<string> {
  const key = join(dir, name);
  await exec("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key]);
  return key;
}

async function allow(identity: string, key: string): Promise<void> {
  await writeFile(signers, `${identity} ${await readFile(`${key}.pub`, "utf8")}`);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => new Error("nothing was thrown"),
    (error: unknown) => error,
  );
  if (!(thrown instanceof RunnerError)) throw thrown;
  return thrown.code;
}

test("a note is bound to the report's digest and kept beside the bundle, which stays as it was", async () => {
  const { path, sha256, signaturePath } = await writeReview(input);
  const bytes = await readFile(path);
  expect(path).toBe(join(dir, "run", "control.review.json"));
  expect(signaturePath).toBeNull();
  expect(sha256).toBe(digestBytes(bytes));
  expect(bytes.toString()).toBe(
    `{"kind":"review","note":"Two tasks share an idea.\\nCount them with care.","reportSha256":"${ANCHOR}","schemaVersion":"1","writtenAt":"2026-11-30T12:00:00.000Z"}`,
  );
  expect((await readdir(bundle)).sort()).toEqual(["objects", "report.json"]);
  expect(await readReview(path, null)).toMatchObject({ reportSha256: ANCHOR, signature: "not signed" });
});

test("a note about another report, an empty one and a second one are refused", async () => {
  expect(await codeOf(writeReview({ ...input, reportSha256: digestBytes("other") }))).toBe("REPORT_CHANGED");
  expect(await codeOf(writeReview({ ...input, reportSha256: "abc" }))).toBe("ANCHOR_MALFORMED");
  expect(await codeOf(writeReview({ ...input, noteFile: join(dir, "none") }))).toBe("NOTE_UNREADABLE");
  await writeFile(join(dir, "empty"), " \n");
  expect(await codeOf(writeReview({ ...input, noteFile: join(dir, "empty") }))).toBe("NOTE_UNREADABLE");
  await writeReview(input);
  expect(await codeOf(writeReview(input))).toBe("REVIEW_EXISTS");
});

test("a signed note holds for the allowed key alone, and ssh-keygen itself accepts it", async () => {
  const key = await makeKey("operator");
  await allow("operator@example.org", key);
  const { path } = await writeReview({ ...input, key });
  expect(await readReview(path, null)).toMatchObject({ signature: "signed, and the signature was not checked" });
  expect(await readReview(path, signers)).toMatchObject({ signature: "signed by operator@example.org" });
  const command = `ssh-keygen -Y verify -f ${signers} -I operator@example.org -n jacobian-runner -s ${path}.sig < ${path}`;
  expect((await exec("sh", ["-c", command])).stdout).toContain('Good "jacobian-runner" signature');

  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace("with care", "twice"));
  expect(await codeOf(readReview(path, signers))).toBe("REVIEW_SIGNATURE");
  await writeFile(path, text);
  await allow("operator@example.org", await makeKey("stranger"));
  expect(await codeOf(readReview(path, signers))).toBe("REVIEW_SIGNATURE");
  await rm(`${path}.sig`);
  expect(await codeOf(readReview(path, signers))).toBe("REVIEW_SIGNATURE");
});

test("a review that was edited in form is refused", async () => {
  const { path } = await writeReview(input);
  const text = await readFile(path, "utf8");
  await writeFile(path, `${text}\n`);
  expect(await codeOf(readReview(path, null))).toBe("REVIEW_NOT_CANONICAL");
  await writeFile(path, text.replace('"kind":"review"', '"kind":"verdict"'));
  expect(await codeOf(readReview(path, null))).toBe("INPUT_INVALID");
});

test("a report's signature holds for its exact bytes, its signer and our namespace", async () => {
  const key = await makeKey("operator");
  await allow("operator@example.org", key);
  const path = join(bundle, "report.json");
  const signature = await signReport(path, key);
  const bytes = Buffer.from(REPORT);
  const request = { bytes, signature, allowedSigners: signers, signer: null };
  expect(await verifySignature(request)).toEqual({ valid: true, signer: "operator@example.org" });
  expect(await verifySignature({ ...request, signer: "someone@example.org" })).toMatchObject({ valid: false });
  expect(await verifySignature({ ...request, bytes: Buffer.from(`${REPORT} `) })).toMatchObject({ valid: false });
  expect(await verifySignature({ ...request, signature: "no signature" })).toMatchObject({ valid: false });

  await exec("ssh-keygen", ["-Y", "sign", "-q", "-n", "git", "-f", key, path]);
  const foreign = await readFile(`${path}.sig`, "utf8");
  expect(await verifySignature({ ...request, signature: foreign })).toMatchObject({ valid: false });
});

test("a key that is not there is one error that names it", async () => {
  await expect(signReport(join(bundle, "report.json"), join(dir, "nokey"))).rejects.toThrow(/nokey/);
});
