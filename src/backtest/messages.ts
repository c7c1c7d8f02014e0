/**
 * The notifications a configuration would have sent: alerts through the routing tree, inhibition, mute times and group
 * timers, every message accepted at once. Decisions are the daemon's; a group's timers follow `store/scripts/`.
 */
import { createInhibitor, type Inhibitions, type InhibitRule, inhibitionBy } from "../alerting/inhibit.ts";
import { maintenanceOf } from "../alerting/maintenance.ts";
import { clearingOf, type GroupDecision, type GroupView, needsUpdate } from "../alerting/needs-update.ts";
import type { NotificationLogEntry, NotifyReason, Suppression, Suppressions } from "../alerting/notification.ts";
import { groupOf, type Route, routesFor } from "../alerting/route.ts";
import { decideStorm } from "../alerting/storm.ts";
import { muteOf } from "../alerting/time-interval.ts";
import type { Alert } from "../health/alert.ts";
import type { Transition } from "../health/evaluation.ts";
import { type Instant, MINUTE_MS } from "../lib/clock.ts";
import type { ReplayedReceiver, ReplaySetup } from "./setup.ts";

/** One message, to each integration of the receiver. */
export type ReplayedMessage = { readonly at: Instant; readonly receiver: string; readonly reason: NotifyReason };

/** A suppressed group is checked again no more often than this, however short its timers are. */
const MIN_RECHECK_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;
const NO_IDS: ReadonlySet<string> = new Set();

interface Group {
  readonly id: string;
  readonly route: Route;
  readonly members: Map<string, Alert>;
  dueAt: Instant;
  dueSince: Instant | undefined;
  sentAt: Instant | undefined;
  /** When it was decided last; without members, it has been empty since. */
  decidedAt: Instant;
  suppressedBefore: ReadonlyMap<string, boolean>;
}

type ReceiverReplay = ReturnType<typeof createReceiverReplay>;

/** The messages in order of time. `transitions` are in order of time; nothing is sent from `until` on. */
export function messagesOf(
  transitions: readonly Transition[],
  setup: Pick<ReplaySetup, "route" | "inhibitRules" | "maintenance" | "receivers" | "statusIntervalMs">,
  until: Instant,
): ReplayedMessage[] {
  const shared = { setup, firing: createFiring(setup.inhibitRules), messages: [] as ReplayedMessage[] };
  const replays = setup.receivers.map((receiver) => createReceiverReplay(receiver, shared));
  const sendBefore = (at: Instant) => {
    for (;;) {
      const due = Math.min(...replays.map(nextDue));
      if (due >= at || due === NEVER) return;
      for (const replay of replays) if (nextDue(replay) <= due) sendDue(replay, due);
    }
  };
  for (let i = 0; i < transitions.length; ) {
    const now = transitions[i]?.alert.updatedAt ?? until;
    sendBefore(Math.min(now, until));
    for (let one = transitions[i]; one && one.alert.updatedAt === now; one = transitions[++i]) {
      shared.firing.apply(one);
      for (const replay of replays) take(replay, one, now);
    }
  }
  sendBefore(until);
  return shared.messages;
}

interface Shared {
  readonly setup: Pick<ReplaySetup, "route" | "maintenance" | "statusIntervalMs">;
  readonly firing: ReturnType<typeof createFiring>;
  readonly messages: ReplayedMessage[];
}

function createReceiverReplay(receiver: ReplayedReceiver, shared: Shared) {
  return {
    ...shared,
    receiver,
    groups: new Map<string, Group>(),
    /** By episode. */
    groupsOf: new Map<string, Set<Group>>(),
    notified: new Map<string, NotificationLogEntry>(),
    /** Groups with alerts inhibited by an episode. */
    inhibitedBy: new Map<string, Set<Group>>(),
    /** When a group is due next; undefined: unknown since the last change. */
    nextDueAt: undefined as Instant | undefined,
  };
}

