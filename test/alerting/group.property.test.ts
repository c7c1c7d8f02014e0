/**
 * A group at one integration, its notification log and its turns, without Redis: alerts begin, end, are suppressed and
 * released, also during a send; messages are refused, accepted, or of unknown outcome; processes die at any step; the
 * index of due groups is early; writes are lost.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  dueAt,
  dueSince,
  type GroupHead,
  newsAt,
  postponed,
  released,
  served,
  settingsOf,
} from "../../src/alerting/group.ts";
import type { NotificationLogEntry, Suppression, SuppressionReason } from "../../src/alerting/model.ts";
import { needsUpdate, partition } from "../../src/alerting/needs-update.ts";
import type { Alert } from "../../src/health/alert.ts";
import { movedBack } from "../../src/lib/clock.ts";
import { alertWith, NOW } from "./alerts.ts";

const MINUTE = 60_000;
const YEAR = 365 * 86_400_000;
const [WAIT, INTERVAL, REPEAT, LEASE] = [30_000, 5 * MINUTE, 240 * MINUTE, 13_000];
const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_127);
const NAMES = ["a", "b", "c"] as const;
type Name = (typeof NAMES)[number];
const HOW = ["accepted", "refused", "lost", "never", "killed_first"] as const;

const name = fc.constantFrom<Name>(...NAMES);
const change = fc.oneof(
  fc.record({ kind: fc.constantFrom("flip", "flip", "release"), name }),
  fc.record({
    kind: fc.constant("hold"),
    name,
    reason: fc.constantFrom("inhibited", "silenced", "acknowledged"),
    // A silence that somebody ends before the clock does.
    isTimed: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("mute") }),
  fc.record({ kind: fc.constant("early") }),
);
const turn = (how: (typeof HOW)[number][]) =>
  fc.record({ kind: fc.constant("turn"), how: fc.constantFrom(...how), during: fc.option(change, { freq: 2 }) });
const pass = fc.record({ kind: fc.constant("pass"), ms: fc.constantFrom(1, 5_000, 30_000, 300_000, 3_600_000) });
const cut = fc.record({ kind: fc.constant("cut"), writes: fc.nat(6) });
/** Most of the life of one that was suppressed. */
const suppressedOne = fc.tuple(name, fc.boolean()).chain(([of, isTimed]) =>
  fc.subarray(
    [
      ...[
        { kind: "flip", name: of },
        { kind: "hold", name: of, reason: "silenced", isTimed },
      ],
      ...[
        { kind: "pass", ms: 30_000 },
        { kind: "turn", how: "accepted", during: null },
      ],
      ...[
        { kind: "release", name: of },
        { kind: "pass", ms: 400_000 },
        { kind: "flip", name: of },
      ],
    ] as const,
    { minLength: 6 },
  ),
);
const storiesOf = (...how: (typeof HOW)[number][]) => {
  const one = fc.oneof(
    { weight: how.length > 0 ? 1 : 0, arbitrary: cut },
    { weight: 4, arbitrary: change },
    { weight: 5, arbitrary: turn(["accepted", ...how]) },
    { weight: 4, arbitrary: pass },
  );
  const some = fc.oneof({ weight: 30, arbitrary: one.map((event) => [event]) }, suppressedOne);
  return fc.array(some, { maxLength: 60, size: "max" }).map((all) => all.flat());
};
const smooth = storiesOf();
const rough = storiesOf(...HOW);
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;
type Event = typeof rough extends fc.Arbitrary<(infer One)[]> ? One : never;

/** What is stored: it is replaced, never changed. */
interface Stored {
  readonly head: GroupHead;
  readonly due: number | undefined;
  readonly isChanged: boolean;
  readonly members: ReadonlyMap<string, Alert>;
  readonly log: ReadonlyMap<string, NotificationLogEntry>;
  readonly intent: readonly string[] | undefined;
}

const timers = { groupWaitMs: WAIT, groupIntervalMs: INTERVAL, repeatIntervalMs: REPEAT };
const EMPTY: Stored = {
  head: settingsOf({ labels: {}, ...timers }),
  due: undefined,
  isChanged: false,
  members: new Map(),
  log: new Map(),
  intent: undefined,
};

class World {
  now = NOW;
  isMuted = false;
  stored = EMPTY;
  readonly held = new Map<string, SuppressionReason>();
  readonly timed = new Set<string>();
  readonly heard: { readonly id: string; readonly says: "firing" | "resolved"; readonly at: number }[] = [];
  /** Episodes that something held. */
  readonly wasHeld = new Set<string>();
  /** By episode: since when nothing holds it, and nothing did after its end; and for how long it lasted then. */
  readonly freeFrom = new Map<string, number>();
  readonly lasted = new Map<string, number>();
  /** By episode: from when on it is due, as its suppression ended. */
  readonly releasedAt = new Map<string, number>();
  /** What was stored since the last sync, in order. */
  history: Stored[] = [EMPTY];

