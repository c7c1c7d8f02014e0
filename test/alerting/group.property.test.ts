/**
 * Two groups at one integration, its notification log and its turns, without Redis: alerts begin, end, are suppressed and
 * released, and moved to the other group, also during a send; messages are refused, accepted, or of unknown outcome;
 * processes die at any step; the index of due groups is early; writes are lost.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  dueAt,
  dueSince,
  type GroupHead,
  type Member,
  newsAt,
  postponed,
  released,
  served,
  settingsOf,
} from "../../src/alerting/group.ts";
import type { NotificationLogEntry, NotifiedEntry, Suppression, SuppressionReason } from "../../src/alerting/model.ts";
import { needsUpdate, partition } from "../../src/alerting/needs-update.ts";
import { accepted, decided, isNotified, maybeAccepted } from "../../src/alerting/notification-log.ts";
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
  fc.record({ kind: fc.constant("reload") }),
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
      ...[{ kind: "pass", ms: 30_000 }, { kind: "turn", how: "accepted", during: null }, { kind: "reload" }],
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

/** Of one group; it is replaced, never changed. */
interface Group {
  readonly head: GroupHead;
  readonly due: number | undefined;
  readonly isChanged: boolean;
}

/** What is stored: it is replaced, never changed. */
interface Stored {
  readonly groups: readonly [Group, Group];
  readonly members: ReadonlyMap<string, { readonly group: 0 | 1; readonly alert: Alert; readonly since: number }>;
  readonly log: ReadonlyMap<string, NotificationLogEntry>;
  readonly intent: { readonly group: 0 | 1; readonly episodes: readonly string[] } | undefined;
  /** By name: the groups that were decided while it was suppressed. */
  readonly suppressed: ReadonlyMap<Name, readonly (0 | 1)[]>;
}

interface Claim {
  readonly claimed: GroupHead;
  readonly before: readonly Member[];
}

const timers = { groupWaitMs: WAIT, groupIntervalMs: INTERVAL, repeatIntervalMs: REPEAT };
const NEW: Group = { head: settingsOf({ labels: {}, ...timers }), due: undefined, isChanged: false };
const EMPTY: Stored = {
  groups: [NEW, NEW],
  members: new Map(),
  log: new Map(),
  intent: undefined,
  suppressed: new Map(),
};
const GROUPS = [0, 1] as const;
/** The groups of the alerts, by each configuration. */
const GROUPED: readonly Readonly<Record<Name, 0 | 1>>[] = [
  { a: 0, b: 0, c: 1 },
  { a: 1, b: 0, c: 1 },
];

interface Heard {
  readonly id: string;
  readonly says: "firing" | "resolved";
  readonly at: number;
  readonly group: number;
}

