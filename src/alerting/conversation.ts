/**
 * The span in which a group fires at one integration: its messages there belong together. It is opened by the first
 * message and closed when nothing notified in it fires. A summary opens one that its groups share. Pure.
 */

import { hash } from "node:crypto";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { isAcknowledged } from "./acknowledgement.ts";
import type { Conversation, GroupDecision, GroupView, NotifiedAlert, SuppressionReason } from "./model.ts";
import { byStart, earliest, nothingSuppressed, toNotifiedAlert } from "./needs-update.ts";
import type { Integration } from "./route.ts";

/** A group with its conversation, as a claim has it. */
export interface ConversationView extends GroupView {
  readonly group: string;
  readonly groupIntervalMs: number;
  /** While it is open. */
  readonly conversation?: Conversation | undefined;
  /** The state that its own root shows, where edits keep that current. */
  readonly shown?: string | undefined;
  /** The number of groups that share the conversation, where they do. */
  readonly sharing?: number | undefined;
  /** Its news is not due: only the root is to be brought up to date. */
  readonly isForRoot?: boolean | undefined;
  /** The text from which the id of a conversation that it opens is made. */
  readonly opens?: string | undefined;
}

/** A root is edited this often at most. */
export const UPDATE_EVERY_MS = 5_000;
/** Alerts that a message names in its trace: more would not fit beside it. */
const MOST_TRACED = 300;
/** Reasons that a root shows, by people or other alerts: the others change too often, or are the reader's own. */
const SHOWN: readonly SuppressionReason[] = ["acknowledged", "silenced", "maintenance", "inhibited", "clearing"];

/** The id of a group's conversation at an integration, by the claim that could open it first; `storm` in place of a group for a summary. */
export function conversationId(integration: string, group: string, opens: string): string {
  return hash("sha256", [integration, group, opens].join("\n")).slice(0, 16);
}

/** `+`: it fires; `-`: it ended. */
export function traceOf(sign: "+" | "-", episode: string): string {
  return hash("sha256", `${sign}${episode}`).slice(0, 10);
}

/** The traces of what a message is news of; none of a reminder. */
export function tracesOf(firing: readonly NotifiedAlert[], resolved: readonly NotifiedAlert[]): string[] {
  const news = firing.filter(({ isNew, isCovered }) => isNew || isCovered);
  if (news.length + resolved.length > MOST_TRACED) return ["all"];
  return [...news.map(({ id }) => traceOf("+", id)), ...resolved.map(({ id }) => traceOf("-", id))];
}

/** Notified, firing and suppressed now; longest first. */
export function standingAlerts(view: Pick<GroupView, "alerts" | "notified" | "suppressions">): NotifiedAlert[] {
  return stillFiring(view).flatMap((alert) => {
    const suppressedBy = suppressionIn(view, alert);
    return suppressedBy ? [{ ...toNotifiedAlert(alert, view), suppressedBy }] : [];
  });
}

/** True if nothing that was, or may have been, notified fires once this decision is in force, and no end of it waits. */
export function isOverAfter(view: Pick<GroupView, "alerts" | "notified" | "unsure">, decision: GroupDecision): boolean {
  const fires = decision.notify !== undefined && decision.firing.length > 0;
  const settled = new Set(decision.settled);
  return !fires && !hasFiring(view) && [...view.notified.keys(), ...view.unsure.keys()].every((id) => settled.has(id));
}

/** True if something notified fires. */
export function hasFiring(view: Pick<GroupView, "alerts" | "notified">): boolean {
  return stillFiring(view).length > 0;
}

/** A hash of what the root shows: what fires, how much it stands for, what suppresses it. */
export function presentOf(firing: readonly NotifiedAlert[], standing: readonly NotifiedAlert[]): string {
  const facts = [...firing, ...standing].map(({ id, suppressedBy, standsFor, facts }) => {
    const shown = [suppressedBy, suppressedBy?.acknowledged].flatMap((one) =>
      one && SHOWN.includes(one.reason) ? [one.reason, one.by, one.until, one.eta, one.comment] : [],
    );
    return JSON.stringify([id, standsFor?.recordings, standsFor?.locations, facts.offline, facts.of, ...shown]);
  });
  return hash("sha256", facts.sort().join("\n")).slice(0, 16);
}

