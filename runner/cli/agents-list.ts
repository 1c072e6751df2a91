import { MODEL_AGENTS, PLAIN_AGENTS } from "../agent/registry.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.agentsList> = async ({ json }, _positionals, io) => {
  const agents = MODEL_AGENTS.map((agent) => {
    const { own, withServer = [] } = agent.naming("server");
    return {
      name: agent.name,
      version: agent.version,
      npm: agent.npm === null ? null : `${agent.npm.package}@${agent.npm.version}`,
      image: agent.runtimeImage,
      apis: agent.apis,
      reasoningEfforts: agent.reasoningEfforts,
      tools: own,
      toolsWithServer: withServer,
      callIds: agent.callIdMeta !== null,
    };
  });
  if (json) {
    io.out(`${JSON.stringify({ agents, withoutModel: PLAIN_AGENTS })}\n`);
    return 0;
  }
  for (const agent of agents) {
    io.out(`${agent.name} ${agent.version}${agent.npm === null ? "" : ` (${agent.npm})`}\n`);
    io.out(`  APIs: ${agent.apis.join(", ")}\n`);
    io.out(`  reasoning effort: ${agent.reasoningEfforts?.join(", ") ?? "any word, handed on"}\n`);
    io.out(`  own tools: ${agent.tools?.join(", ") ?? "not known beforehand"}\n`);
    if (agent.toolsWithServer.length > 0) io.out(`  beside a server: ${agent.toolsWithServer.join(", ")}\n`);
  }
  io.out(`without a model: ${PLAIN_AGENTS.join(", ")}\n`);
  return 0;
};
