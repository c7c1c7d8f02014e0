import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { FiguresSource } from "../../src/digest/figures.ts";
import { createReports } from "../../src/digest/report.ts";
import { type ReportRequest, reportGroups } from "../../src/report/report.ts";
import { addLoss, lostMs, noLoss } from "../../src/report/tally.ts";
import type { StoredEpisode } from "../../src/store/episodes.ts";
import { anEpisode, anUptimeBucket, aRecording, aRecordingState } from "../support/fixtures.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const from = Date.parse("2026-11-18T00:00:00Z");
const NOW = from + 34 * HOUR;
const PERIOD = { from, to: from + 24 * HOUR };

/** 12 recordings at 3 locations of 2 organisations with 4 camera servers. */
const recordings = Array.from({ length: 12 }, (_, i) =>
  aRecording(`r${i}`, {
    name: `Camera ${i}`,
    locationId: `l${i % 3}`,
    organisation: i % 3 === 0 ? "acme" : "globex",
    cameraServer: `edge-${i % 4}`,
  }),
);

const PROBLEMS = { recording: "offline", location: "location_offline", group: "camera_server_offline" } as const;

function episode(kind: keyof typeof PROBLEMS, id: string, startsAt: number, endsAt: number): StoredEpisode {
  const locationId = recordings.find((one) => one.id === id)?.locationId;
  return anEpisode(startsAt, endsAt, { problem: PROBLEMS[kind], subject: { kind, id }, locationId });
}

function reportsOf(
  ended: readonly StoredEpisode[],
  over: { now?: () => number; ratio?: number; released?: Promise<void>; watchedFrom?: number } = {},
) {
  const { now = () => NOW, ratio = 1, released, watchedFrom = 0 } = over;
  const buckets = Array.from({ length: 24 }, (_, i) => anUptimeBucket(from + i * HOUR, ratio));
  let read = 0;
  const source = {
    config: { service: { uptimeIndexTimezone: "recording" } },
    clock: { now },
    store: {
      episodes: { endedSince: async () => ended, completeSince: async () => 0 },
      shards: { alerts: async () => [] },
      coverage: { since: async () => [{ from: watchedFrom, to: NOW }] },
      acks: { read: async () => new Map() },
      uptime: {
        histories: async (_: number, ids: readonly string[]) =>
          new Map(ids.map((id) => [id, { buckets, days: {}, finishedDay: undefined }])),
      },
    },
    async fleet() {
      read += 1;
      await released;
      return {
        now: now(),
        statusIntervalMs: 30_000,
        shardNumbers: [0],
        shards: [
          {
            sweptAt: NOW,
            locations: new Map(),
            recordings: new Map(
              recordings.map(({ id, locationId }) => [id, aRecordingState(id, { locationId, readAt: NOW, since: 0 })]),
            ),
          },
        ],
        inventory: {
          recording: (id: string) => recordings.find((one) => one.id === id),
          location: (id: string) => ({ id, name: `Location ${id}`, timezone: undefined }),
          shop: (id: string) => (id === "l1" ? { labels: { sales_region: "North" } } : undefined),
          shopLabels: () => ["sales_region"],
        },
        overallUptime: () => undefined,
      };
    },
  };
  // Only the parts of the store that are read here.
  const ask = createReports(source as unknown as Parameters<typeof createReports>[0] & FiguresSource);
  const report = async (request: ReportRequest) => (await ask(request)) ?? expect.fail("too many wait");
  return { ask, report, readCount: () => read };
}

const request = (over: Partial<ReportRequest> = {}): ReportRequest => ({
  period: PERIOD,
  timezone: "UTC",
  by: "location",
  matchers: [],
  ...over,
});

const outages = fc.array(
  fc.tuple(
    fc.constantFrom("recording" as const, "location" as const, "group" as const),
    fc.nat(11),
    fc.nat(30),
    fc.integer({ min: 1, max: 20 }),
  ),
  { maxLength: 8 },
);

