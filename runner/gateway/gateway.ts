import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { canonicalText } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import type { Digest } from "../base/digest.ts";
import type { GatewayNotice } from "../base/formats/gateway-protocol.ts";
import { apiOfPath } from "../base/formats/model-paths.ts";
import { surfaceDigest } from "../base/formats/surface.ts";
import { answerJson } from "./api-errors.ts";
import { Evidence } from "./evidence.ts";
import { ForwardProxy, type Lookup } from "./forward-proxy.ts";
import { closeServer, createAgentServer } from "./http-server.ts";
import { liveProvider } from "./live-provider.ts";
import type { LoadedConfig } from "./load-config.ts";
import { McpRoute } from "./mcp-route.ts";
import { handleModel } from "./model-route.ts";
import { peerFilter } from "./peer-filter.ts";
import { PreflightError } from "./preflight/mcp-client.ts";
import { preflight } from "./preflight/preflight.ts";
import type { Provider } from "./provider.ts";
import { readBody } from "./read-body.ts";
import { Recorder } from "./recorder.ts";
import { cassetteProvider } from "./replay/cassette-provider.ts";
import { secretForms } from "./secrets.ts";
import { Session } from "./session.ts";

export interface GatewayOptions extends LoadedConfig {
  /** The evidence folder. */
  readonly folder: string;
  readonly version: string;
  readonly clock: Clock;
  readonly notify: (notice: GatewayNotice) => void;
  /** Called once when the evidence cannot be complete any more; the gateway has closed its routes by then. */
  readonly onFailed: () => void;
  /** Name resolution of the forward proxy. */
  readonly lookup?: Lookup;
}

