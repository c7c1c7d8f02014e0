/** The Metrics WebSocket: the token is checked at the upgrade; then each text message gets its reply frames. */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import type { Instant } from "../lib/clock.ts";
import { tryJson } from "../lib/json-values.ts";
import type { SimulatorContext } from "./context.ts";
import { type FaultParams, type Faults, type SocketRoute, socketRoutes } from "./faults.ts";
import type { SimRecording } from "./fleet.ts";
import { failureBody, waitOrRefuse, waitOut } from "./http-faults.ts";
import { metricPayload } from "./metrics.ts";
import { DetailBody, MetricBody, parseRequest, RequestError, SocketMessage, StatusBody } from "./requests.ts";
import { statusRows } from "./status-rows.ts";
import { errorBody, type Traits } from "./traits.ts";
import type { RequestEvent, World } from "./world.ts";

const TOKEN_EXPIRED = 4401;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

interface Connection {
  readonly ws: WebSocket;
  readonly raw: Duplex;
  readonly number: number;
  readonly tokenEndsAt: Instant;
}

/** Serves the socket on an HTTP server's upgrades to `path`. Returns its teardown. */
export function serveSocket(server: Server, path: string, context: SimulatorContext): () => void {
  const { events, faults, tokens, log } = context;
  const wss = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, autoPong: false });
  const connections = new Set<Connection>();
  let opened = 0;

  server.on("upgrade", async (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    raw.on("error", () => raw.destroy());
    const url = URL.parse(request.url ?? "/", "http://simulator");
    const tokenEndsAt = tokens.check(url?.searchParams.get("token") ?? "");
    const refusal = url?.pathname === path ? (await waitOrRefuse(context, "upgrade"))?.status : 404;
    if (refusal === undefined && tokenEndsAt !== undefined && !faults.take("unauthorized", "upgrade")) {
      wss.handleUpgrade(request, raw, head, (ws) => welcome({ ws, raw, number: ++opened, tokenEndsAt }));
      return;
    }
    refuse(raw, refusal ?? 401);
  });

  function welcome(connection: Connection): void {
    const { ws, raw, number } = connection;
    connections.add(connection);
    if (faults.take("half_open")) raw.cork();
    ws.on("ping", (data) => ws.pong(data));
    ws.on("error", (err) => log.debug({ err, connection: number }, "simulated socket failed"));
    ws.on("message", (data, isBinary) => void receive(connection, data, isBinary, context));
    ws.on("close", () => connections.delete(connection));
  }

  /** `half_open` silences the sockets that are open, and cuts them when it ends; `drop_sockets` cuts at once. */
  function onFault({ type, name }: { type: "set" | "cleared"; name: string }): void {
    if (name === "half_open") {
      for (const { ws, raw } of connections) type === "set" ? raw.cork() : ws.terminate();
    }
    if (name === "drop_sockets" && type === "set" && connections.size > 0) {
      const code = faults.take("drop_sockets")?.code;
      for (const { ws } of connections) drop(ws, code);
    }
  }
  events.on("fault", onFault);
  return () => {
    events.off("fault", onFault);
    for (const { ws } of connections) ws.terminate();
    wss.close();
  };
}

function drop(ws: WebSocket, code: number | undefined): void {
  if (code === undefined) ws.terminate();
  else ws.close(code);
}

function refuse(raw: Duplex, status: number): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}`;
  raw.end(`${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => raw.destroy());
}

async function receive(
  { ws, tokenEndsAt }: Connection,
  data: RawData,
  isBinary: boolean,
  context: SimulatorContext,
): Promise<void> {
  const { faults, events, clock, traits } = context;
  context.catchUp();
  const report = (event: Omit<RequestEvent, "transport" | "at">) =>
    events.emit("request", { transport: "socket", at: clock.now(), ...event });

  const dropped = faults.take("drop_sockets");
  if (dropped) return drop(ws, dropped.code);
  const message = isBinary ? undefined : SocketMessage.safeParse(tryJson(String(data))).data;
  if (!message) {
    ws.send(errorFrame("", traits, "bad_request", "a message is a JSON object with action and data.id, route, body"));
    report({ endpoint: "unknown", outcome: "error" });
    return;
  }
  const { id, route: endpoint, body } = message.data;
  if (clock.now() >= tokenEndsAt) {
    ws.send(errorFrame(id, traits, "token_expired", "the token of this connection has ended"));
    ws.close(TOKEN_EXPIRED, "token expired");
    report({ endpoint, outcome: "error", id, body });
    return;
  }
  report({ endpoint, id, body, outcome: await reply(ws, message, context) });
}

