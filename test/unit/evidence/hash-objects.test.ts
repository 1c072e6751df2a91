import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { hashObjects } from "../../../runner/evidence/hash-objects.ts";
import type { ObjectRef } from "../../../runner/evidence/object-ref.ts";
import { openStore } from "../../../runner/evidence/store.ts";

const signal = new AbortController().signal;

test("hashing in threads counts the bytes and names every object that is not what its reference says", async () => {
  const dir = await mkdtemp(join(tmpdir(), "hash-objects-"));
  try {
    const store = await openStore(dir);
    const refs: ObjectRef[] = [];
    for (let index = 0; index < 600; index += 1) refs.push(await store.put(`object ${index}`));
    const size = refs.reduce((sum, ref) => sum + ref.size, 0);
    expect(await hashObjects(dir, refs, signal)).toEqual({ bytes: size, problems: [] });
    expect(await hashObjects(dir, [], signal)).toEqual({ bytes: 0, problems: [] });
    const [a, b, c, d] = refs as [ObjectRef, ObjectRef, ObjectRef, ObjectRef];
    await writeFile(store.path(a.digest), "object X");
    await writeFile(store.path(b.digest), "longer than before");
    await rm(store.path(c.digest));
    await rm(store.path(d.digest));
    await symlink("/dev/zero", store.path(d.digest));
    const folder = { digest: digestBytes("folder"), size: 1 };
    await openStore(store.path(folder.digest));
    const { problems } = await hashObjects(dir, [...refs, folder], signal);
    expect(problems).toEqual([
      `object ${a.digest} holds bytes with digest ${digestBytes("object X")}`,
      `object ${b.digest} has 18 bytes, its record says 8`,
      `object ${c.digest} is missing`,
      `object ${d.digest} is not a regular file`,
      `object ${folder.digest} is not a regular file`,
    ]);
    const gone = AbortSignal.abort(new Error("stop"));
    await expect(hashObjects(dir, refs, gone)).rejects.toThrow("stop");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
