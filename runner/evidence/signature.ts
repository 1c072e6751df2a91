import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { hasCode, messageOf, RunnerError } from "../base/errors.ts";

/** The namespace of every signature that the runner makes or accepts: a signature for mail or Git never counts as one. */
export const SIGNATURE_NAMESPACE = "jacobian-runner";

/** What `ssh-keygen -Y verify` decided. */
export type SignatureVerdict =
  | { readonly valid: true; readonly signer: string }
  | { readonly valid: false; readonly reason: string };

/**
 * Signs exact bytes with an SSH key and gives the armoured detached signature, which `ssh-keygen -Y verify -n jacobian-runner` accepts.
 * `key` is a private key file, or a public one whose private half an agent holds.
 * @throws RunnerError `SIGNATURE_TOOL` without ssh-keygen, `SIGNATURE_FAILED` with its last words.
 */
export async function signBytes(bytes: Uint8Array, key: string): Promise<string> {
  const { exitCode, stdout, stderr } = await keygen(["-Y", "sign", "-n", SIGNATURE_NAMESPACE, "-f", key], bytes);
  if (exitCode === 0 && stdout.startsWith("-----BEGIN SSH SIGNATURE-----")) return `${stdout.trimEnd()}\n`;
  throw new RunnerError("environment", "SIGNATURE_FAILED", `ssh-keygen did not sign with ${key}: ${lastLine(stderr)}`, {
    hint: "Name a private SSH key that this user can read, without a passphrase or held by a running agent.",
  });
}

/**
 * Signs a bundle's root document. The signature lies beside the bundle, not in it.
 * @throws RunnerError `SIGNATURE_TOOL`, `SIGNATURE_FAILED`.
 */
export async function signReport(reportPath: string, key: string): Promise<string> {
  return signBytes(await readFile(reportPath), key);
}

export interface VerifyRequest {
  /** The exact bytes that were signed. */
  readonly bytes: Uint8Array;
  /** The armoured signature. */
  readonly signature: string;
  /** An allowed signers file (`ssh-keygen`, ALLOWED SIGNERS): who may sign, with which key. */
  readonly allowedSigners: string;
  /** Who must have signed; null: whoever the file allows. */
  readonly signer: string | null;
}

/** Verifies a detached signature. A wrong signature is a verdict, not an error. @throws RunnerError `SIGNATURE_TOOL`. */
export async function verifySignature({
  bytes,
  signature,
  allowedSigners,
  signer,
}: VerifyRequest): Promise<SignatureVerdict> {
  const folder = await mkdtemp(join(tmpdir(), "jacobian-runner-signature-"));
  try {
    const file = join(folder, "signature");
    await writeFile(file, signature);
    const identity = signer ?? (await findSigner(file, allowedSigners));
    if (identity === null) return { valid: false, reason: "no signer in the allowed signers file has this key" };
    const words = ["-Y", "verify", "-f", allowedSigners, "-I", identity, "-n", SIGNATURE_NAMESPACE, "-s", file];
    const { exitCode, stdout, stderr } = await keygen(words, bytes);
    return exitCode === 0
      ? { valid: true, signer: identity }
      : { valid: false, reason: lastLine(stderr === "" ? stdout : stderr) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Whether a signature file is one of exactly these bytes, whoever made it. What is no signature is none of them.
 * @throws RunnerError `SIGNATURE_TOOL`.
 */
export async function isSignatureOf(bytes: Uint8Array, file: string): Promise<boolean> {
  const { exitCode } = await keygen(["-Y", "check-novalidate", "-n", SIGNATURE_NAMESPACE, "-s", file], bytes);
  return exitCode === 0;
}

async function findSigner(signature: string, allowedSigners: string): Promise<string | null> {
  const { exitCode, stdout } = await keygen(
    ["-Y", "find-principals", "-s", signature, "-f", allowedSigners],
    new Uint8Array(),
  );
  const [first] = stdout.split("\n");
  return exitCode === 0 && first !== undefined && first !== "" ? first : null;
}

async function keygen(
  words: readonly string[],
  input: Uint8Array,
): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> {
  try {
    const { exitCode, stdout, stderr } = await execa("ssh-keygen", words, {
      input,
      reject: false,
      timeout: 60_000,
      // A passphrase prompt would wait for a terminal that is not there.
      env: { SSH_ASKPASS_REQUIRE: "never", LC_ALL: "C" },
    }).then((result) => {
      if (result.code === "ENOENT") throw result;
      return result;
    });
    return { exitCode, stdout, stderr };
  } catch (cause) {
    const problem = hasCode(cause, "ENOENT") ? "is not installed" : `did not run: ${messageOf(cause)}`;
    throw new RunnerError("environment", "SIGNATURE_TOOL", `ssh-keygen ${problem}`, {
      hint: "Install OpenSSH 8.2 or later (Debian: apt-get install openssh-client).",
      cause,
    });
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
