import fc from "fast-check";
import { DateTime } from "luxon";
import { expect, it } from "vitest";
import type { Recording } from "../../src/health/recording.ts";
import { createScheduleLookup } from "../../src/poll/schedule-lookup.ts";
import { createRefreshUptime } from "../../src/poll/uptime.ts";
import { createUptimeParser } from "../../src/service/recording-uptime-rows.ts";
import { createWallClock } from "../../src/service/zoned-time.ts";
import { HOUR, MINUTE, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { clockOf, DAY, UNBROKEN, uptimeOver } from "./rig.ts";

/** Friday 2026-07-17, 02:05 in Tokyo: shops are closed. */
const NOW = Date.UTC(2026, 6, 16, 17, 5);
const ROUNDS = 5;
const IDS = ["a", "b", "c", "d", "e"];

type Fields = Readonly<Record<string, unknown>>;
/** What the rows of a recording have otherwise in one answer. */
interface Odd {
  readonly recording?: Fields;
  readonly entry?: Fields;
}

const recordingOf = (id: string) => ({
  ...{ id, name: `Till ${id}`, organisation: "o", cameraServer: "edge-7", location: "north" },
  ...{ useUploadingSchedule: true, timezone: "Asia/Tokyo" },
});

function resultOf(id: string, start: string, now: number, odd: Odd = {}) {
  const uptime = [];
  for (let at = Date.parse(start) - 9 * HOUR; at <= now; at += HOUR) {
    const local = DateTime.fromMillis(at, { zone: "Asia/Tokyo" });
    const withinSchedule = local.hour >= 8 && local.hour < 22;
    const [segmentsExpected, segmentsReceived] = withinSchedule ? [60, 54] : [0, 0];
    const figures = { avgUptimeOnSegment: 1, pcSegmentsRecieved: 0.9, overallUptime: 0.9 };
    const index = local.toFormat("yyyy-MM-dd HH:00");
    uptime.push({ index, withinSchedule, segmentsExpected, segmentsReceived, ...figures, ...odd.entry });
  }
  return { recording: { ...recordingOf(id), ...odd.recording }, uptime };
}

const GONE = fc.constantFrom(null, undefined, 7, "", [], {});
const lacking = (fields: readonly string[]) =>
  fc
    .subarray([...fields])
    .chain((some) =>
      fc.tuple(...some.map(() => GONE)).map((values) => Object.fromEntries(some.map((field, i) => [field, values[i]]))),
    );
const lacks = fc.record({
  recording: lacking(["name", "organisation", "cameraServer", "location", "useUploadingSchedule", "timezone"]),
  entry: lacking(["index", "withinSchedule", "segmentsExpected", "segmentsReceived", "overallUptime"]),
});

describeWithRedis("one odd answer", () => {
  const testStore = useTestStore();
  let shards = 0;

  /** What rules see after each refresh, of which those in `odd` are answered so. */
  async function seen(odd: ReadonlyMap<number, ReadonlyMap<string, Odd>>) {
    const store = testStore().replica();
    const shard = shards++;
    const ids = IDS.map((id) => `${shard}${id}`);
    const clock = { at: NOW };
    const given = { report: () => {}, wall: createWallClock(), clock: clockOf(clock) };
    const parser = createUptimeParser({ ...given, indexTimezone: "recording" });
    let round = 0;
    const rowsOf = (recids: readonly string[], start: string) =>
      recids.map((id) => resultOf(id, start, clock.at, odd.get(round)?.get(id.slice(-1))));
    const fleet = ids.map((id) => ({ id }) as Recording);
    const refresh = createRefreshUptime({
      ...uptimeOver(store, clock, { fleet, bucketsOf: () => [] }),
      service: { uptimes: async ({ start, recids = [], known }) => parser.many(rowsOf(recids, start), recids, known) },
    });
    await store.inventory.takeRecordings(parser.many(rowsOf(ids, "2026-07-16")).results.map((one) => one.recording));
    const lookup = createScheduleLookup(store.uptime, store.inventory);
    const all: unknown[] = [];
    for (; round < ROUNDS; round++) {
      await refresh(shard, UNBROKEN);
      all.push(
        ids.map((id) => {
          const { inSchedule } = lookup(clock.at + MINUTE);
          const { id: _, name, ...recording } = store.inventory.recording(id) ?? {};
          return { ...recording, inSchedule: inSchedule(id), uptime: store.uptime.figure(id, DAY)?.toFixed(6) };
        }),
      );
      clock.at += 10 * MINUTE;
    }
    return all;
  }

  const usual = {
    ...{ organisation: "o", cameraServer: "edge-7", locationId: "north", useUploadingSchedule: true },
    ...{ timezone: "Asia/Tokyo", inSchedule: false, uptime: "0.900000" },
  };
  const always = Array.from({ length: ROUNDS }, () => IDS.map(() => usual));
  const inAll = (recording: Fields) => Object.fromEntries(IDS.map((id) => [id, { recording }]));
  /** Of all recordings at once they are not believed before they come again. */
  const changes: Fields[] = [
    { timezone: "Europe/Berlin" },
    { useUploadingSchedule: false },
    { cameraServer: "edge-8" },
    { organisation: "p" },
    { location: "south" },
  ];

  it("that lacks any fields of any recordings, or changes all, changes nothing of what rules see", async () => {
    const some = fc.dictionary(fc.constantFrom(...IDS), lacks, { minKeys: 1 });
    const holds = fc.asyncProperty(fc.integer({ min: 1, max: ROUNDS - 1 }), some, async (round, odd) => {
      expect(await seen(new Map([[round, new Map(Object.entries(odd))]]))).toEqual(always);
    });
    const examples = changes.map((fields) => [2, inAll(fields)] as [number, never]);
    await fc.assert(holds, { seed: 1, numRuns: 15, examples });
  }, 120_000);

  it("about one recording is believed at once", async () => {
    const other = new Map([["c", { recording: { cameraServer: "edge-8", useUploadingSchedule: false } }]]);
    const all = await seen(new Map([2, 3, 4].map((round) => [round, other])));
    const changed = { ...usual, cameraServer: "edge-8", useUploadingSchedule: false, inSchedule: true };
    expect(all[2]).toEqual(IDS.map((id) => (id === "c" ? changed : usual)));
  });
});
