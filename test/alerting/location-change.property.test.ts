/** Cameras of one location come and go; each message about them is compared with the cameras themselves. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createInhibitor, inhibitionBy } from "../../src/alerting/inhibit.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { NotifiedAlert, NotifiedEntry, Suppression, Waiting } from "../../src/alerting/model.ts";
import { clearingOf, needsUpdate } from "../../src/alerting/needs-update.ts";
import type { SendDecision } from "../../src/alerting/storm.ts";
import type { Alert } from "../../src/health/alert.ts";
import { titleOf } from "../../src/notify/title.ts";
import { INTERVAL, locationRule, MINUTE, offlineRule, recording, Story } from "../health/shard-history.ts";

const CAMERAS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const inhibit = createInhibitor([
  {
    sourceMatchers: parseMatchers('alertname = "LocationOffline"'),
    targetMatchers: parseMatchers('alertname = "RecordingOffline"'),
    equal: ["location_id"],
  },
]);

/** A location's messages, at one integration that gets them `delay` sweeps after each change at the earliest. */
class Location {
  readonly story: Story;
  readonly members = new Map<string, Alert>();
  readonly log = new Map<string, NotifiedEntry>();
  suppressedBefore: ReadonlyMap<string, Waiting> = new Map();
  dark = new Set<string>();
  /** What the last message said is offline. */
  told = new Set<string>();

  constructor(forMs: number, keepFiringForMs = 0) {
    this.story = new Story(offlineRule({ forMs, keepFiringForMs }), locationRule());
    this.story.locations.set("L1", { id: "L1", name: "Leeds", timezone: "UTC" });
    for (const id of CAMERAS) this.story.recordings.set(id, recording(id, { name: id, locationId: "L1" }));
  }

  sweep(flipped: readonly string[]): void {
    for (const id of flipped) if (!this.dark.delete(id)) this.dark.add(id);
    this.story.sweep(Object.fromEntries(CAMERAS.map((id) => [id, this.dark.has(id) ? "offline" : "online"])));
    for (const { alert } of this.story.last.transitions) this.members.set(alert.id, alert);
  }

  /** Decides, and takes the message for accepted. */
  deliver(): SendDecision | undefined {
    const now = this.story.now + 1;
    const alerts = [...this.members.values()];
    const { inhibitor, standsFor } = inhibit(alerts.filter(({ state }) => state === "firing"));
    const suppressed = new Map(
      alerts.flatMap((alert): [string, Suppression][] => {
        const by = inhibitor(alert);
        const isKnown = this.log.has(alert.id) || this.suppressedBefore.has(alert.id);
        const suppression = by ? inhibitionBy(by) : clearingOf(alert, isKnown);
        return suppression ? [[alert.id, suppression]] : [];
      }),
    );
    const decision = needsUpdate({
      now,
      repeatIntervalMs: 240 * MINUTE,
      sendResolved: true,
      dueSince: new Map(),
      alerts,
      notified: this.log,
      unsure: new Map(),
      suppressions: {
        muted: undefined,
        suppressed,
        suppressedBefore: this.suppressedBefore,
        recheckEveryMs: MINUTE,
        standsFor: new Map(alerts.flatMap((one) => [[one.id, standsFor(one)]] as never)),
      },
    });
    for (const id of decision.settled) {
      this.members.delete(id);
      this.log.delete(id);
    }
    this.suppressedBefore = decision.suppressedState.unnotified;
    if (decision.notify === undefined) return undefined;
    for (const alert of decision.firing) {
      const known = this.members.get(alert.id);
      if (known) this.log.set(alert.id, { alert: known, notifiedAt: now, groupId: "g" });
    }
    return decision;
  }
}

const number = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);

