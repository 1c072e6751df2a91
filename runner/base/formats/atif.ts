/** The parts of a Harbor trajectory (ATIF v1.7) that the runner writes. Nothing else may stand in it: its readers forbid what they do not know. */
export interface AtifTrajectory {
  readonly schema_version: "ATIF-v1.7";
  readonly session_id: string;
  readonly agent: { readonly name: string; readonly version: string; readonly model_name: string };
  readonly steps: readonly AtifStep[];
  readonly notes: string;
  /** From the gateway, once a request; a figure that is not known is null. */
  readonly final_metrics: {
    readonly total_prompt_tokens: number | null;
    readonly total_completion_tokens: number | null;
    readonly total_cached_tokens: number | null;
    readonly total_cost_usd: number | null;
    readonly total_steps: number;
  };
  readonly extra: Readonly<Record<string, string | number | null>>;
}

/** One message; `step_id` counts from 1 without gaps. */
export interface AtifStep {
  readonly step_id: number;
  readonly timestamp?: string;
  readonly source: "system" | "user" | "agent";
  readonly message: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly AtifToolCall[];
  readonly observation?: {
    readonly results: readonly { readonly source_call_id: string; readonly content: string }[];
  };
}

export interface AtifToolCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly extra?: Readonly<Record<string, boolean | string>>;
}
