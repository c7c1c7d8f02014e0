/** How each group of a turn ends: settled, put off, or refused. Pure. */
import type { GroupDecision } from "../alerting/needs-update.ts";
import type { Integration } from "../alerting/route.ts";
import type { SendDecision } from "../alerting/storm.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed, GroupOutcome, Postponement } from "../store/groups.ts";
import { failedLines } from "./log-lines.ts";
import { settlementOf, type Taken } from "./outcome.ts";

export function settled(
  { id }: Integration,
  shares: readonly { claim: Taken; decision: GroupDecision }[],
  now: Instant,
): GroupOutcome[] {
  return shares.map(({ claim, decision }) => ({
    group: claim.group,
    settle: settlementOf(claim, decision, { integration: id, now }),
  }));
}

export function postponed(shares: readonly { claim: Claimed }[], postpone: Postponement): GroupOutcome[] {
  return shares.map(({ claim }) => ({ group: claim.group, postpone }));
}

/** One failure of the endpoint counts once, however many groups it was about. */
export function refused(
  { id }: Integration,
  shares: readonly { claim: Taken; decision: SendDecision }[],
  { now, at, failure }: Required<Pick<Postponement, "now" | "at" | "failure">>,
): GroupOutcome[] {
  return shares.map(({ claim, decision }, i): GroupOutcome => {
    const lines = failedLines(decision, { integration: id, claim, at: now }, failure.code);
    const counts = failure.scope === "message" || i === 0;
    return { group: claim.group, postpone: { now, at, lines, ...(counts ? { failure } : {}) } };
  });
}
