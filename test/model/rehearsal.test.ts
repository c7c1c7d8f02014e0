/** A rehearsal of an outage, and the messages of the same outage by the daemon. */
import { randomInt } from "node:crypto";
import { expect, it } from "vitest";
import { createRandom, type Random } from "../../bench/chaos/random.ts";
import type { Camera } from "../../bench/model/world.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { type RehearsedMessage, rehearse } from "../../src/alerting/rehearsal.ts";
import { imaginedOutage } from "../../src/health/imagined-outage.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { describeWithRedis } from "../support/redis.ts";
import { type Daemon, START, useDaemon, worldOf } from "./daemon.ts";

const MINUTE = 60_000;
const OUTAGE = 20;
const HORIZON = 70;
/** A message may be later than rehearsed by two readings and an interval of its group; an escalation earlier by the latter. */
const GROUP_INTERVAL = 2;
const LATER_MS = (2 + GROUP_INTERVAL) * MINUTE;
const SEEDS = [107, randomInt(1_000, 1_000_000)];

const SERVERS = ["edge-a", "edge-b", "edge-c"] as const;

/** Routes, a time interval that mutes, an escalation and rules as the seed has them; every message is one group's. */
function configOf(random: Random): string {
  const clock = (minutes: number) => new Date(START + minutes * MINUTE).toISOString().slice(11, 16);
  const muted = random.between(OUTAGE - 5, OUTAGE + 20);
  const route = {
    receiver: "ops",
    group_by: random.pick<string[]>([["location_id"], ["alertname"], ["..."]]),
    group_wait: random.pick(["0s", "30s", "90s"]),
    ...{ group_interval: `${GROUP_INTERVAL}m`, repeat_interval: "12h", storm: { groups: 100 } },
    ...(random.chance(0.5) && { escalate: [{ after: `${random.between(3, 40)}m`, receiver: "phone" }] }),
    routes: [
      { receiver: "team", matchers: ['location_id=~"site-[01]"'], mute_time_intervals: ["works"] },
      { receiver: "boss", matchers: ["severity=critical"], continue: random.chance(0.5), group_wait: "1m" },
    ].filter(() => random.chance(0.6)),
  };
  const hook = (name: string) => ({ name, webhook_configs: [{ url: `http://${name}.test/` }] });
  const sections = {
    route,
    receivers: ["ops", "phone", "team", "boss"].map(hook),
    time_intervals: [
      {
        name: "works",
        time_intervals: [{ times: [{ start_time: clock(muted), end_time: clock(muted + random.between(5, 60)) }] }],
      },
    ],
  };
  return Object.entries(sections)
    .map(([name, section]) => `${name}: ${JSON.stringify(section)}\n`)
    .join("");
}

const wordOf = (integration: string, { labels }: { readonly labels: Readonly<Record<string, string>> }) =>
  `${integration} ${labels.alertname} ${labels.recording_id ?? labels.location_id ?? labels.camera_server}`;

function rehearsed(messages: readonly RehearsedMessage[]): Map<string, Instant | undefined> {
  const all = messages.flatMap(({ integration, alerts, at }) =>
    alerts.map((alert) => [wordOf(integration.id, alert), at] as const),
  );
  return new Map(all.sort((a, b) => (b[1] ?? Infinity) - (a[1] ?? Infinity)));
}

function delivered({ sent }: Daemon): Map<string, Instant> {
  const all = sent.flatMap(({ at, integration, n }) =>
    n.firing.map((alert) => [wordOf(integration, alert), at] as const),
  );
  return new Map(all.reverse());
}

async function silenceSome({ process }: Daemon, random: Random): Promise<void> {
  const { changes } = process.setup().engine;
  for (let left = random.whole(3); left > 0; left--) {
    const endsAt = START + random.between(OUTAGE + 1, HORIZON + 60) * MINUTE;
    const on = random.pick(['location_id="site-0"', 'alertname="RecordingOffline"', 'camera_server="edge-a"']);
    const wanted = { id: undefined, startsAt: undefined, createdBy: "dana", comment: "works", annotations: {}, endsAt };
    await changes.setSilence(
      { ...wanted, matchers: parseMatchers(`{${on}}`) },
      { actor: { via: "token", name: "test" } },
    );
  }
}

const OUTAGES: readonly ((camera: Camera) => boolean)[] = [
  ({ id }) => id === "site-0-cam-0",
  ({ locationId }) => locationId === "site-0",
  ({ locationId }) => locationId === "site-2",
  ({ server }) => server === "edge-a",
];

describeWithRedis("a rehearsal", () => {
  const play = useDaemon();

  it.each(SEEDS)("has the messages, and the times, that an outage then has, with the seed %i", async (seed) => {
    const random = createRandom(seed);
    const world = worldOf(5, 3, () => random.pick(SERVERS));
    const route = configOf(random);
    await play(world, route, async (daemon) => {
      await daemon.until(OUTAGE - 10);
      await daemon.finish(silenceSome(daemon, random));
      await daemon.until(OUTAGE);
      daemon.sent.length = 0;
      const isMeant = random.pick(OUTAGES as [(typeof OUTAGES)[number]]);
      const { engine, senders, config } = daemon.process.setup();
      const { inventory } = await daemon.finish(engine.overview());
      const silences = await daemon.finish(engine.changes.silences());
      const meant = new Set(world.cameras.filter(isMeant).map(({ id }) => id));
      const offline = [...inventory.recordings()].filter(({ id }) => meant.has(id));
      const alerts = imaginedOutage(offline, config.rules, inventory, daemon.time.now());
      const facts = { ...config, silences, firing: [], integrations: senders.list };
      const expected = rehearsed(rehearse(alerts, facts));

      daemon.set(isMeant, "offline");
      await daemon.until(HORIZON);
      const found = delivered(daemon);
      const end = daemon.time.now();
      for (const name of new Set([...expected.keys(), ...found.keys()])) {
        const at = expected.get(name);
        const words = `${name} at ${at === undefined ? "never" : (at - START) / MINUTE}, ${route}: ${daemon.titles().join("\n")}\n${JSON.stringify(silences.map((one) => [one.matchers, (one.endsAt - START) / MINUTE]))}`;
        if (at === undefined) expect(found.get(name), words).toBeUndefined();
        else if (at + LATER_MS < end) {
          expect(found.get(name), words).toBeGreaterThanOrEqual(at - GROUP_INTERVAL * MINUTE);
          expect(found.get(name), words).toBeLessThanOrEqual(at + LATER_MS);
        }
      }
      expect(expected.size).toBeGreaterThan(0);
    });
  });
});
