import fc from "fast-check";
import { expect, test } from "vitest";
import { NextRows, Rows } from "../../src/health/rows.ts";
import type { AlertState, RecordingState, ShardState } from "../../src/health/shard-state.ts";
import { decodeShard, encodeShard } from "../../src/store/shard-document.ts";
import { anAlertState, aRecordingState } from "../support/fixtures.ts";
import { hashAfter, storedAgain } from "../support/shard-hash.ts";

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
  presentAt: instant,
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
  recordings: [...recordings],
  locations: [...locations],
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
          onlineSeenAt: undefined,
          averageQuality: undefined,
          presentAt: T0,
          alerts: undefined,
        },
      ],
    ]),
  };
  expect(storedAgain(state).recordings.get("cam")?.locationId).toBe("elsewhere");
});

test("a healthy recording takes about 75 bytes, of which a sweep writes 6", () => {
  const rows = Array.from({ length: 1_000 }, (_, i): [string, RecordingState] => {
    const id = i.toString(16).padStart(24, "0");
    return [
      id,
      {
        id,
        locationId: "a".repeat(24),
        status: "online",
        readAt: T0,
        since: T0 - 3 * DAY,
        lastSeenAt: T0 - 1_234,
        onlineSeenAt: T0 - 1_234,
        averageQuality: 0.97,
        presentAt: T0,
        alerts: undefined,
      },
    ];
  });
  const first = encodeShard({ sweptAt: T0, recordings: new Map(rows), locations: new Map() }, "token");
  const read = decodeShard(hashAfter(first));
  const next = new NextRows(Rows.of(read.state), T0 + 5_000);
  for (const [place, [, { averageQuality }]] of rows.entries()) next.keep(place, T0 + 4_321, averageQuality);
  const second = encodeShard({ ...read.state, sweptAt: T0 + 5_000, recordings: next.build() }, "another", read);
  expect(first.more.join("").length / rows.length).toBeLessThan(75);
  expect(second.document.length / rows.length).toBeLessThan(6);
  expect(second).toMatchObject({ more: [], isWhole: false, written: "token" });
});

test("a sweep writes the locations where something changed, and no other", () => {
  const places = ["north", "south", "west"];
  const states = places.map((locationId, i) => aRecordingState(`cam-${i}`, { locationId }));
  const empty: ShardState = {
    sweptAt: T0,
    recordings: new Map(states.map((state) => [state.id, state])),
    locations: new Map(places.map((id) => [id, { id, alerts: undefined }])),
  };
  const before = decodeShard(hashAfter(encodeShard(empty, "token")));
  const next = new NextRows(Rows.of(before.state), T0 + 1);
  for (const [place, state] of states.entries()) {
    const read = { ...state, readAt: T0 + 1, presentAt: T0 + 1 };
    next.put(place, place === 1 ? { ...read, status: "offline" as const } : read);
  }
  const alerts = { LocationOffline: anAlertState() };
  const locations = new Map(before.state.locations).set("west", { id: "west", alerts });
  const { isWhole, more } = encodeShard({ sweptAt: T0 + 1, recordings: next.build(), locations }, "other", before);
  expect(isWhole).toBe(false);
  expect(more.filter((_, i) => i % 2 === 0).toSorted()).toEqual(["l:south", "l:west"]);
});

const NOW = Date.UTC(2026, 10, 20, 14, 17);
const recordingAt = (more: Partial<RecordingState> = {}): RecordingState =>
  aRecordingState("a", {
    readAt: NOW,
    averageQuality: 0.9,
    since: NOW - 1,
    lastSeenAt: NOW - 2,
    onlineSeenAt: NOW - 2,
    ...more,
  });
const shardOf = (one: RecordingState): ShardState => ({
  sweptAt: NOW,
  recordings: new Map([[one.id, one]]),
  locations: new Map(),
});

const ALERTS = { RecordingFlapping: anAlertState({ startsAt: NOW, evidenceAt: NOW, firedAt: NOW }) };
const HISTORY = {
  sampledAt: NOW - 5_000,
  stretches: [
    { status: "online", from: NOW - 900_000, count: 9 },
    { status: "degraded", from: NOW - 300_000, count: 3 },
    { status: "offline", from: NOW - 65_000, count: 2 },
  ],
} as const;

test.each([
  ["alone", undefined],
  ["beside alerts", ALERTS],
] as const)("a recording's last states are stored and read again, %s", (_, alerts) => {
  const one = recordingAt({ history: HISTORY, alerts });
  expect(storedAgain(shardOf(one)).recordings.get("a")).toEqual(one);
});

test("a recording that always was the same takes no room for them", () => {
  const [, location = ""] = encodeShard(shardOf(recordingAt()), "token").more;
  expect(JSON.parse(location).r[0]).toHaveLength(9);
  expect(storedAgain(shardOf(recordingAt())).recordings.get("a")).toEqual(recordingAt());
});
