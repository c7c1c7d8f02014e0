import { describe, expect, it } from "vitest";
import { type CountsEvidence, type CountsTogether, countsKey, countsText } from "../../src/health/counts.ts";
import { evaluateSelf, type SelfAlertState } from "../../src/health/evaluate-self.ts";
import type { EvaluationContext } from "../../src/health/evaluation.ts";
import { HOUR, INTERVAL, MINUTE, recording, rule, START, Story } from "./shard-history.ts";

const LONDON = "Europe/London";
const low = rule("CountsImplausible", { kind: "counts", sensitivity: 30 });
const fell = { since: START - 2 * HOUR, expected: 140.4, counted: 0 };
const implausible = (counts: CountsEvidence["counts"] = fell): CountsEvidence => ({
  met: true,
  reason: "witnessed",
  counts,
});

/** A shard whose counts show something, by `kind/id`. */
class CountedStory extends Story {
  readonly found = new Map<string, CountsEvidence>();
  override context(): EvaluationContext {
    return {
      ...super.context(),
      counts: (when, kind, id) => (countsKey(when) === "30" ? this.found.get(`${kind}/${id}`) : undefined),
    };
  }
}

describe("counts that cannot be true", () => {
  it("are an alert of the location, with the figures of now, and end with evidence only", () => {
    const story = new CountedStory({ ...low, forMs: MINUTE });
    story.locations.set("L1", { id: "L1", name: "Leeds", timezone: LONDON });
    const rows = { a: "online", b: "online" } as const;
    expect(story.sweep(rows)).toEqual([]);
    story.found.set(
      "location/L1",
      implausible({ ...fell, witness: { kind: "zone", zone: "Ground:Service:Tills", counted: 41 } }),
    );
    expect(story.sweepFor(MINUTE, rows), "pending").toEqual([]);
    expect(story.sweep(rows)).toEqual(["firing CountsImplausible/location/L1"]);
    const { labels, annotations, facts, startsAt } = story.alert;
    expect(labels).toMatchObject({
      alertname: "CountsImplausible",
      location_id: "L1",
      location: "Leeds",
      timezone: LONDON,
    });
    expect(startsAt).toBe(fell.since);
    expect(facts).toMatchObject({ problem: "counts_low", timezone: LONDON });
    expect(facts.detail).toBe("Leeds counts 0 since 06:00, usually 140 by now; Tills counted 41");
    expect(facts).not.toHaveProperty("offline");
    expect(annotations.summary).toBe("Leeds counts too few visits");
    story.found.set("location/L1", implausible({ ...fell, expected: 170 }));
    expect(story.sweep(rows), "its figures move").toEqual(["updated CountsImplausible/location/L1"]);
    story.found.set("location/L1", { met: undefined, reason: "no_data" });
    expect(story.sweepFor(2 * HOUR, rows), "no evidence, no end").toEqual([]);
    story.found.delete("location/L1");
    expect(story.sweepFor(2 * HOUR, rows), "nor where it is not read any more").toEqual([]);
    story.found.set("location/L1", { met: false, reason: "counts_are_back" });
    expect(story.sweep(rows)).toEqual(["resolved CountsImplausible/location/L1 recovered"]);
  });

  it.each(["location/L1", "recording/a"])("end a day after their evidence: %s", (subject) => {
    const story = new CountedStory(low);
    const rows = { a: "online", b: "online" } as const;
    story.found.set(subject, implausible());
    expect(story.sweepFor(2 * INTERVAL, rows)).toContain(`firing CountsImplausible/${subject}`);
    story.found.delete(subject);
    expect(story.sweepFor(24 * HOUR - INTERVAL, rows)).toEqual([]);
    expect(story.sweep(rows)).toEqual([`resolved CountsImplausible/${subject} no_longer_watched`]);
  });

  it.each(["location/L1", "recording/a"])(
    "are over, not recovered, where most locations dropped together: %s",
    (subject) => {
      const story = new CountedStory(low);
      const rows = { a: "online", b: "online" } as const;
      story.found.set(subject, implausible());
      expect(story.sweepFor(2 * INTERVAL, rows)).toContain(`firing CountsImplausible/${subject}`);
      story.found.set(subject, { met: false, reason: "dropped_together" });
      expect(story.sweep(rows)).toEqual([`resolved CountsImplausible/${subject} dropped_together`]);
    },
  );

  it("are an alert of the recording, also where nothing else is wrong with it; never while it is offline", () => {
    const story = new CountedStory(low);
    story.recordings.set("a", recording("a", { name: "Leeds Tills", timezone: LONDON }));
    story.locations.set("L1", { id: "L1", name: "Leeds", timezone: LONDON });
    const rows = { a: "online", b: "online" } as const;
    story.sweepFor(2 * INTERVAL, rows);
    story.found.set("recording/a", implausible());
    expect(story.sweep(rows)).toEqual(["firing CountsImplausible/recording/a"]);
    expect(story.alert.labels.recording_id).toBe("a");
    expect(story.alert.facts.detail).toBe("Tills counts 0 since 06:00, usually 140 by now");
    expect(story.alert.facts.restated).toEqual(["summary", "description"]);
    expect(story.sweepFor(HOUR, { a: "offline", b: "online" }), "offline proves nothing").toEqual([]);
    story.found.set("recording/a", { met: false, reason: "as_usual" });
    expect(story.sweep(rows)).toEqual(["resolved CountsImplausible/recording/a recovered"]);
  });

  it("of another condition are none of this rule, and an offline location keeps its own alert beside", () => {
    const other = rule("CountsTooLow", { kind: "counts", sensitivity: 200 });
    const offline = rule("LocationOffline", { kind: "location_offline", atLeast: 1, clearBelow: 1, minRecordings: 1 });
    const story = new CountedStory(other, low, offline);
    story.found.set("location/L1", implausible());
    expect(story.sweep({ a: "offline" })).toEqual([
      "firing LocationOffline/location/L1",
      "firing CountsImplausible/location/L1",
    ]);
  });
});

