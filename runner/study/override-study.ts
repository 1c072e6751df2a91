import { findAgent } from "../agent/registry.ts";
import type { LoadedStudy } from "./study-file.ts";

/** What the command line says in place of a study's file. */
export interface StudyOverrides {
  readonly agent: string | null;
  readonly model: string | null;
  readonly reasoningEffort: string | null;
}

/**
 * A study with another agent, model or reasoning effort. An agent that does not speak the study's API is given its own: the provider is
 * the same. A version, a command line or an effort that the file names belongs to its own agent and does not pass to another.
 */
export function overrideStudy(loaded: LoadedStudy, { agent, model, reasoningEffort }: StudyOverrides): LoadedStudy {
  if (agent === null && model === null && reasoningEffort === null) return loaded;
  const { study } = loaded;
  const named = agent === null || agent === study.agent.name ? study.agent : { name: agent };
  const found = findAgent(named.name);
  const api = study.model === undefined || typeof found === "string" ? undefined : found.apis[0];
  const spoken = typeof found !== "string" && study.model !== undefined && found.apis.includes(study.model.api);
  return {
    ...loaded,
    overridden: true,
    study: {
      ...study,
      agent: { ...named, ...(reasoningEffort === null ? {} : { reasoningEffort }) },
      ...(study.model === undefined
        ? {}
        : {
            model: {
              ...study.model,
              ...(model === null ? {} : { id: model }),
              ...(spoken || api === undefined ? {} : { api }),
            },
          }),
    },
  };
}
