/** One WebSocket with pings that find a half-open connection. Errors never contain the URL, which has the token. */
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import WebSocket from "ws";
import type { Clock } from "../lib/clock.ts";
import type { ProxySettings } from "../lib/http-client.ts";
import type { Redactor } from "../lib/redact.ts";
import { type TlsMaterial, tlsOptions } from "../lib/tls.ts";
import { ServiceError } from "./errors.ts";
import { networkOrTls, readExcerpt } from "./http.ts";
import { refusalOf } from "./refusal.ts";
import type { ReplyLimits } from "./reply-size.ts";

export interface Connection {
  send(text: string): void;
  /** A closing handshake of half a second at most. Resolves when the connection is closed. */
  close(): Promise<void>;
}

export interface ConnectionDeps {
  readonly wsUrl: string;
  readonly pingIntervalMs: number;
  /** A larger message ends the connection. */
  readonly limits: ReplyLimits;
  readonly proxy: ProxySettings;
  readonly tls?: TlsMaterial | undefined;
  readonly redactor: Redactor;
  readonly clock: Clock;
}

/** The WebSocket close code (1006: none received), the service's reason as sent, and ws's error code, if any. */
export interface Closure {
  readonly code: number;
  readonly reason: string;
  readonly failure: string | undefined;
}

interface ConnectionEvents {
  readonly onMessage: (data: Buffer) => void;
  /** Once, after the handshake. */
  readonly onClose: (closure: Closure) => void;
}

const CLOSE_GRACE_MS = 500;
const HANDSHAKE = "The metrics socket's handshake";

/** Resolves once open. Throws ServiceError (`auth` where the token was refused), or the signal's reason. */
export function openConnection(
  deps: ConnectionDeps,
  token: string,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const ws = dial(deps, token);
    let failure: string | undefined;
    const fail = (error: unknown) => {
      signal.removeEventListener("abort", onAbort);
      reject(error);
      ws.terminate();
    };
    const onAbort = () => fail(signal.reason);
    let transport: Socket | undefined;
    ws.on("error", (error: Error & { code?: string }) => {
      failure = error.code;
      fail(unreachable(deps, error));
    });
    ws.on("unexpected-response", (_request, response) => {
      void refused(response, deps).then(fail);
    });
    ws.on("upgrade", (response: IncomingMessage) => {
      transport = response.socket;
    });
    ws.on("open", () => {
      signal.removeEventListener("abort", onAbort);
      const stopWatching = watch(ws, transport, deps.pingIntervalMs);
      ws.on("message", (data) => events.onMessage(data as Buffer));
      ws.on("close", (code, reason) => {
        stopWatching();
        events.onClose({ code, reason: String(reason), failure });
      });
      resolve({ send: (text) => ws.send(text, () => {}), close: () => hangUp(ws) });
    });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

async function refused(response: IncomingMessage, { clock, redactor }: ConnectionDeps): Promise<ServiceError> {
  const excerpt = () => readExcerpt(response, () => response.destroy());
  const reply = { status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"], excerpt };
  return refusalOf(HANDSHAKE, reply, { now: clock.now(), redactor });
}

/** Undefined without a proxy. Node's agents tunnel `wss:` through CONNECT and forward `ws:` as a plain request. */
function proxyAgent(url: URL, { httpProxy, httpsProxy, noProxy }: ProxySettings): http.Agent | undefined {
  const proxyEnv = { http_proxy: httpProxy, https_proxy: httpsProxy, no_proxy: noProxy };
  if (url.protocol === "wss:") return httpsProxy ? new https.Agent({ proxyEnv }) : undefined;
  return httpProxy ? new http.Agent({ proxyEnv }) : undefined;
}

function dial(deps: ConnectionDeps, token: string): WebSocket {
  try {
    const url = new URL(deps.wsUrl);
    url.searchParams.set("token", token);
    return new WebSocket(url, {
      ...tlsOptions(deps.tls),
      agent: proxyAgent(url, deps.proxy),
      // A message is as large as what arrives, and one is read before the next.
      perMessageDeflate: false,
      allowSynchronousEvents: false,
      maxPayload: deps.limits.bytes,
      followRedirects: false,
    });
  } catch (thrown) {
    const message = "The metrics socket's address is invalid: check service.ws_url.";
    throw new ServiceError("bad_request", message, { cause: deps.redactor.error(thrown) });
  }
}

/**
 * Pings, and ends the connection when no byte has arrived since the last ping. Bytes and not pongs: a pong waits behind
 * a large reply on a slow line.
 */
function watch(ws: WebSocket, transport: Socket | undefined, intervalMs: number): () => void {
  let bytesAtPing = -1;
  const bytes = () => transport?.bytesRead ?? 0;
  const timer = setInterval(() => {
    if (bytes() === bytesAtPing) {
      // Timers run before sockets are read: after a stall of this process, let arrived bytes be read first.
      setImmediate(() => bytes() === bytesAtPing && ws.terminate());
      return;
    }
    bytesAtPing = bytes();
    ws.ping(() => {});
  }, intervalMs);
  return () => clearInterval(timer);
}

function hangUp(ws: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    if (ws.readyState === WebSocket.CLOSED) return resolve();
    const cut = setTimeout(() => ws.terminate(), CLOSE_GRACE_MS);
    ws.on("close", () => {
      clearTimeout(cut);
      resolve();
    });
    ws.close(1000);
  });
}

function unreachable(deps: ConnectionDeps, thrown: Error & { code?: string }): ServiceError {
  const cause = deps.redactor.error(thrown);
  const { host } = new URL(deps.wsUrl);
  const code = thrown.code ?? thrown.name;
  return new ServiceError(
    "unavailable",
    `The metrics socket at ${host} could not be reached (${code}): check service.ws_url, ${networkOrTls(code)} and the proxy settings.`,
    { cause },
  );
}
