// A Chat Completions endpoint with a fixed latency, in a process of its own: the load of answering is not the client's.
// Usage: node bench-endpoint.mjs LATENCY_MS. It prints its port, and ends when its standard input ends.
import { createServer } from "node:http";

const latency = Number(process.argv[2] ?? 200);
let served = 0;

function reply(model) {
  served += 1;
  const filler = `Call ${served}: ${"the estimate holds for every index and the sum converges, so this step follows. ".repeat(18)}`;
  if (model === "bench-prover") {
    return `<think>${filler}</think><step>Let $x_1 < x_2$. ${filler}</step><step>Hence the claim.</step>`;
  }
  const step = served % 9 === 0 ? 1 : -1;
  return `<assessment>${filler}</assessment><errors>${step === 1 ? "Step 1 has no reason." : ""}</errors><first_error_step>${step}</first_error_step>`;
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { model } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    setTimeout(() => {
      const choice = { index: 0, message: { role: "assistant", content: reply(model) }, finish_reason: "stop" };
      const usage = { prompt_tokens: 900, completion_tokens: 400 };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ model, choices: [choice], usage }));
    }, latency);
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
