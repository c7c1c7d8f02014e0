import { describe, expect, test } from "vitest";
import type { StoredAcknowledgement } from "../../src/alerting/acknowledgement.ts";
import { parseConfig } from "../../src/config/load.ts";
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
}

const episode = (alertname: string, from: number, to: number, id?: string) =>
  anEpisode(from, to, { alertname, subject: id ? { kind: "recording", id } : { kind: "service", id: "service" } });

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
  return { asked, deps: { config, store, fleet: async () => fleet } as unknown as FiguresSource };
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

  test("have what is acknowledged and still fires, of the selected recordings, the longest first", async () => {
    const alert = (id: string, startsAt: number, location = "Leeds") =>
      anAlert({ id, startsAt, labels: { alertname: "RecordingOffline", recording: `Till ${id}`, location } });
    const ack = { author: "ana", comment: "parts ordered", at: NOW - 60_000 };
    const firing = [alert("1", NOW - 2), alert("2", NOW - 3), alert("3", 1), alert("4", 1, "Elsewhere"), alert("5", 1)];
    const { digest } = await compute({
      firing,
      acks: new Map<string, StoredAcknowledgement>([
        ["1", ack],
        ["2", { ...ack, until: NOW + 1 }],
        ["3", { ...ack, until: NOW }],
        ["4", ack],
      ]),
    });
    expect(digest.acknowledged?.map(({ names }) => names)).toEqual([
      ["Till 2", "Leeds"],
      ["Till 1", "Leeds"],
    ]);
    const view = viewOf(digest, { name: "daily", externalUrl: undefined }, 10);
    expect(view.others[0]).toMatchObject({
      title: "Acknowledged and still firing",
      rows: [
        {
          name: "Till 2 · Leeds",
          value: "by ana",
          note: expect.stringMatching(/^RecordingOffline since .*, acknowledged .*: parts ordered$/),
        },
        { name: "Till 1 · Leeds" },
      ],
    });
  });

  test("include the period before, outages too where it was watched", async () => {
    const ended = [
      episode("RecordingOffline", at("18T10:00:00"), at("18T12:00:00"), "a"),
      episode("RecordingOffline", at("19T10:00:00"), at("19T10:30:00"), "a"),
      episode("RecordingOffline", at("17T10:00:00"), at("17T10:30:00"), "a"),
    ];
    const { digest } = await compute({ ended });
    expect(digest.totals).toMatchObject({ outages: 1, lostMs: HOUR / 2 });
    expect(digest.before).toEqual({ uptime: 1, outages: 1, lostMs: 2 * HOUR, recoveryMs: 2 * HOUR });
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
    ["was unreachable for two hours", { ended: [episode("ServiceUnreachable", at("18T10:00:00"), at("18T12:00:00"))] }],
    ["has dropped episodes since", { completeSince: at("18T01:00:00") }],
  ])("have no outages of the period before where lenswatch %s", async (_, world) => {
    const { digest } = await compute(world);
    expect(digest.before).toEqual({ uptime: 1, outages: undefined, lostMs: undefined, recoveryMs: undefined });
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
    expect((await compute({ coverage })).digest.before?.outages).toBe(0);
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
    const posted = { ...episode("RecordingOffline", at("19T10:00:00"), at("19T11:00:00"), "a") };
    const ended = [{ ...posted, subject: { kind: "external" as const, id: "a" } }];
    expect((await compute({ ended })).digest.totals.outages).toBe(0);
  });
});
