import type { Normalizers } from "../base/formats/cassette.ts";
import type { ModelApi } from "../base/formats/common.ts";
import type { ToolNaming } from "../base/formats/tool-naming.ts";
import type { AgentTranscript } from "../base/formats/transcript.ts";
import type { Known } from "../base/unknown.ts";

/** What a launch is told: the same in both conditions but for `mcp`. */
export interface LaunchContext {
  readonly instruction: string;
  readonly modelId: string;
  readonly reasoningEffort: string | null;
  /** The only address the agent can reach, such as `http://gateway:8080`. */
  readonly gatewayUrl: string;
  /** Name of the study's MCP server, reached at `<gatewayUrl>/mcp`; null in control. */
  readonly mcp: { readonly name: string } | null;
  /** Most model requests that the budget allows. */
  readonly modelRequests: number;
  /** A fresh folder for the agent's files: its home, outside the task's folders. */
  readonly home: string;
  /** Where the agent's runtime is mounted read-only. */
  readonly runtime: string;
  /** The task's working directory. */
  readonly workdir: string;
}

/** How to start an agent in its container. Its standard input is at its end from the start. */
export interface Launch {
  /** Files to put there first; paths are absolute. */
  readonly files: readonly { readonly path: string; readonly content: string }[];
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Why an agent ended, as far as that is not its own doing. */
export type ExitMeaning =
  /** The agent finished, or failed in a way that is its own doing. */
  | { readonly kind: "self" | "crash"; readonly detail: string | null }
  /** The model provider failed. */
  | { readonly kind: "provider"; readonly detail: string }
  /** The agent could not use the condition's MCP server. */
  | { readonly kind: "condition"; readonly detail: string };

/** What an ended agent left that tells why it ended; all of it is kept, so that a verification says the same. */
export interface EndEvidence {
  readonly exitCode: number;
  readonly transcript: Known<AgentTranscript>;
  /** The last 4 KiB of what it printed on its standard error, as text. */
  readonly lastWords: string;
}

/**
 * Where a task's image or files could plant settings for this agent. None of them may have an effect; the ones that are there are
 * reported as observations of the trial.
 */
export interface AmbientPaths {
  /** Below the home of the image's user, such as `.codex/config.toml`. */
  readonly home: readonly string[];
  /** In the working directory and every folder above it, such as `AGENTS.md`. */
  readonly project: readonly string[];
  /** Absolute paths, such as `/etc/codex/config.toml`. */
  readonly system: readonly string[];
  /** Absolute folders that no switch turns off: the container gets an empty one in their place. */
  readonly masked: readonly string[];
}

/** An agent that is driven by a model through the gateway. */
export interface ModelAgent {
  readonly name: string;
  readonly version: string;
  /** The npm release that its runtime is made from; null for a program of the runner's own. */
  readonly npm: { readonly package: string; readonly version: string } | null;
  /** The runner's image that holds its runtime; mounted read-only, never installed per trial. */
  readonly runtimeImage: string;
  /** Folder of the runtime in that image, and its mount point. */
  readonly runtime: string;
  readonly apis: readonly ModelApi[];
  /** The words for reasoning effort that it takes; null when it hands on any. */
  readonly reasoningEfforts: readonly string[] | null;
  /** How it shows tools to its model when the study's server has this name; the same in both conditions. */
  readonly naming: (server: string) => ToolNaming;
  /** Member of `_meta` in its tools/call requests that holds the model's id of the call; null when it sends none. */
  readonly callIdMeta: string | null;
  /** Own tools that its transcript never tells of. */
  readonly untold: readonly string[];
  /** How its model calls its shell: for conversations that are written for it. */
  readonly shellCall: (command: string) => {
    readonly name: string;
    readonly arguments: Readonly<Record<string, string | number>>;
  };
  /** Turns that its first request already holds: words that it puts into the model's mouth. */
  readonly openingTurns: number;
  readonly ambient: AmbientPaths;
  /**
   * What differs in its model requests from one run to the next and means nothing: left out of a recording's comparison. A recorded
   * body is normalised again when it is compared, so nothing may be dropped by its place in a list.
   */
  readonly volatile: Normalizers;
  readonly launch: (context: LaunchContext) => Launch;
  /** Reads its standard output. `server` is the study's name of the MCP server. What cannot be read is unknown, never an exception. */
  readonly readTranscript: (stdout: Uint8Array, server: string) => Known<AgentTranscript>;
  readonly explainEnd: (evidence: EndEvidence) => ExitMeaning;
}
