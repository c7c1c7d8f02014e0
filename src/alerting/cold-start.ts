/**
 * A start without memory: what was told before is not known any more, so each integration is told once what is wrong
 * now. That summary is a group of its own, and nothing else is said at the integration before it.
 */
import type { Labels } from "../health/alert.ts";
import type { Rule } from "../health/rule.ts";
import type { AlertState, AlertStates, ShardState } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { byStart, type GroupDecision, type GroupView, toNotifiedAlert } from "./needs-update.ts";
import type { ColdStartFacts } from "./notification.ts";

/** The summary's group at every integration; ids of other groups are hexadecimal. */
export const coldStartGroup = "started";

/** What is written down with the summary when it is made, as its group's labels. */
export type ColdStartLabels = Pick<ColdStartFacts, "complete" | "unsettled">;

export function labelsOf({ complete, unsettled }: ColdStartLabels): Labels {
  return { complete: String(complete), unsettled: String(unsettled) };
}

export function coldStartFactsOf({ complete, unsettled }: Labels): ColdStartLabels {
  return { complete: complete === "true", unsettled: Number(unsettled ?? 0) };
}

/**
 * The summary is always said. Its members leave it then; what is held back or ended meanwhile is for its own group to
 * tell.
 */
export function decideColdStart(
  view: Pick<GroupView, "alerts" | "notified" | "suppressions">,
  facts: ColdStartLabels,
): Extract<GroupDecision, { notify: string }> {
  const all = view.alerts.filter(({ state }) => state === "firing");
  const firing = all.filter(({ id }) => !view.suppressions?.suppressed.has(id)).sort(byStart);
  return {
    notify: "started",
    firing: firing.map((alert) => toNotifiedAlert(alert, view)),
    resolved: [],
    start: { ...facts, suppressed: all.length - firing.length },
    settled: view.alerts.map(({ id }) => id),
    nextAt: undefined,
    suppressedState: { by: [], unnotified: [], maybeNotified: [], lateFrom: undefined },
  };
}

/** A rule that waits longer is not waited for: what it finds is ordinary news later. */
const PATIENCE_MS = 300_000;
const INTERVALS = 3;
/** However short the intervals, the service gets this long for its first answer. */
const LEAST_MS = 10_000;

export interface ColdStartView {
  readonly now: Instant;
  /** When lenswatch began to look. */
  readonly since: Instant;
  /** What the service was asked since then: nothing yet of some, all of it, or all of it with good answers. */
  readonly swept: "not_yet" | "at_all" | "with_success";
  /** Something would be said now but for the summary. */
  readonly isNewsDue: boolean;
  readonly statusIntervalMs: number;
  readonly rules: readonly Pick<Rule, "id" | "forMs">[];
  readonly shards: readonly ShardState[];
}

/** Why the summary is made, or waits. */
export type ColdStartReason =
  | "whole"
  | "news_is_due"
  | "patience_over"
  | "not_seen_yet"
  | "may_fire_soon"
  | "still_blind";

/**
 * Whether the summary can be made. What cannot be read is waited for 3 intervals, 10 s at least; what was pending when
 * all was read first, 5 minutes more. News that is due goes before waiting: it comes with the summary, not after it.
 */
export function coldStartReadiness(facts: ColdStartView): { ready: boolean; reason: ColdStartReason } {
  const { now, since, swept, isNewsDue, statusIntervalMs } = facts;
  const firstSweepsBy = since + Math.max(LEAST_MS, INTERVALS * statusIntervalMs);
  if (swept !== "with_success") {
    if (now > firstSweepsBy) return { ready: true, reason: "still_blind" };
    if (swept === "at_all" && isNewsDue) return { ready: true, reason: "news_is_due" };
    return { ready: false, reason: "not_seen_yet" };
  }
  if (isNewsDue) return { ready: true, reason: "news_is_due" };
  if (now > firstSweepsBy + PATIENCE_MS) return { ready: true, reason: "patience_over" };
  return mayFireSoon(facts, firstSweepsBy)
    ? { ready: false, reason: "may_fire_soon" }
    : { ready: true, reason: "whole" };
}

/** Something has been pending since the first looks, under a rule that does not wait long. */
function mayFireSoon({ rules, shards }: ColdStartView, firstSweepsBy: Instant): boolean {
  const awaited = new Set(rules.filter(({ forMs }) => forMs <= PATIENCE_MS).map(({ id }) => id));
  for (const states of alertsOf(shards)) {
    for (const [ruleId, state] of Object.entries(states)) {
      if (!awaited.has(ruleId) || !isUnsettled(state)) continue;
      if (state.evidenceAt - state.elapsedMs <= firstSweepsBy) return true;
    }
  }
  return false;
}

/** How many recordings have trouble that no alert speaks of yet, neither their own nor their location's. */
export function countUnsettled(shards: readonly ShardState[]): number {
  const fires = (alerts: AlertStates | undefined) =>
    Object.values(alerts ?? {}).some(({ state }) => state === "firing");
  let unsettled = 0;
  for (const { recordings, locations } of shards) {
    for (const { alerts, locationId } of recordings.values()) {
      if (!alerts || !Object.values(alerts).some(isUnsettled)) continue;
      if (!fires(alerts) && !fires(locations.get(locationId)?.alerts)) unsettled++;
    }
  }
  return unsettled;
}

function isUnsettled({ state, facts }: AlertState): boolean {
  return state === "pending" && !facts.paused;
}

function* alertsOf(shards: readonly ShardState[]): Generator<AlertStates> {
  for (const { recordings, locations } of shards) {
    for (const { alerts } of recordings.values()) if (alerts) yield alerts;
    for (const { alerts } of locations.values()) if (alerts) yield alerts;
  }
}
