import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { privateAuthorities } from "../../../runner/image/host-ca.ts";

const PRIVATE = `-----BEGIN CERTIFICATE-----
MIIBYTCCAROgAwIBAgIUO/4tDuSDYxMFREC0fT8ToIyZIaYwBQYDK2VwMCUxIzAh
BgNVBAMMGlByaXZhdGUgdGVzdCBhdXRob3JpdHkgb25lMCAXDTI2MTEzMDEyMDk0
MVoYDzIxMjYxMTA2MTIwOTQxWjAlMSMwIQYDVQQDDBpQcml2YXRlIHRlc3QgYXV0
aG9yaXR5IG9uZTAqMAUGAytlcAMhAGeGSfhz1SlvJNfLOtfPTmF71PZZefNBp0+x
8/l1YY+7o1MwUTAdBgNVHQ4EFgQUiaSs210VRwSWoGhU6fUH4L5dlCMwHwYDVR0j
BBgwFoAUiaSs210VRwSWoGhU6fUH4L5dlCMwDwYDVR0TAQH/BAUwAwEB/zAFBgMr
ZXADQQDaYok4JHVDITAHxU02WmxK/CU0irpYp7YmaHgQ2DgKKpo/74QN39z2AoyI
O4lgiL+4CpNe2sOqkTSyIo6eM60M
-----END CERTIFICATE-----`;
const [first = "", second = ""] = rootCertificates;

describe("privateAuthorities", () => {
  it("keeps what is in no public set, once, and leaves out what is no certificate", () => {
    const bundles = [
      `# words\n${first}\n${PRIVATE}\n`,
      `${PRIVATE}\n${second}`,
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    ];
    const found = privateAuthorities({ bundles, publicCertificates: rootCertificates });
    expect(found?.privatePem).toBe(`${PRIVATE}\n`);
    expect(found?.bundlePem).toBe(`${rootCertificates.join("\n")}\n${PRIVATE}\n`);
  });

  it("is null when a host trusts public authorities only", () => {
    expect(privateAuthorities({ bundles: [first, second], publicCertificates: rootCertificates })).toBeNull();
    expect(privateAuthorities({ bundles: [], publicCertificates: [] })).toBeNull();
  });

  it("takes a former member of the public set for public", () => {
    expect(privateAuthorities({ bundles: [PRIVATE], publicCertificates: [PRIVATE] })).toBeNull();
  });
});
