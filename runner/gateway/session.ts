import type { BudgetName } from "../base/formats/budgets.ts";
import type { GatewayConfig } from "../base/formats/gateway-config.ts";
import type { GatewayNotice } from "../base/formats/gateway-protocol.ts";
import { BudgetLedger, type Exhausted } from "./budget-ledger.ts";
import type { Evidence } from "./evidence.ts";

export type Phase = "prepared" | "open" | "closed";

/** What every route of one trial's gateway shares. */
export class Session {
  readonly config: GatewayConfig;
  readonly evidence: Evidence;
  readonly notify: (notice: GatewayNotice) => void;
  readonly ledger: BudgetLedger;
  phase: Phase = "prepared";
  #exchanges = 0;
  #ended = false;
  readonly #said = new Set<string>();
  readonly #cutter = new AbortController();
  #deadline: NodeJS.Timeout | undefined;

  constructor(config: GatewayConfig, evidence: Evidence, notify: (notice: GatewayNotice) => void) {
    this.config = config;
    this.evidence = evidence;
    this.notify = notify;
    this.ledger = new BudgetLedger(config.budgets);
  }

  /** Aborted when the agent's time is over: everything in flight is cut. */
  get cut(): AbortSignal {
    return this.#cutter.signal;
  }

  nextExchange(): string {
    this.#exchanges += 1;
    return `x${this.#exchanges}`;
  }

  /** Opens the agent's routes and starts its clock; said again, it marks where the agent of a task's next step begins. */
  open(): void {
    if (this.phase === "closed") return;
    this.evidence.emit({ type: "phase", phase: "agent-started" });
    if (this.phase === "open") return;
    this.phase = "open";
    const { agentSeconds } = this.config.budgets;
    if (agentSeconds === null) return;
    this.#deadline = setTimeout(() => {
      this.exhaust({ budget: "agentSeconds", limit: agentSeconds, used: agentSeconds, reserved: 0 }, null);
      this.#stop();
    }, agentSeconds * 1000);
    this.#deadline.unref();
  }

  /** Closes the agent's routes and cuts what is in flight. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stop();
    this.evidence.emit({ type: "phase", phase: "agent-ended" });
  }

  /** Records that a budget stopped a request, and tells the runner once a budget. */
  exhaust(found: Exhausted, exchange: string | null, kind: "exhausted" | "overrun" = "exhausted"): void {
    this.evidence.emit({ type: "budget", ...found, exchange, kind });
    this.#budgetNotice(found.budget, found.limit, found.used);
  }

  /** Says a notice the first time only. */
  once(key: string, notice: GatewayNotice): void {
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.notify(notice);
  }

  #budgetNotice(budget: BudgetName, limit: number, used: number): void {
    this.once(`budget:${budget}`, { notice: "budget-exhausted", budget, limit, used });
  }

  #stop(): void {
    clearTimeout(this.#deadline);
    this.phase = "closed";
    this.#cutter.abort();
  }
}
