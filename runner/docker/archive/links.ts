/** Where a symbolic link leads. */
export type LinkTarget =
  /** `path` is relative to the root ("" is the root itself). */
  { readonly inside: true; readonly path: string } | { readonly inside: false; readonly why: "leaves-root" | "loop" };

/** As many links as the kernel follows. */
const MAX_FOLLOWED = 40;

/**
 * Follows a symbolic link through all links of its tree, step by step as the kernel does, because `a/..` is not where it looks like
 * when `a` is a link itself. A path that leaves the root at any step is outside, also when it would come back.
 * @param root absolute path of the tree's root, against which absolute targets are read.
 * @param links raw targets by path relative to the root.
 */
export function resolveLink(root: string, links: ReadonlyMap<string, string>, path: string): LinkTarget {
  const todo = path.split("/").reverse();
  const at: string[] = [];
  let followed = 0;
  for (let part = todo.pop(); part !== undefined; part = todo.pop()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (at.length === 0) return { inside: false, why: "leaves-root" };
      at.pop();
      continue;
    }
    at.push(part);
    const target = links.get(at.join("/"));
    if (target === undefined) continue;
    followed += 1;
    if (followed > MAX_FOLLOWED) return { inside: false, why: "loop" };
    at.pop();
    if (target.startsWith("/")) {
      const rest = below(root, target);
      if (rest === undefined) return { inside: false, why: "leaves-root" };
      at.length = 0;
      todo.push(...rest.reverse());
    } else {
      todo.push(...target.split("/").reverse());
    }
  }
  return { inside: true, path: at.join("/") };
}

/** The components of an absolute path below the root; undefined when it does not begin with the root's own. */
function below(root: string, path: string): string[] | undefined {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const rootParts = root.split("/").filter((part) => part !== "");
  return rootParts.every((part, index) => parts[index] === part) ? parts.slice(rootParts.length) : undefined;
}
