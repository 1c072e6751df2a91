import type { VerifierRecord } from "./record.ts";
import { DECISIVE } from "./verifier-logs.ts";

/** The decisive file that lay in the verifier's log folder and was not read, if there is one: nothing may be taken in its stead. */
export function unreadDecisive(refused: VerifierRecord["refused"]): { path: string; reason: string } | undefined {
  return refused?.find(({ path }) => DECISIVE.includes(path));
}

/** The decisive files with their digests, one a line: two gradings of the same artifacts must give the same text. */
export function decisiveFiles({ files }: Pick<VerifierRecord, "files">): string {
  return files
    .filter(({ path }) => DECISIVE.includes(path))
    .map(({ path, content }) => `${path} ${content.digest}`)
    .sort()
    .join("\n");
}
