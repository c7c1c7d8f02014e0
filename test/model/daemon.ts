/** The daemon as the model composes it, on virtual time, with any configuration and a fleet that the test changes. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { createRandom } from "../../bench/chaos/random.ts";
import { Connections } from "../../bench/model/connections.ts";
import { Lenswatch } from "../../bench/model/lenswatch.ts";
import type { Refused } from "../../bench/model/senders.ts";
import { createWorldService } from "../../bench/model/service.ts";
import { QueueMemory } from "../../bench/model/virtual-queues.ts";
import { VirtualTime } from "../../bench/model/virtual-time.ts";
import { installVirtualTimers } from "../../bench/model/virtual-timers.ts";
import type { Camera, World } from "../../bench/model/world.ts";
import type { Notification } from "../../src/alerting/model.ts";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/load.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { titleOf } from "../../src/notify/title.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
export const START = Date.parse("2026-03-02T08:00:00Z");

/** Everything by default, and one receiver. */
export const DEFAULTS = `receivers: [ { name: ops, slack_configs: [ { api_url: "http://slack.test/1" } ] } ]\n`;

const SERVICE = `service: { base_url: "http://service.test", ws_url: "ws://service.test", auth_url: "http://service.test", client_id: m, client_secret: m, audience: m }\n`;

export function configOf(text: string): Config {
  const parsed = parseConfig(SERVICE + text, { file: "daemon.yaml", env: {}, readSecret: () => "" });
  if ("config" in parsed) return parsed.config;
  throw new Error(JSON.stringify(parsed.problems));
}

/** Call in a `describeWithRedis`; starts daemons, whose time is the test's, and closes each after its script. */
export function useDaemon() {
  let server: TestRedis;
  let connections: Connections;
  beforeAll(async () => {
    server = await startTestRedis();
    connections = new Connections(server.url);
  });
  afterAll(async () => {
    connections.close();
    await server.stop();
  });
  return async <T>(world: World, config: string, script: (daemon: Daemon) => Promise<T>): Promise<T> => {
    const daemon = new Daemon(connections, world);
    await daemon.start(config);
    try {
      return await script(daemon);
    } finally {
      await daemon.close();
    }
  };
}

/** So many sites with so many cameras each, all online. */
export function worldOf(sites: number, cameras: number, serverOf: (site: number) => string): World {
  const places = Array.from({ length: sites }, (_, i) => ({
    id: `site-${i}`,
    timezone: "Europe/London",
    listed: true,
  }));
  const all = places.flatMap(({ id: locationId }, site) =>
    Array.from(
      { length: cameras },
      (_, i): Camera => ({
        id: `${locationId}-cam-${i}`,
        locationId,
        server: serverOf(site),
        status: "online",
        quality: 0.95,
        lastSeenAt: START,
        listed: true,
        broken: false,
        returns: false,
        flapsMs: undefined,
        twinAt: undefined,
        hours: undefined,
        uptimes: [{ from: START - 60 * DAY, ratio: 0.99 }],
      }),
    ),
  );
  const faults: World["faults"] = {
    status: undefined,
    list: undefined,
    uptimes: undefined,
    slowMs: 300,
    slowly: false,
  };
  return { places, cameras: all, faults, down: new Set() };
}

interface Sent {
  readonly at: Instant;
  /** Its id. */
  readonly integration: string;
  readonly n: Notification;
}

export class Daemon {
  readonly time: VirtualTime;
  readonly world: World;
  /** What was accepted, in order. */
  readonly sent: Sent[] = [];
  /** A sender that does not accept a message throws this. */
  refuse: (integration: string, n: Notification) => Refused | undefined = () => undefined;

  readonly #connections: Connections;
  readonly #queues: QueueMemory;
  readonly #prefix = `daemon-${randomUUID()}`;
  #process: Lenswatch | undefined;
  #restoreTimers = () => {};

  constructor(connections: Connections, world: World) {
    this.#connections = connections;
    this.world = world;
    this.time = new VirtualTime(START, connections.quiet);
    this.#queues = new QueueMemory(this.time);
  }

  get process(): Lenswatch {
    if (!this.#process) throw new Error("not started");
    return this.#process;
  }

  async start(config: string): Promise<void> {
    this.#restoreTimers = installVirtualTimers(this.time, { leastIntervalMs: 1_000 });
    const { world, time } = this;
    const options = {
      connections: this.#connections,
      queues: this.#queues,
      prefix: this.#prefix,
      service: createWorldService({ world, time, random: createRandom(7), answered() {} }),
      send: async ({ id }: { readonly id: string }, n: Notification) => {
        const refused = this.refuse(id, n);
        if (refused) throw refused;
        this.sent.push({ at: time.now(), integration: id, n });
        return undefined;
      },
    };
    this.#process = await Lenswatch.start(options, configOf(config));
  }

  reload = (config: string) => this.process.reload(configOf(config));
  until = (minutes: number) => this.time.runUntil(START + minutes * MINUTE);
  /** Waits for what a person does, while time passes. */
  finish = <T>(action: Promise<T>): Promise<T> => this.time.finish(action, MINUTE);

  set(isMeant: (camera: Camera) => boolean, status: Camera["status"]): void {
    for (const camera of this.world.cameras.filter(isMeant)) {
      if (status === "offline" && camera.status !== status) camera.lastSeenAt = this.time.now();
      camera.status = status;
    }
  }

  /** `20.5 ops/slack/0 first: Entrance offline`. */
  titles = () =>
    this.sent.map(({ at, integration, n }) => {
      return `${((at - START) / MINUTE).toFixed(1)} ${integration} ${n.reason}: ${titleOf(n)}`;
    });

  async close(): Promise<void> {
    await this.#process?.stop();
    this.#restoreTimers();
  }
}
