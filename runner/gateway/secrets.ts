/** What stands where a secret was. */
const MASK = Buffer.from("[redacted]");

/** The byte forms of a secret: as it is, and as JSON text where that differs. */
export function secretForms(secret: string | null): Buffer[] {
  if (secret === null) return [];
  const forms = new Set([secret, JSON.stringify(secret).slice(1, -1)]);
  return [...forms].map((form) => Buffer.from(form, "utf8"));
}

/** Replaces every occurrence of the secrets; `count` tells how many there were. */
export function redact(bytes: Buffer, secrets: readonly Buffer[]): { readonly bytes: Buffer; readonly count: number } {
  let current = bytes;
  let count = 0;
  for (const secret of secrets) {
    const parts: Buffer[] = [];
    let from = 0;
    for (let found = current.indexOf(secret); found !== -1; found = current.indexOf(secret, from)) {
      parts.push(current.subarray(from, found), MASK);
      from = found + secret.length;
      count += 1;
    }
    if (parts.length > 0) current = Buffer.concat([...parts, current.subarray(from)]);
  }
  return { bytes: current, count };
}

/**
 * Redacts a stream: a secret that is split over chunks is found too, because the end of a chunk that could be the beginning of a secret
 * is held back until the next chunk or the end. Without a secret, chunks pass as they are.
 */
export async function* redactStream(source: AsyncIterable<Buffer>, secrets: readonly Buffer[]): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of source) {
    const { bytes } = redact(held.length === 0 ? chunk : Buffer.concat([held, chunk]), secrets);
    const keep = Math.max(0, ...secrets.map((secret) => openPrefix(bytes, secret)));
    held = Buffer.from(bytes.subarray(bytes.length - keep));
    if (bytes.length > keep) yield bytes.subarray(0, bytes.length - keep);
  }
  if (held.length > 0) yield held;
}

/** The length of the longest proper beginning of the secret with which the bytes end. */
function openPrefix(bytes: Buffer, secret: Buffer): number {
  for (let length = Math.min(secret.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) return length;
  }
  return 0;
}
