import fc from "fast-check";
import { expect, test } from "vitest";
import type { Alert } from "../../src/health/alert.ts";
import { judgeShard } from "../../src/health/judge.ts";
import type { Reading } from "../../src/health/recording.ts";
import type { ShardState } from "../../src/health/shard-state.ts";
import { decodeHot, decodeShard, emptyShard, encodeSweep, type StoredShard } from "../../src/store/shard-document.ts";
import { hashAfter, storedAgain } from "../support/shard-hash.ts";
import { afterSweep, copyOf } from "../support/shard-patch.ts";
import {
  degradedRule,
  HOUR,
  INTERVAL,
  locationRule,
  MINUTE,
  missingRule,
  offlineRule,
  plain,
  qualityRule,
  reading,
  recording,
  rule,
  START,
  Story,
  uptimeRule,
} from "./shard-history.ts";

const IDS = ["a", "b", "c"];
const RULES = [
  offlineRule({ forMs: MINUTE, keepFiringForMs: MINUTE }),
  degradedRule(),
  qualityRule({ forMs: MINUTE }),
  uptimeRule(),
  missingRule({ forMs: MINUTE }),
  rule("RecordingFlapping", { kind: "flapping", high: 0.15, low: 0.1 }),
  locationRule({ keepFiringForMs: MINUTE }),
  rule("ServerOffline", { kind: "group_offline", by: "camera_server", atLeast: 1, clearBelow: 1, minRecordings: 2 }),
];

const row: fc.Arbitrary<Reading> = fc.record({
  recordingId: fc.constantFrom(...IDS),
  locationId: fc.constantFrom("L1", "L1", "L2", "L9", undefined),
  status: fc.constantFrom("online", "online", "offline", "offline", "degraded", "unknown"),
  lastSeenAt: fc.option(fc.integer({ min: START - 10 * MINUTE, max: START + 60 * MINUTE }), { nil: undefined }),
  averageQuality: fc.constantFrom(undefined, 0, 0.6, 0.75, 0.9),
});

const event = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("sweep" as const),
      readings: fc.array(row, { maxLength: 5 }),
      unreadable: fc.subarray(IDS),
      unidentified: fc.constantFrom(0, 0, 1, 3),
      uptime: fc.constantFrom(undefined, 0.5, 0.96, 1),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("calm" as const), sweeps: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("blind" as const), intervals: fc.integer({ min: 0, max: 9 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "restart" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("schedule" as const), within: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rules" as const), rules: fc.subarray(RULES) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("named" as const),
      id: fc.constantFrom(...IDS),
      cameraServer: fc.constantFrom("", "edge-1", "edge-2"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("locations" as const), ids: fc.subarray(["L1", "L2"]) }) },
);
type Event = typeof event extends fc.Arbitrary<infer One> ? One : never;

function apply(story: Story, one: Event): Alert[] {
  if (one.kind === "blind") story.pass(one.intervals * INTERVAL);
  if (one.kind === "restart") story.state = storedAgain(story.state);
  if (one.kind === "schedule") story.inSchedule = one.within;
  if (one.kind === "rules") story.rules = one.rules;
  if (one.kind === "named") story.recordings.set(one.id, recording(one.id, { cameraServer: one.cameraServer }));
  if (one.kind === "locations") story.locationIds = one.ids;
  if (one.kind === "calm") return calm(story, one.sweeps);
  if (one.kind !== "sweep") return [];
  for (const id of IDS) {
    if (one.uptime === undefined) story.uptimes.delete(id);
    else story.uptimes.set(id, one.uptime);
  }
  story.pass(INTERVAL);
  story.judge(one);
  return moved(story);
}

function calm(story: Story, sweeps: number): Alert[] {
  const rows = IDS.map((id) => ({ ...reading(id, { averageQuality: 1 }), locationId: story.locationIds[0] }));
  const seen: Alert[] = [];
  for (let i = 0; i < sweeps; i++) {
    story.pass(INTERVAL);
    story.judge({ readings: rows, unreadable: [], unidentified: 0 });
    seen.push(...moved(story));
  }
  return seen;
}

