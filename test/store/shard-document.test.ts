import fc from "fast-check";
import { expect, test } from "vitest";
import type { AlertState } from "../../src/health/alert-machine.ts";
import type { RecordingState, ShardState } from "../../src/health/shard-state.ts";
import { decodeHot, decodeShard, encodeSweep } from "../../src/store/shard-document.ts";
import { locationRule, offlineRule, Story } from "../health/shard-history.ts";
import { anAlertState, aRecordingState } from "../support/fixtures.ts";
import { fieldsOf, hashAfter, storedAgain } from "../support/shard-hash.ts";
import { patchOf } from "../support/shard-patch.ts";

const T0 = Date.UTC(2026, 2, 2, 8);
const DAY = 86_400_000;

const instant = fc.integer({ min: T0 - 400 * DAY, max: T0 + DAY });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const id = fc.stringMatching(/^[0-9a-f]{24}$/);
/** Names come from the service: any text at all. */
const text = fc.string({ unit: "binary", maxLength: 12 }).filter((name) => name !== "__proto__");

const alertState: fc.Arbitrary<AlertState> = fc.record({
  state: fc.constantFrom("pending" as const, "firing" as const),
  startsAt: instant,
  elapsedMs: fc.nat(),
  evidenceAt: instant,
  firedAt: fc.oneof(fc.constant(0), instant),
  labels: fc.dictionary(text, text, { maxKeys: 3 }),
  annotations: fc.dictionary(text, text, { maxKeys: 2 }),
  facts: fc.record({ timezone: text, averageQuality: fc.double({ min: 0, max: 1, noNaN: true }) }),
});
const alerts = maybe(fc.dictionary(text, alertState, { minKeys: 1, maxKeys: 2 }));

const status = fc.constantFrom("online" as const, "offline" as const, "degraded" as const);
const stretch = fc.record({ status, from: instant, count: fc.integer({ min: 1, max: 21 }) });

const recording: fc.Arbitrary<RecordingState> = fc.record({
  id,
  locationId: fc.constantFrom("north", "south", "nowhere"),
  status: maybe(status),
  readAt: fc.oneof(fc.constant(0), instant),
  since: instant,
  lastSeenAt: maybe(instant),
  onlineSeenAt: maybe(instant),
  averageQuality: maybe(fc.double({ min: 0, max: 1, noNaN: true }).map((ratio) => ratio + 0)),
  absentSince: maybe(instant),
  history: maybe(fc.record({ sampledAt: instant, stretches: fc.array(stretch, { minLength: 1, maxLength: 21 }) })),
  outage: maybe(fc.record({ from: instant, until: maybe(instant) })),
  alerts,
});

const shard: fc.Arbitrary<ShardState> = fc
  .record({
    sweptAt: instant,
    rows: fc.uniqueArray(recording, { selector: ({ id }) => id, maxLength: 12 }),
    north: alerts,
    south: alerts,
  })
  .map(({ sweptAt, rows, north, south }) => ({
    sweptAt,
    recordings: new Map(rows.map((row) => [row.id, row])),
    locations: new Map([
      ["north", { id: "north", alerts: north }],
      ["south", { id: "south", alerts: south }],
      ["nowhere", { id: "nowhere", alerts: undefined }],
    ]),
  }));

