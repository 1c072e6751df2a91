import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract, type Header } from "tar-stream";
import { messageOf, RunnerError } from "../../base/errors.ts";
import { type Abortable, checkAborted } from "../api-error.ts";
import type { ArchiveEntry, ArchiveLimits, ArchiveSummary, Refusal, RefusalReason } from "./entry.ts";
import { resolveLink } from "./links.ts";

export type { ArchiveEntry, ArchiveLimits, ArchiveSummary, Refusal, RefusalReason } from "./entry.ts";

export interface ReadArchiveOptions extends Abortable {
  /** Absolute path that was copied, as `/app`; its last component names the archive's first entry. */
  readonly root: string;
  readonly limits?: ArchiveLimits;
  /** Takes an accepted entry; `body` is a file's content and is drained when it is not read. Links come last. */
  readonly onEntry: (entry: ArchiveEntry, body: AsyncIterable<Buffer> | null) => void | Promise<void>;
}

const DEFAULTS = { entries: 100_000, fileBytes: 1024 ** 3, totalBytes: 4 * 1024 ** 3 };
const MAX_LISTED = 1_000;
const BLOCK = 512;

/**
 * Reads a tar stream from a container that is not trusted. Nothing is written anywhere; the caller gets entries that are safe to keep.
 * Note that the engine leaves sockets out of its archives, so they cannot be listed.
 * @throws RunnerError `ARCHIVE_TORN` when the stream ends early or is no tar, `ARCHIVE_ROOT` when it holds something else than the root,
 * `ABORTED`, or whatever `onEntry` throws.
 */
export async function readArchive(source: Readable, options: ReadArchiveOptions): Promise<ArchiveSummary> {
  const { root, signal, onEntry } = options;
  const limits = { ...DEFAULTS, ...options.limits };
  checkAborted(signal, `read the archive of ${root}`);
  const reader = new ArchiveReader(root, limits, onEntry);
  const tar = extract();
  let total = 0;
  const counted = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      total += chunk.length;
      yield chunk;
    }
  };
  const feeding = pipeline(source, counted, tar, signal === undefined ? {} : { signal });
  feeding.catch(() => undefined);
  let end = 0;
  try {
    for await (const entry of tar) {
      const header = entry.header as unknown as ReadHeader;
      end = header.byteOffset + Math.ceil(header.size / BLOCK) * BLOCK;
      if (!(await reader.take(header, entry as unknown as Body))) break;
      entry.resume();
    }
    if (reader.truncatedBy === null) await feeding;
  } catch (thrown) {
    source.destroy();
    checkAborted(signal, `read the archive of ${root}`);
    if (reader.failure !== undefined) throw reader.failure;
    throw torn(root, messageOf(thrown), thrown);
  }
  source.destroy();
  if (reader.truncatedBy === null && total < end + 2 * BLOCK) throw torn(root, "the end-of-archive marker is missing");
  return reader.finish();
}

function torn(root: string, why: string, cause?: unknown): RunnerError {
  return new RunnerError("environment", "ARCHIVE_TORN", `the archive of ${root} is not whole: ${why}`, { cause });
}

/** What the library gives beyond its types: `type` is null for kinds it does not know. */
interface ReadHeader extends Omit<Header, "type" | "linkname" | "pax"> {
  readonly byteOffset: number;
  readonly type: Header["type"] | null;
  readonly linkname: string | null;
  readonly pax: Readonly<Record<string, string>> | null;
}

type Body = AsyncIterable<Buffer>;

/** The state of one reading. */
class ArchiveReader {
  truncatedBy: ArchiveSummary["truncatedBy"] = null;
  failure: unknown;
  readonly #root: string;
  readonly #prefix: string;
  readonly #limits: Required<ArchiveLimits>;
  readonly #onEntry: ReadArchiveOptions["onEntry"];
  readonly #types = new Map<string, "directory" | "file" | "hardlink" | "symlink" | "refused">();
  readonly #links = new Map<string, string>();
  readonly #refused: Refusal[] = [];
  #refusedTotal = 0;
  #seen = 0;
  #entries = 0;
  #bytes = 0;
  #skipped = 0;

  constructor(root: string, limits: Required<ArchiveLimits>, onEntry: ReadArchiveOptions["onEntry"]) {
    this.#root = root;
    this.#prefix = root.split("/").findLast((part) => part !== "") ?? "";
    this.#limits = limits;
    this.#onEntry = onEntry;
  }

