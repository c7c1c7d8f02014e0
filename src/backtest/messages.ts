/**
 * Who would have been told, and how often: alerts through the routing tree, inhibition, mute times and the timers of
 * groups, with every message accepted at once. The decisions are the daemon's; when a group is due is what its store
 * keeps to (architecture: "Delivering").
 */

import { createInhibitor, type Inhibitions } from "../alerting/inhibit.ts";
import { type GroupDecision, needsUpdate } from "../alerting/needs-update.ts";
import type { NotificationLogEntry, NotifyReason } from "../alerting/notification.ts";
import { groupOf, type Route, routesFor } from "../alerting/route.ts";
import { decideStorm } from "../alerting/storm.ts";
import type { Suppression, Suppressions } from "../alerting/suppression.ts";
import { muteOf } from "../alerting/time-interval.ts";
import type { Alert } from "../health/alert.ts";
import type { Transition } from "../health/evaluation.ts";
import type { Instant } from "../lib/clock.ts";
import type { Receiver, Setup } from "./setup.ts";

/** One message, to each integration of the receiver. */
export interface Message {
  readonly at: Instant;
  readonly receiver: string;
  readonly reason: NotifyReason;
}

const MINUTE_MS = 60_000;
/** However short the timers are, a group that is held is not looked at more often than this. */
const LEAST_REST_MS = 1_000;
const NOTHING: ReadonlySet<string> = new Set();
const NOBODY: Suppressions["standsFor"] = new Map();

/** A group at a receiver. */
interface Group {
  readonly id: string;
  readonly route: Route;
  readonly members: Map<string, Alert>;
  dueAt: Instant;
  since: Instant | undefined;
  sentAt: Instant | undefined;
  /** When it was served last; empty since then, where it has no members. */
  emptyAt: Instant;
  suppressedBefore: ReadonlySet<string>;
}

/** What fires, and who holds whom; indexed again only once something changed. */
interface Firing {
  readonly alerts: Map<string, Alert>;
  inhibitions(): Inhibitions;
  changed(): void;
}

/** The messages in order of time. `transitions` are in order of time; nothing is said from `until` on. */
export function messagesOf(
  transitions: readonly Transition[],
  setup: Pick<Setup, "route" | "inhibitRules" | "receivers" | "statusIntervalMs">,
  until: Instant,
): Message[] {
  const firing = createFiring(setup);
  const muted = createMuted();
  const messages: Message[] = [];
  const desks = setup.receivers.map((receiver) =>
    createDesk({ receiver, setup, firing, muted, notify: (message) => messages.push(message) }),
  );
  const dueBefore = (at: Instant) => {
    for (;;) {
      const due = Math.min(...desks.map((desk) => desk.nextDue()));
      if (due >= at || due === Number.POSITIVE_INFINITY) return;
      for (const desk of desks) desk.serve(due);
    }
  };
  for (let i = 0; i < transitions.length; ) {
    const now = transitions[i]?.alert.updatedAt ?? until;
    dueBefore(Math.min(now, until));
    for (let one = transitions[i]; one && one.alert.updatedAt === now; one = transitions[++i]) {
      if (one.kind === "resolved") firing.alerts.delete(one.alert.id);
      else firing.alerts.set(one.alert.id, one.alert);
      firing.changed();
      for (const desk of desks) desk.take(one, now);
    }
  }
  dueBefore(until);
  return messages;
}

function createFiring({ inhibitRules }: Pick<Setup, "inhibitRules">): Firing {
  const index = createInhibitor(inhibitRules);
  const alerts = new Map<string, Alert>();
  let known: Inhibitions | undefined;
  return {
    alerts,
    inhibitions() {
      known ??= index([...alerts.values()]);
      return known;
    },
    changed() {
      known = undefined;
    },
  };
}

type Muted = (route: Route, now: Instant) => Suppression | undefined;

/** Asked of every group of a route at the same instant. */
function createMuted(): Muted {
  let [at, known] = [Number.NaN, new Map<Route, Suppression | undefined>()];
  return (route, now) => {
    if (!route.muteTimes?.length && !route.activeTimes?.length) return undefined;
    if (at !== now) [at, known] = [now, new Map()];
    if (!known.has(route)) known.set(route, muteOf(route, now));
    return known.get(route);
  };
}

interface Desk {
  /** When a group is due next; infinite where none is. */
  nextDue(): Instant;
  /** Says what is due by now. */
  serve(now: Instant): void;
  take(transition: Transition, now: Instant): void;
}

