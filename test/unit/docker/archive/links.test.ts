import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { resolveLink } from "../../../../runner/docker/archive/links.ts";

const resolve = (links: Record<string, string>, path: string) =>
  resolveLink("/app", new Map(Object.entries(links)), path);

test("links that stay inside are resolved, with `..` and absolute targets too (H3)", () => {
  expect(resolve({ "a/b/l": "../c/./x" }, "a/b/l")).toEqual({ inside: true, path: "a/c/x" });
  expect(resolve({ l: "/app/data//x" }, "l")).toEqual({ inside: true, path: "data/x" });
  expect(resolve({ l: "." }, "l")).toEqual({ inside: true, path: "" });
  expect(resolve({ "a/l": "..", m: "a/l/x" }, "m")).toEqual({ inside: true, path: "x" });
});

test("links that leave at any step are outside, also through another link and also when they come back (H3)", () => {
  const outside = { inside: false, why: "leaves-root" };
  expect(resolve({ x: "/etc" }, "x")).toEqual(outside);
  expect(resolve({ x: "../app/y" }, "x")).toEqual(outside);
  expect(resolve({ x: "/app/../etc" }, "x")).toEqual(outside);
  expect(resolve({ x: "/application" }, "x")).toEqual(outside);
  // Read as text `deep/er/q/..` stays inside; what it names is above the root.
  expect(resolve({ "deep/er/q": "../..", "deep/er/f": "q/.." }, "deep/er/f")).toEqual(outside);
  expect(resolve({ y: "x/passwd", x: "/etc" }, "y")).toEqual(outside);
});

test("links that go round are named so", () => {
  expect(resolve({ a: "b", b: "a" }, "a")).toEqual({ inside: false, why: "loop" });
  expect(resolve({ a: "a/x" }, "a")).toEqual({ inside: false, why: "loop" });
});

test("whatever links there are, a link that counts as inside leads inside for the kernel as well", async () => {
  const part = fc.constantFrom("a", "b", "c", "..", ".");
  const target = fc.tuple(fc.boolean(), fc.array(part, { minLength: 1, maxLength: 5 }));
  const place = fc.constantFrom("a", "b", "d/a", "d/b", "d/e/c");
  await fc.assert(
    fc.asyncProperty(fc.dictionary(place, target, { minKeys: 1, maxKeys: 5 }), async (wanted) => {
      const base = await mkdtemp(join(tmpdir(), "links-"));
      try {
        const root = await realpath(base).then((real) => join(real, "root"));
        await mkdir(join(root, "d/e"), { recursive: true });
        const links = new Map<string, string>();
        for (const [path, [absolute, parts]] of Object.entries(wanted)) {
          const raw = absolute ? `${root}/${parts.join("/")}` : parts.join("/");
          await mkdir(dirname(join(root, path)), { recursive: true });
          await symlink(raw, join(root, path));
          links.set(path, raw);
        }
        for (const path of links.keys()) {
          const real = await realpath(join(root, path)).catch(() => undefined);
          const leads = resolveLink(root, links, path);
          if (real === undefined || !leads.inside) continue;
          expect(real).toBe(leads.path === "" ? root : join(root, leads.path));
        }
      } finally {
        await rm(base, { recursive: true });
      }
    }),
    { numRuns: 150 },
  );
});
