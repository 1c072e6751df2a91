// Fails on an import that goes up or sideways between the layers of runner/ (CONTRIBUTING.md, "Layers").
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const runner = join(root, "runner");

const LAYERS = [
  ["base"],
  ["task", "image", "docker", "agent", "gateway", "trace", "evidence", "stats", "report"],
  ["trial"],
  ["study", "proof", "lean", "perf"],
  ["cli"],
];
const rank = new Map(LAYERS.flatMap((names, index) => names.map((name) => [name, index])));

/** The layer folder a file of runner/ belongs to. */
function layerOf(path) {
  return relative(runner, path).split("/")[0];
}

const failures = [];
let edges = 0;
for (const entry of readdirSync(runner, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
  const file = join(entry.parentPath, entry.name);
  const from = layerOf(file);
  if (!rank.has(from)) failures.push(`${relative(root, file)}: "${from}" is not a layer`);
  for (const { fileName } of ts.preProcessFile(readFileSync(file, "utf8"), true, true).importedFiles) {
    if (!fileName.startsWith(".")) continue;
    edges += 1;
    const target = resolve(dirname(file), fileName);
    const to = target.startsWith(`${runner}/`) ? layerOf(target) : "(outside runner/)";
    if (from === to) continue;
    if (!rank.has(to) || rank.get(to) >= rank.get(from)) {
      failures.push(`${relative(root, file)}: layer "${from}" must not import "${to}" (${fileName})`);
    }
  }
}

if (failures.length > 0) {
  process.stderr.write(`${failures.join("\n")}\n${failures.length} forbidden imports\n`);
  process.exit(1);
}
process.stdout.write(`imports: ${edges} edges, all downward\n`);
