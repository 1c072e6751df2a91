import type { JacobianFixture } from "./mcp-servers-jacobian.ts";
import { jacobianFixtures } from "./mcp-servers-jacobian.ts";

/** What varies from run to run of the same server, and what depends on the caller's ids. */
function settle(text: string): string {
  return text.replace(/"id":[0-9]+/g, '"id":0').replace(/runtime_ms(\\*)":\s*[0-9.]+/g, 'runtime_ms$1":0');
}

/**
 * Sends every recorded request to a server and compares its answers with the recorded ones: status, content type and body. Returns one
 * line for each difference. The recorded stand-in and the pinned server must both give none.
 */
export async function jacobianContract(url: string): Promise<string[]> {
  const differences: string[] = [];
  for (const fixture of jacobianFixtures()) differences.push(...(await compare(url, fixture)));
  return differences;
}

async function compare(url: string, { name, request, response }: JacobianFixture): Promise<string[]> {
  const answer = await fetch(url, {
    method: request.method,
    headers: { ...request.headers },
    ...(request.body === null || request.body === "" ? {} : { body: request.body }),
  });
  const body = settle(await answer.text());
  const recorded = settle(response.body);
  const found: string[] = [];
  if (answer.status !== response.status) found.push(`${name}: status ${answer.status}, recorded ${response.status}`);
  const type = answer.headers.get("content-type");
  const recordedType = response.headers["content-type"] ?? null;
  if (type !== recordedType) found.push(`${name}: content type ${type}, recorded ${recordedType}`);
  if (body !== recorded) found.push(`${name}: body ${body.slice(0, 300)}, recorded ${recorded.slice(0, 300)}`);
  return found;
}
