import { isIP } from "node:net";

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/**
 * Normalises one allow-list entry: an exact host name, `*.host`, an IPv4 or IPv6 literal or a strict CIDR block, in lower case without a
 * trailing dot. Returns the reason when the entry is something else (a URL, a port, a path, brackets, a zone id).
 */
export function normaliseHost(entry: string): { readonly host: string } | { readonly reason: string } {
  const text = entry.trim().toLowerCase();
  if (text === "") return { reason: "it is empty" };
  if (text.includes("://")) return { reason: "it is a URL; name the host alone" };
  if (text.includes("%")) return { reason: "zone ids are not allowed" };
  if (text.includes("[") || text.includes("]")) return { reason: "an IPv6 address stands without brackets" };
  if (isIP(text) !== 0) return { host: canonicalAddress(text) };
  if (text.includes("/")) return normaliseBlock(text);
  if (text.includes(":")) return { reason: "ports are not allowed" };
  const name = text.replace(/\.$/, "");
  const labels = (name.startsWith("*.") ? name.slice(2) : name).split(".");
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) return { reason: "it is not a host name" };
  if (labels.every((label) => /^\d+$/.test(label))) return { reason: "it is not a complete IPv4 address" };
  return { host: name };
}

function normaliseBlock(text: string): { readonly host: string } | { readonly reason: string } {
  const [address = "", length = "", ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || !/^\d{1,3}$/.test(length)) {
    return { reason: "paths are not allowed; a block is written ADDRESS/LENGTH" };
  }
  const bits = version === 4 ? 32 : 128;
  const prefix = Number(length);
  if (prefix > bits) return { reason: `a prefix is at most ${bits} bits` };
  const value = addressBits(address);
  const host = value & ((1n << BigInt(bits - prefix)) - 1n);
  if (host !== 0n) return { reason: "the block has bits set beyond its prefix" };
  return { host: `${canonicalAddress(address)}/${prefix}` };
}

/** The shortest usual spelling, so that equal addresses are equal strings. */
function canonicalAddress(address: string): string {
  if (isIP(address) === 4) return address;
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

function addressBits(address: string): bigint {
  if (isIP(address) === 4) return address.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  const [head = "", tail] = canonicalAddress(address).split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const middle = tail === undefined ? [] : new Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...middle, ...right].reduce((sum, part) => (sum << 16n) | BigInt(`0x${part}`), 0n);
}
