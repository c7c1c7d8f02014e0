/** One integration with one group: alerts suppressed and lost in any order, messages refused, processes killed. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { NotificationLogEntry, Suppression, SuppressionReason } from "../../src/alerting/model.ts";
import { needsUpdate } from "../../src/alerting/needs-update.ts";
import type { Alert } from "../../src/health/alert.ts";
import { alertWith, NOW } from "./alerts.ts";

const MINUTE = 60_000;
const REPEAT = 240 * MINUTE;
const NAMES = ["a", "b", "c"];

type Event =
  | { readonly kind: "flip" | "release" | "lose"; readonly name: string }
  | { readonly kind: "hold"; readonly name: string; readonly reason: SuppressionReason }
  | { readonly kind: "mute" }
  | { readonly kind: "deliver"; readonly how: "accepted" | "refused" | "killed" }
  | { readonly kind: "pass"; readonly minutes: number };

const name = fc.constantFrom(...NAMES);
const kind = <K extends string>(of: K) => fc.constant(of);
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom("flip" as const, "release" as const), name }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: kind("hold"),
      name,
      reason: fc.constantFrom<SuppressionReason>("inhibited", "silenced", "acknowledged"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind("mute") }) },
  { weight: 1, arbitrary: fc.record({ kind: kind("lose"), name }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: kind("deliver"),
      how: fc.constantFrom("accepted" as const, "accepted" as const, "refused" as const, "killed" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind("pass"), minutes: fc.integer({ min: 0, max: 300 }) }) },
);
const stories = fc.array(event, { maxLength: 60 });

interface Heard {
  readonly key: string;
  readonly id: string;
  readonly says: "firing" | "resolved";
  /** What held it when it was said. */
  readonly suppressed: SuppressionReason | undefined;
}

class Integration {
  now = NOW;
  muted = false;
  readonly suppressions = new Map<string, SuppressionReason>();
  readonly members = new Map<string, Alert>();
  readonly notified = new Map<string, NotificationLogEntry>();
  readonly heard: Heard[] = [];
  /** What a crash after the message may repeat. */
  repeats = 0;
  /**
   * Episodes that may get no end, as two faults met: only a killed process knew that they were notified, and their
   * alert was lost, or they had been suppressed before.
   */
  readonly orphans = new Set<string>();
  suppressedBefore = new Map<string, boolean>();
  maybeNotified = new Set<string>();
  dueSince: number | undefined;
  readonly sendResolved: boolean;

  constructor(sendResolved = true) {
    this.sendResolved = sendResolved;
  }

  apply(event: Event): void {
    this.now += 1;
    switch (event.kind) {
      case "flip":
        this.flip(event.name);
        return;
      case "hold":
        this.suppressions.set(event.name, event.reason);
        return;
      case "release":
        if (this.suppressions.delete(event.name)) this.dueSince = Math.min(this.dueSince ?? this.now, this.now);
        return;
      case "lose":
        for (const { id, key } of this.members.values())
          if (key.endsWith(`/${event.name}`)) {
            if (!this.notified.has(id)) this.orphans.add(id);
            this.members.delete(id);
          }
        return;
      case "mute":
        this.muted = !this.muted;
        return;
      case "pass":
        this.now += event.minutes * MINUTE;
        return;
      case "deliver":
        this.deliver(event.how);
        return;
    }
  }

  current(key: string): Alert | undefined {
    return [...this.members.values()].find((alert) => alert.key === key && alert.state === "firing");
  }

  flip(name: string): void {
    const fresh = alertWith({ alertname: "R", recording_id: name }, this.now);
    const before = this.current(fresh.key);
    if (before) {
      const ended = { state: "resolved", endsAt: this.now, updatedAt: this.now, endReason: "recovered" } as const;
      this.members.set(before.id, { ...before, ...ended });
      // An acknowledgement is of one episode.
      if (this.suppressions.get(name) === "acknowledged") this.suppressions.delete(name);
    } else this.members.set(fresh.id, fresh);
    this.dueSince ??= this.now;
  }

  suppressionOf(alert: Alert): Suppression | undefined {
    const reason = this.suppressions.get(alert.subject.id);
    return reason && { reason, by: `${reason}-${alert.subject.id}` };
  }

  decide() {
    const alerts = [...this.members.values()];
    return needsUpdate({
      now: this.now,
      repeatIntervalMs: REPEAT,
      sendResolved: this.sendResolved,
      dueSince: this.dueSince,
      alerts,
      notified: this.notified,
      suppressions: {
        muted: this.muted ? { reason: "muted", by: "night" } : undefined,
        suppressed: new Map(
          alerts
            .flatMap((alert) => [[alert.id, this.suppressionOf(alert)] as const])
            .filter((row): row is [string, Suppression] => row[1] !== undefined),
        ),
        suppressedBefore: this.suppressedBefore,
        maybeNotified: this.maybeNotified,
        recheckEveryMs: 5 * MINUTE,
        standsFor: new Map(),
      },
    });
  }

