/** Everything around the daemon: the simulated service, a persistent Redis, the receivers and Slack. */
import type { Instant } from "../../src/lib/clock.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { startTestRedis } from "../../test/support/redis.ts";
import type { WatchedRecording } from "./audit.ts";
import { APPS, configText, receiverOf } from "./config-text.ts";
import { startReceivers } from "./receivers.ts";
import { startSlackApp } from "./slack-app.ts";
import { watchSweeps } from "./sweeps.ts";

export interface Fleet {
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly seed: number;
  readonly webhooks: number;
}

export type Environment = Awaited<ReturnType<typeof startEnvironment>>;

/** Starts everything; `logLevel` is the daemon's. Redis persists every write, so that a kill loses nothing. */
export async function startEnvironment(fleet: Fleet, logLevel: "info" | "debug") {
  const [simulator, redis, app, receivers] = await Promise.all([
    startSimulator(fleet),
    startTestRedis({ appendonly: true }),
    startSlackApp(Math.min(APPS, fleet.webhooks)),
    startReceivers(),
  ]);
  for (const { id } of simulator.world.recordings) simulator.world.setSchedule(id, false);
  const sweeps = watchSweeps(redis.url);
  const watched = simulator.world.locations.flatMap(({ id: locationId, recordings }) => {
    const receiver = receiverOf(locationId, fleet.webhooks);
    const integrations = [`webhook/${receiver}`, ...(receiver < APPS ? [`app/${receiver}`] : [])];
    return recordings.map(({ id }): WatchedRecording => ({ id, locationId, integrations }));
  });
  return {
    simulator,
    redis,
    app,
    receivers,
    config: configText({ simulator, redis: redis.url, webhooks: fleet.webhooks, app, receivers, logLevel }),
    watched,
    /** By location: when the service answered about it. */
    answers: noteAnswers(simulator),
    sweeps,
    async close() {
      sweeps.close();
      await Promise.all([simulator.close(), app.close(), receivers.close()]);
      await redis.stop();
    },
  };
}

function noteAnswers({ events }: Simulator): ReadonlyMap<string, Instant[]> {
  const answers = new Map<string, Instant[]>();
  events.on("request", ({ endpoint, outcome, body, at }) => {
    if (endpoint !== "status/uptime" || outcome !== "answered") return;
    for (const id of (body as { entities: readonly string[] }).entities) {
      const there = answers.get(id);
      if (there) there.push(at);
      else answers.set(id, [at]);
    }
  });
  return answers;
}
