import { describe, expect, test } from "vitest";
import {
  type ColdStartView,
  coldStartFactsOf,
  coldStartLabels,
  coldStartReadiness,
  countUnsettled,
  decideColdStart,
  watchedIn,
} from "../../src/alerting/cold-start.ts";
import type { AlertState } from "../../src/health/alert-machine.ts";
import type { ShardState } from "../../src/health/shard-state.ts";
import { rule } from "../health/shard-history.ts";
import { firing, over, T0 } from "../store/fixtures.ts";
import { anAlertState, aRecording, aRecordingState, aStart } from "../support/fixtures.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

const alertState = (more: Partial<AlertState> = {}): AlertState =>
  anAlertState({ state: "pending", startsAt: T0, evidenceAt: T0 + SECOND, ...more });

/** A shard with a recording in that state under that rule. */
function shardWith(ruleId: string, state: AlertState, location: AlertState | undefined = undefined): ShardState {
  const recording = aRecordingState("rec", { locationId: "loc", alerts: { [ruleId]: state } });
  const place = { id: "loc", alerts: location && { LocationOffline: location } };
  return { sweptAt: T0, recordings: new Map([["rec", recording]]), locations: new Map([["loc", place]]) };
}

function reasonAfter(afterMs: number, more: Partial<ColdStartView> = {}): string {
  const { ready, reason } = coldStartReadiness({
    now: T0 + afterMs,
    since: T0,
    swept: "with_success",
    isNewsDue: false,
    statusIntervalMs: 30 * SECOND,
    rules: [
      { id: "Quick", forMs: 2 * MINUTE },
      { id: "Slow", forMs: 15 * MINUTE },
    ],
    shards: [],
    ...more,
  });
  return `${ready ? "" : "not yet: "}${reason}`;
}

describe("the first picture is there", () => {
  const pending = (ruleId: string, state = alertState()) => ({ shards: [shardWith(ruleId, state)] });

  test("once everything was read and nothing is about to fire", () => {
    expect(reasonAfter(2 * SECOND)).toBe("complete");
    expect(reasonAfter(2 * SECOND, pending("Quick", alertState({ state: "firing" })))).toBe("complete");
  });

  test("not before what was found pending has fired or is over, however long it has held meanwhile", () => {
    expect(reasonAfter(2 * SECOND, pending("Quick"))).toBe("not yet: may_fire_soon");
    const suppressed = alertState({ elapsedMs: 100 * SECOND, evidenceAt: T0 + 101 * SECOND });
    expect(reasonAfter(101 * SECOND, pending("Quick", suppressed))).toBe("not yet: may_fire_soon");
    const ofPlace = { shards: [shardWith("Slow", alertState(), alertState())] };
    const rules = [{ id: "LocationOffline", forMs: MINUTE }];
    expect(reasonAfter(2 * SECOND, { ...ofPlace, rules })).toBe("not yet: may_fire_soon");
  });

  test("without what takes longer than 5 minutes to fire, began after the first looks, or is paused", () => {
    expect(reasonAfter(2 * SECOND, pending("Slow"))).toBe("complete");
    const late = alertState({ elapsedMs: 5 * SECOND, evidenceAt: T0 + 96 * SECOND });
    expect(reasonAfter(96 * SECOND, pending("Quick", late))).toBe("complete");
    expect(reasonAfter(7 * MINUTE, pending("Quick"))).toBe("waited_enough");
    const paused = alertState({ facts: { timezone: "UTC", paused: true } });
    expect(reasonAfter(2 * SECOND, pending("Quick", paused))).toBe("complete");
  });

  test("as soon as news is due: it is never held up by what may fire soon, or cannot be read", () => {
    expect(reasonAfter(2 * SECOND, { ...pending("Quick"), isNewsDue: true })).toBe("news_is_due");
    expect(reasonAfter(2 * SECOND, { swept: "at_all", isNewsDue: true })).toBe("news_is_due");
    expect(reasonAfter(2 * SECOND, { swept: "not_yet", isNewsDue: true })).toBe("not yet: not_swept_yet");
  });

  test.each(["not_yet", "at_all"] as const)(
    "after 3 intervals, 10 s at least, where the service was asked %s",
    (swept) => {
      const reasonsAt = (statusIntervalMs: number, ...seconds: number[]) =>
        seconds.map((one) => reasonAfter(one * SECOND, { swept, statusIntervalMs }));
      expect(reasonsAt(30 * SECOND, 90, 91)).toEqual(["not yet: not_swept_yet", "still_unreachable"]);
      expect(reasonsAt(SECOND, 10, 11)).toEqual(["not yet: not_swept_yet", "still_unreachable"]);
    },
  );
});