  deliver(how: "accepted" | "refused" | "killed"): void {
    const decision = this.decide();
    if (decision.notify !== undefined) {
      if (how === "refused") {
        this.dueSince ??= this.now;
        return;
      }
      for (const alert of decision.firing) this.hear(alert, "firing");
      for (const alert of decision.resolved) this.hear(alert, "resolved");
      if (how === "killed") {
        this.repeats += 1;
        // The next claim sees that one died.
        for (const id of this.members.keys()) {
          if (this.notified.has(id)) continue;
          (this.suppressedBefore.has(id) ? this.orphans : this.maybeNotified).add(id);
        }
        return;
      }
      for (const { fingerprint: _, isNew: __, ...alert } of decision.firing) {
        this.notified.set(alert.id, { alert, notifiedAt: this.now, groupId: "g" });
      }
    }
    for (const id of decision.settled) {
      this.notified.delete(id);
      this.members.delete(id);
    }
    this.suppressedBefore = new Map(decision.suppressedState.unnotified);
    this.maybeNotified = new Set(decision.suppressedState.maybeNotified);
    this.dueSince = decision.suppressedState.lateFrom;
  }

  hear({ id, key, subject, isNew, state }: Alert & { isNew: boolean }, says: Heard["says"]): void {
    if (says === "firing" && !isNew) return;
    expect(says === "firing").toBe(state === "firing");
    const suppressed = this.muted ? "muted" : this.suppressions.get(subject.id);
    this.heard.push({ id, key, says, suppressed });
  }
}

function play(events: readonly Event[], sendResolved = true): Integration {
  const integration = new Integration(sendResolved);
  for (const one of events) integration.apply(one);
  return integration;
}

const withoutKills = (events: readonly Event[]) =>
  events.filter((one) => one.kind !== "deliver" || one.how !== "killed");

test("of each episode the beginning is sent at most once, then its end at most once, however it was suppressed between", () => {
  fc.assert(
    fc.property(stories, fc.boolean(), (events, sendResolved) => {
      const { heard } = play(withoutKills(events), sendResolved);
      for (const [, of] of Map.groupBy(heard, ({ id }) => id)) {
        const says = of.map(({ says }) => says).join(" ");
        expect(sendResolved ? ["firing", "resolved", "firing resolved"] : ["firing"]).toContain(says);
      }
    }),
  );
});

test("a message that was not accepted is sent as it was", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const integration = play(events);
      const before = integration.decide();
      integration.deliver("refused");
      const { notify, settled } = before;
      if (notify !== undefined)
        expect(integration.decide()).toMatchObject({
          notify,
          firing: before.firing,
          resolved: before.resolved,
          settled,
        });
    }),
  );
});

test("a crash repeats the one message that was under way, and no more", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const { heard, repeats } = play(events);
      for (const [, of] of Map.groupBy(heard, ({ id }) => id)) {
        expect(of.length).toBeLessThanOrEqual(2 + repeats);
        expect(of.map(({ says }) => says).join(" ")).toMatch(/^(firing ?)*(resolved ?)*$/);
      }
    }),
  );
});

test("what is held is never told as firing, and in a mute time nothing is told at all", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const { heard } = play(events);
      expect(heard.filter(({ says, suppressed }) => says === "firing" && suppressed !== undefined)).toEqual([]);
      expect(heard.filter(({ suppressed }) => suppressed === "muted")).toEqual([]);
    }),
  );
});

test("what is held is looked at again within group_interval, and says who holds it", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const integration = play(events);
      const { suppressedState, nextAt } = integration.decide();
      const firing = [...integration.members.values()].filter(({ state }) => state === "firing");
      const suppressed = firing.filter((alert) => integration.muted || integration.suppressionOf(alert));
      const unnotified = suppressed.map(({ id }) => id).filter((id) => !integration.notified.has(id));
      expect(suppressedState.unnotified.map(([id]) => id).sort()).toEqual(unnotified.sort());
      if (suppressedState.unnotified.length === 0) return;
      expect(nextAt).toBeLessThanOrEqual(integration.now + 5 * MINUTE);
      expect(suppressedState.by.length).toBeGreaterThan(0);
    }),
  );
});

test("once all holds end and messages get through, whatever fires has been told and whatever was told and is over has its end", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const integration = play(events);
      for (const one of NAMES) integration.apply({ kind: "release", name: one });
      integration.muted = false;
      integration.apply({ kind: "deliver", how: "accepted" });
      for (const [id, { state }] of integration.members) {
        expect(state).toBe("firing");
        expect(integration.notified.has(id)).toBe(true);
      }
      const open = new Set<string>();
      for (const { id, says } of integration.heard) says === "firing" ? open.add(id) : open.delete(id);
      const { members, orphans } = integration;
      expect([...open].filter((id) => members.has(id) || !orphans.has(id)).sort()).toEqual([...members.keys()].sort());
      expect(integration.decide()).toMatchObject({ notify: undefined, suppressedState: { unnotified: [] } });
    }),
  );
});