/** What a title counts: offline now, new among them, recovered, and of how many. */
function countsOf(title: string) {
  const whole = /all (\d+) recordings/.exec(title) ?? /: (?:still )?(\d+) of \d+ recordings/.exec(title);
  // One by itself is named: `recording a offline`.
  const one = /recording \w (?:still )?offline/.test(title) ? 1 : 0;
  const many = number(title, /(\d+) recordings? (?:still )?offline/) || one;
  return {
    offline: number(title, /[,—] (\d+) still offline/) || Number(whole?.[1] ?? many),
    recovered: number(title, /(\d+) of \d+ (?:recordings )?recovered/) || number(title, /(\d+) recovered/),
    // Not counted where all of it is new.
    isNew: title.includes("still") ? 0 : number(title, /(\d+) new/) || many,
  };
}

interface Step {
  readonly flipped: readonly string[];
  readonly deliver: boolean;
}

/** Compares each message with the cameras. */
function play(steps: readonly Step[], forMs: number, keepFiringForMs = 0): void {
  const here = new Location(forMs, keepFiringForMs);
  for (const { flipped, deliver } of steps) {
    here.sweep(flipped);
    const decision = deliver ? here.deliver() : undefined;
    if (!decision) continue;
    const title = titleOf({
      reason: decision.notify,
      receiver: "ops",
      integrationId: "ops/slack/0",
      group: { id: "g", labels: {} },
      firing: decision.firing,
      resolved: decision.resolved,
      now: here.story.now,
      externalUrl: undefined,
      messageId: "m",
      trace: [],
      standing: [],
    });
    const { offline, isNew, recovered } = countsOf(title);
    const shown = `${title} ${JSON.stringify([[...here.told], [...here.dark]])}`;
    // Where the location is offline again, that alone is news.
    const isLocation = ({ facts }: NotifiedAlert) => facts.problem === "location_offline";
    const isEnded = decision.resolved.some((alert) => isLocation(alert) && !alert.isNew);
    const hasChange = isEnded && !decision.firing.some(isLocation);
    if (decision.firing.length > 0 && (forMs === 0 || hasChange)) expect(offline, shown).toBe(here.dark.size);
    if (forMs === 0 && hasChange && decision.firing.length > 0)
      expect(offline - isNew + recovered, shown).toBe(here.told.size);
    here.told = new Set(here.dark);
  }
}

const flipped = fc.oneof(fc.constant([]), fc.subarray(CAMERAS));

test("each message about a location and its recordings counts what is so", () => {
  const steps = fc.array(fc.record({ flipped, deliver: fc.boolean() }), { maxLength: 30 });
  fc.assert(
    fc.property(steps, (all) => play(all, 0)),
    { numRuns: 250 },
  );
});

test("recordings whose alerts are still pending when their location's ends are counted", () => {
  const steps = fc.array(fc.record({ flipped, deliver: fc.constant(true) }), { maxLength: 30 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 3 }), (all, intervals) => play(all, intervals * INTERVAL)),
    { numRuns: 250 },
  );
});

test("two of eight that come back are two that recovered, and six that are no news", () => {
  const here = new Location(0);
  here.sweep(CAMERAS);
  here.deliver();
  here.sweep(["a", "b"]);
  const sent = here.deliver();
  expect(sent?.firing.map(({ isNew, isCovered }) => [isNew, isCovered])).toEqual(
    CAMERAS.slice(2).map(() => [false, true]),
  );
  expect(sent?.resolved).toMatchObject([{ change: { recovered: 2, of: 8 }, facts: { offline: 6 } }]);
});

test("a recording that is back is never said to be offline still, however long its alert fires on", () => {
  const steps = fc.array(fc.record({ flipped, deliver: fc.constant(true) }), { maxLength: 40 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 5 }), (all, intervals) => {
      const here = new Location(0, intervals * INTERVAL);
      for (const { flipped } of all) {
        here.sweep(flipped);
        for (const { subject, isNew } of here.deliver()?.firing ?? []) {
          const isBack = subject.kind === "recording" && !here.dark.has(subject.id);
          expect(isBack, `${subject.id}, ${isNew ? "new" : "notified before"}`).toBe(false);
        }
      }
    }),
    { numRuns: 250 },
  );
});
