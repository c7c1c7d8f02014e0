/** The analytics service, simulated from a seeded world; it shares no wire code with the client. */
import { EventEmitter } from "node:events";
import type { AddressInfo } from "node:net";
import { type FastifyInstance, fastify } from "fastify";
import type { z } from "zod";
import { type Clock, systemClock } from "../lib/clock.ts";
import { Closer } from "../lib/closer.ts";
import { type Logger, silentLogger } from "../lib/log.ts";
import type { SimulatorContext } from "./context.ts";
import { registerControl } from "./control.ts";
import { registerCoreApi, registerTokenEndpoint } from "./core-api.ts";
import { parsed, SimulatorError } from "./errors.ts";
import { Faults } from "./faults.ts";
import { hexId } from "./fleet.ts";
import { registerHttpFaults } from "./http-faults.ts";
import { createHourCalendar } from "./local-time.ts";
import { playScenario } from "./player.ts";
import type { Scenario } from "./scenario.ts";
import { serveSocket } from "./socket.ts";
import { createTokenIssuer } from "./tokens.ts";
import { Traits } from "./traits.ts";
import { VisitCounts } from "./visits/counts.ts";
import { Visits } from "./visits/parameters.ts";
import { type SimulatorEvents, World, type WorldOptions } from "./world.ts";

/** A running service: its addresses, credentials, world and faults. */
export type Simulator = Readonly<Awaited<ReturnType<typeof startSimulator>>>;

const AUDIENCE = "https://core.simulator.example";
const ISSUER = "https://issuer.simulator.example/";
const SOCKET_PATH = "/metrics-socket";
const CONTROL_PATH = "/control";
/** Room for the ids of 100,000 recordings in one request. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

/** Starts the service. Throws SimulatorError: `bad_option`, `bad_scenario`, `cannot_listen`. */
export async function startSimulator(options: SimulatorOptions) {
  checkOptions(options);
  const { seed, clock = systemClock, log = silentLogger, host = "127.0.0.1", port = 0 } = options;
  const clientId = `simulator-${hexId(seed, "client").slice(0, 8)}`;
  const clientSecret = options.clientSecret ?? hexId(seed, "secret");
  const credentials = { clientId, clientSecret, audience: AUDIENCE };

  const closer = new Closer();
  const events: SimulatorEvents = new EventEmitter().setMaxListeners(0);
  const traits = traitsOf(options);
  const { visits = Visits.parse({}) } = options.scenario ?? {};
  const world = new World({ ...options, clock, events, traits, visits });
  const calendar = createHourCalendar();
  const faults = new Faults(events);
  const app = fastify({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true });
  closer.add("http", () => app.close());
  const stopping = new AbortController();
  closer.add("waits", () => stopping.abort());
  const onProblem = (err: Error) => log.warn({ err }, "a scenario event could not be played");
  const player = playScenario(options.scenario ?? { events: [] }, { world, faults, clock }, onProblem);
  closer.add("scenario", player.stop);

  const context: SimulatorContext = {
    ...{ world, faults, events, clock, log, credentials, catchUp: player.catchUp, signal: stopping.signal },
    tokens: createTokenIssuer(clock, { iss: ISSUER, aud: AUDIENCE, sub: clientId }),
    calendar,
    visits: new VisitCounts({ seed, world: visits, traits, calendar, startedAt: world.startedAt }),
    traits,
  };
  reportRequests(app, context);
  registerHttpFaults(app, context);
  registerTokenEndpoint(app, context);
  registerCoreApi(app, context);
  registerControl(app, CONTROL_PATH, context);
  closer.add("sockets", serveSocket(app.server, SOCKET_PATH, context));

  await app.listen({ host, port }).catch(async (cause: unknown) => {
    await closer.close();
    const message = `The simulator cannot listen on ${host}:${port}; choose another port, or 0 for a free one.`;
    throw new SimulatorError("cannot_listen", message, cause);
  });
  const authority = `${host.includes(":") ? `[${host}]` : host}:${(app.server.address() as AddressInfo).port}`;
  return {
    baseUrl: `http://${authority}`,
    wsUrl: `ws://${authority}${SOCKET_PATH}`,
    authUrl: `http://${authority}`,
    controlUrl: `http://${authority}${CONTROL_PATH}`,
    ...credentials,
    world,
    faults,
    events,
    close: () => closer.close(),
  };
}

function traitsOf({ scenario, traits }: SimulatorOptions): Traits {
  const given = parsed(Traits.partial(), traits ?? {}, "bad_option", "The simulator cannot start");
  const named = Object.fromEntries(Object.keys(traits ?? {}).map((key) => [key, given[key as keyof Traits]]));
  return { ...(scenario?.traits ?? Traits.parse({})), ...named };
}

/** Events that are due are played before a request sees the world; each answer is reported as an event. */
function reportRequests(app: FastifyInstance, { catchUp, events, clock }: SimulatorContext): void {
  app.addHook("onRequest", async () => catchUp());
  app.addHook("onResponse", async (request, reply) => {
    const { endpoint } = request.routeOptions.config;
    if (!endpoint) return;
    const body = endpoint === "token" ? undefined : request.body;
    events.emit("request", { transport: "http", endpoint, outcome: reply.statusCode, body, at: clock.now() });
  });
}

export interface SimulatorOptions extends Pick<WorldOptions, "locations" | "recordingsPerLocation" | "seed"> {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  /** The traits of the service; they go before the scenario's. */
  readonly traits?: z.input<typeof Traits>;
  /** The events and their times; see `parseScenario`. */
  readonly scenario?: Scenario;
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly clientSecret?: string;
}

const MOST_RECORDINGS = 1_000_000;

/** Throws SimulatorError `bad_option` that names every option out of range. */
function checkOptions(options: SimulatorOptions): void {
  const { locations, recordingsPerLocation, seed, port = 0 } = options;
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;
  const rules: [boolean, string][] = [
    [isCount(locations), "locations must be a whole number, 0 or more"],
    [isCount(recordingsPerLocation), "recordings per location must be a whole number, 0 or more"],
    [!(locations * recordingsPerLocation > MOST_RECORDINGS), "there can be at most 1,000,000 recordings"],
    [Number.isSafeInteger(seed), "seed must be a whole number"],
    [isCount(port) && port <= 65_535, "port must be a whole number from 0 to 65535"],
  ];
  const broken = rules.filter(([holds]) => !holds).map(([, rule]) => rule);
  if (broken.length === 0) return;
  throw new SimulatorError("bad_option", `The simulator cannot start: ${broken.join("; ")}.`);
}