class World {
  now = NOW;
  isMuted = false;
  stored = EMPTY;
  #grouping = 0;
  readonly held = new Map<string, SuppressionReason>();
  readonly timed = new Set<string>();
  readonly heard: Heard[] = [];
  /** Episodes that something held. */
  readonly wasHeld = new Set<string>();
  /** By episode: since when nothing holds or moves it, and nothing did after its end; and for how long it lasted then. */
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
    this.check();
  }

  change(event: Change): void {
    this.now += 1;
    if (event.kind === "flip") this.flip(event.name);
    if (event.kind === "hold") {
      this.held.set(event.name, event.reason as SuppressionReason);
      this.timed[event.isTimed ? "add" : "delete"](event.name);
      for (const { id, subject } of this.firing()) if (subject.id === event.name) this.releasedAt.delete(id);
    }
    if (event.kind === "release" && this.held.has(event.name)) this.release(event.name);
    if (event.kind === "mute") this.isMuted = !this.isMuted;
    if (event.kind === "early")
      for (const g of GROUPS) this.group(g, ({ due }) => ({ due: due && Math.min(due, this.now) }));
    if (event.kind === "reload") this.reload();
    for (const { alert } of this.stored.members.values()) {
      const { id, subject, state } = alert;
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

  group(g: 0 | 1, change: (group: Group) => Partial<Group>, more: Partial<Stored> = {}): void {
    const [first, second] = this.stored.groups;
    const next = { ...this.stored.groups[g], ...change(this.stored.groups[g]) };
    this.write({ ...more, groups: g === 0 ? [next, second] : [first, next] });
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

  dueBy(g: 0 | 1, at: number, more: Partial<Group> = {}): void {
    this.group(g, ({ due }) => ({ ...more, due: Math.min(due ?? at, at), isChanged: true }));
  }

  firing(): Alert[] {
    return [...this.stored.members.values()].flatMap(({ alert }) => (alert.state === "firing" ? alert : []));
  }

  flip(one: Name): void {
    const before = this.firing().find(({ subject }) => subject.id === one);
    if (before) this.lasted.set(before.id, this.now - (this.freeFrom.get(before.id) ?? this.now));
    const ended = { state: "resolved", endsAt: this.now, updatedAt: this.now, endReason: "recovered" } as const;
    const alert = before ? { ...before, ...ended } : alertWith({ alertname: "R", recording_id: one }, this.now);
    const { group = GROUPED[this.#grouping]?.[one] ?? 0, since = this.now } = this.stored.members.get(alert.id) ?? {};
    this.write({ members: new Map([...this.stored.members, [alert.id, { group, alert, since }]]) });
    this.dueBy(group, newsAt(this.stored.groups[group].head, this.now));
    // Another sweep would see it again.
    this.sync();
  }

  /** The groups that were decided while it held are released. */
  release(one: Name): void {
    const isPaced = this.held.get(one) === "inhibited";
    this.held.delete(one);
    const { suppressed, members, log } = this.stored;
    for (const g of suppressed.get(one) ?? []) {
      const head = released(this.stored.groups[g].head, this.now, isPaced);
      this.dueBy(g, head.releasedAt ?? this.now, { head });
      const at = isPaced ? newsAt({ ...head, waitMs: 0 }, this.now) : this.now;
      for (const { id, subject } of this.firing())
        if (subject.id === one && members.get(id)?.group === g && log.get(id)?.waiting) this.releasedAt.set(id, at);
    }
    this.write({ suppressed: new Map([...suppressed, [one, []]]) });
  }

  /** What fires goes to its other group; the log stays as it is. */
  reload(): void {
    this.#grouping = 1 - this.#grouping;
    const { log } = this.stored;
    for (const g of GROUPS) this.dueBy(g, this.now, { head: released(this.stored.groups[g].head, this.now, false) });
    const members = new Map(this.stored.members);
    for (const [id, member] of members) {
      const group = GROUPED[this.#grouping]?.[member.alert.subject.id as Name] ?? 0;
      if (member.alert.state !== "firing" || member.group === group) continue;
      members.set(id, { ...member, group });
      // It waits for the message of its new group at most.
      if (this.freeFrom.has(id)) this.freeFrom.set(id, Math.max(this.now, this.freeFrom.get(id) ?? 0));
    }
    this.write({ members });
    expect(this.stored.log).toBe(log);
  }

  suppressionOf({ subject }: Alert): Suppression | undefined {
    const reason = this.held.get(subject.id);
    const until = this.timed.has(subject.id) ? NOW + YEAR : undefined;
    return reason && { reason, by: `${reason}-${subject.id}`, until };
  }

  membersOf(g: 0 | 1): Member[] {
    const { members, log } = this.stored;
    return [...members].flatMap(([id, { group, ...one }]) => (group === g ? { ...one, entry: log.get(id) } : []));
  }

  decide(g: 0 | 1) {
    const members = this.membersOf(g);
    const entries = members.flatMap(({ entry }) => (isNotified(entry) ? [[entry.alert.id, entry] as const] : []));
    const [unsure, notified] = partition(entries, ([, entry]) => entry.unsure !== undefined).map((one) => new Map(one));
    const since = members.flatMap((member) => {
      const at = dueSince(this.stored.groups[g].head, member, this.now);
      return at === undefined ? [] : [[member.alert.id, at] as const];
    });
    const suppressed = members.flatMap(({ alert }) => {
      const suppression = this.suppressionOf(alert);
      return suppression ? [[alert.id, suppression] as const] : [];
    });
    const waiting = members.flatMap(({ alert, entry }) => (entry?.waiting ? [[alert.id, entry.waiting] as const] : []));
    return needsUpdate({
      ...{
        now: this.now,
        repeatIntervalMs: REPEAT,
        sendResolved: true,
        dueSince: new Map(since),
        alerts: members.map(({ alert }) => alert),
        notified: notified ?? new Map(),
        unsure: unsure ?? new Map(),
      },
      suppressions: {
        muted: this.isMuted ? { reason: "muted", by: "night" } : undefined,
        suppressed: new Map(suppressed),
        suppressedBefore: new Map(waiting),
        ...{ recheckEveryMs: INTERVAL, standsFor: new Map() },
      },
    });
  }

  turn(how: (typeof HOW)[number], during: Change | null): void {
    const dues = this.stored.groups.map(({ due = Number.POSITIVE_INFINITY }) => due);
    const g = (dues[0] ?? 0) <= (dues[1] ?? 0) ? 0 : 1;
    const { head, due = Number.POSITIVE_INFINITY } = this.stored.groups[g];
    if (due > this.now) return;
    if (this.stored.intent && how !== "killed_first") {
      this.recover();
      return;
    }
    const at = dueAt(head, due, this.now);
    if (at > this.now) {
      this.group(g, () => ({ due: at }));
      return;
    }
    const claimed = { ...head, claimed: "t", began: this.now };
    this.group(g, () => ({ head: claimed, due: this.now + LEASE, isChanged: false }));
    if (how === "killed_first") return;
    const decision = this.decide(g);
    for (const { id } of decision.suppressedState.by.length > 0 ? this.firing() : [])
      if (decision.suppressedState.unnotified.has(id)) this.releasedAt.delete(id);
    if (decision.notify !== undefined) {
      expect(head.retryAt ?? 0, "refused").toBeLessThanOrEqual(this.now);
      const about = [...decision.firing, ...decision.resolved];
      this.write({ intent: { group: g, episodes: about.map(({ id }) => id) } });
      this.sync();
      if (how === "refused") {
        const later = this.now + 10_000;
        const next = postponed(claimed, { at: later, isRefused: true });
        this.group(g, () => ({ head: next, due: later }), { intent: undefined });
        return;
      }
      if (how === "never") return;
      this.hear(g, decision);
    }
    if (how === "lost") return;
    const before = this.membersOf(g);
    if (during) this.change(during);
    this.settle(g, decision, { claimed, before });
  }

  /** The channel cannot be asked. */
  recover(): void {
    const { intent: { group, episodes } = { group: 0, episodes: [] }, members } = this.stored;
    const log = new Map(this.stored.log);
    for (const id of episodes) {
      const alert = members.get(id)?.alert;
      if (alert) log.set(id, maybeAccepted(log.get(id), alert, { at: this.now, groupId: "g" }, undefined));
    }
    const change = ({ head }: Group) => ({ head: postponed(head, { at: this.now, isRefused: false }), due: this.now });
    this.group(group, change, { intent: undefined, log });
  }

  hear(group: number, decision: Extract<ReturnType<typeof needsUpdate>, { readonly firing: unknown }>): void {
    for (const { id, subject, isNew } of decision.firing) {
      expect(this.isMuted || this.held.has(subject.id), "suppressed").toBe(false);
      if (isNew) this.heard.push({ id, says: "firing", at: this.now, group });
    }
    expect(this.isMuted, "muted").toBe(false);
    for (const { id } of decision.resolved) this.heard.push({ id, says: "resolved", at: this.now, group });
  }

  settle(g: 0 | 1, decision: ReturnType<typeof needsUpdate>, { claimed, before }: Claim): void {
    const { now } = this;
    const { head: present, isChanged } = this.stored.groups[g];
    const log = new Map(this.stored.log);
    const members = new Map(this.stored.members);
    const { unnotified, by } = decision.suppressedState;
    const isSent = decision.notify !== undefined;
    const [named, over] = isSent ? [decision.firing, decision.resolved.map(({ id }) => id)] : [[], []];
    for (const alert of named)
      if (members.has(alert.id)) log.set(alert.id, accepted(log.get(alert.id), alert, { at: now, groupId: "g" }));
    for (const { alert, entry } of before) {
      const { id } = alert;
      const isOver = over.includes(id) || (decision.settled.includes(id) && isNotified(entry));
      const known = decided(log.get(id), { waiting: unnotified.get(id) });
      if (isOver || (decision.settled.includes(id) && members.get(id)?.group === g)) {
        members.delete(id);
        log.delete(id);
      } else if (known && members.has(id) && !decision.settled.includes(id)) log.set(id, known);
    }
    const isOvertaken = present !== claimed;
    const left = [...members.values()].filter(({ group }) => group === g).length;
    const head = served(present, {
      ...{ now, isSent, isForRoot: false, isOvertaken, members: left, nextAt: decision.nextAt },
      ...{ endsWait: undefined, conversation: undefined, shown: undefined },
    });
    const due = left === 0 ? undefined : isOvertaken || isChanged ? now : head.nextAt;
    const causes = by.flatMap((one) => NAMES.filter((name) => one.by.endsWith(`-${name}`)));
    const suppressed = new Map(this.stored.suppressed);
    for (const one of causes) suppressed.set(one, [...new Set([...(suppressed.get(one) ?? []), g])]);
    this.group(g, () => ({ head, due, isChanged: false }), { log, members, intent: undefined, suppressed });
    // A cause that ended meanwhile is looked for once the turn is stored.
    if (causes.some((one) => !this.held.has(one))) this.dueBy(g, now);
  }

  /** The index is not late for anything that nobody suppresses. */
  check(): void {
    const { groups, members, log } = this.stored;
    for (const { id, subject } of this.firing()) {
      const { group = 0, since = 0 } = members.get(id) ?? {};
      const { head, due } = groups[group];
      const entry = log.get(id);
      const isSaid = isNotified(entry) && !entry.unsure;
      if (head.claimed !== undefined || this.isMuted || this.held.has(subject.id) || isSaid) continue;
      const newsIsAt = entry?.waiting ? this.releasedAt.get(id) : newsAt(head, since);
      if (newsIsAt !== undefined) expect(due, id).toBeLessThanOrEqual(Math.max(this.now, newsIsAt, head.retryAt ?? 0));
    }
  }

  /** Everything is released and accepted, until only reminders are left. */
  drain(): void {
    for (const one of NAMES) this.change({ kind: "release", name: one });
    this.isMuted = false;
    for (let round = 0; round < 60; round++) {
      const due = Math.min(...this.stored.groups.map((one) => one.due ?? Number.POSITIVE_INFINITY));
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

/** Nothing is due sooner for it than a group's timers allow. */
const isCalm = ({ kind }: Event) => kind !== "release" && kind !== "mute" && kind !== "reload";

const runs = { seed: SEED, numRuns: 1_200 * Number(process.env.TEST_RUNS ?? 1) };

test("each beginning is sent once, then its end once, no sooner than group_wait and group_interval allow", () => {
  const property = fc.property(smooth, (events) => {
    const world = played(events);
    for (const [id, says] of world.saysOf()) expect(["firing", "resolved", "firing resolved"], id).toContain(says);
    const calm = played(events.map((one) => (one.kind === "turn" ? { ...one, during: null } : one)).filter(isCalm));
    for (const all of Map.groupBy(calm.heard, ({ group }) => group).values()) {
      const times = [...new Set(all.map(({ at }) => at))];
      for (const [i, at] of times.entries())
        if (i > 0) expect(at - (times[i - 1] ?? 0)).toBeGreaterThanOrEqual(INTERVAL);
    }
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
    const { members, log, groups } = world.stored;
    expect([members.size, log.size, ...groups.map(({ due }) => due)]).toEqual([0, 0, undefined, undefined]);
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
  const since = (alert: Alert, at: number, entry?: NotifiedEntry) =>
    dueSince(escalated, { alert, since: NOW, entry }, at);
  expect(since(fired, NOW + MINUTE)).toBe(NOW + WAIT);
  expect(since(over, NOW + 20 * MINUTE)).toBe(NOW + 15 * MINUTE + WAIT);
  const entry = accepted(undefined, fired, { at: NOW, groupId: "g" });
  expect(since(over, NOW + 20 * MINUTE, entry)).toBe(NOW + 10 * MINUTE + WAIT);
});

test("a clock that goes back delays nothing that is due", () => {
  const property = fc.property(rough, fc.constantFrom(6_000, 600_000, 36_000_000), (events, ms) => {
    const world = played(events);
    const [before, now] = [world.now, world.now - ms];
    world.now = now;
    for (const g of GROUPS) {
      const { due } = world.stored.groups[g];
      world.group(g, ({ head }) => ({ head: movedBack(head, now, ms), due: due && movedBack(due, now, ms) }));
      if (due !== undefined && due > before) expect(world.stored.groups[g].due).toBe(due - ms);
    }
    const log = [...world.stored.log].map(([id, entry]) => [id, movedBack(entry, now, ms)] as const);
    world.write({ log: new Map(log) });
    world.releasedAt.clear();
    world.drain();
    for (const { id } of world.firing()) expect(world.saysOf().get(id), id).toMatch(/firing$/);
  });
  fc.assert(property, runs);
});
