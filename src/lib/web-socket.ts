/** One WebSocket through the environment's proxy, with pings that find a half-open connection. */
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import WebSocket from "ws";
import { unlessAborted } from "./abort.ts";
import type { ProxySettings } from "./http-client.ts";
import { type TlsMaterial, tlsOptions } from "./tls.ts";

interface WebSocketOptions {
  readonly proxy: ProxySettings;
  readonly tls?: TlsMaterial | undefined;
  readonly pingIntervalMs: number;
  /** A larger message ends the connection. */
  readonly maxBytes: number;
  /** The error to throw for one of the network. */
  unreachable(error: Error & { code?: string }): Error;
  /** The error to throw for an answer other than an upgrade. */
  refused(response: IncomingMessage): Promise<Error>;
}

export interface Connection {
  send(text: string): void;
  /** A closing handshake of half a second at most. Resolves when the connection is closed. */
  close(): Promise<void>;
}

/** The WebSocket close code (1006: none received), the peer's reason as sent, and ws's error code, if any. */
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

/** Resolves once open. Throws what the options make of an error, or the signal's reason. */
export function openWebSocket(
  url: URL,
  options: WebSocketOptions,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<Connection> {
  const ws = dial(url, options);
  const opened = new Promise<Connection>((resolve, reject) => {
    let failure: string | undefined;
    let transport: Socket | undefined;
    ws.on("error", (error: Error & { code?: string }) => {
      failure = error.code;
      reject(options.unreachable(error));
      ws.terminate();
    });
    ws.on("unexpected-response", (_request, response) => {
      void options.refused(response).then(reject);
    });
    ws.on("upgrade", (response: IncomingMessage) => {
      transport = response.socket;
    });
    ws.on("open", () => {
      const stopWatching = watch(ws, transport, options.pingIntervalMs);
      ws.on("message", (data) => events.onMessage(data as Buffer));
      ws.on("close", (code, reason) => {
        stopWatching();
        events.onClose({ code, reason: String(reason), failure });
      });
      resolve({ send: (text) => ws.send(text, () => {}), close: () => hangUp(ws) });
    });
  });
  return unlessAborted(opened, signal).catch((thrown: unknown) => {
    ws.terminate();
    throw thrown;
  });
}

/** Undefined without a proxy. Node's agents tunnel `wss:` through CONNECT and forward `ws:` as a plain request. */
function proxyAgent(url: URL, { httpProxy, httpsProxy, noProxy }: ProxySettings): http.Agent | undefined {
  const proxyEnv = { http_proxy: httpProxy, https_proxy: httpsProxy, no_proxy: noProxy };
  if (url.protocol === "wss:") return httpsProxy ? new https.Agent({ proxyEnv }) : undefined;
  return httpProxy ? new http.Agent({ proxyEnv }) : undefined;
}

function dial(url: URL, { tls, proxy, maxBytes }: WebSocketOptions): WebSocket {
  return new WebSocket(url, {
    ...tlsOptions(tls),
    agent: proxyAgent(url, proxy),
    // A message is as large as what arrives, and one is read before the next.
    perMessageDeflate: false,
    allowSynchronousEvents: false,
    maxPayload: maxBytes,
    followRedirects: false,
  });
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