/** Beginnings and ends; an update must be of something that fires. */
function moved(story: Story): Alert[] {
  return story.last.transitions.map(({ alert }) => alert);
}

function firingNow(state: ShardState): string[] {
  const subjects = [...state.recordings.values()].map(({ id, alerts }) => ({ kind: "recording", id, alerts }));
  subjects.push(...[...state.locations.values()].map(({ id, alerts }) => ({ kind: "location", id, alerts })));
  return subjects.flatMap(({ kind, id, alerts }) =>
    Object.entries(alerts ?? {})
      .filter(([, one]) => one.state === "firing")
      .map(([ruleId, one]) => `${ruleId}/${kind}/${id}@${one.firedAt}`),
  );
}

const stories = fc.array(event, { maxLength: 40 });

test("every alert begins and ends in turn, and what has begun and not ended is what the state says fires", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const story = new Story(...RULES);
      story.locationIds = ["L1", "L2"];
      const open = new Map<string, string>();
      for (const alert of events.flatMap((one) => apply(story, one))) {
        if (alert.state === "resolved") {
          expect(open.get(alert.key), "ends the episode that began").toBe(alert.id);
          expect(alert.endReason).toBeDefined();
          expect(alert.endsAt).toBeGreaterThanOrEqual(alert.firedAt);
          open.delete(alert.key);
        } else if (alert.updatedAt === alert.firedAt) {
          expect(open.has(alert.key), "begins only what is over").toBe(false);
          open.set(alert.key, alert.id);
        } else {
          expect(open.get(alert.key), "updates only what fires").toBe(alert.id);
        }
        expect(alert.startsAt).toBeLessThanOrEqual(alert.firedAt);
      }
      expect(firingNow(story.state).sort()).toEqual([...open.values()].sort());
    }),
    { numRuns: 90 },
  );
});

test("a recording is as it was last read, whatever else a sweep says of it", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const story = new Story(...RULES);
      story.locationIds = ["L1", "L2"];
      for (const one of events) {
        const before = story.state.recordings;
        apply(story, one);
        if (one.kind !== "sweep") continue;
        for (const [id, after] of story.state.recordings) {
          const rows = one.readings.filter(({ recordingId }) => recordingId === id);
          const good = rows.filter(({ status }) => status !== "unknown");
          const { readAt = 0, lastSeenAt, averageQuality } = before.get(id) ?? {};
          if (good.length === 0) expect(after).toMatchObject({ readAt, lastSeenAt, averageQuality });
          else if (good.length === rows.length) expect(after.readAt).toBe(story.now);
        }
      }
    }),
  );
});

test("after enough calm nothing fires and nothing is pending", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const story = new Story(...RULES);
      for (const one of events) apply(story, one);
      story.locationIds = ["L1"];
      story.inSchedule = true;
      for (const id of IDS) story.uptimes.set(id, 1);
      calm(story, 44);
      for (const { alerts } of [...story.state.recordings.values(), ...story.state.locations.values()]) {
        expect(alerts).toBeUndefined();
      }
      calm(story, 1);
      expect([story.last.transitions, story.last.decisions]).toEqual([[], []]);
    }),
  );
});

/** A world that stands still: each recording has one location, and nothing is between two thresholds. */
const world = fc
  .record({
    rows: fc.uniqueArray(
      fc.record({
        recordingId: fc.constantFrom(...IDS),
        locationId: fc.constantFrom("L1", "L2", "L9"),
        status: fc.constantFrom("online", "offline", "degraded", "unknown"),
        averageQuality: fc.constantFrom(undefined, 0.5, 0.9),
      }),
      { selector: ({ recordingId }) => recordingId },
    ),
    uptime: fc.constantFrom(undefined, 0.5, 1),
    within: fc.boolean(),
  })
  .map(({ rows, ...rest }) => {
    const readings = rows.map((one) => ({ ...one, lastSeenAt: undefined }));
    return { ...rest, snapshot: { readings, unreadable: [], unidentified: 0 } };
  });

