// Writes the JSON Schemas of hand-written files from the schemas that the runner checks them with. With `--check` it writes nothing
// and fails when one is not current.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const BASE = "benchmarks/config/schemas";

// Bundled with its libraries, because a data URL cannot import packages by name.
const entry = `
  import { z } from "zod";
  import { studySchema } from "./runner/study/study-file.ts";
  const publish = (schema, title) => {
    const { $schema, ...rest } = z.toJSONSchema(schema, { io: "input" });
    return { $schema, title, ...rest };
  };
  export const schemas = { "study.schema.json": publish(studySchema, "Study file of the Jacobian evaluation runner") };
`;
const bundle = await build({
  stdin: { contents: entry, resolveDir: root, loader: "ts" },
  bundle: true,
  write: false,
  platform: "node",
  format: "esm",
  target: "node20.19",
  logLevel: "error",
});
const { schemas } = await import(
  `data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString("base64")}`
);

/** The text as the repository's formatter lays it out. */
function formatted(path, value) {
  const biome = join(root, "node_modules/.bin/biome");
  const { status, stdout, stderr } = spawnSync(biome, ["format", `--stdin-file-path=${path}`], {
    cwd: root,
    input: JSON.stringify(value),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`biome cannot format ${path}: ${stderr}`);
  return stdout;
}

function current(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

const stale = [];
for (const [name, schema] of Object.entries(schemas)) {
  const path = join(root, BASE, name);
  const text = formatted(`${BASE}/${name}`, schema);
  if (current(path) === text) continue;
  stale.push(`${BASE}/${name}`);
  if (!process.argv.includes("--check")) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
if (process.argv.includes("--check") && stale.length > 0) {
  process.stderr.write(`not current: ${stale.join(", ")}; run \`node scripts/write-schemas.mjs\`\n`);
  process.exit(1);
}
process.stdout.write(stale.length === 0 ? "schemas are current\n" : `wrote ${stale.join(", ")}\n`);