const plain = ({ sweptAt, recordings, locations }: ShardState) => ({
  sweptAt,
  recordings: [...recordings.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  locations: new Map(locations),
});

test("a shard comes back from its document as it was", () => {
  fc.assert(
    fc.property(shard, (state) => {
      expect(plain(storedAgain(state))).toEqual(plain(state));
    }),
    { seed: 20_261_120, numRuns: 200 },
  );
});

test("a recording whose location has no state of its own keeps it", () => {
  const state: ShardState = {
    sweptAt: T0,
    locations: new Map(),
    recordings: new Map([
      [
        "cam",
        {
          id: "cam",
          locationId: "elsewhere",
          status: "online",
          readAt: T0,
          since: T0 - DAY,
          lastSeenAt: undefined,
          averageQuality: undefined,
          alerts: undefined,
        },
      ],
    ]),
  };
  expect(storedAgain(state).recordings.get("cam")?.locationId).toBe("elsewhere");
});

const T1 = T0 + 5_000;
const places = ["north", "south", "west"];
const fleet: ShardState = {
  sweptAt: T0,
  recordings: new Map(places.map((locationId, i) => [`cam-${i}`, aRecordingState(`cam-${i}`, { locationId })])),
  locations: new Map(places.map((id) => [id, { id, alerts: undefined }])),
};
const stored = () => decodeShard(hashAfter(fieldsOf(fleet)));
const seen = { lastSeenAt: T1 - 679, averageQuality: 0.97 };
const sweep = (changed = new Map<string, RecordingState>(), locations = fleet.locations) =>
  patchOf(fleet, {
    sweptAt: T1,
    read: new Map([...fleet.recordings.keys()].map((id) => [id, changed.has(id) ? undefined : seen])),
    changed,
    locations,
  });

test("a sweep that found nothing new writes 13 bytes for a recording, and no location", () => {
  const before = stored();
  const fields = encodeSweep(before, sweep(), "another");
  expect(fields).toMatchObject({ more: [], isWhole: false, cold: "version" });
  const column = (name: string) => JSON.parse(fields.document)[name].join();
  expect(["unread", "seen", "quality"].map(column)).toEqual(["", "679,679,679", "0.97,0.97,0.97"]);
});

const namesIn = (fields: readonly string[]) => fields.filter((_, i) => i % 2 === 0).toSorted();

test("a sweep writes the recordings and locations of which something changed, and no other", () => {
  const offline = aRecordingState("cam-1", { locationId: "south", status: "offline" });
  const locations = new Map(fleet.locations).set("west", { id: "west", alerts: { Outage: anAlertState() } });
  const { isWhole, more, gone } = encodeSweep(stored(), sweep(new Map([["cam-1", offline]]), locations), "other");
  expect({ isWhole, gone, names: namesIn(more) }).toEqual({
    isWhole: false,
    gone: [],
    names: ["c", "l:west", "r:cam-1"],
  });
});

test("what one sweep after the other writes is what the shard has", () => {
  fc.assert(
    fc.property(shard, shard, fc.boolean(), (before, after, isMoved) => {
      const left = new Set([...before.recordings.keys()].filter((one) => !after.recordings.has(one)));
      const locations = new Map([...after.locations].slice(isMoved ? 1 : 0));
      const known = decodeShard(hashAfter(fieldsOf(before)));
      const patch = patchOf(known.state, { sweptAt: after.sweptAt, changed: after.recordings, left, locations });
      const hash = hashAfter(encodeSweep(known, patch, "other"), hashAfter(fieldsOf(before)));
      expect(plain(decodeShard(hash).state)).toEqual(plain({ ...after, locations }));
    }),
    { numRuns: 100 },
  );
});

test("hot values that follow another cold state are not read", () => {
  const known = stored();
  const changed = new Map([["cam-1", aRecordingState("cam-1", { status: "offline" })]]);
  const { document } = encodeSweep(known, sweep(changed), "other");
  expect(decodeHot("nonce", document, known)).toBeUndefined();
  expect(
    [...known.state.recordings.values()].map(({ readAt }) => readAt),
    "and nothing is taken",
  ).toEqual([0, 0, 0]);
  const torn = decodeShard({ ...hashAfter(fieldsOf(fleet)), d: document }).state;
  expect([torn.sweptAt, ...torn.recordings.values().map(({ readAt }) => readAt)]).toEqual([T1, 0, 0, 0]);
});

const NOW = Date.UTC(2026, 10, 20, 14, 17);
const recordingAt = (more: Partial<RecordingState> = {}): RecordingState =>
  aRecordingState("a", { readAt: NOW, averageQuality: 0.9, since: NOW - 1, lastSeenAt: NOW - 2, ...more });
const shardOf = (one: RecordingState): ShardState => ({
  sweptAt: NOW,
  recordings: new Map([[one.id, one]]),
  locations: new Map(),
});

test("a recording that always was the same takes no room for them", () => {
  const row = fieldsOf(shardOf(recordingAt())).more.at(-1) ?? "";
  expect(JSON.parse(row)).toEqual({ locationId: "L1", status: "online", since: NOW - 1 });
  expect(storedAgain(shardOf(recordingAt())).recordings.get("a")).toEqual(recordingAt());
});

test("a sweep that finds all as it was writes nothing cold, though alerts fire; one that does not, what changed", () => {
  const story = new Story(offlineRule(), locationRule());
  let written: readonly string[] = [];
  story.swept = (before, { patch }) => {
    written = encodeSweep({ state: structuredClone(before), cold: "one" }, patch, "two").more.filter(
      (_, i) => i % 2 === 0,
    );
  };
  for (const status of ["online", "offline"] as const) story.sweep({ a: status, b: "offline" });
  expect(written).toEqual(["c", "r:a", "l:L1"]);
  story.sweep({ a: "offline", b: "offline" });
  expect(written).toEqual([]);
  expect(story.sweep({ a: "offline", b: "online" })).toContain("resolved RecordingOffline/recording/b recovered");
  expect(written).toEqual(["c", "r:b", "l:L1"]);
});
