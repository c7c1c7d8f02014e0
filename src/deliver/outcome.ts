/** A decision about a group as what is to be written down of it. Pure. */
import type { GroupDecision } from "../alerting/needs-update.ts";
import type { Told } from "../alerting/notification-log.ts";
import type { Saying } from "../alerting/storm.ts";
import type { Holds } from "../alerting/suppression.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed, Settlement } from "../store/groups.ts";
import { heldLines, toldLines, untoldEndLines } from "./log-lines.ts";

/** A group under our lease, with what holds it back. */
export interface Taken extends Claimed {
  readonly holds: Holds | undefined;
}

/** What to settle, once the message is accepted where there is one. */
export function settlementOf(
  claim: Taken,
  decision: GroupDecision,
  { integration, now }: { readonly integration: string; readonly now: Instant },
): Settlement {
  const here = { integration, claim, at: now };
  return {
    now,
    said: decision.say !== undefined,
    told: toldBy(claim, decision, now),
    ...partings(claim, decision),
    nextAt: decision.nextAt,
    lines:
      decision.say === undefined
        ? [...untoldEndLines(decision, here), ...heldLines(claim.holds, here)]
        : toldLines(decision, here),
  };
}

function toldBy(claim: Claimed, decision: GroupDecision, now: Instant): Told[] {
  if (decision.say === undefined) return [];
  // When a group was last sent again is known by any of its members.
  const firing = decision.say === "resend" ? decision.firing.slice(0, 1) : decision.firing;
  return [
    ...firing.map(({ fingerprint: _, isNew: __, standsFor: ___, isAgain: ____, ...alert }) => ({
      alert,
      toldAt: now,
      groupId: claim.group,
    })),
    ...endsToSendAgain(claim, decision, now),
  ];
}

/** Ends that are told for the first time and stay. */
function endsToSendAgain(claim: Claimed, { resolved, settled }: Saying, now: Instant): Told[] {
  return resolved.flatMap(({ id, isAgain }) => {
    const known = claim.told.get(id);
    return known && !isAgain && !settled.includes(id) ? [{ ...known, endToldAt: now }] : [];
  });
}

/** Who was told, or is told now, is done with in every group here; who was not may be owed by another group. */
function partings(
  claim: Claimed,
  decision: GroupDecision,
): Pick<Settlement, "over" | "untold"> & Partial<Pick<Settlement, "kept">> {
  // The members of a start's summary go on in their own groups, which tell their ends.
  if (decision.say === "started") return { over: [...claim.lost], untold: decision.settled };
  const said = new Set(decision.say === undefined ? [] : decision.resolved.map(({ id }) => id));
  const isOver = (id: string) => claim.told.has(id) || said.has(id);
  const { kept } = decision;
  const isKept = kept.by.length + kept.maybeTold.length > 0;
  return {
    over: [...decision.settled.filter(isOver), ...claim.lost],
    untold: decision.settled.filter((id) => !isOver(id)),
    ...(isKept ? { kept } : {}),
  };
}