  apply(event: Event | Change): void {
    if (event.kind === "pass") this.now += event.ms;
    else if (event.kind === "turn") this.turn(event.how, event.during);
    else if (event.kind === "cut") this.cut(event.writes);
    else this.change(event);
    if (this.stored.head.claimed === undefined) this.check();
  }

  change(event: Change): void {
    this.now += 1;
    if (event.kind === "flip") this.flip(event.name);
    if (event.kind === "hold") {
      this.held.set(event.name, event.reason as SuppressionReason);
      this.timed[event.isTimed ? "add" : "delete"](event.name);
      for (const { id, subject } of this.firing()) if (subject.id === event.name) this.releasedAt.delete(id);
    }
    if (event.kind === "release" && this.held.has(event.name)) {
      const isPaced = this.held.get(event.name) === "inhibited";
      this.held.delete(event.name);
      const head = released(this.stored.head, this.now, isPaced);
      this.write({ head });
      this.dueBy(head.releasedAt ?? this.now);
      const at = isPaced ? newsAt({ ...head, waitMs: 0 }, this.now) : this.now;
      for (const { id, subject } of this.firing())
        if (subject.id === event.name && head.waiting?.[id]) this.releasedAt.set(id, at);
    }
    if (event.kind === "mute") this.isMuted = !this.isMuted;
    if (event.kind === "early") this.write({ due: this.stored.due && Math.min(this.stored.due, this.now) });
    for (const { id, subject, state } of this.stored.members.values()) {
      const isHeld = this.isMuted || this.held.has(subject.id);
      if (isHeld) this.wasHeld.add(id);
      if (isHeld) this.freeFrom.delete(id);
      else if (state === "firing" && !this.freeFrom.has(id)) this.freeFrom.set(id, this.now);
      // Nobody says when a mute time of this model is over.
      if (this.isMuted) this.freeFrom.set(id, Number.POSITIVE_INFINITY);
    }
  }

  write(change: Partial<Stored>): void {
    this.stored = { ...this.stored, ...change };
    this.history.push(this.stored);
  }

  /** What is written by now is on disk. */
  sync(): void {
    this.history = [this.stored];
  }

  /** The last writes are lost, as many as that. */
  cut(writes: number): void {
    this.releasedAt.clear();
    // That they were released may be lost.
    for (const id of this.wasHeld) this.freeFrom.set(id, Number.POSITIVE_INFINITY);
    this.stored = this.history.at(-1 - (writes % this.history.length)) ?? this.stored;
    this.sync();
  }

  dueBy(at: number): void {
    this.write({ due: Math.min(this.stored.due ?? at, at), isChanged: true });
  }

  firing(): Alert[] {
    return [...this.stored.members.values()].filter(({ state }) => state === "firing");
  }

  flip(one: Name): void {
    const before = this.firing().find(({ subject }) => subject.id === one);
    if (before) this.lasted.set(before.id, this.now - (this.freeFrom.get(before.id) ?? this.now));
    const ended = { state: "resolved", endsAt: this.now, updatedAt: this.now, endReason: "recovered" } as const;
    const alert = before ? { ...before, ...ended } : alertWith({ alertname: "R", recording_id: one }, this.now);
    this.write({ members: new Map([...this.stored.members, [alert.id, alert]]) });
    this.dueBy(newsAt(this.stored.head, this.now));
    // Another sweep would see it again.
    this.sync();
  }

  suppressionOf({ subject }: Alert): Suppression | undefined {
    const reason = this.held.get(subject.id);
    const until = this.timed.has(subject.id) ? NOW + YEAR : undefined;
    return reason && { reason, by: `${reason}-${subject.id}`, until };
  }

  decide() {
    const { head, members, log } = this.stored;
    const alerts = [...members.values()];
    const [unsure, notified] = partition([...log], ([, entry]) => entry.unsure !== undefined).map(
      (one) => new Map(one),
    );
    const hasEnd = ({ id, state }: Alert) => state === "resolved" && log.has(id);
    const since = alerts.flatMap((alert) => {
      const at = dueSince(head, alert, hasEnd(alert), this.now);
      return at === undefined ? [] : [[alert.id, at] as const];
    });
    const suppressed = alerts.flatMap((alert) => {
      const suppression = this.suppressionOf(alert);
      return suppression ? [[alert.id, suppression] as const] : [];
    });
    return needsUpdate({
      ...{
        now: this.now,
        repeatIntervalMs: REPEAT,
        sendResolved: true,
        dueSince: new Map(since),
        alerts,
        notified: notified ?? new Map(),
        unsure: unsure ?? new Map(),
      },
      suppressions: {
        muted: this.isMuted ? { reason: "muted", by: "night" } : undefined,
        suppressed: new Map(suppressed),
        suppressedBefore: new Map(Object.entries(head.waiting ?? {})),
        ...{ recheckEveryMs: INTERVAL, standsFor: new Map() },
      },
    });
  }

