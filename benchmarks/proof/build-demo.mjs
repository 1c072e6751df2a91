// Writes the scripted cassettes of the demos from the sample data. The replies are made up here, and say so in the header.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const REPEATS = { prover: 4, verifier: 4 };

function readJsonl(name) {
  return readFileSync(join(here, "sample", name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function firstError({ first_fatal_error_step: fatal, recoverable_error_steps: recoverable }) {
  const errors = [fatal, ...recoverable].filter((step) => step >= 0);
  return errors.length === 0 ? -1 : Math.min(...errors);
}

function outcome(content, { finish = "stop", reasoning, error } = {}) {
  if (error !== undefined) return { error, body: null, attempts: 3, micros: 0, redacted: false };
  const message = { role: "assistant", content, ...(reasoning && { reasoning_content: reasoning }) };
  const usage = { prompt_tokens: 400 + content.length, completion_tokens: Math.ceil(content.length / 4) };
  const body = JSON.stringify({ model: "scripted", choices: [{ index: 0, message, finish_reason: finish }], usage });
  return { error: null, body, attempts: 1, micros: 0, redacted: false };
}

function verdict(step, words) {
  const errors = step === -1 ? "" : `Step ${step}: ${words}`;
  const assessment =
    step === -1 ? "Each step follows from the ones before it, and the conclusion is the statement." : words;
  return `<assessment>${assessment}</assessment>\n<errors>${errors}</errors>\n<first_error_step>${step}</first_error_step>`;
}

/** A judge that is mostly right: every seventh look is wrong, and a few replies are unusable in different ways. */
function judgment(proof, number, repeat, repeats) {
  const truth = firstError(proof.annotation);
  const look = number * repeats + repeat;
  const right = verdict(truth, proof.annotation.first_error_reason);
  if (look % 31 === 17) return outcome(`<think>It may fail at step 0.${right}`);
  if (look % 37 === 20) return outcome(right, { finish: "length" });
  if (look % 41 === 25) return outcome(`${right}\n<first_error_step>0</first_error_step>`);
  if (look % 43 === 30) return outcome("", { error: "HTTP_500" });
  if (look % 7 === 3) {
    return outcome(truth === -1 ? verdict(0, "The reason for this step is not given in full.") : verdict(-1, ""));
  }
  if (truth > 0 && look % 5 === 1) return outcome(verdict(truth - 1, "This step is stated without its reason."));
  return outcome(`<think>Does $x_1 < x_2$ hold here? Yes.</think>\n${right}`);
}

function grade(proof, reply) {
  const step = Number(/<first_error_step>(-?[0-9]+)</.exec(JSON.parse(reply.body).choices[0].message.content)[1]);
  const truth = firstError(proof.annotation);
  if ((step === -1) !== (truth === -1)) return outcome("<level>WRONG_POLARITY</level>");
  return outcome(`<level>${step === truth ? "EXACT_MATCH" : "POOR_MATCH"}</level>`);
}

function isUsable(reply) {
  if (reply.body === null) return false;
  const { message, finish_reason } = JSON.parse(reply.body).choices[0];
  const answer = message.content.slice(message.content.lastIndexOf("</think>") + 1);
  return finish_reason === "stop" && !answer.includes("<think>") && answer.match(/<first_error_step>/g)?.length === 1;
}

function cassette(note, entries) {
  const header = { cassette: "jacobian-runner-proof/1", source: "scripted", note };
  return [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** The policy writes the two sample proofs of each problem; for one problem it runs out of length once. */
export function proverCassette() {
  const proofs = readJsonl("proofs.jsonl");
  const entries = readJsonl("problems.jsonl").flatMap((problem, row) =>
    proofs
      .filter(({ problem_id }) => problem_id === problem.problem_id)
      .flatMap((proof, sample) => {
        const item = problem.problem_id;
        const written = proof.steps.map((step) => `<step>\n${step}\n</step>`).join("\n");
        const cut = row === 7 && sample === 1;
        const policy = outcome(`<think>Look for the standard argument.</think>\n${written}`, {
          finish: cut ? "length" : "stop",
        });
        const judges = Array.from({ length: cut ? 0 : REPEATS.prover }, (_, repeat) => ({
          scope: { item, sample, role: "verifier", repeat },
          request: null,
          outcome: judgment(proof, row * 2 + sample, repeat, REPEATS.prover),
        }));
        return [{ scope: { item, sample, role: "policy", repeat: 0 }, request: null, outcome: policy }, ...judges];
      }),
  );
  return cassette("Made up for the demo: two samples a problem, four judgments a proof.", entries);
}

/** The judge reads every sample proof, and each readable judgment is graded. */
export function verifierCassette() {
  const entries = readJsonl("proofs.jsonl").flatMap((proof, number) =>
    Array.from({ length: REPEATS.verifier }, (_, repeat) => {
      const scope = { item: proof.proof_id, sample: 0, repeat };
      const reply = judgment(proof, number, repeat, REPEATS.verifier);
      const graded = isUsable(reply)
        ? [{ scope: { ...scope, role: "meta" }, request: null, outcome: grade(proof, reply) }]
        : [];
      return [{ scope: { ...scope, role: "verifier" }, request: null, outcome: reply }, ...graded];
    }).flat(),
  );
  return cassette("Made up for the demo: four judgments a proof, each readable one graded.", entries);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(join(here, "demo", "prover.jsonl"), proverCassette());
  writeFileSync(join(here, "demo", "verifier.jsonl"), verifierCassette());
}
