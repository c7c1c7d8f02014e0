import fc from "fast-check";
import { expect, test } from "vitest";
import type { NotificationLogEntry } from "../../src/alerting/model.ts";
import { needsUpdate } from "../../src/alerting/needs-update.ts";
import type { Alert } from "../../src/health/alert.ts";
import { offlineAlert, resolvedAlert } from "../support/fixtures.ts";

const MINUTE = 60_000;
const NAMES = ["a", "b", "c"];

type Event =
  | { readonly kind: "flip"; readonly name: string }
  | { readonly kind: "deliver"; readonly accepted: boolean }
  | { readonly kind: "lose"; readonly name: string }
  | { readonly kind: "pass"; readonly minutes: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("flip" as const), name: fc.constantFrom(...NAMES) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("deliver" as const), accepted: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose" as const), name: fc.constantFrom(...NAMES) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), minutes: fc.integer({ min: 0, max: 300 }) }),
  },
);

/** One integration with one group, as store and delivery treat it: written down only when accepted. */
class Integration {
  now = Date.UTC(2026, 2, 2, 8);
  readonly members = new Map<string, Alert>();
  readonly notified = new Map<string, NotificationLogEntry>();
  readonly heard: { readonly id: string; readonly says: "firing" | "resolved"; readonly isNew: boolean }[] = [];
  dueSince: number | undefined;
  readonly sendResolved: boolean;

  constructor(sendResolved: boolean) {
    this.sendResolved = sendResolved;
  }

  apply(event: Event): void {
    this.now += 1;
    if (event.kind === "pass") this.now += event.minutes * MINUTE;
    if (event.kind === "flip") this.flip(event.name);
    if (event.kind === "lose") for (const id of this.episodesOf(event.name)) this.members.delete(id);
    if (event.kind === "deliver") this.deliver(event.accepted);
  }

  episodesOf(name: string): string[] {
    return [...this.members.values()].filter(({ key }) => key === name).map(({ id }) => id);
  }

  flip(name: string): void {
    const current = [...this.members.values()].find(({ key, state }) => key === name && state === "firing");
    const now = this.now;
    if (current) {
      this.members.set(current.id, resolvedAlert(current, now));
    } else {
      const id = `${name}@${now}`;
      this.members.set(id, offlineAlert(name, { id, key: name, startsAt: now }));
    }
    this.dueSince ??= now + MINUTE;
  }

  decide() {
    return needsUpdate({
      now: this.now,
      repeatIntervalMs: 240 * MINUTE,
      sendResolved: this.sendResolved,
      dueSince: this.dueSince,
      alerts: [...this.members.values()],
      notified: this.notified,
    });
  }

  deliver(accepted: boolean): void {
    const decision = this.decide();
    if (decision.notify !== undefined) {
      if (!accepted) return;
      for (const { fingerprint: _, isNew, ...alert } of decision.firing) {
        if (isNew) this.heard.push({ id: alert.id, says: "firing", isNew });
        this.notified.set(alert.id, { alert, notifiedAt: this.now, groupId: "g" });
      }
      for (const { id, isNew } of decision.resolved) this.heard.push({ id, says: "resolved", isNew });
    }
    for (const id of decision.settled) {
      this.notified.delete(id);
      this.members.delete(id);
    }
    this.dueSince = undefined;
  }
}

const stories = fc.array(event, { maxLength: 60 });

test("each episode is told firing at most once and over at most once, in this order, whatever happens between", () => {
  fc.assert(
    fc.property(stories, fc.boolean(), (events, sendResolved) => {
      const integration = new Integration(sendResolved);
      for (const one of events) integration.apply(one);
      for (const id of new Set(integration.heard.map((heard) => heard.id))) {
        const heard = integration.heard.filter((one) => one.id === id);
        const says = heard.map((one) => one.says).join(" ");
        if (says === "resolved") expect(heard[0]?.isNew, "told late, once").toBe(true);
        else expect(["firing", "firing resolved"]).toContain(says);
        if (!sendResolved) expect(says).toBe("firing");
      }
    }),
  );
});

test("once everything is over and messages get through, who was told firing was told its end", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const integration = new Integration(true);
      for (const one of events) integration.apply(one);
      for (const { key, state } of [...integration.members.values()]) {
        if (state === "firing") integration.apply({ kind: "flip", name: key });
      }
      integration.apply({ kind: "deliver", accepted: true });
      const open = new Set<string>();
      for (const { id, says } of integration.heard) says === "firing" ? open.add(id) : open.delete(id);
      expect([...open]).toEqual([]);
      expect([integration.notified.size, integration.members.size]).toEqual([0, 0]);
      expect(integration.decide()).toMatchObject({ notify: undefined, why: "empty" });
    }),
  );
});

test("once messages get through, whatever fires has been told", () => {
  fc.assert(
    fc.property(stories, fc.boolean(), (events, sendResolved) => {
      const integration = new Integration(sendResolved);
      for (const one of events) integration.apply(one);
      integration.apply({ kind: "deliver", accepted: true });
      for (const { id, state } of integration.members.values()) {
        expect(state).toBe("firing");
        expect(integration.notified.has(id)).toBe(true);
      }
      expect(integration.decide()).toMatchObject({ notify: undefined });
    }),
  );
});

test("a message that was not accepted is said again as it was, with what is news since", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const integration = new Integration(true);
      for (const one of events) integration.apply(one);
      const before = integration.decide();
      integration.deliver(false);
      if (before.notify !== undefined) expect(integration.decide()).toEqual(before);
    }),
  );
});
