import { DateTime } from "luxon";
import { expect, it } from "vitest";
import { knownHours, learnSchedule, scheduleState } from "../../src/health/schedule.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { createUptimeParser } from "../../src/service/recording-uptime-rows.ts";
import { createWallClock } from "../../src/service/zoned-time.ts";

const hours = createLocalHours();
/** Wednesday, 16:10 in Berlin, 10:10 in New York. */
const NOW = Date.UTC(2026, 6, 15, 14, 10);

/** Four weeks, open from 08:00 to 22:00; indexes in the true local time, as by default. */
function result(id: string, timezone: string, trueZone = timezone, from = NOW - 28 * 86_400_000) {
  const uptime = [];
  for (let at = from; at <= NOW; at += 3_600_000) {
    const local = DateTime.fromMillis(at, { zone: trueZone });
    const withinSchedule = local.hour >= 8 && local.hour < 22;
    const n = withinSchedule ? 60 : 0;
    uptime.push({
      index: local.toFormat("yyyy-MM-dd HH:00"),
      withinSchedule,
      segmentsExpected: n,
      segmentsReceived: n,
      avgUptimeOnSegment: 1,
      pcSegmentsRecieved: 1,
      overallUptime: 1,
    });
  }
  return {
    recording: {
      id,
      name: id,
      organisation: "o",
      cameraServer: "c",
      location: "l",
      useUploadingSchedule: true,
      timezone,
    },
    uptime,
  };
}

const day = (id: string, timezone: string, trueZone = timezone) => result(id, timezone, trueZone, NOW - 12 * 3_600_000);
const startOf = (one: { buckets: readonly { startAt: number }[] } | undefined) => one?.buckets.at(-1)?.startAt;

function parserAt() {
  const kinds: string[] = [];
  const report = (kind: string) => void kinds.push(kind);
  const given = { wall: createWallClock(), indexTimezone: "recording", clock: { now: () => NOW } } as const;
  return { ...createUptimeParser({ ...given, report }), kinds };
}

it("a recording whose buckets are of the future in its zone and in UTC has none, and is reported", () => {
  const { many, kinds } = parserAt();
  const { results } = many([day("wrong", "America/Los_Angeles", "Asia/Tokyo"), day("right", "Asia/Tokyo")]);
  expect([results[0]?.buckets, kinds]).toEqual([[], ["utc_index"]]);
  expect(startOf(results[1])).toBe(NOW - 10 * 60_000);
});

it("most recordings, of several zones, decide for all that indexes are in UTC, and decide again", () => {
  const { many } = parserAt();
  const offline = day("offline", "America/Denver", "Etc/UTC");
  offline.uptime = offline.uptime.slice(0, 3);
  const read = (id: string, zones: string[], trueZone?: string) =>
    many([
      ...zones.flatMap((zone) => Array.from({ length: 6 }, (_, i) => day(`${id}${zone}${i}`, zone, trueZone))),
      offline,
    ]).results.at(-1)?.buckets[0]?.startAt;
  const [utc, local] = [NOW - 12 * 3_600_000 - 10 * 60_000, NOW - 6 * 3_600_000 - 10 * 60_000];
  expect(read("a", ["America/New_York"], "Etc/UTC"), "too few").toBe(local);
  expect(read("b", ["America/New_York", "Asia/Tokyo"], "Etc/UTC"), "one zone, and none says otherwise").toBe(utc);
  expect(read("c", ["America/New_York"]), "fewer say otherwise").toBe(utc);
  expect(read("d", ["America/New_York", "America/Chicago", "Asia/Tokyo"])).toBe(local);
});

it.each([
  ["Europe/Berlin", "America/New_York"],
  ["Europe/London", "America/New_York"],
  ["America/New_York", "America/Los_Angeles"],
])("in a fleet in %s, one camera that the service has in %s changes the schedule of no other", (zone, wrong) => {
  const parser = createUptimeParser({
    report: () => {},
    wall: createWallClock(),
    indexTimezone: "recording",
    clock: { now: () => NOW },
  });
  // Many are entered wrongly, and each answer begins with one of them.
  for (let i = 0; i < 20; i++)
    parser.many([day(`w${i}`, wrong, zone), ...[...Array(5).keys()].map((n) => day(`${i} ${n}`, zone))]);
  const { results } = parser.many([result("wrong", wrong, zone), result("other", zone)]);
  const { buckets = [] } = results[1] ?? {};
  const hourAt = (at: number) => hours.at(at, zone);
  const learned = learnSchedule(undefined, buckets, NOW, hourAt);
  const known = { timezone: zone, hours: learned ? knownHours(learned) : "", served: [] };
  const stateAt = (hour: number) =>
    scheduleState(
      known,
      DateTime.fromObject({ year: 2026, month: 7, day: 16, hour, minute: 5 }, { zone }).toMillis(),
      hourAt,
    );
  expect([7, 8, 21, 22].map(stateAt)).toEqual(["outside", "within", "within", "outside"]);
});