  turn(how: (typeof HOW)[number], during: Change | null): void {
    const { head, due = Number.POSITIVE_INFINITY } = this.stored;
    if (due > this.now) return;
    const at = dueAt(head, due, this.now);
    if (at > this.now) {
      this.write({ due: at });
      return;
    }
    const claimed = { ...head, claimed: "t", began: this.now };
    this.write({ head: claimed, due: this.now + LEASE, isChanged: false });
    if (how === "killed_first") return;
    if (this.stored.intent) {
      this.recover();
      return;
    }
    const decision = this.decide();
    for (const { id } of decision.suppressedState.by.length > 0 ? this.firing() : [])
      if (decision.suppressedState.unnotified.has(id)) this.releasedAt.delete(id);
    if (decision.notify !== undefined) {
      expect(head.retryAt ?? 0, "refused").toBeLessThanOrEqual(this.now);
      const about = [...decision.firing, ...decision.resolved];
      this.write({ intent: about.map(({ id }) => id) });
      this.sync();
      if (how === "refused") {
        const later = this.now + 10_000;
        this.write({ head: postponed(claimed, { at: later, isRefused: true }), due: later, intent: undefined });
        return;
      }
      if (how === "never") return;
      this.hear(decision);
    }
    if (how === "lost") return;
    if (during) this.change(during);
    this.settle(decision, claimed);
  }

  /** The channel cannot be asked. */
  recover(): void {
    const { head, intent = [], members } = this.stored;
    const log = new Map(this.stored.log);
    for (const id of intent) {
      const alert = members.get(id);
      if (alert && !log.has(id)) log.set(id, { alert, notifiedAt: this.now, groupId: "g", unsure: [] });
    }
    this.write({ head: postponed(head, { at: this.now, isRefused: false }), due: this.now, intent: undefined, log });
  }

  hear(decision: Extract<ReturnType<typeof needsUpdate>, { readonly firing: unknown }>): void {
    for (const { id, subject, isNew } of decision.firing) {
      expect(this.isMuted || this.held.has(subject.id), "suppressed").toBe(false);
      if (isNew) this.heard.push({ id, says: "firing", at: this.now });
    }
    expect(this.isMuted, "muted").toBe(false);
    for (const { id } of decision.resolved) this.heard.push({ id, says: "resolved", at: this.now });
  }

  settle(decision: ReturnType<typeof needsUpdate>, claimed: GroupHead): void {
    const { stored, now } = this;
    const isSent = decision.notify !== undefined;
    const log = new Map(stored.log);
    const entries = decision.notify === undefined ? [] : decision.firing;
    for (const { fingerprint: _, isNew: __, ...alert } of entries)
      log.set(alert.id, { alert, notifiedAt: now, groupId: "g" });
    const members = new Map(stored.members);
    for (const id of decision.settled) if (log.delete(id) || members.has(id)) members.delete(id);
    const isOvertaken = stored.head !== claimed;
    const { unnotified } = decision.suppressedState;
    const head = served(stored.head, {
      ...{ now, isSent, isForRoot: false, isOvertaken, members: members.size, nextAt: decision.nextAt },
      ...{ waiting: unnotified.size > 0 ? Object.fromEntries(unnotified) : undefined, clocks: undefined },
      ...{ endsWait: undefined, conversation: undefined, shown: undefined },
    });
    const due = members.size === 0 ? undefined : isOvertaken || stored.isChanged ? now : head.nextAt;
    this.write({ head, due, log, members, intent: undefined, isChanged: false });
  }

  /** The index is not late for anything that nobody suppresses. */
  check(): void {
    const { head, due, log } = this.stored;
    for (const { id, firedAt, subject } of this.firing()) {
      if (this.isMuted || this.held.has(subject.id) || (log.get(id)?.unsure === undefined && log.has(id))) continue;
      const newsIsAt = head.waiting?.[id] ? this.releasedAt.get(id) : newsAt(head, firedAt);
      if (newsIsAt !== undefined) expect(due, id).toBeLessThanOrEqual(Math.max(this.now, newsIsAt, head.retryAt ?? 0));
    }
  }

