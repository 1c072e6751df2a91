// Loaded before the agent's program. It has no switch that keeps a task's own settings, rules, skills and .env files out while MCP servers
// work, so they are hidden from the program here. Commands that the model runs see every file as it is.
"use strict";
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { syncBuiltinESMExports } = require("node:module");
const { fileURLToPath } = require("node:url");

// The program's Node runs under its own loader, which stands where Node would; what it starts again goes the same way.
process.execPath = path.join(__dirname, "bin", "node");

const own = path.resolve(process.env.QWEN_HOME);
const implicit = new Set([path.join(os.homedir(), ".env")]);
for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
  implicit.add(path.join(folder, ".env"));
  if (folder === path.dirname(folder)) break;
}

/** The absolute path that a call names; undefined when it names none. */
function pathOf(given) {
  if (typeof given === "string") return path.resolve(given);
  if (Buffer.isBuffer(given)) return path.resolve(given.toString());
  if (given instanceof URL && given.protocol === "file:") return path.resolve(fileURLToPath(given));
  return undefined;
}

/** True for everything in a `.qwen` folder that is not the agent's. */
function hidden(given) {
  const full = pathOf(given);
  if (full === undefined || full === own || full.startsWith(`${own}/`)) return false;
  return full.split("/").includes(".qwen");
}

function absent(call, given) {
  const error = new Error(`ENOENT: no such file or directory, ${call} '${given}'`);
  return Object.assign(error, { code: "ENOENT", errno: -2, syscall: call, path: String(given) });
}

const READERS = ["access", "lstat", "open", "opendir", "readFile", "readdir", "readlink", "realpath", "stat"];
for (const name of READERS) {
  const sync = fs[`${name}Sync`];
  const sealedSync = (given, ...rest) => {
    if (!hidden(given)) return sync.call(fs, given, ...rest);
    if (rest[0]?.throwIfNoEntry === false) return undefined;
    throw absent(name, given);
  };
  fs[`${name}Sync`] = Object.assign(sealedSync, { native: sync.native });
  const classic = fs[name];
  const sealed = (given, ...rest) => {
    if (!hidden(given)) return classic.call(fs, given, ...rest);
    const callback = rest.at(-1);
    process.nextTick(() => callback(absent(name, given)));
  };
  fs[name] = Object.assign(sealed, { native: classic.native });
  const promised = fs.promises[name];
  fs.promises[name] = async (given, ...rest) => {
    if (hidden(given)) throw absent(name, given);
    return await promised.call(fs.promises, given, ...rest);
  };
}
const { existsSync } = fs;
// The program looks for .env files with this call alone.
fs.existsSync = (given) => !hidden(given) && !implicit.has(pathOf(given)) && existsSync(given);
syncBuiltinESMExports();

// The program's bundle copies modules key by key, and two of them are megabytes of bytes: that takes seconds and hundreds of megabytes at
// the first shell command. Whoever lists the keys of so many bytes gets none; the bytes themselves are the module's default export.
const { getOwnPropertyNames } = Object;
const MANY_BYTES = 65_536;
Object.getOwnPropertyNames = (value) =>
  value instanceof Uint8Array && value.length > MANY_BYTES ? [] : getOwnPropertyNames(value);
