import { createCipheriv, createHash } from "node:crypto";

/** Bytes that no compression and no deduplication can shorten, the same for the same name. */
export function noise(name: string, bytes: number): Buffer {
  const key = createHash("sha256").update(name).digest();
  return createCipheriv("aes-128-ctr", key.subarray(0, 16), key.subarray(16)).update(Buffer.alloc(bytes));
}

/** Lines of text as a command prints them, the same for the same name; at least `bytes` long. */
export function printedLines(name: string, bytes: number): string {
  const lines: string[] = [];
  for (let length = 0, line = 1; length < bytes; line += 1) {
    const words = createHash("sha256").update(`${name}\n${line}`).digest("hex");
    const text = `row ${line}: [${words.match(/.{8}/g)?.join(", ")}] "checked" \\ ok\n`;
    lines.push(text);
    length += text.length;
  }
  return lines.join("");
}
