/** One tool call as an agent's own transcript tells it. */
export interface TranscriptCall {
  /** The model API's id of the call; null where the transcript gives none. */
  readonly id: string | null;
  /** The name under which the model called the tool. */
  readonly name: string;
  /** JSON text of the arguments. */
  readonly arguments: string;
  readonly isError: boolean | null;
}