/** With neither too few recordings for a beginning nor a pause, what fires follows from the world alone. */
function isDecided({ snapshot, within }: { snapshot: { readings: readonly Reading[] }; within: boolean }): boolean {
  const counts = [...Map.groupBy(snapshot.readings, ({ locationId }) => locationId).values()];
  const isUnderstood = snapshot.readings.every(({ status }) => status !== "unknown");
  return within && isUnderstood && counts.every((all) => all.length !== 1);
}

test("a day of the same answers leaves what an empty store would reach", () => {
  fc.assert(
    fc.property(stories, world.filter(isDecided), (events, { snapshot, uptime }) => {
      const lived = new Story(...RULES);
      for (const one of events) apply(lived, one);
      const empty = new Story(...RULES);
      const reached = [lived, empty].map((story) => {
        [story.rules, story.locationIds, story.inSchedule] = [RULES, ["L1", "L2"], true];
        for (const { recordingId: id, locationId } of snapshot.readings) {
          story.recordings.set(id, recording(id, { ...story.recordings.get(id), locationId }));
        }
        let { state } = story;
        for (let passed = 0; passed <= 25 * HOUR; passed += 3 * INTERVAL) {
          story.pass(3 * INTERVAL);
          state = afterSweep(state, judgeShard(state, snapshot, { ...story.context(), uptime: () => uptime }).patch);
        }
        return firingNow(state).map((key) => key.slice(0, key.indexOf("@")));
      });
      expect(reached[0]?.sort()).toEqual(reached[1]?.sort());
    }),
    { numRuns: 12 },
  );
});

test("a restart changes nothing, nor what is counted of groups", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const through = new Story(...RULES);
      const restarted = new Story(...RULES);
      for (const story of [through, restarted]) story.locationIds = ["L1", "L2"];
      for (const one of events) {
        restarted.state = storedAgain(restarted.state);
        expect(apply(restarted, one)).toEqual(apply(through, one));
        // In whatever order the fields are.
        const stored = (story: Story) => JSON.parse(JSON.stringify(plain(story.state)));
        expect(stored(restarted)).toEqual(stored(through));
        expect(restarted.last.groups).toEqual(through.last.groups);
      }
    }),
  );
});

test("writing what a sweep changed leaves what writing all of it does", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const story = new Story(...RULES);
      story.locationIds = ["L1", "L2"];
      let [version, hash] = [0, {}];
      let stored: StoredShard = { nonce: "", state: emptyShard };
      for (const one of events) {
        story.swept = (before, { patch }) => {
          const fields = encodeSweep({ ...stored, state: before }, patch, `${version++}`);
          const known = { ...stored, state: copyOf(before) };
          const hot = stored.cold === undefined ? undefined : decodeHot("nonce", fields.document, known);
          hash = hashAfter(fields, hash);
          const after = afterSweep(before, patch);
          expect(inOrder(decodeShard(hash).state)).toEqual(inOrder(after));
          if (hot) expect(inOrder(hot.state)).toEqual(inOrder(after));
          expect(hot !== undefined).toBe(stored.cold === fields.cold);
          stored = { nonce: "nonce", state: after, cold: fields.cold };
        };
        if (one.kind !== "restart") apply(story, one);
      }
    }),
  );
});

const inOrder = (state: ShardState) => ({ ...plain(state), locations: new Map(state.locations) });

test("sweeps that say nothing move nothing but what is watched no more, and what waits for its schedule", () => {
  fc.assert(
    fc.property(stories, fc.integer({ min: 1, max: 5 }), (events, count) => {
      const story = new Story(...RULES);
      for (const one of events) apply(story, one);
      for (let i = 0; i < count; i++) {
        story.pass(INTERVAL);
        story.judge({ readings: [], unreadable: [], unidentified: 100 });
        for (const { kind, alert } of story.last.transitions) {
          if (alert.subject.kind !== "recording") continue;
          expect(alert.endReason).not.toBe("recovered");
          if (alert.state === "firing") expect([kind, alert.facts.paused]).toEqual(["updated", true]);
        }
      }
    }),
  );
});
