// Builds dist/: the command line, the gateway and the agent loop as bundles, and the digest of the sources they came from.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { sourceDigest } from "./source-digest.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  sourcemap: "linked",
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
    outdir: "dist",
    outExtension: { ".js": ".mjs" },
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    packages: "external",
  }),
  // The container programs carry their libraries with them: their images hold no node_modules.
  ...[
    ["gateway", "runner/gateway/main.ts"],
    ["toolloop", "runner/agent/toolloop/main.ts"],
  ].map(([name, entry]) =>
    build({
      ...shared,
      entryPoints: { [name]: entry },
      outdir: "dist",
      outExtension: { ".js": ".mjs" },
      sourcemap: false,
      banner: {
        js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
      },
    }),
  ),
]);

writeFileSync(join(dist, "source-digest"), `${sourceDigest(root)}\n`);
