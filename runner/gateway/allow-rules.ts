import { BlockList, isIP } from "node:net";
import { RunnerError } from "../base/errors.ts";

/** One line of an allow-list, read. */
interface AllowRule {
  readonly text: string;
  readonly ports: readonly number[];
  readonly host: string | null;
  readonly block: BlockList | null;
}

export interface AllowList {
  /** The rule that allows a name or an address at a port. */
  readonly byName: (host: string, port: number) => string | null;
  /** The rule that names this very address or its block at a port; only such a rule opens an address that is not public. */
  readonly byAddress: (address: string, port: number) => string | null;
}

const DEFAULT_PORTS = [80, 443];

/**
 * Reads an allow-list of exact hosts, `*.host`, addresses and CIDR blocks, each with an optional port.
 * @throws RunnerError `ALLOW_RULE` naming the rule.
 */
export function readAllowList(texts: readonly string[]): AllowList {
  const rules = texts.map(readRule);
  return {
    byName: (host, port) => rules.find((rule) => rule.ports.includes(port) && matchesName(rule, host))?.text ?? null,
    byAddress: (address, port) =>
      rules.find((rule) => rule.ports.includes(port) && rule.block?.check(address, family(address)))?.text ?? null,
  };
}

function readRule(text: string): AllowRule {
  const refuse = () =>
    new RunnerError("input", "ALLOW_RULE", `${JSON.stringify(text)} is no host, *.host, address or CIDR block`, {
      hint: "Write example.org, *.example.org, 192.0.2.7, 192.0.2.0/24 or [2001:db8::1]; each may end in :port.",
    });
  const match = /^(?:\[(?<six>[^\]]+)\]|(?<bare>[^:[\]]+|[^[\]]*:[^[\]]*:[^[\]]*?))(?::(?<port>[0-9]{1,5}))?$/.exec(
    text.trim(),
  );
  const host = (match?.groups?.six ?? match?.groups?.bare ?? "").toLowerCase();
  const port = match?.groups?.port;
  const ports = port === undefined ? DEFAULT_PORTS : [Number(port)];
  if (host === "" || ports.some((number) => number < 1 || number > 65_535)) throw refuse();
  const [address = "", prefix] = host.split("/");
  if (isIP(address) !== 0) {
    const bits = prefix === undefined ? (isIP(address) === 6 ? 128 : 32) : Number(prefix);
    const block = new BlockList();
    try {
      block.addSubnet(address, bits, family(address));
    } catch {
      throw refuse();
    }
    return { text, ports, host: prefix === undefined ? address : null, block };
  }
  if (!/^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(host)) throw refuse();
  return { text, ports, host, block: null };
}

function matchesName({ host, block }: AllowRule, name: string): boolean {
  if (block !== null && isIP(name) !== 0) return block.check(name, family(name));
  if (host === null) return false;
  return host.startsWith("*.") ? name.endsWith(host.slice(1)) && name.length > host.length - 1 : name === host;
}

function family(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