/** The stored text of what the root shows, and since when. */
export function shownAt(present: string, now: Instant): string {
  return `${present} ${now}`;
}

/**
 * The decision, or an `update` in its place: nothing is new, and the root does not show the present. A root that several
 * groups share says when it was true, and is only closed, with the last of them.
 */
export function withUpdate(decision: GroupDecision, view: ConversationView, integration: Integration): GroupDecision {
  const { conversation, shown, now } = view;
  if (integration.conversation !== "edits") return decision;
  const rechecked = { ...decision, rootAt: now + view.groupIntervalMs };
  const isOpen = integration.isPager ? (shown ?? conversation) : conversation?.handle;
  if (!isOpen || decision.notify !== undefined || view.suppressions?.muted) return rechecked;
  const firing = stillFiring(view)
    .filter((alert) => !suppressionIn(view, alert))
    .map((alert) => toNotifiedAlert(alert, view));
  // An end that is due later is said by its own message.
  const settled = new Set(decision.settled);
  const hasEnds = view.alerts.some(({ id, state }) => state === "resolved" && !settled.has(id));
  const isTrue = integration.isPager ? !hasAcknowledged(view) : !isOutOfDate(view, firing);
  if ((hasEnds && stillFiring(view).length === 0) || isTrue) return rechecked;
  const updatedAt = Number(shown?.split(" ")[1] ?? 0);
  const againAt = updatedAt + UPDATE_EVERY_MS;
  if (updatedAt <= now && now < againAt) return { ...decision, ...putOffUpdate(decision, againAt) };
  const resolved = [...(conversation?.ended ?? []), ...endsOf(decision.settled, view)];
  const { nextAt, suppressedState } = decision;
  const update = { notify: "update", firing, resolved, settled: decision.settled } as const;
  return { ...update, nextAt, rootAt: rechecked.rootAt, suppressedState };
}

/** The decision with the update put off; what ended, and is not sent, stays until the root shows it. */
export function putOffUpdate({ settled, nextAt }: GroupDecision, at: Instant) {
  return settled.length === 0 ? { rootAt: at } : { settled: [], nextAt: earliest([nextAt, at]) };
}

/** The decision about a group of which only the root is looked at. */
export const onlyTheRoot: GroupDecision = {
  notify: undefined,
  why: "nothing_new",
  settled: [],
  nextAt: undefined,
  suppressedState: nothingSuppressed,
};

function isOutOfDate(view: ConversationView, firing: readonly NotifiedAlert[]): boolean {
  if (view.conversation?.groups !== undefined) return stillFiring(view).length === 0 && (view.sharing ?? 1) <= 1;
  return view.shown?.split(" ")[0] !== presentOf(firing, standingAlerts(view));
}

/** True if an alert is acknowledged, and a pager does not know. */
function hasAcknowledged(view: GroupView): boolean {
  return standingAlerts(view).some((alert) => isAcknowledged(alert) && !alert.page?.isAcknowledged);
}

/** Ends that are not sent. */
function endsOf(settled: readonly string[], view: GroupView): NotifiedAlert[] {
  const ids = new Set(settled);
  const ended = view.alerts.filter(({ id, state }) => state === "resolved" && ids.has(id) && view.notified.has(id));
  return ended.sort(byStart).map((alert) => toNotifiedAlert(alert, view));
}

function stillFiring({ alerts, notified }: Pick<GroupView, "alerts" | "notified">): Alert[] {
  return alerts.filter(({ id, state }) => state === "firing" && notified.has(id)).sort(byStart);
}

function suppressionIn({ suppressions }: Pick<GroupView, "suppressions">, { id }: Alert) {
  return suppressions?.muted ?? suppressions?.suppressed.get(id);
}
