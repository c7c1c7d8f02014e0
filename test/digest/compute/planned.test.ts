import fc from "fast-check";
import { expect, test } from "vitest";
import { parseMatchers } from "../../../src/alerting/matcher.ts";
import type { DigestEpisode, PlannedWindows, RecordingDigest } from "../../../src/digest/digest.ts";
import { headline } from "../../../src/digest/render/headline.ts";
import { renderDigestText } from "../../../src/digest/render/text.ts";
import { viewOf } from "../../../src/digest/render/view.ts";
import { subtract, total, union } from "../../../src/lib/intervals.ts";
import { computeDigest, type DigestInput } from "../compute-digest.ts";
import { at, HOUR, hours, input, locationOffline, MINUTE, NOW, offline, subject } from "../fixtures.ts";

const window = (from: string, to: string, matchers = "organisation=acme"): PlannedWindows => ({
  name: "stock-take",
  matchers: parseMatchers(matchers),
  comment: "recorders off",
  windows: [{ from: at(from), to: at(to) }],
});

function digestOf(over: Partial<DigestInput>) {
  return computeDigest(input({ recordings: [subject("a")], ...over }));
}

function one(over: Partial<DigestInput>): RecordingDigest {
  const [found] = Object.values(digestOf(over).parts).flatMap((all) => all.flatMap(({ recordings }) => recordings));
  if (!found) throw new Error("the recording is in no part");
  return found;
}

const maintenance = [window("02:00", "06:00")];
const planned = (episode: DigestEpisode) => ({ ...episode, planned: "stock-take" });

test("downtime inside a window is planned, is no outage, and has a part and a section of its own", () => {
  const uptime = new Map([["a", hours(at("00:00"), [1, 1, 1, 0, 0, 1, ...Array(18).fill(1)])]]);
  const digest = digestOf({ maintenance, uptime, episodes: [planned(offline("a", at("03:00"), at("05:00")))] });
  expect(digest.totals).toMatchObject({ planned: 1, plannedMs: 2 * HOUR, lostMs: 0, recoveryMs: undefined });
  expect(digest.incidents).toEqual([]);
  expect(headline(digest).sentence).toMatch(/2 h of downtime in maintenance was planned/i);
  const text = renderDigestText(viewOf(digest, { name: "d", externalUrl: undefined }, 10));
  expect(text).toContain("Maintenance: stock-take 02:00–06:00 (recorders off).");
  expect(text).toMatch(/uptime is the service's own figure, which includes it/);
});

test.each([
  ["that began before it is an outage until it begins", "01:00", "05:00", { lostMs: HOUR, plannedMs: 3 * HOUR }],
  ["that outlasts it is an outage from its end", "05:30", "07:00", { lostMs: HOUR, plannedMs: 30 * MINUTE }],
  ["around it is one outage without it", "01:00", "07:00", { lostMs: 2 * HOUR, plannedMs: 4 * HOUR }],
])("downtime %s", (_, from, to, lengths) => {
  const over = { maintenance, episodes: [planned(offline("a", at(from), at(to)))] };
  expect(one(over)).toMatchObject({ part: "down_some", ...lengths });
  const { totals, incidents } = digestOf(over);
  expect(totals).toMatchObject({ recoveryMs: lengths.lostMs });
  expect(incidents).toHaveLength(1);
});

test("what is down now, and only inside a window, is not down in the sense of an outage", () => {
  const now = [{ ...window("02:00", "02:00"), windows: [{ from: NOW - HOUR, to: NOW + HOUR }] }];
  const down = (since: number) => ({
    maintenance: now,
    recordings: [subject("a", { status: "offline" as const, since })],
    episodes: [offline("a", since)],
  });
  expect(digestOf(down(NOW - HOUR / 2)).totals).toMatchObject({ down_now: 0 });
  expect(digestOf(down(NOW - 2 * HOUR)).totals).toMatchObject({ down_now: 1 });
});

test("windows of other recordings count for nothing, and low uptime of other hours is still said", () => {
  const episodes = [offline("a", at("03:00"), at("05:00"))];
  expect(one({ maintenance: [window("02:00", "06:00", "organisation=other")], episodes })).toMatchObject({
    part: "down_some",
    lostMs: 2 * HOUR,
    plannedMs: 0,
  });
  const uptime = new Map([["a", hours(at("00:00"), [1, 1, 1, 0, 0, 1, 0.5, ...Array(17).fill(1)])]]);
  expect(one({ maintenance, episodes, uptime })).toMatchObject({ part: "low", lostMs: 0 });
});

test("an incident that lasted no longer than its maintenance is no incident", () => {
  const episodes = [planned(locationOffline("leeds-briggate", at("03:00"), at("07:00")))];
  const lost = (all: PlannedWindows[]) => digestOf({ episodes, maintenance: all }).incidents.length;
  expect(lost(maintenance)).toBe(1);
  expect(lost([window("02:00", "08:00")])).toBe(0);
  expect(lost([{ ...window("02:00", "08:00"), name: "another" }])).toBe(1);
});

const spans = fc
  .array(fc.tuple(fc.nat(1_439), fc.nat(400)), { maxLength: 4 })
  .map((pairs) =>
    union(
      pairs.map(([from, length]) => ({
        from: at("00:00") + from * MINUTE,
        to: at("00:00") + (from + length) * MINUTE,
      })),
    ),
  );

test("planned downtime, other downtime and the rest are the time inside the schedule, whatever the windows", () => {
  fc.assert(
    fc.property(spans, spans, spans, fc.nat(24), (downs, windows, unreachable, opensAt) => {
      const ratios = Array.from({ length: 24 }, () => 1);
      const buckets = hours(at("00:00"), ratios).map((bucket, i) => ({ ...bucket, withinSchedule: i >= opensAt }));
      const recording = one({
        maintenance: [{ ...window("00:00", "00:00"), windows }],
        episodes: downs.map(({ from, to }) => offline("a", from, to)),
        uptime: new Map([["a", buckets]]),
        unreachable,
      });
      const day = { from: at("00:00"), to: at("2026-11-20T00:00:00Z") };
      const schedule = subtract([{ from: day.from + opensAt * HOUR, to: day.to }], unreachable);
      const up = total(subtract(schedule, downs));
      expect(recording.lostMs + recording.plannedMs + up).toBe(total(schedule));
      expect(recording.plannedMs).toBe(
        total(schedule) - up - total(subtract(subtract(schedule, subtract(schedule, downs)), windows)),
      );
    }),
    { numRuns: 100 },
  );
});
