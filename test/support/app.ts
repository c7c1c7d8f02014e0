/** A whole lenswatch: simulator, real Redis, Slack and SMTP sinks, and the daemon, each on its own port. */

import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { type App, startApp } from "../../src/app/app.ts";
import type { RoleOption } from "../../src/cluster/active-config.ts";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/load.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { createLogger, type Logger, silentLogger } from "../../src/lib/log.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../src/simulator/simulator.ts";
import { startTestRedis, type TestRedis } from "./redis.ts";
import { type SlackSink, startSlackSink } from "./slack-sink.ts";
import { type SmtpResponses, type SmtpSink, startSmtpSink } from "./smtp-sink.ts";
import { until } from "./until.ts";

export interface Stage extends AsyncDisposable {
  readonly simulator: Simulator;
  readonly redis: TestRedis;
  readonly slack: SlackSink;
  readonly mail: SmtpSink;
  /** The configuration's text, to be changed between a stop and a start. */
  config: string;
}

export interface Watch extends Stage {
  app: App;
  /** Restarts the daemon with the current configuration. */
  start(): Promise<App>;
  /** Starts another replica on the same Redis, with the configuration as it is now; `close` stops it too. */
  join(role?: RoleOption): Promise<App>;
  /** Changes the configuration's text and puts it in force without a stop. */
  reload(change: (config: string) => string): Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly simulator?: Partial<SimulatorOptions>;
  /** Recordings are called after their locations, whose names messages leave out; else messages show all of a name. */
  readonly placeNames?: true;
  /** YAML that replaces the sections of the same name. */
  readonly watch?: string;
  readonly rules?: string;
  readonly route?: string;
  readonly receivers?: string | ((stage: Pick<Stage, "slack">) => string);
  readonly requestTimeout?: string;
  /** The whole section `http`. */
  readonly http?: string;
  /** Roles of the first replica. */
  readonly role?: RoleOption;
  /** Another Redis than the stage's own. */
  readonly redis?: string;
  /** More sections. */
  readonly more?: string;
  readonly log?: Logger;
  /** Runs before the daemon starts. */
  readonly before?: (world: Simulator["world"], faults: Simulator["faults"]) => void;
  /** The time of the simulator and the daemon; timers are real all the same. */
  readonly clock?: Clock;
  /** How the mail server answers from the beginning. */
  readonly mail?: SmtpResponses;
  /** For settings a configuration file does not allow, such as a cron with seconds. */
  readonly adjust?: (config: Config) => Config;
}

