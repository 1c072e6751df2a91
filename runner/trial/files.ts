import { stat } from "node:fs/promises";
import { posix } from "node:path";
import type { PackEntry } from "../docker/archive/pack.ts";
import type { FileList } from "../task/file-sets.ts";

/** A file list as archive entries to unpack at `/`; relative targets go below `base`. */
export async function* fileEntries(files: FileList, base = "/"): AsyncGenerator<PackEntry> {
  for (const file of files) {
    const path = posix.resolve(base, file.target).slice(1);
    if (file.type === "directory") yield { path, type: "directory", mode: file.mode };
    else if (file.source !== null) {
      yield { path, type: "file", mode: file.mode, file: file.source, size: (await stat(file.source)).size };
    }
  }
}
