import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { WebSocket } from "undici";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Finds Chromium; root on Debian installs it when it is absent. */
export async function ensureChromium(): Promise<string> {
  const found = PLACES.find((place) => existsSync(place));
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get"))
    throw new Error(`none of ${PLACES.join(", ")} is there: install Chromium to look at pages`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await execa("apt-get", ["update", "-qq"], { env, timeout: 300_000 });
  await execa("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"], {
    env,
    timeout: 600_000,
  });
  return "/usr/bin/chromium";
}

/** What a page did and how it looks. */
export interface SeenPage {
  /** Every address that the page asked for, its own first. */
  readonly requests: readonly string[];
  /** What the browser complained about. */
  readonly complaints: readonly string[];
  /** The value of an expression in the page. */
  readonly value: unknown;
  readonly screenshot: Buffer;
}

export interface Look {
  readonly file: string;
  readonly width: number;
  readonly scheme: "light" | "dark";
  /** JavaScript that is evaluated from outside of the page. */
  readonly expression: string;
}

export interface Browser extends AsyncDisposable {
  readonly look: (look: Look) => Promise<SeenPage>;
}

/** Starts headless Chromium with a profile of its own; disposing ends it. */
export async function startChromium(executable: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), "runner-chromium-"));
  const child = execa(
    executable,
    [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--no-first-run",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      "about:blank",
    ],
    { reject: false, buffer: false, stdout: "ignore", stderr: "ignore", timeout: 240_000, forceKillAfterDelay: 1000 },
  );
  const port = await readPort(join(profile, "DevToolsActivePort"));
  return {
    look: (request) => look(port, request),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await child;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function readPort(path: string): Promise<string> {
  for (let tries = 0; tries < 600; tries += 1) {
    const [port] = (await readFile(path, "utf8").catch(() => "")).split("\n");
    if (port !== undefined && port !== "") return port;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("Chromium did not start within a minute");
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

async function look(port: string, { file, width, scheme, expression }: Look): Promise<SeenPage> {
  const opened = await fetch(`http://127.0.0.1:${port}/json/new?about:blank`, { method: "PUT" });
  const target = (await opened.json()) as { id: string; webSocketDebuggerUrl: string };
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const waiting = new Map<number, (message: Message) => void>();
  const events: Message[] = [];
  const listeners = new Set<(message: Message) => void>();
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else {
      events.push(message);
      for (const listener of listeners) listener(message);
    }
  });
  let last = 0;
  const send = async (method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> => {
    last += 1;
    const id = last;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  try {
    for (const domain of ["Page", "Network", "Log", "Runtime"]) await send(`${domain}.enable`);
    await send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
    await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    const loaded = new Promise<void>((resolve) => {
      listeners.add(({ method }) => {
        if (method === "Page.loadEventFired") resolve();
      });
    });
    await send("Page.navigate", { url: `file://${file}` });
    await loaded;
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true });
    const of = (method: string) => events.filter((event) => event.method === method).map(({ params }) => params ?? {});
    return {
      requests: of("Network.requestWillBeSent").map(({ request }) => (request as { url: string }).url),
      complaints: [
        ...of("Log.entryAdded").map(({ entry }) => (entry as { text: string }).text),
        ...of("Runtime.exceptionThrown").map((thrown) => JSON.stringify(thrown)),
      ],
      value: (result as { value: unknown }).value,
      screenshot: Buffer.from(String(data), "base64"),
    };
  } finally {
    socket.close();
    await fetch(`http://127.0.0.1:${port}/json/close/${target.id}`);
  }
}