const QUICK_RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
    labels: { severity: critical }
  - alert: ServiceUnreachable
    when: { service: unreachable }
    for: 6s
    labels: { severity: critical }
  - alert: NotificationsFailing
    when: { notifications: failing }
    for: 5s
    labels: { severity: critical }`;

/** Cameras of three locations. */
export function camerasOf({ simulator }: Pick<Stage, "simulator">) {
  const [first, second, third] = simulator.world.locations.map(({ recordings }) => recordings[0]);
  if (!first || !second || !third) throw new Error("fewer than three locations with cameras");
  return [first, second, third] as const;
}

/** What a daemon exposes; `sampleOf` is the value of one of its series, 0 where it is not there. */
export const metricsOf = async ({ address }: Pick<App, "address">) => (await fetch(`${address}/metrics`)).text();

export const sampleOf = (metrics: string, series: string): number =>
  Number(
    metrics
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length) ?? 0,
  );

const nameAt = (index: number) => `Till ${`${index}`.padStart(5, "0")}`;

/** Everything but the daemon. */
export async function prepareWatch(options: WatchOptions = {}): Promise<Stage> {
  const [simulator, redis, slack, mail] = await Promise.all([
    startSimulator({
      locations: 4,
      recordingsPerLocation: 2,
      seed: 1,
      ...(options.clock ? { clock: options.clock } : {}),
      ...options.simulator,
    }),
    startTestRedis({ appendonly: true }),
    startSlackSink(),
    startSmtpSink(),
  ]);
  if (options.mail) mail.respond(options.mail);
  const ids = options.placeNames ? [] : simulator.world.recordings.map(({ id }) => id);
  options.before?.(simulator.world, simulator.faults);
  for (const [i, id] of ids.entries()) if (simulator.world.recording(id)) simulator.world.rename(id, nameAt(i));
  const parts = { simulator, redis, slack, mail };
  return {
    ...parts,
    config: configText(options, parts),
    async [Symbol.asyncDispose]() {
      await Promise.all([simulator.close(), slack.close(), mail.close()]);
      await redis.stop();
    },
  };
}

/** Starts everything and waits until it watches. Sweeps every second, without timers by default. */
export async function startWatch(options: WatchOptions = {}): Promise<Watch> {
  const stage = await prepareWatch(options);
  const toStderr = () => createLogger({ level: "debug", destination: process.stderr });
  const log = options.log ?? (process.env.LENSWATCH_TEST_LOG ? toStderr() : silentLogger);
  const apps: App[] = [];
  const watch: Watch = {
    ...stage,
    app: undefined as unknown as App,
    async start() {
      watch.app = await watch.join(options.role);
      return watch.app;
    },
    async join(role) {
      const { clock } = options;
      const config = load(watch.config, options);
      const app = await startApp({ config, log, ...(clock && { clock }), ...(role && { role }) });
      apps.push(app);
      await app.working;
      return app;
    },
    async reload(change) {
      const changed = change(watch.config);
      if (changed === watch.config) throw new Error("the change changes nothing");
      watch.config = changed;
      await watch.app.reload(load(changed, options));
    },
    async close() {
      await Promise.all(apps.map((app) => app.stop().catch(() => {})));
      await stage[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => watch.close(),
  };
  await watch.start();
  const tells = options.role === undefined || options.role === "all";
  // Of another Redis only the sinks are known here.
  if (tells && options.redis) await Promise.all([stage.slack.starts.next(), stage.mail.starts.next()]);
  else if (tells) await pictured(stage);
  return watch;
}

function load(text: string, options: WatchOptions): Config {
  const readSecret = (path: string) => readFileSync(path, "utf8");
  const parsed = parseConfig(text, { file: "story.yaml", env: {}, readSecret });
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems, null, 1));
  return options.adjust?.(parsed.config) ?? parsed.config;
}

/** Resolves once the summary of the cold start is sent or refused and its pace is over, so that alerts are sent as new. */
export function pictured({ redis: { url } }: Pick<Stage, "redis">): Promise<void> {
  return picturedIn(new Redis(url));
}

/** The same of any Redis; closes the connection. */
export async function picturedIn(redis: Redis): Promise<void> {
  const isSummed = async () => (await redis.hget(`${PREFIX}started`, "state")) === "summed";
  const isTold = async () => {
    if ((await redis.keys(`${PREFIX}backoff:*`)).length > 0) return true;
    const dues = await redis.keys(`${PREFIX}due:*`);
    const scores = await Promise.all(dues.map((due) => redis.zscore(due, "started")));
    return scores.every((score) => score === null);
  };
  const isPaced = async () => {
    const paces = await redis.keys(`${PREFIX}pace:*`);
    const free = await Promise.all(paces.map((pace) => redis.get(pace)));
    return free.every((at) => Number(at) <= Date.now());
  };
  try {
    await until("there is a first picture", async () => (await isSummed()) && (await isTold()) && (await isPaced()));
  } finally {
    redis.disconnect();
  }
}

const PREFIX = "{lenswatch}:";

function configText(options: WatchOptions, parts: Pick<Stage, "simulator" | "redis" | "slack" | "mail">): string {
  const { simulator, redis, slack, mail } = parts;
  return `
service:
  base_url: ${simulator.baseUrl}
  ws_url: ${simulator.wsUrl}
  auth_url: ${simulator.authUrl}
  client_id: ${simulator.clientId}
  client_secret: ${simulator.clientSecret}
  audience: ${simulator.audience}
  request_timeout: ${options.requestTimeout ?? "8s"}
redis: ${options.redis ?? `{ url: "${redis.url}" }`}
watch: ${options.watch ?? "{ status_interval: 1s, uptime_interval: 1h, inventory_interval: 1h }"}
rules: ${options.rules ?? QUICK_RULES}
route: ${options.route ?? "{ receiver: ops, group_by: [location_id], group_wait: 0s, group_interval: 1s, repeat_interval: 4h }"}
receivers: ${
    (typeof options.receivers === "function" ? options.receivers(parts) : options.receivers) ??
    `
  - name: ops
    slack_configs: [ { api_url: "${slack.url}" } ]
    email_configs: [ { to: [ ops@example.com ] } ]`
  }
smtp: { host: ${mail.host}, port: ${mail.port}, from: lenswatch@example.com, require_tls: false }
${options.http ?? 'http: { listen: "127.0.0.1:0" }'}
log: { level: debug }
${options.more ?? ""}
`;
}
