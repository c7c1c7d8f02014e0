/** Which groups have ends that wait: others that the same summary was first about still fire. */
import { firstNotifiedAtOf } from "../alerting/notification-log.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed } from "../store/groups.ts";

/** The most alerts of which it is read when they were notified: those that fired last before the summary. */
const MOST_READ = 500;

/** The time at which each of these episodes was first notified at the integration. */
type FirstNotified = (episodes: readonly string[]) => Promise<ReadonlyMap<string, Instant>>;

export async function groupsWithOthers(
  claims: readonly Claimed[],
  firing: readonly Alert[],
  firstNotified: FirstNotified,
): Promise<ReadonlySet<Claimed>> {
  const summaries = new Map(claims.map((claim) => [claim, summariesOf(claim)]));
  const still = new Map<Instant, readonly string[]>();
  for (const at of new Set([...summaries.values()].flat())) still.set(at, await stillFiring(at, firing, firstNotified));
  const hasOthers = (claim: Claimed) => {
    const members = new Set(claim.alerts.map(({ id }) => id));
    return summaries.get(claim)?.some((at) => still.get(at)?.some((id) => !members.has(id)));
  };
  return new Set(claims.filter(hasOthers));
}

/** The times of the summaries that were the first to name alerts of the group which ended since. */
function summariesOf({ alerts, notified, stormGroups }: Claimed): Instant[] {
  if (stormGroups === undefined) return [];
  return alerts.flatMap(({ id, state }) => {
    const entry = state === "resolved" ? notified.get(id) : undefined;
    return entry?.inSummary ? firstNotifiedAtOf(entry) : [];
  });
}

async function stillFiring(at: Instant, firing: readonly Alert[], firstNotified: FirstNotified): Promise<string[]> {
  const before = firing.filter(({ firedAt }) => firedAt <= at).sort((a, b) => b.firedAt - a.firedAt);
  const first = await firstNotified(before.slice(0, MOST_READ).map(({ id }) => id));
  return [...first].flatMap(([id, notifiedAt]) => (notifiedAt === at ? id : []));
}
