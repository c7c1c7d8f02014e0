/** A client to be tested, what it tells of itself, and a service written for the occasion. */
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/log.ts";
import {
  createService,
  type ProtocolErrorKind,
  type Service,
  type ServiceDeps,
  type ServiceObserver,
  type ServiceSettings,
} from "../../src/service/service.ts";
import { type SimulatorOptions, startSimulator } from "../../src/simulator/simulator.ts";

export interface Recorder {
  readonly observer: ServiceObserver;
  readonly kinds: ProtocolErrorKind[];
  readonly requests: string[];
  readonly expiries: (number | undefined)[];
  readonly events: EventEmitter;
  reconnects(): number;
  /** Resolves when such a protocol error has been counted, before or after the call. */
  counted(kind: ProtocolErrorKind): Promise<void>;
}

export function createRecorder(): Recorder {
  const events = new EventEmitter();
  const kinds: ProtocolErrorKind[] = [];
  const requests: string[] = [];
  const expiries: (number | undefined)[] = [];
  let reconnects = 0;
  return {
    kinds,
    requests,
    expiries,
    events,
    reconnects: () => reconnects,
    async counted(kind) {
      while (!kinds.includes(kind)) await once(events, "protocolError");
    },
    observer: {
      request: (endpoint, outcome) => void requests.push(`${endpoint} ${outcome}`),
      tokenExpiry: (at) => void expiries.push(at),
      protocolError(kind) {
        kinds.push(kind);
        events.emit("protocolError");
      },
      socketReconnect() {
        reconnects += 1;
        events.emit("reconnect");
      },
    },
  };
}

export interface ClientOptions extends Partial<Omit<ServiceDeps, "config">> {
  readonly config?: Partial<ServiceSettings>;
}

type Addresses = Pick<ServiceSettings, "baseUrl" | "wsUrl" | "authUrl">;

/** A client of the service at these addresses, closed when the test is over. */
export function startClient(
  at: Addresses & Partial<ServiceSettings>,
  options: ClientOptions = {},
): { service: Service; recorder: Recorder } {
  const recorder = createRecorder();
  const clock: Clock = options.clock ?? systemClock;
  const log = options.log ?? silentLogger;
  const service = createService({
    observer: recorder.observer,
    random: () => 0,
    proxyEnv: {},
    ...options,
    clock,
    log,
    config: {
      clientId: "id",
      clientSecret: "hush-hush",
      audience: "audience",
      requestTimeoutMs: 5_000,
      uptimeIndexTimezone: "recording",
      ...pick(at),
      ...options.config,
    },
  });
  onTestFinished(() => service.close());
  return { service, recorder };
}

function pick(at: Addresses & Partial<ServiceSettings>): Addresses & Partial<ServiceSettings> {
  const { baseUrl, wsUrl, authUrl, clientId, clientSecret, audience } = at;
  const known = { clientId, clientSecret, audience };
  return { baseUrl, wsUrl, authUrl, ...JSON.parse(JSON.stringify(known)) };
}

/** The simulator and a client of it. */
export async function startBoth(options: ClientOptions = {}, world: Partial<SimulatorOptions> = {}) {
  const simulator = await startSimulator({ locations: 2, recordingsPerLocation: 3, seed: 1, ...world });
  onTestFinished(() => simulator.close());
  return { simulator, ...startClient(simulator, options) };
}

export interface Asked {
  readonly id: string;
  readonly route: string;
  readonly socket: WebSocket;
  /** Number of the connection, from 1. */
  readonly connection: number;
  /** Sends a reply in one part. */
  reply(payload: unknown): void;
}

export interface Scripted extends Addresses {
  readonly events: EventEmitter;
  /** Tokens issued, in order. */
  readonly tokens: string[];
  /** Query token of every handshake. */
  readonly handshakes: string[];
  readonly sockets: Set<Socket>;
}

export interface Script {
  /** What the issuer answers; `expires_in: 3600` and a token of its own each time by default. */
  readonly token?: (count: number) => {
    status?: number;
    /** Sent as JSON; a Buffer as it is. */
    body: unknown;
    headers?: Record<string, string>;
  };
  readonly http?: (request: IncomingMessage, response: ServerResponse) => void;
  /** A status other than 101 refuses the handshake. */
  readonly handshake?: (token: string, count: number) => number;
  readonly asked?: (asked: Asked) => void;
  readonly autoPong?: boolean;
  /** Frames are compressed where the client takes that. */
  readonly deflate?: boolean;
  /** PEM; then it is served over TLS. */
  readonly tls?: ServerOptions;
}

/** A service that does as the test says, on one port of 127.0.0.1. */
export async function startScripted(script: Script): Promise<Scripted> {
  const events = new EventEmitter();
  const tokens: string[] = [];
  const handshakes: string[] = [];
  const sockets = new Set<Socket>();
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === "/oauth/token") issue(response);
    else script.http?.(request, response);
  };
  const server = script.tls ? createTlsServer(script.tls, onRequest) : createServer(onRequest);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });

  function issue(response: ServerResponse) {
    const count = tokens.length + 1;
    const token = `token-${count}`;
    tokens.push(token);
    const answer = script.token?.(count) ?? { body: { access_token: token, expires_in: 3600 } };
    response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
    response.end(Buffer.isBuffer(answer.body) ? answer.body : JSON.stringify(answer.body));
    events.emit("token", count);
  }

  const wss = new WebSocketServer({
    noServer: true,
    autoPong: script.autoPong ?? true,
    perMessageDeflate: script.deflate ?? false,
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    const token = new URL(request.url ?? "", "http://host").searchParams.get("token") ?? "";
    handshakes.push(token);
    const status = script.handshake?.(token, handshakes.length) ?? 101;
    if (status !== 101) {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    const connection = handshakes.length;
    wss.handleUpgrade(request, socket, head, (ws) => {
      ws.on("message", (data) => {
        const { id, route } = JSON.parse(String(data)).data;
        const reply = (payload: unknown) => ws.send(`${id}|0|0|${JSON.stringify(payload)}`);
        script.asked?.({ id, route, socket: ws, connection, reply });
        events.emit("asked", { id, route });
      });
      ws.on("error", () => {});
      ws.on("close", () => events.emit("socketClosed", connection));
      events.emit("socket", ws);
    });
  });

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const closed = once(server, "close");
  onTestFinished(async () => {
    for (const ws of wss.clients) ws.terminate();
    for (const socket of sockets) socket.destroy();
    server.close();
    await closed;
  });
  const authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: `http${script.tls ? "s" : ""}://${authority}`,
    authUrl: `http${script.tls ? "s" : ""}://${authority}`,
    wsUrl: `ws${script.tls ? "s" : ""}://${authority}/`,
    events,
    tokens,
    handshakes,
    sockets,
  };
}

/** A status row as documented. */
export function statusRow(over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    recording_id: "aaaaaaaaaaaaaaaaaaaaaaaa",
    location_id: "bbbbbbbbbbbbbbbbbbbbbbbb",
    status: "online",
    last_seen_utc: "2026-03-01T10:00:00.000Z",
    average_quality: 0.9,
    ...over,
  };
}

export const someStatus = { entities: ["bbbbbbbbbbbbbbbbbbbbbbbb"], entityType: "location" } as const;