describe("a report", () => {
  test("has the incidents of the period before where that was watched", async () => {
    const before = [episode("recording", "r0", from - 3 * HOUR, from - 2 * HOUR)];
    for (const [watchedFrom, incidents] of [
      [from - DAY, 1],
      [from + HOUR, undefined],
    ] as const)
      expect((await reportsOf(before, { watchedFrom }).report(request())).before.incidents).toBe(incidents);
  });

  test("has the same sums by whatever it is grouped, and over all recordings", async () => {
    await fc.assert(
      fc.asyncProperty(outages, fc.constantFrom(0.5, 1), async (all, ratio) => {
        const { report } = reportsOf(
          all.map(([kind, i, begin, length]) => {
            const id = { recording: `r${i}`, location: `l${i % 3}`, group: `camera_server/edge-${i % 4}` }[kind];
            return episode(kind, id, from + begin * HOUR, from + (begin + length) * HOUR);
          }),
          { ratio },
        );
        const made = await Promise.all(reportGroups.map((by) => report(request({ by }))));
        for (const { rows, total } of made) {
          expect(total).toEqual(made[0]?.total);
          expect(rows.reduce((sum, { loss }) => addLoss(sum, loss), noLoss())).toEqual(total);
        }
      }),
      { numRuns: 15 },
    );
  });

  test.each<[string, string[]]>([
    ["location", ["Location l1", "Location l0", "Location l2"]],
    ["organisation", ["globex", "acme"]],
    ["camera_server", ["edge-1", "edge-0", "edge-2", "edge-3"]],
  ])("by %s has the most lost time first", async (by, names) => {
    const { report } = reportsOf([
      episode("recording", "r1", from, from + HOUR),
      episode("recording", "r0", from, from + 60_000),
    ]);
    expect((await report(request({ by }))).rows.map(({ name }) => name)).toEqual(names);
  });

  test("blames the camera server where its alert covers more recordings than the location has", async () => {
    const at = [from + HOUR, from + 2 * HOUR] as const;
    const { report } = reportsOf([episode("recording", "r1", ...at), episode("group", "camera_server/edge-1", ...at)]);
    expect((await report(request())).total).toMatchObject({ camera_server: HOUR, recording: 0, location: 0 });
  });

  test("by a label of the directory has the shops without one as a group too", async () => {
    const { report } = reportsOf([episode("recording", "r1", from, from + HOUR)]);
    const { rows, groups } = await report(request({ by: "sales_region" }));
    expect(rows.map(({ name, loss }) => [name, loss.recordings])).toEqual([
      ["North", 4],
      ["no sales region", 8],
    ]);
    expect(groups.slice(3)).toEqual(["recording", "sales_region"]);
  });

  test("has the day, week or month before beside it, of the same recordings", async () => {
    const { report } = reportsOf([
      episode("recording", "r1", from - DAY, from - DAY + HOUR),
      episode("recording", "r0", from, from + 2 * HOUR),
    ]);
    const before = { period: { from: from - DAY, to: from, label: "Tue 17 Nov 2026" } };
    for (const period of ["1d", PERIOD] as const) {
      const made = await report(request({ period, matchers: parseMatchers('location=~".*l[01]"') }));
      expect(made).toMatchObject({ before, total: { recording: 2 * HOUR } });
      expect(made.before.total).toMatchObject({ recordings: 8, recording: HOUR, expectedMs: 8 * DAY });
    }
    const span = await report(request({ period: { from: from + HOUR, to: from + 3 * HOUR } }));
    expect(span.before).toMatchObject({
      period: { from: from - HOUR, to: from + HOUR, label: "2026-11-17 23:00 to 2026-11-18 01:00" },
      total: { recording: HOUR },
    });
  });

  test("has the incidents of the recordings that are asked for, worst first, and how many there were before", async () => {
    const { report } = reportsOf([
      episode("recording", "r1", from - DAY, from - DAY + HOUR),
      episode("recording", "r2", from - DAY, from - DAY + HOUR),
      episode("recording", "r1", from, from + HOUR),
      episode("recording", "r4", from + 9 * HOUR, from + 11 * HOUR),
      episode("group", "camera_server/edge-2", from + 5 * HOUR, from + 6 * HOUR),
    ]);
    const { incidents, before } = await report(request({ matchers: parseMatchers("sales_region=North") }));
    expect([incidents.map(({ title }) => title), before.incidents]).toEqual([
      ["Camera 4 · Location l1: offline", "Camera 1 · Location l1: offline", "Camera server edge-2: offline"],
      1,
    ]);
    const { rows, before: ofAll } = await report(request());
    expect(ofAll.incidents).toBe(2);
    expect(rows.map(({ name, incidents: own }) => [name, own]).sort()).toEqual([
      ["Location l0", 1],
      ["Location l1", 3],
      ["Location l2", 1],
    ]);
  });

  test("is about the recordings that are asked for", async () => {
    const { report } = reportsOf([episode("recording", "r0", from, from + HOUR)]);
    const { total } = await report(request({ matchers: parseMatchers("location=~'.*l0'".replaceAll("'", '"')) }));
    expect([total.recordings, lostMs(total)]).toEqual([4, HOUR]);
  });

  test("covers the last whole period by its name, and not what is still to come", async () => {
    const { report } = reportsOf([episode("recording", "r0", from, from + HOUR)]);
    expect((await report(request({ period: "1d" }))).period).toMatchObject({ ...PERIOD, label: "Wed 18 Nov 2026" });
    const { total } = await report(request({ period: { from, to: NOW + 50 * HOUR } }));
    expect(total.expectedMs).toBe(12 * 34 * HOUR);
  });

  test("is made once for all pages of it, anew after a minute, and again after a failure", async () => {
    let now = NOW;
    const { report, readCount } = reportsOf([], { now: () => now });
    await Promise.all([report(request()), report(request()), report(request({ by: "recording" }))]);
    expect(readCount()).toBe(2);
    now += 60_000;
    await report(request());
    expect(readCount()).toBe(3);
    await expect(report(request({ period: "1d", timezone: "Nowhere/Else" }))).rejects.toThrow(/time zone/);
    await expect(report(request({ period: "1d", timezone: "Nowhere/Else" }))).rejects.toThrow(/time zone/);
    await report(request({ period: "1w" }));
    expect(readCount()).toBe(4);
  });

  test("waits with three others at most, however long those take, and is made once", async () => {
    let now = NOW;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { ask, readCount } = reportsOf([], { now: () => now, released });
    const asked = reportGroups.map((by) => ask(request({ by })));
    expect(ask(request({ period: "1d" }))).toBeUndefined();
    now += 10 * 60_000;
    expect(ask(request({ by: reportGroups[0] }))).toBe(asked[0]);
    release();
    expect((await Promise.all(asked)).map((one) => one?.rows.length)).toEqual([3, 2, 4, 12]);
    expect(await ask(request({ period: "1d" }))).toMatchObject({ period: { label: "Wed 18 Nov 2026" } });
    expect(ask(request({ by: "recording" }))).toBe(asked[3]);
    expect(readCount()).toBe(5);
  });
});
