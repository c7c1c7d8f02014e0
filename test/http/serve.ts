/** A server on a free port of this machine, with what a test wants to differ; closed when the test is over. */

import { onTestFinished } from "vitest";
import type { AckOutcome } from "../../src/alerting/acknowledgement.ts";
import type { Route } from "../../src/alerting/route.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { FleetSnapshot } from "../../src/health/shard-state.ts";
import type { HttpDeps } from "../../src/http/deps.ts";
import type { Access } from "../../src/http/principal.ts";
import { createHttpServer, type HttpServer } from "../../src/http/server.ts";
import type { ShownConfig } from "../../src/http/v2/config-original.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { Report } from "../../src/report/report.ts";
import { noLoss } from "../../src/report/tally.ts";
import { fleetOf, NOW } from "../metrics/fleets.ts";
import { anAlert } from "../support/fixtures.ts";
import { overviewOfFleet, shardsOfFleet } from "../support/overviews.ts";

export const rootRoute: Route = {
  key: "{}",
  receiver: "ops",
  matchers: [],
  continue: false,
  groupBy: ["location_id"],
  groupWaitMs: 30_000,
  groupIntervalMs: 300_000,
  repeatIntervalMs: 14_400_000,
  routes: [],
};

/** A configuration as it is shown, with what a test wants to differ. */
export function shownConfig(differing: Partial<ShownConfig> = {}): ShownConfig {
  const receivers = [{ name: "ops", slack: [], email: [], webhook: [] }];
  return { route: rootRoute, receivers, inhibitRules: [], smtp: undefined, ...differing };
}

export function firingAlert(alertname: string, labels: Record<string, string> = {}): Alert {
  return anAlert({
    key: [alertname, ...Object.values(labels)].join("/"),
    subject: { kind: "recording", id: "rec-1" },
    labels: { alertname, ...labels },
    annotations: { summary: "It is dark." },
    startsAt: NOW - 180_000,
    firedAt: NOW - 60_000,
    updatedAt: NOW - 30_000,
  });
}

/** What became of a change of one acknowledgement. */
export const ackDone: AckOutcome = { outcome: "done", alerts: 1, before: undefined, after: undefined };

export interface Served {
  readonly address: string;
  readonly metricsAddress: string | undefined;
  readonly server: HttpServer;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** The body parsed, and the status. */
  json(path: string, headers?: Record<string, string>): Promise<{ status: number; body: unknown }>;
}

/** A server's deps, with tokens as the configuration's short forms. */
export type Differing = Partial<HttpDeps> & {
  /** The whole fleet: its overview and its shards are made of it. */
  readonly fleet?: () => Promise<FleetSnapshot>;
  readonly adminToken?: string | undefined;
  readonly readToken?: string | undefined;
};

/** The access of a server that nobody has any to, but as given. */
export function anAccess(differing: Partial<Access> = {}): Access {
  return { tokens: [], isReadingOpen: false, isTrustedProxy: () => false, formKey: "key of forms", ...differing };
}

function accessOf({ adminToken = "", readToken = "" }: Differing): Access {
  const short = [
    { name: "admin_token", token: adminToken, scopes: ["admin"] },
    { name: "read_token", token: readToken, scopes: ["read"] },
  ] as const;
  return anAccess({ tokens: short.filter(({ token }) => token !== ""), isReadingOpen: readToken === "" });
}

/** A server that knows nothing and lets everybody read. */
export function usualDeps(differing: Differing = {}): HttpDeps {
  const fleet = () => differing.fleet?.() ?? Promise.resolve(fleetOf({}));
  return {
    // A getter, as tokens change with the configuration.
    get access() {
      return accessOf(differing);
    },
    audit: () => {},
    listen: { host: "127.0.0.1", port: 0 },
    log: silentLogger,
    clock: { now: () => NOW },
    version: "1.2.3",
    ready: async () => ({ ready: true, reasons: [], notes: [] }),
    overview: async () => overviewOfFleet(await fleet()),
    shards: async (numbers) => shardsOfFleet(await fleet(), numbers),
    alerts: async () => [],
    alertsReceived: () => {},
    acceptAlerts: async () => ({ outcome: "taken", refused: 0, most: 2_000 }),
    endedLately: async () => [],
    episodes: async () => [],
    report: async () => aReport("Leeds"),
    handover: async () => ({ title: "Handover", tone: "info", lead: [], sections: [], notes: [], actions: [] }),
    addShiftNote: async () => {},
    uptimes: async () => new Map(),
    recallUptime: async () => [],
    silences: async () => [],
    setSilence: async () => ({ outcome: "unknown" }),
    endSilence: async () => false,
    extendSilence: async () => false,
    undoSilence: async () => "unknown",
    acknowledge: async () => ({ outcome: "not_firing" }),
    acknowledgeEach: async () => [],
    undoAck: async () => ({ outcome: "not_firing" }),
    withdraw: async () => ({ outcome: "not_firing" }),
    note: async () => ({ outcome: "not_firing" }),
    timeline: async () => [],
    countsJudged: async () => ({ at: 0, rules: {}, hours: [] }),
    zones: async () => new Map(),
    config: () => shownConfig(),
    integrations: () => [],
    metrics: { expose: () => ({ contentType: "text/plain", body: textOf("up 1\n") }) },
    limits: { closeMs: 200, readyMs: 50 },
  };
}

/** The report of one location. */
export function aReport(name: string): Report {
  const loss = { ...noLoss(), recordings: 2, expectedMs: 20 * 3_600_000, knownMs: 18 * 3_600_000, recording: 90_000 };
  const period = { from: NOW - 86_400_000, to: NOW, label: "Fri 30 Jan 2026" };
  const total = { ...loss, knownMs: loss.expectedMs };
  const before = { period: { ...period, label: "Thu 29 Jan 2026" }, total, incidents: 0 };
  const incident = {
    id: "I-4F2K7",
    title: `${name}: offline`,
    startsAt: NOW - 9_000,
    endsAt: NOW,
    durationMs: 9_000,
    visits: undefined,
  };
  const rows = [{ id: "leeds", name, incidents: 1, loss }];
  return { now: NOW, period, before, total: loss, incidents: [incident], rows, groups: ["location", "region"] };
}

export async function serve(differing: Differing = {}): Promise<Served> {
  // Not spread: what differs may be a getter, asked anew at each request.
  const usual = usualDeps(differing);
  const limits = { value: { ...usual.limits, ...differing.limits } };
  const deps = Object.defineProperties(usual, { ...Object.getOwnPropertyDescriptors(differing), limits });
  const server = createHttpServer(deps);
  onTestFinished(() => server.close());
  const { address, metricsAddress } = await server.start();
  const get = (path: string, headers: Record<string, string> = {}) => fetch(address + path, { headers });
  return {
    address,
    metricsAddress,
    server,
    get,
    async json(path, headers) {
      const response = await get(path, headers);
      return { status: response.status, body: await response.json() };
    },
  };
}

export async function* textOf(...chunks: string[]): AsyncGenerator<string, void> {
  yield* chunks;
}
