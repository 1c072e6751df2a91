const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text inside HTML, in content and in quoted attributes alike. */
export function escapeHtml(text: string): string {
  return text.toWellFormed().replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}

/** What XML 1.0 cannot carry, not even as a reference. */
function isXml(code: number): boolean {
  return code >= 0x20 ? code !== 0xfffe && code !== 0xffff : code === 9 || code === 10 || code === 13;
}

/** Text inside XML 1.0; what XML cannot carry becomes U+FFFD, and line ends survive attribute values. */
export function escapeXml(text: string): string {
  const carried = [...text.toWellFormed()].map((char) => (isXml(char.codePointAt(0) ?? 0) ? char : "\ufffd")).join("");
  return escapeHtml(carried).replaceAll("\r", "&#13;").replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}