test("counts the recordings whose trouble nobody speaks of yet", () => {
  const [pending, firingNow] = [alertState(), alertState({ state: "firing" })];
  expect(countUnsettled([shardWith("Quick", pending), shardWith("Slow", pending)])).toBe(2);
  expect(countUnsettled([shardWith("Quick", firingNow), shardWith("Quick", pending, firingNow)])).toBe(0);
  expect(countUnsettled([shardWith("Quick", alertState({ facts: { timezone: "UTC", paused: true } }))])).toBe(0);
});

test("the summary has all that fires, longest first, and lets go of what ended meanwhile", () => {
  const [first, second] = [firing("a", T0), firing("b", T0 + 1)];
  const ended = over(firing("c"), T0 + 5);
  const notified = new Map([[first.id, { alert: first, notifiedAt: T0, groupId: "g" }]]);
  expect(decideColdStart({ alerts: [second, ended, first], notified }, aStart)).toMatchObject({
    notify: "started",
    firing: [
      { id: first.id, isNew: false },
      { id: second.id, isNew: true },
    ],
    resolved: [],
    settled: [second.id, ended.id, first.id],
  });
});

const suppressing = (id: string, reason: "silenced" | "stale") => ({
  muted: undefined,
  suppressed: new Map([[id, { reason, by: "s" }]]),
  suppressedBefore: new Map(),
  recheckEveryMs: MINUTE,
  standsFor: new Map(),
});

test("with an alert that was not read lately, the state is not known, and no alert counts as suppressed", () => {
  const stale = firing("a");
  const suppressions = suppressing(stale.id, "stale");
  const decision = decideColdStart(
    { alerts: [stale], notified: new Map(), suppressions },
    { ...aStart, complete: true },
  );
  expect(decision).toMatchObject({ firing: [], settled: [stale.id], start: { complete: false, suppressed: 0 } });
});

test("what is suppressed is counted and left to its own group", () => {
  const [free, suppressed] = [firing("a"), firing("b")];
  const suppressions = suppressing(suppressed.id, "silenced");
  const decision = decideColdStart({ alerts: [free, suppressed], notified: new Map(), suppressions }, aStart);
  const start = { ...aStart, suppressed: 1 };
  expect(decision).toMatchObject({ firing: [{ id: free.id }], settled: [free.id, suppressed.id], start });
});

test("the summary is said where nothing is wrong, too", () => {
  expect(decideColdStart({ alerts: [], notified: new Map() }, aStart)).toMatchObject({ notify: "started", firing: [] });
});

test("says how much is watched, by which rules, and names one recording that has a name", () => {
  const shard = (...ids: string[]): ShardState => ({
    sweptAt: T0,
    recordings: new Map(ids.map((id) => [id, aRecordingState(id, { locationId: id.slice(0, 1) })])),
    locations: new Map(),
  });
  const inventory = {
    recording: (id: string) => (id === "a1" ? undefined : aRecording(id, { name: `Till ${id}` })),
    location: (id: string) => ({ id, name: `Shop ${id}`, timezone: undefined }),
  };
  const rules = [
    rule("A", { kind: "status", status: "offline" }, { forMs: 2 * MINUTE }),
    rule("B", { kind: "status", status: "offline" }, { forMs: 2 * MINUTE }),
    rule("C", { kind: "location_offline", atLeast: 1, clearBelow: 0.8, minRecordings: 2 }, { forMs: 0 }),
    rule("D", { kind: "service", state: "unreachable" }),
  ];
  const facts = watchedIn([shard("a1", "a2"), shard("b1")], rules, inventory);
  expect(facts).toEqual({
    ...{ recordings: 3, locations: 2, watched: ["offline for 2 m", "location offline"] },
    example: { recording: "Till a2", location: "Shop a", timezone: "Europe/London" },
  });
  expect(coldStartFactsOf(coldStartLabels({ ...aStart, ...facts }))).toEqual({ ...aStart, ...facts });
});
