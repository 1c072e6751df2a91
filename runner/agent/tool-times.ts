import type { Normalizers } from "../base/formats/cassette.ts";

/** Times that tools put into their answers, as a number after a member's name. */
export const TOOL_TIMES: Normalizers["replace"] = [
  { pattern: '"([a-z_]*(?:runtime|elapsed|duration|time)_(?:ms|us|s|seconds))": ?[0-9.e+-]+', with: '"$1": 0' },
];