async function reply(
  ws: WebSocket,
  { action, data: { id, route: name, body } }: SocketMessage,
  context: SimulatorContext,
): Promise<RequestEvent["outcome"]> {
  const { faults, log, traits } = context;
  try {
    const route = routeNamed(action, name);
    if (faults.take("half_open") || faults.take("no_reply", route)) return "ignored";
    await waitOut(context, route);
    const failing = faults.take("error_payload", route);
    const payload = failing ? failureBody(failing, traits) : await answer(route, body, context);
    for (const frame of framesOf(id, payload, route, faults)) ws.send(frame);
    return failing ? "error" : "answered";
  } catch (thrown) {
    if (!(thrown instanceof RequestError)) log.error({ err: thrown }, "simulated request failed");
    const { code, message } = thrown instanceof RequestError ? thrown : { code: "internal", message: "internal error" };
    ws.send(errorFrame(id, traits, code, message));
    return "error";
  }
}

function routeNamed(action: string, name: string): SocketRoute {
  const route = socketRoutes.find((known) => known === name);
  const expected = route === "status/uptime" ? "status" : route === "detail/list" ? "detail" : "metric";
  if (route && action === expected) return route;
  throw new RequestError("unknown_route", `no route ${name} under action ${action}`);
}

/** The payload of a request. Throws RequestError for a body the contract does not allow. */
async function answer(route: SocketRoute, body: unknown, context: SimulatorContext): Promise<unknown> {
  const { world } = context;
  switch (route) {
    case "status/uptime": {
      const { entities, entityType } = parseRequest(StatusBody, body);
      return statusRows(recordingsOf(entities, entityType, world), context);
    }
    case "detail/list": {
      const { entities, entityType } = parseRequest(DetailBody, body);
      return recordingsOf(entities, entityType, world).flatMap(({ id, taxonomies }) =>
        taxonomies.map((taxonomy) => ({ area_type: "taxonomy", taxonomy, recording_id: id })),
      );
    }
    default: {
      const metric = parseRequest(MetricBody, body);
      const locations = [...new Set(metric.entities)].flatMap((id) => world.location(id) ?? []);
      return metricPayload(route, metric, locations, context);
    }
  }
}

function recordingsOf(entities: readonly string[], entityType: "location" | "recording", world: World): SimRecording[] {
  return [...new Set(entities)].flatMap((id) =>
    entityType === "location" ? (world.location(id)?.recordings ?? []) : (world.recording(id) ?? []),
  );
}

function framesOf(id: string, payload: unknown, route: SocketRoute, faults: Faults): string[] {
  const garbage = faults.take("garbage_frames", route);
  if (garbage) return [garbageFrames[garbage.kind](id)];
  const parts = faults.take("multi_part", route);
  const frames = parts ? partsOf(id, payload, parts) : [frame(id, 0, 0, JSON.stringify(payload))];
  const copies = faults.take("duplicate_frames", route)?.copies ?? 1;
  return frames.flatMap((one) => Array<string>(copies).fill(one));
}

function errorFrame(id: string, traits: Traits, code: string, message: string): string {
  return frame(id, 0, 0, JSON.stringify(errorBody(traits, code, message)));
}

function frame(id: string, n: number, m: number, json: string): string {
  return `${id}|${n}|${m}|${json}`;
}

function partsOf(id: string, payload: unknown, params: FaultParams<"multi_part">): string[] {
  const whole = params.split === "arrays" && Array.isArray(payload) ? payload : JSON.stringify(payload);
  const size = Math.ceil(whole.length / params.parts);
  const frames = Array.from({ length: params.parts }, (_, i) => {
    const part = whole.slice(i * size, (i + 1) * size);
    return frame(id, i + params.base, params.parts, typeof part === "string" ? part : JSON.stringify(part));
  });
  const sent = params.lose_last ? frames.slice(0, -1) : frames;
  return params.reversed ? sent.reverse() : sent;
}

const garbageFrames: Readonly<Record<FaultParams<"garbage_frames">["kind"], (id: string) => string>> = {
  no_pipes: () => "hello, this is no reply frame",
  bad_json: (id) => frame(id, 0, 0, '[{"recording_id":"5'),
  unknown_id: () => frame("nobody-asked-this", 0, 0, "[]"),
  bad_numbers: (id) => `${id}|one|-1|[]`,
};
