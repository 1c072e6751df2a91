/** An accepted entry. Paths are relative to the root; "" is the root itself. Modes are permission bits, without set-id and sticky. */
export type ArchiveEntry =
  | { readonly type: "directory"; readonly path: string; readonly mode: number }
  | { readonly type: "file"; readonly path: string; readonly mode: number; readonly size: number }
  /** `target` as written; `resolved` is where it leads, which may not exist (`dangling`). */
  | {
      readonly type: "symlink";
      readonly path: string;
      readonly target: string;
      readonly resolved: string;
      readonly dangling: boolean;
    }
  /** Another name of an accepted file of the same archive. */
  | { readonly type: "hardlink"; readonly path: string; readonly target: string };

export type RefusalReason =
  /** A link whose way leaves the root, or never ends. */
  | "link-leaves-root"
  | "link-loop"
  /** A hard link to something that was not accepted. */
  | "link-target-refused"
  | "device"
  | "fifo"
  | "sparse-or-unknown-type"
  /** A path with `..`, a NUL, an absolute path, or one outside the root. */
  | "bad-path"
  | "not-utf8"
  /** The path leads through something that is not a folder, or was there before. */
  | "path-conflict"
  | "file-too-large";

export interface Refusal {
  readonly path: string;
  readonly reason: RefusalReason;
  /** The link's target or the file's size, for people. */
  readonly detail?: string;
}

export interface ArchiveLimits {
  /** Most entries. Default 100,000. */
  readonly entries?: number;
  /** Most bytes of one file. Default 1 GiB. */
  readonly fileBytes?: number;
  /** Most bytes of all accepted files. Default 4 GiB. */
  readonly totalBytes?: number;
}

export interface ArchiveSummary {
  readonly entries: number;
  readonly bytes: number;
  /** At most 1,000 are listed; `refusedTotal` counts all. */
  readonly refused: readonly Refusal[];
  readonly refusedTotal: number;
  /** The limit that ended the reading; null when the archive was read to its end. */
  readonly truncatedBy: "entries" | "totalBytes" | null;
}
