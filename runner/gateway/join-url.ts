/** A path and query of the agent below a base URL; the base may have a query of its own, which comes first. */
export function joinUrl(base: string, path: string, search: string): URL {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  if (search.length > 1) url.search = url.search === "" ? search : `${url.search}&${search.slice(1)}`;
  url.hash = "";
  return url;
}