it("hostile names are short and on one line, and another day is named", () => {
  const text = countsText(
    `Door\u202e\n${"x".repeat(500)}`,
    { ...fell, since: START - 24 * HOUR },
    { now: START, timezone: LONDON },
  );
  expect(text).toMatch(/^Door x{50,60}… counts 0 since Sun 1 Mar 08:00, usually 140 by now$/);
  const sold = countsText(
    "Door",
    { ...fell, witness: { kind: "tills", counted: 9 } },
    { now: START, timezone: LONDON },
  );
  expect(sold).toContain("; the tills sold 9 times");
});

describe("counts that drop together", () => {
  const together = rule("CountsDroppedTogether", { kind: "counts_together" }, { labels: { severity: "info" } });
  const dropped: CountsTogether = {
    label: "organisation",
    value: "acme",
    since: START - HOUR,
    dropped: 38,
    judged: 40,
    expected: 900,
    counted: 120,
  };

  function evaluate(state: SelfAlertState, groups: readonly CountsTogether[] | undefined, now: number) {
    const good = { goodAt: now, attemptedAt: now };
    const inventory = { recording: () => undefined, location: () => undefined };
    const evidence = { shards: [good], inventory: good, uptimes: [good], integrations: [] };
    const context = {
      now,
      rules: [together],
      intervalMs: INTERVAL,
      uptimeIntervalMs: HOUR,
      inventoryIntervalMs: HOUR,
      requestTimeoutMs: MINUTE,
    };
    return evaluateSelf(state, { ...evidence, groups: { shards: [], inventory, together: groups } }, context);
  }

  it("are one alert of what the locations share, until that is known to be over", () => {
    const began = evaluate({}, [dropped], START);
    expect(began.transitions.map(({ kind, alert }) => `${kind} ${alert.key}`)).toEqual([
      "firing CountsDroppedTogether/group/organisation/acme",
    ]);
    const [{ alert } = {}] = began.transitions;
    expect(alert?.labels).toEqual({ alertname: "CountsDroppedTogether", organisation: "acme", severity: "info" });
    expect(alert?.facts).toMatchObject({
      problem: "counts_together",
      detail: "38 of 40 locations count 120 since 07:00, usually 900 by now",
    });
    const unknown = evaluate(began.next, undefined, START + INTERVAL);
    expect(unknown.transitions).toEqual([]);
    const over = evaluate(unknown.next, [], START + 2 * INTERVAL);
    expect(over.transitions.map(({ kind }) => kind)).toEqual(["resolved"]);
    expect(evaluate(over.next, [], START + 3 * INTERVAL).transitions).toEqual([]);
  });
});
