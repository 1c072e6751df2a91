import { expect, test } from "vitest";
import { normaliseHost } from "../../../../runner/task/config/allowlist.ts";

test.each([
  ["Registry.Example.ORG.", { host: "registry.example.org" }],
  ["*.example.net", { host: "*.example.net" }],
  ["localhost", { host: "localhost" }],
  ["192.0.2.1", { host: "192.0.2.1" }],
  ["2001:DB8:0:0::1", { host: "2001:db8::1" }],
  ["192.0.2.0/24", { host: "192.0.2.0/24" }],
  ["2001:db8::/32", { host: "2001:db8::/32" }],
  ["0.0.0.0/0", { host: "0.0.0.0/0" }],
  ["", { reason: "it is empty" }],
  ["https://example.org", { reason: "it is a URL; name the host alone" }],
  ["example.org:443", { reason: "ports are not allowed" }],
  ["example.org/path", { reason: "paths are not allowed; a block is written ADDRESS/LENGTH" }],
  ["[2001:db8::1]", { reason: "an IPv6 address stands without brackets" }],
  ["fe80::1%eth0", { reason: "zone ids are not allowed" }],
  ["192.0.2.1/24", { reason: "the block has bits set beyond its prefix" }],
  ["2001:db8::1/32", { reason: "the block has bits set beyond its prefix" }],
  ["192.0.2.0/33", { reason: "a prefix is at most 32 bits" }],
  ["192.0.2", { reason: "it is not a complete IPv4 address" }],
  ["exa mple.org", { reason: "it is not a host name" }],
  ["a.*.example.org", { reason: "it is not a host name" }],
  ["-a.example.org", { reason: "it is not a host name" }],
])("the allow-list entry %j is read as %j", (entry, expected) => {
  expect(normaliseHost(entry)).toEqual(expected);
});