/** Firing alerts; which of them inhibit others is indexed again only after a change. */
function createFiring(inhibitRules: readonly InhibitRule[]) {
  const index = createInhibitor(inhibitRules);
  const alerts = new Map<string, Alert>();
  let known: Inhibitions | undefined;
  return {
    apply({ kind, alert }: Transition): void {
      known = undefined;
      if (kind === "resolved") alerts.delete(alert.id);
      else alerts.set(alert.id, alert);
    },
    inhibitor(alert: Alert): Alert | undefined {
      known ??= index([...alerts.values()]);
      return known.inhibitor(alert);
    },
  };
}

function nextDue(replay: ReceiverReplay): Instant {
  replay.nextDueAt ??= replay.groups.values().reduce((least, { dueAt }) => Math.min(least, dueAt), NEVER);
  return replay.nextDueAt;
}

/** Sends what is due by `now`, as one storm summary where too many groups are. */
function sendDue(replay: ReceiverReplay, now: Instant): void {
  const decided = dueTogether(replay, now).map((group) => ({
    claim: { stormGroups: group.route.stormGroups, group },
    decision: decide(replay, group, now),
  }));
  const storm = decideStorm(decided, decided.length);
  const reasons = [...storm.now.slice(0, 1), ...storm.later].map(({ decision }) => decision.notify);
  for (const reason of reasons) replay.messages.push({ at: now, receiver: replay.receiver.name, reason });
  for (const { claim, decision } of decided) settle(replay, claim.group, decision, now);
  replay.nextDueAt = undefined;
}

/** Due groups; where they are more than a storm's, also those that only wait for `group_wait`. */
function dueTogether({ groups, setup }: ReceiverReplay, now: Instant): Group[] {
  const ahead = [...groups.values()].filter(({ dueAt }) => dueAt <= now + setup.statusIntervalMs);
  const due = ahead.filter(({ dueAt }) => dueAt <= now).sort((a, b) => a.dueAt - b.dueAt);
  const limit = due[0]?.route.stormGroups;
  const ready = ahead.filter((group) => group.dueAt <= now || isWaitingForFirst(group, now));
  return limit !== undefined && ready.length > limit ? ready : due;
}

/** Not notified yet, or so long ago that only `group_wait` delays it. */
function isWaitingForFirst({ dueSince, sentAt, route }: Group, now: Instant): boolean {
  return dueSince !== undefined && (sentAt === undefined || sentAt + route.groupIntervalMs <= now);
}

function take(replay: ReceiverReplay, { kind, alert }: Transition, now: Instant): void {
  replay.nextDueAt = undefined;
  if (kind === "firing") addToGroups(replay, alert, now);
  else for (const group of replay.groupsOf.get(alert.id) ?? []) group.members.set(alert.id, alert);
  if (kind !== "resolved") return;
  for (const group of replay.groupsOf.get(alert.id) ?? []) makeDue(group, now);
  for (const group of replay.inhibitedBy.get(alert.id) ?? []) dueBy(group, now);
  replay.inhibitedBy.delete(alert.id);
}

function addToGroups({ receiver, setup, groups, groupsOf }: ReceiverReplay, alert: Alert, now: Instant): void {
  for (const route of routesFor(setup.route, alert.labels)) {
    if (route.receiver !== receiver.name) continue;
    const { id } = groupOf(route, alert);
    const known = groups.get(id);
    const group = known && !isExpired(known, now) ? known : newGroup(id, route);
    groups.set(id, group);
    group.members.set(alert.id, alert);
    groupsOf.set(alert.id, (groupsOf.get(alert.id) ?? new Set()).add(group));
    makeDue(group, now);
  }
}

function newGroup(id: string, route: Route): Group {
  const timers = { dueAt: NEVER, dueSince: undefined, sentAt: undefined, decidedAt: 0 };
  return { id, route, members: new Map(), ...timers, suppressedBefore: new Map() };
}

