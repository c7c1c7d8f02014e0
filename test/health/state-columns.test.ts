import fc from "fast-check";
import { expect, test } from "vitest";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { StateColumns } from "../../src/health/state-columns.ts";
import { anAlertState } from "../support/fixtures.ts";

const time = fc.constantFrom(0, 5e12);
const maybe = <T>(one: T) => fc.constantFrom(undefined, one);

const state: fc.Arbitrary<RecordingState> = fc.record({
  id: fc.constant("a"),
  locationId: fc.constant("L1"),
  status: fc.constantFrom("online", "offline", undefined),
  readAt: time,
  since: time,
  lastSeenAt: maybe(5e12),
  onlineSeenAt: maybe(5e12),
  averageQuality: maybe(0.5),
  presentAt: time,
  history: maybe({ sampledAt: 1, stretches: [] }),
  outage: maybe({ from: 1, until: undefined }),
  alerts: maybe({ RecordingOffline: anAlertState() }),
});
/** The only one that may differ. */
const field = fc.constantFrom(
  ...(["status", "readAt", "since", "lastSeenAt", "onlineSeenAt", "averageQuality", "presentAt"] as const),
  ...(["history", "outage", "alerts"] as const),
);

test("states are as they were, and know where they differ from those they were made of", () => {
  fc.assert(
    fc.property(state, state, field, (one, another, name) => {
      const next = { ...one, [name]: another[name] };
      const before = StateColumns.of([one]);
      const after = before.with(new Map([[0, next]]));
      expect([before.at(0), after.at(0)]).toEqual([one, next]);
      expect([after.differing(before), after.differing(after), before.differing(after)]).toEqual([[0], [], undefined]);
      expect(after.alerting()).toEqual(next.alerts ? [0] : []);
    }),
    { numRuns: 500 },
  );
});
