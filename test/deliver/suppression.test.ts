import { expect, test } from "vitest";
import type { Maintenance } from "../../src/alerting/maintenance.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { groupOf, type Route } from "../../src/alerting/route.ts";
import type { Silence } from "../../src/alerting/silence.ts";
import type { NamedInterval } from "../../src/alerting/time-interval.ts";
import { createStaleness, type Staleness } from "../../src/deliver/stale.ts";
import { createSuppression } from "../../src/deliver/suppression.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Claimed } from "../../src/store/groups.ts";
import { rootRoute } from "../http/serve.ts";
import { firing, HOUR, MINUTE, over, T0 } from "../store/fixtures.ts";
import { aSilence } from "../support/fixtures.ts";

const night: NamedInterval = { name: "night", intervals: [{ times: [{ from: 0, to: 540 }], location: "UTC" }] };
const muted: Route = {
  ...rootRoute,
  key: "{}/muted/0",
  matchers: parseMatchers("severity=critical"),
  muteTimes: [night],
};
const route: Route = { ...rootRoute, routes: [muted] };
const inhibitRules = [
  {
    sourceMatchers: parseMatchers("alertname=LocationOffline"),
    targetMatchers: parseMatchers("alertname=RecordingOffline"),
    equal: ["location_id"],
  },
];

const shop = firing("shop", T0, { alertname: "LocationOffline", location_id: "1" });
const inside = firing("inside", T0, { location_id: "1", recording: "Till" });
const outside = firing("outside", T0, { location_id: "2" });

const silence = aSilence({
  id: "s",
  matchers: parseMatchers("location_id=2"),
  startsAt: T0,
  endsAt: T0 + HOUR,
  updatedAt: T0,
  comment: "",
});

function suppressions(
  now: number,
  alerts: readonly Alert[],
  more: {
    maintenance?: Maintenance[];
    silences?: Silence[];
    acks?: string[];
    route?: Route;
    ackedUntil?: number;
    staleness?: Staleness;
  } = {},
) {
  const { ackedUntil } = more;
  const ack = { author: "dana", comment: "", at: T0, ...(ackedUntil === undefined ? {} : { until: ackedUntil }) };
  const { ofGroups, ofAll } = createSuppression({
    clock: { now: () => now },
    store: {
      firing: async () => alerts,
      silences: { read: async () => more.silences ?? [], write: async () => new Map() },
      acks: { read: async () => new Map((more.acks ?? []).map((id) => [id, ack])), change: async () => undefined },
    },
    route: more.route ?? rootRoute,
    inhibitRules,
    ...(more.maintenance && { maintenance: more.maintenance }),
    ...(more.staleness && { staleness: more.staleness }),
  });
  return {
    ofAll,
    async ofGroup(claim: Claimed) {
      const [found] = await ofGroups([claim]);
      if (!found) throw new Error("a group without an answer");
      return found;
    },
  };
}

const claimOf = (alerts: readonly Alert[], of: Route = rootRoute): Claimed => {
  const group = groupOf(of, alerts[0] ?? firing("a", T0));
  return {
    kind: "group",
    group: group.id,
    labels: group.labels,
    repeatIntervalMs: 4 * HOUR,
    groupIntervalMs: 5 * MINUTE,
    dueSince: new Map(),
    nextAt: undefined,
    groupFailures: 0,
    failures: 0,
    alerts,
    notified: new Map(),
    unsure: new Map(),
    lost: [],
    log: new Map(),
    suppressedBefore: new Map([["before", { isCovered: true }]]),
    stormGroups: undefined,
  };
};

const source = { subject: shop.subject, labels: shop.labels };

test("a group's alerts are inhibited by any alert that fires, and its own stand for those they inhibit", async () => {
  const found = await suppressions(T0, [shop, inside, outside]).ofGroup(claimOf([shop, inside]));
  expect(found).toEqual({
    muted: undefined,
    suppressed: new Map([[inside.id, { reason: "inhibited", by: shop.id, since: T0, source }]]),
    suppressedBefore: new Map([["before", { isCovered: true }]]),
    othersFire: false,
    recheckEveryMs: 5 * MINUTE,
    standsFor: new Map([[shop.id, { recordings: 1, locations: 0, names: ["Till"] }]]),
    isOutdated: false,
  });
});