/** The store keeps the timers of an empty group for so long. */
function isExpired({ members, decidedAt, route }: Group, now: Instant): boolean {
  return members.size === 0 && now - decidedAt > Math.max(MINUTE_MS, 2 * route.groupIntervalMs);
}

function makeDue(group: Group, now: Instant): void {
  const { groupWaitMs, groupIntervalMs } = group.route;
  dueBy(group, group.sentAt === undefined ? now + groupWaitMs : Math.max(now, group.sentAt + groupIntervalMs));
}

function dueBy(group: Group, at: Instant): void {
  group.dueSince = Math.min(group.dueSince ?? NEVER, at);
  group.dueAt = Math.min(group.dueAt, at);
}

function decide(replay: ReceiverReplay, group: Group, now: Instant): GroupDecision {
  const alerts = [...group.members.values()];
  const entries = alerts.flatMap(({ id }) => replay.notified.get(id) ?? []);
  const notified = new Map(entries.map((entry) => [entry.alert.id, entry]));
  return needsUpdate({
    now,
    repeatIntervalMs: group.route.repeatIntervalMs,
    sendResolved: replay.receiver.sendResolved,
    dueSince: group.dueSince === undefined ? undefined : Math.min(group.dueSince, now),
    alerts,
    notified,
    suppressions: suppressionsOf(replay, group, notified, now),
  });
}

function suppressionsOf(
  { firing, setup }: ReceiverReplay,
  group: Group,
  notified: GroupView["notified"],
  now: Instant,
): Suppressions {
  const suppressed = new Map<string, Suppression>();
  for (const alert of group.members.values()) {
    const source = firing.inhibitor(alert);
    const clearing = clearingOf(alert, notified.has(alert.id) || group.suppressedBefore.has(alert.id));
    const planned = maintenanceOf(setup.maintenance ?? [], alert.labels, now);
    if (source) suppressed.set(alert.id, inhibitionBy(source));
    else if (planned) suppressed.set(alert.id, planned);
    else if (alert.state === "firing" && alert.facts.paused)
      suppressed.set(alert.id, { reason: "paused", by: alert.id });
    else if (clearing) suppressed.set(alert.id, clearing);
  }
  return {
    muted: muteOf(group.route, now),
    suppressed,
    suppressedBefore: group.suppressedBefore,
    maybeNotified: NO_IDS,
    recheckEveryMs: recheckMs(group),
    standsFor: new Map(),
  };
}

function recheckMs({ route }: Group): number {
  return Math.max(MINUTE_MS, route.groupIntervalMs);
}

function settle(replay: ReceiverReplay, group: Group, decision: GroupDecision, now: Instant): void {
  const { notified, groupsOf, inhibitedBy } = replay;
  const isSent = decision.notify !== undefined;
  if (isSent) {
    group.sentAt = now;
    for (const alert of decision.firing) notified.set(alert.id, { alert, notifiedAt: now, groupId: group.id });
  }
  const resolved = new Set(isSent ? decision.resolved.map(({ id }) => id) : []);
  for (const id of decision.settled) {
    const places = notified.has(id) || resolved.has(id) ? [...(groupsOf.get(id) ?? [])] : [group];
    for (const place of places) removeMember(groupsOf, id, place);
    notified.delete(id);
  }
  const { suppressedState } = decision;
  group.dueSince = suppressedState.lateFrom;
  group.suppressedBefore = new Map(suppressedState.unnotified);
  for (const { reason, by } of suppressedState.by)
    if (reason === "inhibited") inhibitedBy.set(by, (inhibitedBy.get(by) ?? new Set()).add(group));
  group.decidedAt = now;
  const next = decision.nextAt ?? now + recheckMs(group);
  group.dueAt = group.members.size === 0 ? NEVER : Math.max(next, now + MIN_RECHECK_MS);
}

function removeMember(groupsOf: Map<string, Set<Group>>, episode: string, group: Group): void {
  group.members.delete(episode);
  const groups = groupsOf.get(episode);
  groups?.delete(group);
  if (groups?.size === 0) groupsOf.delete(episode);
}