  /** Judges one entry and hands it on; false ends the reading. */
  async take(header: ReadHeader, body: Body): Promise<boolean> {
    this.#seen += 1;
    if (this.#seen > this.#limits.entries) return this.#stop("entries");
    const path = this.#pathOf(header);
    if (path === undefined) return true;
    if (header.pax && Object.keys(header.pax).some((key) => key.startsWith("GNU.sparse."))) {
      return this.#refuse(path, "sparse-or-unknown-type");
    }
    switch (header.type) {
      case "directory":
        return this.#accept({ type: "directory", path, mode: header.mode & 0o777 }, null);
      case "file":
      case "contiguous-file":
        return this.#file({ type: "file", path, mode: header.mode & 0o777, size: header.size }, body);
      case "link":
        return this.#hardlink(path, header.linkname ?? "");
      case "symlink":
        // Judged at the end, when every link it may lead through is known.
        this.#links.set(path, header.linkname ?? "");
        this.#types.set(path, "symlink");
        return true;
      case "character-device":
      case "block-device":
        return this.#refuse(path, "device");
      case "fifo":
        return this.#refuse(path, "fifo");
      default:
        return this.#refuse(path, "sparse-or-unknown-type");
    }
  }

  /** Hands on the links and sums up. */
  async finish(): Promise<ArchiveSummary> {
    for (const [path, target] of this.#links) {
      const leads =
        path === "" ? ({ inside: false, why: "leaves-root" } as const) : resolveLink(this.#root, this.#links, path);
      if (!leads.inside) {
        this.#refuse(path, leads.why === "loop" ? "link-loop" : "link-leaves-root", target);
      } else if (target.includes("\uFFFD")) {
        this.#refuse(path, "not-utf8", target);
      } else {
        const type = this.#types.get(leads.path);
        const dangling = leads.path !== "" && (type === undefined || type === "refused");
        this.#entries += 1;
        await this.#onEntry({ type: "symlink", path, target, resolved: leads.path, dangling }, null);
      }
    }
    return {
      entries: this.#entries,
      bytes: this.#bytes,
      refused: this.#refused,
      refusedTotal: this.#refusedTotal,
      truncatedBy: this.truncatedBy,
    };
  }

  async #file(entry: ArchiveEntry & { type: "file" }, body: Body): Promise<boolean> {
    if (entry.size > this.#limits.fileBytes) {
      this.#skipped += entry.size;
      this.#types.set(entry.path, "refused");
      this.#refuse(entry.path, "file-too-large", `${entry.size} bytes`);
      // Passing over a file costs its bytes, and a sparse one may say any size.
      return this.#skipped > this.#limits.totalBytes ? this.#stop("totalBytes") : true;
    }
    if (this.#bytes + entry.size > this.#limits.totalBytes) return this.#stop("totalBytes");
    this.#bytes += entry.size;
    return this.#accept(entry, body);
  }

  async #hardlink(path: string, linkname: string): Promise<boolean> {
    const target = this.#relative(linkname);
    if (target === undefined) return this.#refuse(path, "link-leaves-root", linkname);
    const type = this.#types.get(target);
    if (type !== "file" && type !== "hardlink") return this.#refuse(path, "link-target-refused", linkname);
    return this.#accept({ type: "hardlink", path, target }, null);
  }

  async #accept(entry: ArchiveEntry, body: Body | null): Promise<boolean> {
    this.#types.set(entry.path, entry.type);
    this.#entries += 1;
    let broken = false;
    const watched = body === null ? null : watch(body, () => (broken = true));
    try {
      await this.#onEntry(entry, watched);
    } catch (thrown) {
      // A consumer that fails because the content ended early only passes on what the archive did.
      if (!broken) this.failure = thrown;
      throw thrown;
    }
    return true;
  }

  /** The entry's path below the root; undefined when it was refused. */
  #pathOf({ name }: ReadHeader): string | undefined {
    if (name.includes("\uFFFD")) {
      this.#refuse(name, "not-utf8");
      return undefined;
    }
    const path = this.#relative(name);
    if (path === undefined) {
      if (this.#seen === 1) {
        throw this.#fail(`its first entry is ${JSON.stringify(name)}`);
      }
      this.#refuse(name, "bad-path");
      return undefined;
    }
    const parents = path.split("/").slice(0, -1);
    const blocked = parents.some((_, index) => {
      const type = this.#types.get(parents.slice(0, index + 1).join("/"));
      return type !== undefined && type !== "directory";
    });
    if (blocked || this.#types.has(path)) {
      this.#refuse(path, "path-conflict");
      return undefined;
    }
    return path;
  }

  /** A name of the archive as a path below the root; undefined when it is not below it. */
  #relative(name: string): string | undefined {
    if (name.includes("\0")) return undefined;
    const parts = name.split("/").filter((part) => part !== "" && part !== ".");
    if (parts.includes("..")) return undefined;
    if (this.#prefix === "") return parts.join("/");
    if (name.startsWith("/") || parts[0] !== this.#prefix) return undefined;
    return parts.slice(1).join("/");
  }

  #refuse(path: string, reason: RefusalReason, detail?: string): boolean {
    this.#refusedTotal += 1;
    if (this.#refused.length < MAX_LISTED) {
      this.#refused.push(detail === undefined ? { path, reason } : { path, reason, detail });
    }
    return true;
  }

  #stop(limit: "entries" | "totalBytes"): false {
    this.truncatedBy = limit;
    return false;
  }

  #fail(why: string): RunnerError {
    const failure = new RunnerError("integrity", "ARCHIVE_ROOT", `the archive of ${this.#root} is another one: ${why}`);
    this.failure = failure;
    return failure;
  }
}

/** Tells when reading fails, and leaves the rest to be drained when the consumer stops early. */
async function* watch(body: Body, onFailure: () => void): AsyncGenerator<Buffer> {
  const iterator = body[Symbol.asyncIterator]();
  for (;;) {
    let next: IteratorResult<Buffer>;
    try {
      next = await iterator.next();
    } catch (thrown) {
      onFailure();
      throw thrown;
    }
    if (next.done) return;
    yield next.value;
  }
}
