import { expect, it } from "vitest";
import type { NotifiedAlert } from "../../src/alerting/model.ts";
import { createAnnotate } from "../../src/deliver/annotate.ts";
import { knownOverview } from "../../src/health/shard-overview.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { firing, T0 } from "../store/fixtures.ts";

const ALERTS = [firing("a", T0, { location_id: "leeds" }), firing("b", T0, { location_id: "leeds" })];

it("each location is read once, however many alerts it has", async () => {
  const asked: (readonly string[])[] = [];
  const annotate = createAnnotate({
    log: silentLogger,
    zones: {
      async read(ids) {
        asked.push(ids);
        return new Map([["leeds", new Map([["b", ["Tills"]]])]]);
      },
    },
    usualEntries: { read: async () => new Map() },
  });
  const annotated = await annotate(ALERTS, T0);
  expect(annotated.map(({ annotations }) => annotations.zones)).toEqual([undefined, "Tills"]);
  expect(asked).toEqual([["leeds"]]);
});

it("alerts go out as they are where the store fails or hangs", async () => {
  const read = (how: () => Promise<never>) =>
    createAnnotate({ log: silentLogger, zones: { read: how }, usualEntries: { read: async () => new Map() } });
  expect(await read(async () => Promise.reject(new Error("gone")))(ALERTS, T0)).toBe(ALERTS);
  const began = performance.now();
  expect(await read(() => new Promise(() => {}))(ALERTS, T0)).toBe(ALERTS);
  expect(performance.now() - began).toBeLessThan(20_000);
});

it("a message about few locations says what else is known there, of recent readings and one list of episodes that were outages", async () => {
  const stored = {
    ...{ at: T0, mark: 0, alerting: 0, offline: {}, readAt: T0 },
    locations: [
      ["leeds", 1, 1, 1, 1],
      ["york", 1],
    ],
  } as const;
  const visits = { estimate: 40, low: 30, high: 50 };
  let lists = 0;
  const episode = { ...ALERTS[0], locationId: "leeds", endReason: "recovered" };
  const others = [
    { ...episode, planned: "nightly" },
    { ...episode, endReason: "rule_changed" },
    { ...episode, endReason: "rule_removed" },
    { ...episode, endReason: "no_longer_watched" },
  ];
  let gapMs = 180_000;
  const annotate = createAnnotate(
    { log: silentLogger, zones: { read: async () => new Map() }, usualEntries: { read: async () => new Map() } },
    {
      shards: { overviewsOf: async () => [knownOverview(1, { ...stored, gapMs })] },
      episodes: {
        async latest() {
          lists += 1;
          return [episode, episode, ...others, { ...episode, locationId: "york" }] as never;
        },
      },
      uncounted: { of: async (alerts) => new Map(alerts.map(({ id }) => [id, visits])) },
      config: { counts: { valuePerVisit: 2, currency: "GBP" } },
      assigned: { shardOf: () => 1 },
    },
  );
  const offline = ALERTS.map((alert) => ({
    ...alert,
    key: `${alert.ruleId}/recording/${alert.subject.id}`,
    facts: { ...alert.facts, problem: "offline" as const },
  }));
  const [first] = (await annotate(offline, T0)) as readonly NotifiedAlert[];
  expect(first?.impact).toMatchObject({
    here: { online: 1, of: 3 },
    outages: 3,
    uncounted: visits,
    worth: { valuePerVisit: 2, currency: "GBP" },
  });
  await annotate(offline, T0 + 1_000);
  expect(lists).toBe(1);
  const hereAt = async (minutes: number, gapMinutes = 1) => {
    const now = T0 + minutes * 60_000;
    gapMs = gapMinutes * 180_000;
    const [alert] = (await annotate(offline, now)) as readonly NotifiedAlert[];
    return alert?.impact?.here;
  };
  expect(await hereAt(3)).toEqual({ online: 1, of: 3 });
  expect(await hereAt(4, 2), "slow sweeps").toEqual({ online: 1, of: 3 });
  expect(await hereAt(4), "unknown after three intervals").toBeUndefined();
  const many = offline.flatMap((alert) =>
    Array.from({ length: 6 }, (_, i) => ({ ...alert, labels: { ...alert.labels, location_id: `l${i}` } })),
  );
  expect(await annotate(many, T0)).toEqual(many.map((alert) => ({ ...alert })));
});
