import type { ModelApi } from "../base/formats/common.ts";
import type { ToolNaming } from "../base/formats/tool-naming.ts";

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

/** How to start an agent in its container. */
export interface Launch {
  /** Files to put there first; paths are absolute. */
  readonly files: readonly { readonly path: string; readonly content: string }[];
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What an agent's exit code means, where it means more than success. */
export type ExitMeaning =
  /** The agent finished, or failed in a way that is its own doing. */
  | { readonly kind: "self" | "crash"; readonly detail: string | null }
  /** The model provider failed. */
  | { readonly kind: "provider"; readonly detail: string }
  /** The agent could not use the condition's MCP server. */
  | { readonly kind: "condition"; readonly detail: string };

/** An agent that is driven by a model through the gateway. */
export interface ModelAgent {
  readonly name: string;
  readonly version: string;
  /** The runner's image that holds its runtime; mounted read-only, never installed per trial. */
  readonly runtimeImage: string;
  /** Folder of the runtime in that image, and its mount point. */
  readonly runtime: string;
  readonly apis: readonly ModelApi[];
  readonly naming: ToolNaming;
  readonly launch: (context: LaunchContext) => Launch;
  readonly explainExit: (exitCode: number) => ExitMeaning;
}
