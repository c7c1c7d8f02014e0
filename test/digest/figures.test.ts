import { describe, expect, test } from "vitest";
import type { StoredAcknowledgement } from "../../src/alerting/acknowledgement.ts";
import { parseConfig } from "../../src/config/load.ts";
import type { VisitsLost } from "../../src/counts/visits-lost.ts";
import { computeFleet, type DigestFleet, type FiguresSource } from "../../src/digest/figures.ts";
import { renderDigest } from "../../src/digest/mail.ts";
import { digestPeriod } from "../../src/digest/period.ts";
import { viewOf } from "../../src/digest/render/view.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { total } from "../../src/lib/intervals.ts";
import type { TimeRange } from "../../src/store/digests.ts";
import type { StoredEpisode } from "../../src/store/episodes.ts";
import type { UptimeHistory } from "../../src/store/uptime-history.ts";
import { anAlert, anEpisode, anUptimeBucket, aRecordingState } from "../support/fixtures.ts";

const HOUR = 3_600_000;
const at = (text: string) => Date.parse(`2026-11-${text}Z`);
const NOW = at("20T08:00:00");
const PERIOD = digestPeriod("1d", NOW, "UTC");
const ALWAYS = [{ from: 0, to: NOW }];

const loaded = parseConfig(
  `
service: { base_url: "http://a", ws_url: "ws://a", auth_url: "http://a", client_id: x, client_secret: x, audience: x }
receivers: [ { name: ops, email_configs: [ { to: a@b } ] } ]
smtp: { host: h, from: a@b }
digests: [ { name: daily, to: a@b, matchers: 'location!="Elsewhere"' } ]
`,
  { file: "lenswatch.yaml", env: {}, readSecret: () => "" },
);
if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
const { config } = loaded;
const [daily] = config.digests;

interface World {
  /** By shard: recording id → when it was last read. */
  readonly shards?: readonly Readonly<Record<string, number>>[];
  readonly ended?: readonly StoredEpisode[];
  readonly coverage?: readonly TimeRange[];
  readonly completeSince?: number;
  readonly firing?: readonly Alert[];
  /** By the id of an alert. */
  readonly acks?: ReadonlyMap<string, StoredAcknowledgement>;
  readonly visits?: ReadonlyMap<string, VisitsLost>;
}

const episode = (problem: "offline" | "service_unreachable", from: number, to: number, id?: string) =>
  anEpisode(from, to, { problem, subject: id ? { kind: "recording", id } : { kind: "service", id: "service" } });

/** Two days of hours, all up, and the days before. */
function history(): UptimeHistory {
  const first = at("18T00:00:00");
  return {
    buckets: Array.from({ length: 48 }, (_, i) =>
      anUptimeBucket(first + i * HOUR, 1, { segmentsReceived: 60, avgUptimeOnSegment: 1, pcSegmentsReceived: 1 }),
    ),
    days: { "2026-11-16": { ratio: 0.5, segmentsExpected: 1440 } },
    finishedDay: "2026-11-19",
    quality: { hour: NOW / HOUR, levels: "k" },
  };
}

function state(id: string, readAt: number): RecordingState {
  return aRecordingState(id, { readAt, locationId: `place-${id}`, since: 0 });
}

function depsOf({
  shards = [{ a: NOW }],
  ended = [],
  coverage = ALWAYS,
  completeSince = 0,
  firing = [],
  acks = new Map(),
  visits = new Map(),
}: World) {
  const asked: [number, readonly string[]][] = [];
  const fleet: DigestFleet = {
    now: NOW,
    statusIntervalMs: 30_000,
    shardNumbers: shards.map((_, i) => 10 + i),
    shards: shards.map((rows) => ({
      sweptAt: NOW,
      locations: new Map(),
      recordings: new Map(Object.entries(rows).map(([id, readAt]) => [id, state(id, readAt)])),
    })),
    inventory: {
      recording: () => undefined,
      location: (id) => ({ id, name: id === "place-z" ? "Elsewhere" : undefined, timezone: undefined }),
    },
    overallUptime: () => undefined,
  };
  const store = {
    episodes: {
      endedSince: async (from: number) => ended.filter(({ endsAt = 0 }) => endsAt >= from),
      completeSince: async () => completeSince,
    },
    shards: { alerts: async () => firing },
    acks: { read: async () => acks },
    coverage: { since: async () => coverage },
    uptime: {
      async histories(shard: number, ids: readonly string[]) {
        asked.push([shard, ids]);
        return new Map(ids.map((id) => [id, history()]));
      },
    },
  };
  // Only the parts of the store that are read here.
  const uncounted = { of: async () => visits };
  return { asked, deps: { config, store, uncounted, fleet: async () => fleet } as unknown as FiguresSource };
}

async function compute(world: World) {
  if (!daily) throw new Error("the configuration has a digest");
  const { asked, deps } = depsOf(world);
  return { asked, digest: await computeFleet(deps, daily, PERIOD) };
}