test("a group is outdated where one that it has as firing fires no more", async () => {
  const isOutdated = async (claimed: readonly Alert[]) =>
    (await suppressions(T0, [shop]).ofGroup(claimOf(claimed))).isOutdated;
  expect(await isOutdated([shop, inside])).toBe(true);
  expect(await isOutdated([shop, over(inside, T0)])).toBe(false);
});

test("a resolved alert is suppressed as a firing one is, and stands for none", async () => {
  const found = await suppressions(T0, [shop]).ofGroup(claimOf([over(inside, T0), over(shop, T0)]));
  expect(found.suppressed.get(inside.id)).toEqual({ reason: "inhibited", by: shop.id, since: T0, source });
  expect(found.standsFor.size).toBe(0);
});

test("people are asked about a silence by one alert, wherever the others are read", async () => {
  const now = T0 + 55 * MINUTE;
  const attempt = { goodAt: now - 1, attemptedAt: now - 1 };
  const staleness = createStaleness({
    shards: {
      attemptsOf: async (subjects) => new Map(subjects.map((one) => [one, attempt])),
      holding: async (places) => places.map(() => true),
    },
    assigned: { shardOf: Number, shards: () => [1, 2] },
    inventory: { recording: () => undefined },
    statusIntervalMs: MINUTE,
    runsSince: () => T0,
  });
  const silences = [{ ...silence, matchers: parseMatchers("alertname=RecordingOffline") }];
  const { ofGroup } = suppressions(now, [inside, outside], { silences, staleness });
  const isAsked = async (alert: Alert) =>
    (await ofGroup(claimOf([alert]))).suppressed.get(alert.id)?.askAt !== undefined;
  expect([await isAsked(inside), await isAsked(outside)]).toEqual([true, false]);
});

const acknowledged = { reason: "acknowledged", by: "dana", since: T0, author: "dana", comment: "" };

test("of several suppressions the one that ends by itself is named, an acknowledgement last and beside it", async () => {
  const acks = [inside.id, outside.id, shop.id];
  const found = await suppressions(T0, [shop, inside, outside], { silences: [silence], acks }).ofGroup(
    claimOf([shop, inside, outside]),
  );
  expect([...found.suppressed.values()]).toEqual([
    acknowledged,
    { reason: "inhibited", by: shop.id, since: T0, source, acknowledged },
    {
      reason: "silenced",
      by: "s",
      since: T0,
      until: T0 + HOUR,
      askAt: T0 + 50 * MINUTE,
      author: "dana",
      comment: "",
      acknowledged,
    },
  ]);
});

test("a maintenance is named before an acknowledgement and after a silence, and listed for the API", async () => {
  const maintenance = [
    { name: "w", matchers: parseMatchers("location_id=~[12]"), timeIntervals: [night], comment: "off" },
  ];
  const acks = [shop.id];
  const all = suppressions(T0, [shop, outside], { silences: [silence], acks, maintenance });
  const planned = { reason: "maintenance", by: "w", comment: "off", since: T0 - 8 * HOUR, until: T0 + HOUR };
  const { suppressed } = await all.ofGroup(claimOf([shop, outside]));
  expect(suppressed.get(shop.id)).toEqual({ ...planned, acknowledged });
  expect(suppressed.get(outside.id)).toMatchObject({ reason: "silenced" });
  expect(await all.ofAll()).toMatchObject([{ maintenance: planned }, { maintenance: planned, silencedBy: ["s"] }]);
});

