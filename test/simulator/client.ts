/** The barest client there can be: fetch and ws, and no code of the daemon's. */
import { once } from "node:events";
import { WebSocket } from "ws";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../src/simulator/simulator.ts";

/** Friday, half past twelve in London. */
export const NOON = Date.parse("2026-11-20T12:30:15.000Z");

/** A clock that stands until it is moved. */
export function handClock(start = NOON) {
  let now = start;
  return {
    now: () => now,
    advance(ms: number) {
      now += ms;
    },
  };
}

export function startSmall(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  return startSimulator({ locations: 4, recordingsPerLocation: 3, seed: 7, ...options });
}

export function credentialsOf(sim: Simulator) {
  return {
    client_id: sim.clientId,
    client_secret: sim.clientSecret,
    audience: sim.audience,
    grant_type: "client_credentials",
  };
}

export function postJson(url: string, body: unknown, token?: string): Promise<Response> {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}

export async function tokenOf(sim: Simulator): Promise<string> {
  const response = await postJson(`${sim.authUrl}/oauth/token`, credentialsOf(sim));
  return ((await response.json()) as { access_token: string }).access_token;
}

export async function getJson(url: string, token: string): Promise<unknown> {
  return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).json();
}

export interface Frame {
  readonly id: string;
  readonly n: string;
  readonly m: string;
  readonly text: string;
  readonly raw: string;
}

export interface Client {
  readonly ws: WebSocket;
  send(action: string, route: string, body: unknown, id?: string): void;
  /** The next frame, whoever it is for. */
  next(): Promise<Frame>;
  /** Sends, and gives the payload of the one frame that follows. */
  ask<T>(action: string, route: string, body: unknown, id?: string): Promise<T>;
}

export async function connect(sim: Simulator, token?: string): Promise<Client> {
  const ws = new WebSocket(`${sim.wsUrl}?token=${token ?? (await tokenOf(sim))}`);
  const waiting: ((frame: Frame) => void)[] = [];
  const arrived: Frame[] = [];
  ws.on("message", (data) => {
    const frame = split(String(data));
    const waiter = waiting.shift();
    if (waiter) waiter(frame);
    else arrived.push(frame);
  });
  await once(ws, "open");
  const client: Client = {
    ws,
    send: (action, route, body, id = "r1") => ws.send(JSON.stringify({ action, data: { id, route, body } })),
    next() {
      const frame = arrived.shift();
      return frame ? Promise.resolve(frame) : new Promise((resolve) => waiting.push(resolve));
    },
    async ask<T>(action: string, route: string, body: unknown, id?: string) {
      client.send(action, route, body, id);
      return JSON.parse((await client.next()).text) as T;
    },
  };
  return client;
}

function split(raw: string): Frame {
  const [id = "", n = "", m = "", ...rest] = raw.split("|");
  return { id, n, m, text: rest.join("|"), raw };
}

/** The HTTP status an upgrade was refused with. */
export function refusedUpgrade(sim: Simulator, query: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(`${sim.wsUrl}${query}`);
    ws.on("unexpected-response", (request, response) => {
      request.destroy();
      resolve(response.statusCode);
    });
    ws.on("open", () => reject(new Error("the upgrade was accepted")));
    ws.on("error", () => undefined);
  });
}

export interface StatusRow {
  recording_id: string;
  location_id: string;
  status: string;
  last_seen_utc: string;
  average_quality: number | null;
}

export function snapshot(client: Client, entities: readonly string[], entityType = "location") {
  return client.ask<StatusRow[]>("status", "status/uptime", { entities, entityType });
}

export function locationIds(sim: Simulator): string[] {
  return sim.world.locations.map(({ id }) => id);
}
