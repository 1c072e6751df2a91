import { basename } from "node:path";
import type { Task } from "../model.ts";
import type { Found } from "./finding.ts";
import { isText, linesOf, type TaskFile } from "./task-files.ts";

const NETWORK: readonly (readonly [RegExp, string])[] = [
  [/\b(?:pip3?|uv\s+pip|pipx|conda|mamba)\s+(?:install|download)\b/, "installs Python packages"],
  [/\b(?:uvx|uv\s+(?:run|sync|tool)|npx|pnpm\s+dlx)\b/, "fetches a tool to run it"],
  [/\b(?:apt|apt-get|apk|dnf|yum)\s+(?:-\S+\s+)*(?:update|install|add)\b/, "installs system packages"],
  [/\b(?:npm|pnpm|yarn)\s+(?:ci|install|i|add)\b/, "installs npm packages"],
  [/\b(?:cargo|go|gem)\s+(?:install|get|fetch)\b/, "installs packages"],
  [/\bgit\s+(?:clone|fetch|pull)\b/, "fetches a repository"],
  [/\b(?:curl|wget)\s+\S/, "fetches a URL"],
  [/\b(?:requests\.(?:get|post)|urllib\.request\.url(?:open|retrieve)|httpx\.(?:get|post))\s*\(/, "fetches a URL"],
];
const LOCAL = /localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|(?:curl|wget)\s+--version|command\s+-v|which\s/;

/** Checks verifiers and oracles that use the network in a phase that has none. */
export function checkNetworkUse(task: Task, files: readonly TaskFile[]): readonly Found[] {
  const verifierOffline = task.steps.every((step) => step.verifier.network.mode === "no-network");
  const agentOffline = task.steps.every((step) => step.agent.network.mode === "no-network");
  return files.flatMap((entry): readonly Found[] => {
    const isVerifier = entry.role === "tests";
    if (!(isVerifier ? verifierOffline : entry.role === "solution" && agentOffline)) return [];
    if (!/\.(?:sh|bash|py|js|ts|pl|rb)$/.test(entry.file) || !isText(entry.bytes)) return [];
    return linesOf(entry.bytes).flatMap((text, index): readonly Found[] => {
      if (/^\s*(?:#|\/\/)/.test(text) || LOCAL.test(text)) return [];
      const use = NETWORK.find(([pattern]) => pattern.test(text));
      if (use === undefined) return [];
      return [
        {
          level: isVerifier ? "error" : "warning",
          rule: isVerifier ? "verifier-needs-network" : "oracle-needs-network",
          file: entry.file,
          line: index + 1,
          message: `the ${isVerifier ? "verifier" : "oracle"} ${use[1]} (${text.trim().slice(0, 60)}), and its phase has no network`,
          hint: "Put what it needs into the image, or state the network mode it needs.",
        },
      ];
    });
  });
}

const WRITES_ONE =
  /(?:echo|printf)\s+(?:-\S+\s+)*(?:["']?1(?:\.0*)?(?:\\n)?["']?|["'].*\breward\\?"\s*:\s*1(?:\.0*)?\s*[,}].*["'])\s*(?:>|\|\s*tee)\s*\S*reward\.(?:txt|json)/;
const WRITES_ANY = /reward\.(?:txt|json)|reward/;

/** Checks test scripts whose reward does not depend on the work, by their shape. */
export function checkVerdictPaths(files: readonly TaskFile[]): readonly Found[] {
  const found: Found[] = [];
  const tests = files.filter((entry) => entry.role === "tests" && isText(entry.bytes));
  for (const entry of tests) {
    if (basename(entry.file) !== "test.sh") continue;
    found.push(...checkScript(entry));
  }
  if (tests.length > 0 && !tests.some((entry) => WRITES_ANY.test(entry.bytes.toString("utf8")))) {
    found.push({
      level: "warning",
      rule: "verifier-writes-no-reward",
      file: tests[0]?.file ?? null,
      line: null,
      message: "no file of the verifier mentions a reward, so none may be written",
      hint: "Write /logs/verifier/reward.json, an object with the key reward, on every path.",
    });
  }
  return found;
}

function checkScript(entry: TaskFile): readonly Found[] {
  const found: Found[] = [];
  let depth = 0;
  let stopsOnError = false;
  let alwaysOne: number | null = null;
  let zeroLater = false;
  linesOf(entry.bytes).forEach((raw, index) => {
    const text = raw.replace(/(?:^|\s)#.*$/, "").trim();
    for (const flag of text.matchAll(/\bset\s+([-+])([a-z]*)/g)) {
      if ((flag[2] ?? "").includes("e")) stopsOnError = flag[1] === "-";
    }
    if (stopsOnError && /(?:\bif\s+|\[\[?\s+|\(\(\s*|\btest\s+)["']?\$\?/.test(text)) {
      found.push({
        level: "error",
        rule: "verifier-dead-branch",
        file: entry.file,
        line: index + 1,
        message:
          '"$?" is tested while "set -e" is on: the script ends at the failing command, so the failing path writes no reward',
        hint: 'Test the command itself ("if COMMAND; then"), or switch "set +e" on before it.',
      });
    }
    for (const command of text.split(";")) {
      const part = command.trim();
      if (depth === 0 && /reward\.(?:txt|json)/.test(part)) {
        const conditional = /&&|\|\|/.test(part);
        if (WRITES_ONE.test(part) && !conditional) {
          alwaysOne = index + 1;
          zeroLater = false;
        } else if (/>/.test(part)) zeroLater = true;
      } else if (depth > 0 && alwaysOne !== null && /reward\.(?:txt|json)/.test(part)) zeroLater = true;
      if (/^(?:if|case|for|while|until)\b/.test(part) || /(?:\(\)\s*)?\{\s*$/.test(part)) depth += 1;
      if (/^(?:fi|esac|done|\})(?:\s|$)/.test(part) && depth > 0) depth -= 1;
    }
  });
  if (alwaysOne !== null && !zeroLater) {
    found.push({
      level: "error",
      rule: "verifier-always-passes",
      file: entry.file,
      line: alwaysOne,
      message: "reward 1 is written whatever the checks said",
      hint: "Write 1 only where the checks succeeded and 0 on every other path.",
    });
  }
  return found;
}