  /** Everything is released and accepted, until only reminders are left. */
  drain(): void {
    for (const one of NAMES) this.change({ kind: "release", name: one });
    this.isMuted = false;
    for (let round = 0; round < 40; round++) {
      const { due = Number.POSITIVE_INFINITY } = this.stored;
      if (due > this.now + 60 * MINUTE) return;
      this.now = Math.max(this.now, due);
      this.turn("accepted", null);
    }
    throw new Error("it never comes to rest");
  }

  saysOf(): Map<string, string> {
    const by = Map.groupBy(this.heard, ({ id }) => id);
    return new Map([...by].map(([id, all]) => [id, all.map(({ says }) => says).join(" ")]));
  }
}

function played(events: readonly Event[]): World {
  const world = new World();
  for (const one of events) world.apply(one);
  return world;
}

const runs = { seed: SEED, numRuns: 1_200 * Number(process.env.TEST_RUNS ?? 1) };

test("each beginning is sent once, then its end once, no sooner than group_wait and group_interval allow", () => {
  const property = fc.property(smooth, (events) => {
    const world = played(events);
    for (const [id, says] of world.saysOf()) expect(["firing", "resolved", "firing resolved"], id).toContain(says);
    const isReleased = events.some(
      (one) => one.kind === "release" || (one.kind === "turn" && one.during?.kind === "release"),
    );
    if (isReleased || events.some(({ kind }) => kind === "mute")) return;
    const times = [...new Set(world.heard.map(({ at }) => at))];
    for (const [i, at] of times.entries()) if (i > 0) expect(at - (times[i - 1] ?? 0)).toBeGreaterThanOrEqual(INTERVAL);
  });
  fc.assert(property, runs);
});

test("whatever dies or is refused, what fires is told, what was told ends, and what was late is not forgotten", () => {
  const property = fc.property(rough, (events) => {
    const world = played(events);
    world.drain();
    for (const { id } of world.firing()) expect(world.saysOf().get(id), id).toMatch(/firing$/);
    for (const one of NAMES) if (world.firing().some(({ subject }) => subject.id === one)) world.flip(one);
    world.drain();
    const { members, log, due } = world.stored;
    expect([members.size, log.size, due]).toEqual([0, 0, undefined]);
    for (const [id, says] of world.saysOf()) expect(says, id).toMatch(/^(?:firing ?)*resolved(?: resolved)*$/);
    for (const [id, ms] of world.lasted)
      if (ms > WAIT + INTERVAL && Number.isFinite(world.freeFrom.get(id)))
        expect(world.saysOf().has(id), id).toBe(true);
  });
  fc.assert(property, runs);
});

test("only messages whose outcome is unknown, or was lost, are said again", () => {
  const property = fc.property(rough, (events) => {
    const world = played(events);
    const unknown = events.filter((one) => one.kind === "cut" || (one.kind === "turn" && one.how === "lost")).length;
    for (const says of world.saysOf().values()) {
      const repeats = says.split(" ").length - new Set(says.split(" ")).size;
      expect(repeats).toBeLessThanOrEqual(unknown);
    }
  });
  fc.assert(property, runs);
});

test("what came and went before its escalation was to come is not late there", () => {
  const escalated = settingsOf({ labels: {}, ...timers, escalateAfterMs: 15 * MINUTE });
  const fired = alertWith({ alertname: "R", recording_id: "a" }, NOW);
  const over = { ...fired, state: "resolved", updatedAt: NOW + 10 * MINUTE } as const;
  expect(dueSince(escalated, fired, false, NOW + MINUTE)).toBe(NOW + WAIT);
  expect(dueSince(escalated, over, false, NOW + 20 * MINUTE)).toBe(NOW + 15 * MINUTE + WAIT);
  expect(dueSince(escalated, over, true, NOW + 20 * MINUTE)).toBe(NOW + 10 * MINUTE + WAIT);
});

test("a clock that goes back delays nothing that is due", () => {
  const property = fc.property(rough, fc.constantFrom(6_000, 600_000, 36_000_000), (events, ms) => {
    const world = played(events);
    const [before, now] = [world.now, world.now - ms];
    const { head, due } = world.stored;
    world.now = now;
    world.write({ head: movedBack(head, now, ms), due: due && movedBack(due, now, ms) });
    if (due !== undefined && due > before) expect(world.stored.due).toBe(due - ms);
    world.releasedAt.clear();
    world.drain();
    for (const { id } of world.firing()) expect(world.saysOf().get(id), id).toMatch(/firing$/);
  });
  fc.assert(property, runs);
});