/** One trial's gateway: listens for the agent, passes what is allowed, records everything. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #evidence: Evidence;
  readonly #session: Session;
  readonly #mcp: McpRoute;
  readonly #provider: Provider | null;
  readonly #recorder: Recorder | null;
  readonly #proxy: ForwardProxy | null;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #inFlight = new Set<Promise<void>>();
  #surfaceDigest: Digest | null = null;

  constructor(options: GatewayOptions) {
    const { config, cassette, clock, folder, notify } = options;
    this.#options = options;
    this.#evidence = new Evidence({
      folder,
      maxBytes: config.limits.evidenceBytes,
      clock,
      secrets: secretForms(config.model?.apiKey ?? null),
      onFatal: (code, detail) => {
        this.#session.close();
        notify({ notice: "fatal", code, detail });
        options.onFailed();
      },
    });
    this.#session = new Session(config, this.#evidence, notify);
    this.#mcp = new McpRoute(this.#session);
    this.#provider =
      config.model === null
        ? null
        : cassette === null
          ? liveProvider(config.model)
          : cassetteProvider(cassette.value, config);
    this.#recorder = config.record === null ? null : new Recorder(config.scope, config.record.normalizers);
    const proxy = config.proxy === null ? null : new ForwardProxy(this.#session, config.proxy.allow, options.lookup);
    this.#proxy = proxy;
    this.#server = createAgentServer({
      session: this.#session,
      limits: config.limits,
      connect: proxy === null ? null : (request, client, head) => this.#track(proxy.connect(request, client, head)),
      route: (request, response) => this.#track(this.#route(request, response)),
    });
    const mayConnect = peerFilter(config.agentNetworks);
    this.#server.prependListener("connection", (socket) => {
      const peer = socket.remoteAddress ?? "?";
      if (!mayConnect(peer)) return this.#refusePeer(socket, peer);
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    this.#emitStart();
  }

  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => resolve());
    });
    this.#evidence.emit({ type: "phase", phase: "listening" });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Looks at the MCP server and says what was found; a failure is a notice, not an exception. */
  async preflight(): Promise<void> {
    const { config, notify } = this.#options;
    const began = this.#evidence.micros();
    const say = (digest: Digest | null, failure: PreflightError | null, pages: readonly Buffer[]) => {
      const outcome = {
        ok: failure === null,
        surfaceDigest: digest,
        code: failure?.code ?? null,
        detail: failure?.message ?? null,
      };
      this.#evidence.emit({ type: "preflight", ...outcome, toolPages: pages.map((page) => this.#evidence.body(page)) });
      notify({ notice: "preflight", ...outcome, micros: this.#evidence.micros() - began });
    };
    try {
      if (config.mcp === null) throw new PreflightError("unreachable", "this trial has no MCP server");
      const server = { url: config.mcp.url, catalogUri: null, knownCatalog: null };
      const { surface, toolPages } = await preflight(server, config.limits, this.#session.cut);
      this.#surfaceDigest = surfaceDigest(surface);
      this.#evidence.file("surface.json", `${canonicalText(surface)}\n`);
      say(this.#surfaceDigest, null, toolPages);
    } catch (thrown) {
      if (!(thrown instanceof PreflightError)) throw thrown;
      say(null, thrown, []);
    }
  }

  agentStarted(): void {
    this.#session.open();
  }

  /** Closes the agent's routes, cuts what is in flight and waits for its records. */
  async agentEnded(): Promise<void> {
    this.#session.close();
    await closeServer(this.#server, this.#sockets);
    await Promise.allSettled(this.#inFlight);
  }

  /** Completes the evidence and says `finished`. Returns false when the evidence had failed. */
  async finish(): Promise<boolean> {
    await this.agentEnded();
    const cassette = this.#recorder?.cassette();
    if (cassette) this.#evidence.file("cassette.json", `${JSON.stringify(cassette, null, 2)}\n`);
    this.#evidence.emit({ type: "phase", phase: "finish" });
    const closed = this.#evidence.close();
    if (closed === null) return false;
    this.#options.notify({
      notice: "finished",
      ...closed,
      surfaceDigest: this.#surfaceDigest,
      cassette: this.#provider?.served() ?? null,
    });
    return true;
  }

  #emitStart(): void {
    const { config, cassette, clock, version } = this.#options;
    const { model, mcp, budgets, scope, trialId } = config;
    this.#evidence.emit({
      type: "start",
      schemaVersion: "1",
      gateway: version,
      trialId,
      scope,
      wall: clock.wall(),
      model:
        model === null || this.#provider === null
          ? null
          : { id: model.id, baseUrl: model.baseUrl, source: this.#provider.source },
      cassetteDigest: cassette?.digest ?? null,
      mcpUrl: mcp?.url ?? null,
      budgets,
      prices: model?.pricesMicroUsdPerMTok ?? null,
    });
  }

  async #track(work: Promise<void>): Promise<void> {
    this.#inFlight.add(work);
    try {
      await work;
    } finally {
      this.#inFlight.delete(work);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "";
    const { config } = this.#options;
    if (/^https?:\/\//i.test(target) && this.#proxy !== null) return await this.#proxy.forward(request, response);
    const [pathname = "", ...rest] = target.split("?");
    const search = rest.length === 0 ? "" : `?${rest.join("?")}`;
    if (pathname === "/mcp") return await this.#mcp.handle(request, response, search);
    const api = apiOfPath(pathname);
    const model = config.model;
    if (api !== undefined) {
      const route = { session: this.#session, model, provider: this.#provider, recorder: this.#recorder };
      return await handleModel(route, request, response, api, target);
    }
    if (pathname === "/v1/models" && request.method === "GET" && model !== null) {
      return this.#answerModels(target, model.id, response);
    }
    await this.#refuse(request, response, target);
  }

  #refusePeer(socket: Socket, peer: string): void {
    socket.destroy();
    const exchange = this.#session.nextExchange();
    const detail = `a connection from ${peer}, which is not in the agent's network`;
    this.#evidence.emit({ type: "request-refused", exchange, method: "?", path: "?", status: 403, detail });
  }

  /** The list of models is the study's model: an agent may look whether it is there, and no provider is asked. */
  #answerModels(path: string, id: string, response: ServerResponse): void {
    const exchange = this.#session.nextExchange();
    this.#evidence.emit({ type: "local-answer", exchange, method: "GET", path, status: 200 });
    answerJson(response, 200, { object: "list", data: [{ id, object: "model", created: 0, owned_by: "study" }] });
  }

  async #refuse(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const exchange = this.#session.nextExchange();
    const method = request.method ?? "?";
    const detail = "no route of the gateway";
    this.#evidence.emit({ type: "request-refused", exchange, method, path: path.slice(0, 2000), status: 404, detail });
    const body = await readBody(request, 64 * 1024);
    if (body === "too-large") response.setHeader("connection", "close");
    answerJson(response, 404, {
      error: { message: detail, type: "invalid_request_error", param: null, code: "not_found" },
    });
  }
}
