/** Gathers what fires after a cold start, or for integrations that were added, then makes a summary for each. */

import { coldStartReadiness, countUnsettled, watchedIn } from "../alerting/cold-start.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Attempt } from "../health/attempt.ts";
import type { Rule } from "../health/model.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import type { Inventory } from "../health/shard-state.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Store } from "../store/store.ts";
import type { Check } from "../store/transact.ts";
import type { SuppressibleAlert } from "./suppression.ts";

type Gathering = Awaited<ReturnType<Store["coldStart"]["begin"]>>;

interface ColdStartDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly start: Store["coldStart"];
  /** The check by which the summary is made only by the active configuration. */
  checkActive(): Check | undefined;
  readonly store: Pick<Store["shards"], "attempts" | "readAll">;
  readonly groups: Pick<Store["groups"], "nextDue">;
  readonly assigned: Pick<Assigned, "known" | "shards" | "follow">;
  /** The integrations that get the summary. */
  readonly integrations: readonly string[];
  /** The integrations that wait for it: all, including programs. */
  readonly waiting: readonly string[];
  readonly rules: readonly Rule[];
  readonly inventory: Pick<Inventory, "recording" | "location">;
  readonly statusIntervalMs: number;
  /** Everything that fires, with what suppresses it. */
  suppressed(): Promise<readonly SuppressibleAlert[]>;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}

export function createColdStart(deps: ColdStartDeps) {
  const { clock, integrations, waiting, statusIntervalMs } = deps;
  let gathering: Gathering["gathering"];
  /** The time at which this replica began to gather: the service had no time to answer before. */
  let sweepingSince: Instant | undefined;

  /** Gives the time at which gathering began; undefined once the summary is made. */
  async function begin(): Promise<Instant | undefined> {
    const now = clock.now();
    const started = await deps.start.begin(now, integrations);
    const isNews = started.gathering !== gathering;
    if (isNews && started.gathering === "all") deps.log.warn(gatheringMessage(started.since === now));
    gathering = started.gathering;
    if (!gathering) sweepingSince = undefined;
    return gathering ? started.since : undefined;
  }

  async function gather(since: Instant): Promise<void> {
    await deps.assigned.follow();
    const [attempts, due] = await Promise.all([deps.store.attempts(), deps.groups.nextDue(waiting)]);
    const now = clock.now();
    sweepingSince ??= now;
    const swept = sweepsSince(deps.assigned, attempts, {
      since,
      freshSince: Math.max(since, now - GAP_INTERVALS * statusIntervalMs),
    });
    const view = {
      now,
      since: Math.max(since, sweepingSince),
      swept,
      // A running installation is read already.
      isNewsDue: gathering === "added" || [...due.values()].some((at) => at <= now),
      statusIntervalMs,
      rules: deps.rules,
    };
    // The whole fleet is read once its shards matter, not at each look before.
    if (coldStartReadiness({ ...view, shards: [] }).reason === "not_swept_yet") return;
    const shards = await deps.store.readAll(deps.assigned.shards());
    const { ready, reason } = coldStartReadiness({ ...view, shards });
    if (!ready) return;
    // Inhibited alerts are left out: they may be the whole fleet.
    const firing = (await deps.suppressed()).filter(({ inhibitedBy }) => inhibitedBy.length === 0);
    const watched = watchedIn(shards, deps.rules, deps.inventory);
    const added = gathering === "added";
    const facts = { complete: swept === "with_success", unsettled: countUnsettled(shards), added, ...watched };
    const ids = firing.map(({ alert }) => alert.id);
    if (!(await deps.start.sum(integrations, ids, facts, now, deps.checkActive()))) return;
    const { complete, unsettled } = facts;
    const said = added ? "integrations were added, their summary is due" : "cold start finished, the summary is due";
    deps.log.info({ reason, firing: firing.length, complete, unsettled }, said);
    await deps.wake(new Map(waiting.map((id) => [id, now])));
  }

  return {
    begin,

    /** Called every second by a replica that notifies: detects an emptied Redis and added integrations, and makes the summary once it can. */
    async check(): Promise<void> {
      const since = await begin();
      if (since !== undefined) await gather(since);
    },
  };
}

function gatheringMessage(isNew: boolean): string {
  if (isNew) return "Redis is empty, gathering active alerts for one summary";
  return "Redis was empty some time ago, still gathering active alerts for one summary";
}

/** Tells whether the location list was read and every shard swept since then; with success: lately. */
function sweepsSince(
  assigned: ColdStartDeps["assigned"],
  attempts: ReadonlyMap<string, Attempt>,
  { since, freshSince }: { since: Instant; freshSince: Instant },
): "not_yet" | "at_all" | "with_success" {
  const subjects = assigned.shards().map((shard) => `shard:${shard}`);
  const isGood = (subject: string, from: Instant) => (attempts.get(subject)?.goodAt ?? 0) >= from;
  const isWhole = (subject: string) => isGood(subject, freshSince) && !attempts.get(subject)?.stale;
  const isTried = (subject: string) => (attempts.get(subject)?.attemptedAt ?? 0) >= since;
  const isListed = assigned.known() && isGood("inventory", since);
  if (isListed && subjects.every(isWhole)) return "with_success";
  return [...subjects, "inventory"].every(isTried) ? "at_all" : "not_yet";
}
