/** After a cold start each integration gets one summary of what fires, before anything else is sent to it. */

import { type Labels, problems } from "../health/alert.ts";
import type { AlertState, AlertStates } from "../health/alert-machine.ts";
import type { Rule } from "../health/model.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import { problemKindOf } from "../health/rule.ts";
import type { Inventory, ShardState } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import type { ColdStartFacts, GroupDecision, GroupView } from "./model.ts";
import { byStart, nothingSuppressed, toNotifiedAlert } from "./needs-update.ts";

/** The summary's group at every integration; ids of other groups are hexadecimal. */
export const coldStartGroup = "started";

/** The facts that are stored with the summary when it is made, in a label of its group. */
export type StoredStart = Omit<ColdStartFacts, "suppressed">;

export function coldStartLabels(facts: StoredStart): Labels {
  return { facts: JSON.stringify(facts) };
}

export function coldStartFactsOf({ facts = "{}" }: Labels): StoredStart {
  return JSON.parse(facts);
}

/** What is watched: how many recordings, by which rules, and one of them by name. */
export function watchedIn(
  shards: readonly ShardState[],
  rules: readonly Pick<Rule, "when" | "forMs">[],
  inventory: Pick<Inventory, "recording" | "location">,
): Pick<StoredStart, "recordings" | "locations" | "watched" | "example"> {
  const locations = new Set<string>();
  let recordings = 0;
  let example: StoredStart["example"];
  for (const shard of shards)
    for (const { id, locationId } of shard.recordings.values()) {
      recordings++;
      locations.add(locationId);
      const [known, at] = example ? [] : [inventory.recording(id), inventory.location(locationId)];
      if (known?.name && at?.name) example = { recording: known.name, location: at.name, timezone: known.timezone };
    }
  const watched = rules.flatMap(({ when, forMs }) => {
    const words = problems[problemKindOf(when)];
    const name = "short" in words ? words.short : words.name.toLowerCase();
    return OF_LENSWATCH.has(when.kind) ? [] : `${name}${forMs > 0 ? ` for ${humanDuration(forMs)}` : ""}`;
  });
  return { recordings, locations: locations.size, watched: [...new Set(watched)], example };
}

const OF_LENSWATCH: ReadonlySet<Rule["when"]["kind"]> = new Set(["service", "notifications", "directory"]);

/**
 * The summary is always sent, once no mute time holds for the receiver, and its members leave it then; suppressed and resolved ones go to their own groups. With
 * a stale one the state is not known, whatever was read before.
 */
export function decideColdStart(
  view: Pick<GroupView, "alerts" | "notified" | "suppressions">,
  facts: StoredStart,
): GroupDecision {
  const suppressedState = nothingSuppressed;
  const muted = view.suppressions?.muted;
  if (muted) return { notify: undefined, why: "muted", settled: [], nextAt: muted.until, suppressedState };
  const all = view.alerts.filter(({ state }) => state === "firing");
  const reasonOf = ({ id }: { id: string }) => view.suppressions?.suppressed.get(id)?.reason;
  const firing = all.filter((alert) => reasonOf(alert) === undefined).sort(byStart);
  const stale = all.filter((alert) => reasonOf(alert) === "stale").length;
  return {
    notify: "started",
    firing: firing.map((alert) => toNotifiedAlert(alert, view)),
    resolved: [],
    start: { ...facts, complete: facts.complete && stale === 0, suppressed: all.length - firing.length - stale },
    settled: view.alerts.map(({ id }) => id),
    nextAt: undefined,
    suppressedState,
  };
}

/** The longest `for` that the summary waits for, and how long it waits after the first sweeps. */
const PENDING_WAIT_MS = 300_000;
/** However short the intervals, the service has this long for its first answer. */
const MIN_SWEEP_WAIT_MS = 10_000;

export interface ColdStartView {
  readonly now: Instant;
  /** The time at which lenswatch began to sweep. */
  readonly since: Instant;
  /** Shards swept since then: not all of them yet, all, or all with good answers. */
  readonly swept: "not_yet" | "at_all" | "with_success";
  /** Something would be sent now but for the summary. */
  readonly isNewsDue: boolean;
  readonly statusIntervalMs: number;
  readonly rules: readonly Pick<Rule, "id" | "forMs">[];
  readonly shards: readonly ShardState[];
}

/** Why the summary is made, or waits. */
type ColdStartReason =
  | "complete"
  | "news_is_due"
  | "waited_enough"
  | "not_swept_yet"
  | "may_fire_soon"
  | "still_unreachable";

/**
 * Readiness of the summary. It waits 3 intervals for shards that cannot be read, 10 s at least, and 5 minutes
 * more for what was pending when all was first read. News that is due ends the wait: it comes with the summary.
 */
export function coldStartReadiness(view: ColdStartView): { ready: boolean; reason: ColdStartReason } {
  const { now, since, swept, isNewsDue, statusIntervalMs } = view;
  const firstSweepsBy = since + Math.max(MIN_SWEEP_WAIT_MS, GAP_INTERVALS * statusIntervalMs);
  if (swept !== "with_success") {
    if (now > firstSweepsBy) return { ready: true, reason: "still_unreachable" };
    if (swept === "at_all" && isNewsDue) return { ready: true, reason: "news_is_due" };
    return { ready: false, reason: "not_swept_yet" };
  }
  if (isNewsDue) return { ready: true, reason: "news_is_due" };
  if (now > firstSweepsBy + PENDING_WAIT_MS) return { ready: true, reason: "waited_enough" };
  return mayFireSoon(view, firstSweepsBy)
    ? { ready: false, reason: "may_fire_soon" }
    : { ready: true, reason: "complete" };
}

function mayFireSoon({ rules, shards }: ColdStartView, firstSweepsBy: Instant): boolean {
  const awaited = new Set(rules.filter(({ forMs }) => forMs <= PENDING_WAIT_MS).map(({ id }) => id));
  const isAwaited = ([ruleId, state]: [string, AlertState]) =>
    awaited.has(ruleId) && isUnsettled(state) && state.evidenceAt - state.elapsedMs <= firstSweepsBy;
  return shards.some(({ recordings, locations }) =>
    [recordings, locations].some((subjects) =>
      subjects.values().some(({ alerts }) => alerts && Object.entries(alerts).some(isAwaited)),
    ),
  );
}

/** Recordings with a pending problem while neither an alert of their own nor of their location fires. */
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