/** Everything at one receiver, as one integration of it sees it. */
function createDesk(deps: {
  readonly receiver: Receiver;
  readonly setup: Pick<Setup, "route" | "statusIntervalMs">;
  readonly firing: Firing;
  readonly muted: Muted;
  notify(message: Message): void;
}): Desk {
  const { receiver, setup, firing, muted } = deps;
  const groups = new Map<string, Group>();
  const placesOf = new Map<string, Set<Group>>();
  const notified = new Map<string, NotificationLogEntry>();
  const suppressedBy = new Map<string, Set<Group>>();
  let soonest: Instant | undefined;

  const arm = (group: Group, at: Instant) => {
    if (group.since === undefined || group.since > at) group.since = at;
    group.dueAt = Math.min(group.dueAt, at);
    soonest = undefined;
  };
  const makeDue = (group: Group, now: Instant) => {
    const { groupWaitMs, groupIntervalMs } = group.route;
    arm(
      group,
      group.sentAt === undefined ? now + groupWaitMs : Math.max(now, group.sentAt + groupIntervalMs),
    );
  };

  function begin(alert: Alert, now: Instant): void {
    for (const route of routesFor(setup.route, alert.labels)) {
      if (route.receiver !== receiver.name) continue;
      const { id } = groupOf(route, alert.labels);
      const known = groups.get(id);
      const group = known && !isForgotten(known, now) ? known : newGroup(id, route);
      groups.set(id, group);
      group.members.set(alert.id, alert);
      placesOf.set(alert.id, (placesOf.get(alert.id) ?? new Set()).add(group));
      makeDue(group, now);
    }
  }

  function leave(episode: string, group: Group): void {
    group.members.delete(episode);
    const places = placesOf.get(episode);
    places?.delete(group);
    if (places?.size === 0) placesOf.delete(episode);
  }

  function decide(group: Group, now: Instant): GroupDecision {
    const alerts = [...group.members.values()];
    const known = alerts.flatMap(({ id }) => {
      const one = notified.get(id);
      return one ? [[id, one] as const] : [];
    });
    return needsUpdate({
      now,
      repeatIntervalMs: group.route.repeatIntervalMs,
      sendResolved: receiver.sendResolved,
      dueSince: group.since === undefined ? undefined : Math.min(group.since, now),
      alerts,
      notified: new Map(known),
      suppressions: suppressionsOf(group, alerts, now),
    });
  }

  function suppressionsOf(group: Group, alerts: readonly Alert[], now: Instant): Suppressions {
    const suppressed = new Map<string, Suppression>();
    for (const alert of alerts) {
      const source = firing.inhibitions().inhibitor(alert);
      if (source) suppressed.set(alert.id, { reason: "inhibited", by: source.id });
      else if (alert.state === "firing" && alert.facts.paused)
        suppressed.set(alert.id, { reason: "paused", by: alert.id });
    }
    return {
      muted: muted(group.route, now),
      suppressed,
      suppressedBefore: group.suppressedBefore,
      maybeNotified: NOTHING,
      recheckEveryMs: Math.max(MINUTE_MS, group.route.groupIntervalMs),
      standsFor: NOBODY,
    };
  }

  function settle(group: Group, decision: GroupDecision, now: Instant): void {
    const said = decision.notify !== undefined;
    if (said)
      for (const alert of decision.firing)
        notified.set(alert.id, { alert, notifiedAt: now, groupId: group.id });
    const ended = new Set(said ? decision.resolved.map(({ id }) => id) : []);
    for (const id of decision.settled) {
      const places = notified.has(id) || ended.has(id) ? [...(placesOf.get(id) ?? [])] : [group];
      for (const place of places) leave(id, place);
      notified.delete(id);
    }
    const { suppressedState } = decision;
    group.since = suppressedState.lateFrom;
    group.suppressedBefore = new Set(suppressedState.unnotified);
    for (const { reason, by } of suppressedState.by)
      if (reason === "inhibited") suppressedBy.set(by, (suppressedBy.get(by) ?? new Set()).add(group));
    if (said) group.sentAt = now;
    group.emptyAt = now;
    group.dueAt = Number.POSITIVE_INFINITY;
    if (group.members.size === 0) return;
    const again = decision.nextAt ?? now + Math.max(MINUTE_MS, group.route.groupIntervalMs);
    group.dueAt = Math.max(again, now + LEAST_REST_MS);
  }

  /** Due by now; where these are more than the route wants told one by one, who only waits for company as well. */
  function dueTogether(now: Instant): Group[] {
    const ahead = [...groups.values()].filter(({ dueAt }) => dueAt <= now + setup.statusIntervalMs);
    const due = ahead.filter(({ dueAt }) => dueAt <= now).sort((a, b) => a.dueAt - b.dueAt);
    const limit = due[0]?.route.stormGroups;
    const ripe = ahead.filter((group) => group.dueAt <= now || isWaitingForCompany(group, now));
    return limit !== undefined && ripe.length > limit ? ripe : due;
  }

  return {
    nextDue() {
      soonest ??= [...groups.values()].reduce(
        (least, { dueAt }) => Math.min(least, dueAt),
        Number.POSITIVE_INFINITY,
      );
      return soonest;
    },

    serve(now) {
      if (this.nextDue() > now) return;
      soonest = undefined;
      const decided = dueTogether(now).map((group) => ({
        claim: { stormGroups: group.route.stormGroups, group },
        decision: decide(group, now),
      }));
      const turn = decideStorm(decided, decided.length);
      const notify = (reason: NotifyReason) => deps.notify({ at: now, receiver: receiver.name, reason });
      const [first] = turn.now;
      if (first) notify(first.decision.notify);
      for (const { decision } of turn.later) notify(decision.notify);
      for (const { claim, decision } of decided) settle(claim.group, decision, now);
    },

    take({ kind, alert }, now) {
      if (kind === "firing") return begin(alert, now);
      for (const group of placesOf.get(alert.id) ?? []) {
        group.members.set(alert.id, alert);
        if (kind === "resolved") makeDue(group, now);
      }
      if (kind !== "resolved") return;
      for (const group of suppressedBy.get(alert.id) ?? []) arm(group, now);
      suppressedBy.delete(alert.id);
    },
  };
}

function newGroup(id: string, route: Route): Group {
  return {
    id,
    route,
    members: new Map(),
    dueAt: Number.POSITIVE_INFINITY,
    since: undefined,
    sentAt: undefined,
    emptyAt: 0,
    suppressedBefore: NOTHING,
  };
}

/** Not said before, or long ago: it waits for `group_wait` alone. */
function isWaitingForCompany({ since, sentAt, route }: Group, now: Instant): boolean {
  return since !== undefined && (sentAt === undefined || sentAt + route.groupIntervalMs <= now);
}

/** The store keeps the timers of an empty group for so long. */
function isForgotten({ members, emptyAt, route }: Group, now: Instant): boolean {
  return members.size === 0 && now - emptyAt > Math.max(MINUTE_MS, 2 * route.groupIntervalMs);
}
