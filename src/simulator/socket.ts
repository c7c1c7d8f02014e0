/** The Metrics WebSocket: the token is checked at the upgrade; then each text message gets its reply frame. */
import type { IncomingMessage, Server } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Faults, SocketRoute } from "./faults.ts";
import { errorFrame, framesOf } from "./frames.ts";
import { waitOrRefuse } from "./http-faults.ts";
import { RequestError, SocketMessage } from "./requests.ts";
import { answer, type RouteDeps, routeNamed } from "./routes.ts";
import type { TokenIssuer } from "./token-endpoint.ts";
import type { RequestEvent, SimulatorEvents } from "./world.ts";

export interface SocketDeps extends RouteDeps {
  readonly tokens: TokenIssuer;
  readonly events: SimulatorEvents;
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called before each message is answered: what is due by now happens first. */
  readonly catchUp: () => void;
}

/** Close code of a connection whose token has ended. */
export const TOKEN_EXPIRED = 4401;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

interface Connection {
  readonly ws: WebSocket;
  readonly raw: Duplex;
  readonly number: number;
  readonly tokenEndsAt: Instant;
}

/** Serves the socket on an HTTP server's upgrades to `path`. Returns its teardown. */
export function serveSocket(server: Server, path: string, deps: SocketDeps): () => void {
  const { events, faults } = deps;
  const wss = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, autoPong: false });
  const connections = new Set<Connection>();
  let opened = 0;

  server.on("upgrade", async (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    raw.on("error", () => raw.destroy());
    const url = URL.parse(request.url ?? "/", "http://simulator");
    const tokenEndsAt = deps.tokens.check(url?.searchParams.get("token") ?? "");
    const refusal = await refusalOf(url?.pathname === path, tokenEndsAt, deps);
    if (refusal || tokenEndsAt === undefined) {
      refuse(raw, refusal ?? 401);
      events.emit("socket", { type: "refused", connection: 0, open: connections.size });
      return;
    }
    wss.handleUpgrade(request, raw, head, (ws) => welcome({ ws, raw, number: ++opened, tokenEndsAt }));
  });

  function welcome(connection: Connection): void {
    const { ws, raw, number } = connection;
    connections.add(connection);
    if (faults.take("half_open")) raw.cork();
    ws.on("ping", (data) => ws.pong(data));
    ws.on("error", (err) => deps.log.debug({ err, connection: number }, "simulated socket failed"));
    ws.on("message", (data, isBinary) => void receive(connection, data, isBinary, deps));
    ws.on("close", () => {
      connections.delete(connection);
      events.emit("socket", { type: "closed", connection: number, open: connections.size });
    });
    events.emit("socket", { type: "opened", connection: number, open: connections.size });
  }

  const onFault = faultListener(connections, faults);
  events.on("fault", onFault);
  return () => {
    events.off("fault", onFault);
    for (const { ws } of connections) ws.terminate();
    wss.close();
  };
}

/** `half_open` silences the sockets that are open, and cuts them when it ends; `drop_sockets` cuts at once. */
function faultListener(connections: ReadonlySet<Connection>, faults: Faults) {
  return ({ type, name }: { type: "set" | "cleared"; name: string }) => {
    if (name === "half_open") {
      for (const { ws, raw } of connections) type === "set" ? raw.cork() : ws.terminate();
    }
    if (name === "drop_sockets" && type === "set" && connections.size > 0) {
      const code = faults.take("drop_sockets")?.code;
      for (const { ws } of connections) drop(ws, code);
    }
  };
}

function drop(ws: WebSocket, code: number | undefined): void {
  if (code === undefined) ws.terminate();
  else ws.close(code);
}

async function refusalOf(
  isOurPath: boolean,
  tokenEndsAt: Instant | undefined,
  { faults, signal }: SocketDeps,
): Promise<number | undefined> {
  if (!isOurPath) return 404;
  const refusal = await waitOrRefuse(faults, "upgrade", signal);
  if (refusal) return refusal.status;
  return tokenEndsAt === undefined || faults.take("unauthorized", "upgrade") ? 401 : undefined;
}

function refuse(raw: Duplex, status: number): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}`;
  raw.end(`${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => raw.destroy());
}

async function receive(connection: Connection, data: RawData, isBinary: boolean, deps: SocketDeps): Promise<void> {
  const { faults, events, clock } = deps;
  const { ws } = connection;
  deps.catchUp();
  const report = (event: Pick<RequestEvent, "endpoint" | "outcome"> & { id?: string; body?: unknown }) =>
    events.emit("request", { transport: "socket", at: clock.now(), ...event });

  const dropped = faults.take("drop_sockets");
  if (dropped) return drop(ws, dropped.code);
  const message = parseMessage(data, isBinary);
  if (!message) {
    ws.send(errorFrame("", "bad_request", "a message is a JSON object with action and data.id, route, body"));
    report({ endpoint: "unknown", outcome: "error" });
    return;
  }
  const { id, route: endpoint, body } = message.data;
  if (clock.now() >= connection.tokenEndsAt) {
    ws.send(errorFrame(id, "unauthorized", "the token of this connection has ended"));
    ws.close(TOKEN_EXPIRED, "token expired");
    report({ endpoint, outcome: "error", id, body });
    return;
  }
  report({ endpoint, id, body, outcome: await reply(ws, message, deps) });
}

function parseMessage(data: RawData, isBinary: boolean) {
  if (isBinary) return undefined;
  try {
    return SocketMessage.safeParse(JSON.parse(data.toString())).data;
  } catch {
    return undefined;
  }
}

async function reply(
  ws: WebSocket,
  { action, data: { id, route: name, body } }: NonNullable<ReturnType<typeof parseMessage>>,
  deps: SocketDeps,
): Promise<RequestEvent["outcome"]> {
  try {
    const route = routeNamed(action, name);
    if (isIgnored(route, deps.faults)) return "ignored";
    await waitOut(route, deps);
    const failing = deps.faults.take("error_payload", route);
    const payload = failing ? { [failing.key]: { message: failing.message } } : answer(route, body, deps);
    for (const frame of framesOf(id, payload, route, deps.faults)) ws.send(frame);
    return failing ? "error" : "answered";
  } catch (thrown) {
    if (!(thrown instanceof RequestError)) deps.log.error({ err: thrown }, "simulated request failed");
    const { code, message } = thrown instanceof RequestError ? thrown : { code: "internal", message: "internal error" };
    ws.send(errorFrame(id, code, message));
    return "error";
  }
}

function isIgnored(route: SocketRoute, faults: Faults): boolean {
  return faults.take("half_open") !== undefined || faults.take("no_reply", route) !== undefined;
}

async function waitOut(route: SocketRoute, { faults, signal }: SocketDeps): Promise<void> {
  const slow = faults.take("slow", route);
  if (slow) await delay(slow.ms, undefined, { signal }).catch(() => undefined);
}