describe("a digest's figures", () => {
  test("are read in pages of the selected recordings, each once, from the shard that read it last", async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`r${i}`, NOW]));
    const { asked, digest } = await compute({ shards: [{ ...many, moved: NOW - 1, z: NOW }, { moved: NOW }] });
    expect(asked.map(([shard, ids]) => [shard, ids.length])).toEqual([
      [10, 100],
      [10, 50],
      [11, 1],
    ]);
    expect(digest.totals).toMatchObject({ recordings: 151, uptime: 1 });
  });

  test("have the incidents of the selected recordings, what they cost until now, and who has them", async () => {
    const alert = (id: string, startsAt: number) =>
      anAlert({
        ...{ id: `${id}@${startsAt}`, startsAt, subject: { kind: "recording", id } },
        labels: { alertname: "RecordingOffline", location_id: `place-${id}` },
        facts: { timezone: "UTC", problem: "offline" },
      });
    const firing = [
      alert("a", at("19T10:00:00")),
      alert("b", at("19T09:00:00")),
      alert("z", at("19T09:00:00")),
      alert("c", at("20T01:00:00")),
    ];
    const ack = { author: "ana", comment: "parts ordered", at: NOW - 60_000 };
    const { digest } = await compute({
      shards: [{ a: NOW, b: NOW, c: NOW, z: NOW }],
      firing,
      visits: new Map([[firing[0]?.id ?? "", { estimate: 310, low: 260, high: 370 }]]),
      acks: new Map<string, StoredAcknowledgement>([
        [firing[0]?.id ?? "", { ...ack, until: NOW }],
        [firing[1]?.id ?? "", { ...ack, until: NOW + 1, eta: NOW + HOUR }],
      ]),
    });
    const [section] = viewOf(digest, { name: "daily", externalUrl: undefined }, 10).sections;
    expect(section).toMatchObject({
      title: "What happened",
      count: "2 incidents, about 200 visits uncounted (170–240)",
      rows: [
        {
          name: "b · place-b: offline",
          value: "23 h",
          note: expect.stringMatching(
            /^I-\w{5} · since 09:00; acknowledged by ana until Fri 20 Nov 08:00, ETA Fri 20 Nov 09:00$/,
          ),
        },
        { value: "22 h", note: expect.stringMatching(/ since 10:00; about 200 visits uncounted \(170–240\)$/) },
      ],
    });
  });

  test("include the period before, outages too where it was watched", async () => {
    const ended = [
      episode("offline", at("18T10:00:00"), at("18T12:00:00"), "a"),
      episode("offline", at("19T10:00:00"), at("19T10:30:00"), "a"),
      episode("offline", at("17T10:00:00"), at("17T10:30:00"), "a"),
    ];
    const { digest } = await compute({ ended });
    expect(digest.totals).toMatchObject({ lostMs: HOUR / 2 });
    expect(digest.incidents).toHaveLength(1);
    expect(digest.before).toEqual({ uptime: 1, incidents: 1, lostMs: 2 * HOUR, recoveryMs: 2 * HOUR });
  });

  test.each<[string, World]>([
    ["began to watch in the middle of it", { coverage: [{ from: at("18T02:00:00"), to: NOW }] }],
    [
      "was away for two hours",
      {
        coverage: [
          { from: 0, to: at("18T10:00:00") },
          { from: at("18T12:00:00"), to: NOW },
        ],
      },
    ],
    ["has no stored coverage", { coverage: [] }],
    [
      "was unreachable for two hours",
      { ended: [episode("service_unreachable", at("18T10:00:00"), at("18T12:00:00"))] },
    ],
    ["has dropped episodes since", { completeSince: at("18T01:00:00") }],
  ])("have no outages of the period before where lenswatch %s", async (_, world) => {
    const { digest } = await compute(world);
    expect(digest.before).toEqual({ uptime: 1, incidents: undefined, lostMs: undefined, recoveryMs: undefined });
  });

  // The store keeps the last 50,000: a storm of a large fleet pushes out those of the reported period itself.
  test("do not say that a period was without outages whose episodes were dropped", async () => {
    const { digest } = await compute({ completeSince: at("19T18:00:00") });
    expect(digest.unwatched).toEqual([{ from: digest.period.from, to: at("19T18:00:00") }]);
    const { text } = await renderDigest(digest, { name: "daily", externalUrl: undefined });
    expect(text).not.toMatch(/up throughout/);
  });

  test("compare with a period of which an hour was not watched", async () => {
    const coverage = [
      { from: 0, to: at("18T10:00:00") },
      { from: at("18T11:00:00"), to: NOW },
    ];
    expect((await compute({ coverage })).digest.before?.incidents).toBe(0);
  });

  test("give the unwatched time of the period, except for short restarts", async () => {
    const coverage = [
      { from: at("19T09:00:00"), to: at("19T12:00:00") },
      { from: at("19T12:14:00"), to: at("19T20:00:00") },
      { from: at("19T20:15:00"), to: NOW },
    ];
    const { digest } = await compute({ coverage });
    expect(digest.unwatched).toEqual([
      { from: PERIOD.from, to: at("19T09:00:00") },
      { from: at("19T20:00:00"), to: at("19T20:15:00") },
    ]);
    expect(total(digest.unwatched)).toBe(9.25 * HOUR);
  });

  test("leave out external alerts", async () => {
    const posted = { ...episode("offline", at("19T10:00:00"), at("19T11:00:00"), "a") };
    const ended = [{ ...posted, subject: { kind: "external" as const, id: "a" } }];
    expect((await compute({ ended })).digest.incidents).toEqual([]);
  });
});
