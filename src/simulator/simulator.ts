/**
 * The analytics service itself, served from a seeded world: token issuer, Core API, Metrics WebSocket and a
 * control interface, on one port. Built from the contract alone and sharing no wire code with the client, so
 * that each checks the other.
 */
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import { type Clock, systemClock } from "../lib/clock.ts";
import { type Logger, silentLogger } from "../lib/log.ts";
import { registerCoreApi } from "./core-api.ts";
import { SimulatorError } from "./errors.ts";
import { createEvents, type SimulatorEvents } from "./events.ts";
import { createFaults, type Faults } from "./faults.ts";
import { createCalendar } from "./local-time.ts";
import { hexId } from "./seed.ts";
import { serveSocket } from "./socket.ts";
import { registerTokenEndpoint } from "./token-endpoint.ts";
import { createTokens } from "./tokens.ts";
import { World } from "./world.ts";

export type { Faults, SimulatorEvents };
export { World };

export interface SimulatorOptions {
  readonly locations: number;
  readonly recordingsPerLocation: number;
  /** Any whole number: the same one gives the same world. */
  readonly seed: number;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** An hour unless given, ms. */
  readonly tokenLifetimeMs?: number;
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Whether a recording under an uploading schedule is shown offline while it does not upload; no by default. */
  readonly offlineOutsideSchedule?: boolean;
}

export interface Simulator {
  readonly baseUrl: string;
  readonly wsUrl: string;
  readonly authUrl: string;
  readonly controlUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string;
  readonly world: World;
  readonly faults: Faults;
  readonly events: SimulatorEvents;
  close(): Promise<void>;
}

const AUDIENCE = "https://core.simulator.example";
const SOCKET_PATH = "/metrics-socket";
const CONTROL_PATH = "/control";
const DEFAULT_TOKEN_LIFETIME_MS = 3_600_000;
/** Room for the ids of 100,000 recordings in one request. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

/** Starts the service. Throws SimulatorError: `bad_option`, `cannot_listen`. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  checkOptions(options);
  const { seed, clock = systemClock, log = silentLogger, host = "127.0.0.1" } = options;
  const clientId = options.clientId ?? `simulator-${hexId(seed, "client").slice(0, 8)}`;
  const clientSecret = options.clientSecret ?? hexId(seed, "secret");
  const tokenLifetimeMs = options.tokenLifetimeMs ?? DEFAULT_TOKEN_LIFETIME_MS;
  const events = createEvents();
  const world = new World({ ...options, clock, events });
  const faults = createFaults(events);
  const tokens = createTokens({
    clock,
    issuer: "https://issuer.simulator.example/",
    audience: AUDIENCE,
    subject: clientId,
  });
  const calendar = createCalendar();
  const stopping = new AbortController();
  const catchUp = () => undefined;
  const shared = { world, faults, tokens, calendar, clock, signal: stopping.signal };

  const app = fastify({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true });
  app.addHook("onRequest", async () => catchUp());
  app.addHook("onResponse", async (request, reply) => {
    const { endpoint } = request.routeOptions.config;
    if (!endpoint) return;
    const body = endpoint === "token" ? undefined : request.body;
    events.emit("request", { transport: "http", endpoint, outcome: reply.statusCode, body, at: clock.now() });
  });
  registerTokenEndpoint(app, { ...shared, clientId, clientSecret, audience: AUDIENCE, tokenLifetimeMs });
  registerCoreApi(app, shared);
  const stopSocket = serveSocket(app.server, SOCKET_PATH, {
    ...shared,
    events,
    log,
    catchUp,
    offlineOutsideSchedule: options.offlineOutsideSchedule ?? false,
  });

  await listen(() => app.listen({ host, port: options.port ?? 0 }), host, options.port ?? 0);
  const { port } = app.server.address() as AddressInfo;
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return {
    baseUrl: `http://${authority}`,
    wsUrl: `ws://${authority}${SOCKET_PATH}`,
    authUrl: `http://${authority}`,
    controlUrl: `http://${authority}${CONTROL_PATH}`,
    clientId,
    clientSecret,
    audience: AUDIENCE,
    world,
    faults,
    events,
    async close() {
      stopping.abort();
      stopSocket();
      await app.close();
    },
  };
}

function checkOptions({
  locations,
  recordingsPerLocation,
  seed,
  port = 0,
  tokenLifetimeMs = 1,
}: SimulatorOptions) {
  const rules: [boolean, string][] = [
    [Number.isInteger(locations) && locations >= 0, "locations must be a whole number, 0 or more"],
    [
      Number.isInteger(recordingsPerLocation) && recordingsPerLocation >= 0,
      "recordings per location must be a whole number, 0 or more",
    ],
    [Number.isSafeInteger(seed), "seed must be a whole number"],
    [Number.isInteger(port) && port >= 0 && port <= 65_535, "port must be a whole number from 0 to 65535"],
    [tokenLifetimeMs > 0, "the token lifetime must be more than 0 ms"],
    [locations * recordingsPerLocation <= 1_000_000, "at most 1,000,000 recordings can be simulated"],
  ];
  const broken = rules.filter(([holds]) => !holds).map(([, rule]) => rule);
  if (broken.length > 0)
    throw new SimulatorError("bad_option", `The simulator cannot start: ${broken.join("; ")}.`);
}

async function listen(start: () => Promise<unknown>, host: string, port: number): Promise<void> {
  try {
    await start();
  } catch (cause) {
    throw new SimulatorError(
      "cannot_listen",
      `The simulator cannot listen on ${host}:${port}; choose another port, or 0 for a free one.`,
      cause,
    );
  }
}
