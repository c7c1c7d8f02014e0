/** A forgetful Alertmanager against whatever may happen: what it believes is what is so, or what it was never told. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import type { NotifiedEntry, Suppression } from "../../src/alerting/model.ts";
import { needsResend } from "../../src/alerting/resend.ts";
import { joinDecisions } from "../../src/alerting/storm.ts";
import { settlementOf } from "../../src/deliver/outcome.ts";
import { toNotification } from "../../src/deliver/to-notification.ts";
import type { Alert } from "../../src/health/alert.ts";
import { renderAlertmanager } from "../../src/notify/alertmanager.ts";
import type { Claimed } from "../../src/store/groups.ts";
import { firing, integration, MINUTE, over, T0 } from "../store/fixtures.ts";

const NAMES = ["a", "b"] as const;
const RESEND = MINUTE;
const forwarding = integration("ops/alertmanager/0", { type: "alertmanager", resendMs: RESEND });

type Event =
  | { readonly kind: "flip" | "silence"; readonly name: (typeof NAMES)[number] }
  | { readonly kind: "forgets" | "unreachable" | "night" | "nothing" };

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constantFrom("flip" as const, "silence" as const), name: fc.constantFrom(...NAMES) }),
  fc.record({
    kind: fc.constantFrom("forgets" as const, "unreachable" as const, "night" as const, "nothing" as const),
  }),
);

class World {
  now = T0;
  readonly members = new Map<string, Alert>();
  readonly notified = new Map<string, NotifiedEntry>();
  readonly silenced = new Set<string>();
  isNight = false;
  isReachable = true;
  dueAt = Number.POSITIVE_INFINITY;
  /** What the Alertmanager knows: by labels, until when it fires. */
  readonly known = new Map<string, number>();
  /** Ends it was sent of what fires and is known to it. */
  falseEnds = 0;

  /** One minute, in which one thing may happen. */
  step(one: Event): void {
    this.now += MINUTE;
    this.isReachable = one.kind !== "unreachable";
    if (one.kind === "flip") this.flip(one.name);
    if (one.kind === "silence") this.toggle(one.name);
    if (one.kind === "forgets") this.known.clear();
    if (one.kind === "night") this.isNight = !this.isNight;
    if (one.kind === "flip" || one.kind === "silence" || one.kind === "night") this.dueAt = this.now;
    if (this.dueAt <= this.now) this.deliver();
  }

  flip(name: string): void {
    const current = this.firing().find(({ key }) => key === name);
    const next = current ? over(current, this.now) : firing(name, this.now);
    this.members.set(next.id, next);
  }

  toggle(name: string): void {
    if (!this.silenced.delete(name)) this.silenced.add(name);
  }

  firing(): Alert[] {
    return [...this.members.values()].filter(({ state }) => state === "firing");
  }

  deliver(): void {
    const alerts = [...this.members.values()];
    const suppressed = new Map<string, Suppression>();
    for (const { id, key } of alerts) if (this.silenced.has(key)) suppressed.set(id, { reason: "silenced", by: "s" });
    const suppressions = {
      muted: this.isNight ? ({ reason: "muted", by: "night" } as const) : undefined,
      suppressed,
      suppressedBefore: new Map(),
      recheckEveryMs: 1_000,
      standsFor: new Map(),
    };
    const claim: Claimed & { suppressions: typeof suppressions } = {
      kind: "group",
      group: "g",
      labels: {},
      repeatIntervalMs: RESEND,
      groupIntervalMs: 1_000,
      dueSince: new Map(alerts.map(({ id }) => [id, this.now])),
      nextAt: undefined,
      isForRoot: false,
      groupFailures: 0,
      failures: 0,
      alerts,
      notified: this.notified,
      unsure: new Map(),
      lost: [],
      log: this.notified,
      suppressedBefore: new Map(),
      stormGroups: 1,
      suppressions,
    };
    const decision = needsResend({ ...claim, now: this.now, sendResolved: true });
    if (decision.notify !== undefined) {
      if (!this.isReachable) {
        this.dueAt = this.now + RESEND;
        return;
      }
      this.post(
        toNotification(forwarding, [{ claim }], joinDecisions([decision]), { now: this.now, externalUrl: undefined }),
      );
    }
    const settlement = settlementOf(claim, decision, { integration: forwarding.id, now: this.now });
    for (const notified of settlement.notified) this.notified.set(notified.alert.id, notified);
    for (const id of [...settlement.over, ...settlement.unnotified]) {
      this.notified.delete(id);
      this.members.delete(id);
    }
    this.dueAt = decision.nextAt ?? Number.POSITIVE_INFINITY;
  }

  post(notification: Parameters<typeof renderAlertmanager>[0]): void {
    const fires = new Set(this.firing().map(({ labels }) => fingerprint(labels)));
    for (const { labels, endsAt } of renderAlertmanager(notification, { expireMs: 15 * MINUTE })) {
      const print = fingerprint(labels);
      const until = Date.parse(endsAt);
      const knew = (this.known.get(print) ?? 0) > this.now;
      if (until <= this.now && knew && fires.has(print)) this.falseEnds += this.isTold(print) ? 1 : 0;
      this.known.set(print, until);
    }
  }

  isTold(print: string): boolean {
    return this.firing().some(({ id, labels }) => this.notified.has(id) && fingerprint(labels) === print);
  }

  /** By name: what the Alertmanager takes for firing. */
  believed(): string[] {
    return NAMES.filter((name) => (this.known.get(fingerprint(firing(name).labels)) ?? 0) > this.now);
  }
}

const stories = fc.array(event, { maxLength: 80 });

test("it is sent no end of what fires, knows what fires after each failure, and nothing is left once all is over", () => {
  fc.assert(
    fc.property(stories, (events) => {
      const world = new World();
      for (const one of events) world.step(one);
      for (let i = 0; i < 2; i++) world.step({ kind: "nothing" });
      expect(world.falseEnds).toBe(0);
      const sent = world.firing().filter(({ id }) => world.notified.has(id));
      expect(world.believed().sort()).toEqual(sent.map(({ key }) => key).sort());
      for (const { id, key } of world.firing())
        if (!world.notified.has(id)) expect(world.silenced.has(key) || world.isNight).toBe(true);
      for (const { key } of world.firing()) world.flip(key);
      world.silenced.clear();
      world.isNight = false;
      world.dueAt = world.now;
      for (let i = 0; i < 20; i++) world.step({ kind: "nothing" });
      expect([world.notified.size, world.members.size, world.dueAt]).toEqual([0, 0, Number.POSITIVE_INFINITY]);
      expect(world.believed()).toEqual([]);
    }),
    { numRuns: 600 },
  );
});
