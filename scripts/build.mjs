// Builds dist/: the command line, the gateway and the agent loop as bundles, and the digest of the sources they came from.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { sourceDigest } from "./source-digest.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
// Libraries are bundled: loading their files one by one would take longer than most commands, and the images of container programs hold none.
const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  outdir: "dist",
  outExtension: { ".js": ".mjs" },
  // Native parts that their libraries do without.
  external: ["*.node", "cpu-features"],
  // What CommonJS libraries find around them.
  banner: {
    js: [
      'import { createRequire as __createRequire } from "node:module";',
      'import { fileURLToPath as __fileURLToPath } from "node:url";',
      "const require = __createRequire(import.meta.url);",
      "const __filename = __fileURLToPath(import.meta.url);",
      'const __dirname = __fileURLToPath(new URL(".", import.meta.url));',
    ].join(" "),
  },
  logLevel: "warning",
  legalComments: "none",
};

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

await Promise.all([
  build({
    ...shared,
    entryPoints: {
      cli: "runner/cli/main.ts",
      "calibration-worker": "runner/perf/calibration-worker.ts",
      "examine-worker": "runner/study/examine-worker.ts",
    },
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    sourcemap: "linked",
  }),
  // Each program of a container is one file.
  build({ ...shared, entryPoints: { gateway: "runner/gateway/main.ts" } }),
  build({ ...shared, entryPoints: { toolloop: "runner/agent/toolloop/main.ts" } }),
]);

// The engine's client reads these beside itself for a BuildKit session.
cpSync(join(root, "node_modules", "dockerode", "lib", "proto"), join(dist, "chunks", "proto"), { recursive: true });
writeFileSync(join(dist, "source-digest"), `${sourceDigest(root)}\n`);
