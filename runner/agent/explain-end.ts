import type { EndReason } from "../base/formats/transcript.ts";
import { isUnknown } from "../base/unknown.ts";
import type { EndEvidence, ExitMeaning } from "./model-agent.ts";

const OWN_DOING: Partial<Record<EndReason, string>> = {
  refusal: "the model declined",
  length: "the model's answer reached its length limit",
  empty: "the model's answer was empty",
  budget: "a budget was exhausted",
  turns: "the agent reached its limit of turns",
};

/** What an end means for the trial; `detail` is the agent's own words. */
export function explainReason(reason: EndReason, detail: string | null): ExitMeaning {
  switch (reason) {
    case "provider":
      return { kind: "provider", detail: detail ?? "the agent could not get an answer from the model" };
    case "mcp":
      return { kind: "condition", detail: detail ?? "the agent could not use the MCP server" };
    case "crash":
      return { kind: "crash", detail: detail ?? "the agent failed" };
    case "finished":
      return { kind: "self", detail: null };
    default:
      return { kind: "self", detail: OWN_DOING[reason] ?? detail };
  }
}

/** Goes by the transcript where it says how the agent ended, and by the exit code alone where it does not. */
export function explainByTranscript({ exitCode, transcript, lastWords }: EndEvidence): ExitMeaning {
  if (!isUnknown(transcript) && !isUnknown(transcript.end)) {
    const { reason, detail } = transcript.end;
    if (reason !== "finished" || exitCode === 0) return explainReason(reason, detail);
  }
  if (exitCode === 0) return { kind: "self", detail: null };
  const words = lastWords.trim() === "" ? "" : `: ${lastWords.trim().slice(-500)}`;
  return { kind: "crash", detail: `the agent ended with exit code ${exitCode}${words}` };
}
