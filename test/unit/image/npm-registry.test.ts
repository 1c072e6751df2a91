import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { npmRegistry } from "../../../runner/image/npm-registry.ts";

test("the registry is the one that the environment names, else the one that npm is set to, else unknown", async () => {
  const dir = await mkdtemp(join(tmpdir(), "npm-registry-"));
  try {
    expect(await npmRegistry({ PATH: dir })).toBeUndefined();
    await writeFile(join(dir, "npm"), '#!/bin/sh\n[ "$*" = "config get registry" ] && echo http://set.example/\n');
    await chmod(join(dir, "npm"), 0o755);
    expect(await npmRegistry({ PATH: dir })).toBe("http://set.example/");
    expect(await npmRegistry({ PATH: dir, NPM_CONFIG_REGISTRY: "" })).toBe("http://set.example/");
    expect(await npmRegistry({ PATH: dir, npm_config_registry: "http://named.example/" })).toBe(
      "http://named.example/",
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