test("an acknowledgement suppresses until it runs out, and is known as ended from then on", async () => {
  const alerts = [inside, outside];
  const more = { acks: [inside.id], ackedUntil: T0 + HOUR };
  const before = await suppressions(T0 + HOUR - 1, alerts, more).ofGroup(claimOf(alerts));
  expect(before.suppressed.get(inside.id)).toMatchObject({ reason: "acknowledged", by: "dana", until: T0 + HOUR });
  const after = suppressions(T0 + HOUR, alerts, more);
  expect((await after.ofGroup(claimOf(alerts))).suppressed).toEqual(new Map());
  const [ended] = await after.ofAll();
  expect(ended).toMatchObject({ acknowledgement: undefined, endedAcknowledgement: { author: "dana" } });
});

test("a group is muted by the times of its own route, as it is configured now", async () => {
  const critical = firing("c", T0, { location_id: "1", severity: "critical" });
  const all = suppressions(T0, [critical], { route });
  expect((await all.ofGroup(claimOf([critical], muted))).muted).toEqual({
    reason: "muted",
    by: "night",
    until: T0 + HOUR,
  });
  expect((await all.ofGroup(claimOf([critical]))).muted).toBeUndefined();
  expect(
    (await suppressions(T0 + HOUR, [critical], { route }).ofGroup(claimOf([critical], muted))).muted,
  ).toBeUndefined();
  expect((await suppressions(T0, [critical]).ofGroup(claimOf([critical], muted))).muted).toBeUndefined();
});

test("for the API everything that fires is listed with all its suppressions", async () => {
  const critical = firing("c", T0, { location_id: "2", severity: "critical" });
  const all = [shop, inside, critical];
  const rows = await suppressions(T0, all, {
    route,
    silences: [silence, { ...silence, id: "longer", endsAt: T0 + 2 * HOUR }],
    acks: [critical.id],
  }).ofAll();
  const none = { silencedBy: [], inhibitedBy: [], mutedBy: [], acknowledgement: undefined };
  expect(rows).toEqual([
    { ...none, alert: shop },
    { ...none, alert: inside, inhibitedBy: [shop] },
    {
      ...none,
      alert: critical,
      silencedBy: ["longer", "s"],
      mutedBy: ["night"],
      acknowledgement: { author: "dana", comment: "", at: T0 },
    },
  ]);
});

test("an alert is muted for the API only where every route that takes it is", async () => {
  const critical = firing("c", T0, { severity: "critical" });
  const both: Route = {
    ...rootRoute,
    routes: [
      { ...muted, continue: true },
      { ...rootRoute, key: "{}/all/1" },
    ],
  };
  expect(await suppressions(T0, [critical], { route: both }).ofAll()).toMatchObject([{ mutedBy: [] }]);
});

test("however many alerts a mute time suppresses, its time interval is looked up for one route and minute", async () => {
  let lookups = 0;
  const counted: NamedInterval = {
    name: "night",
    get intervals() {
      lookups++;
      return night.intervals;
    },
  };
  const always: Route = { ...rootRoute, muteTimes: [counted] };
  const alerts = Array.from({ length: 3_500 }, (_, i) => firing(`camera-${i}`, T0));
  const at = (now: number) => suppressions(now, alerts, { route: always }).ofAll();
  const found = [...(await at(T0)), ...(await at(T0 + MINUTE - 1))];
  expect(found.every(({ mutedBy }) => mutedBy[0] === "night")).toBe(true);
  expect(lookups).toBeLessThanOrEqual(121);
  expect((await at(T0 + HOUR)).every(({ mutedBy }) => mutedBy.length === 0)).toBe(true);
});

test("the suppressions of ten thousand alerts are computed without blocking the event loop", async () => {
  const alerts = Array.from({ length: 10_000 }, (_, i) => firing(`camera-${i}`, T0, { location_id: "3" }));
  const silences = Array.from({ length: 200 }, (_, i) => ({ ...silence, id: `s${i}` }));
  const { ofAll } = suppressions(T0, alerts, { silences });
  let done = false;
  const found = ofAll().finally(() => {
    done = true;
  });
  let turns = 0;
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  expect(await found).toHaveLength(10_000);
  expect(turns).toBeGreaterThan(5);
});
