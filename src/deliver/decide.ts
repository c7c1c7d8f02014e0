/** The decision about each claimed group, by what suppresses its alerts now. */
import { coldStartFactsOf, coldStartGroup, decideColdStart } from "../alerting/cold-start.ts";
import { onlyTheRoot, withUpdate } from "../alerting/conversation.ts";
import type { GroupDecision, GroupView, NotifiedAlert } from "../alerting/model.ts";
import { hasUnattended, needsUpdate } from "../alerting/needs-update.ts";
import { needsResend } from "../alerting/resend.ts";
import { isProgram } from "../alerting/route.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { mapYielding } from "../lib/yield.ts";
import type { Claimed } from "../store/groups.ts";
import type { ClaimedGroup, DeliveryRun } from "./model.ts";

/** `gathersEnds`: no end waits for others. */
export async function decide({ deps, integration }: DeliveryRun, claims: readonly Claimed[], gathersEnds: boolean) {
  if (claims.length === 0) return [];
  const waitAt = gathersEnds ? undefined : integration.id;
  const suppressions = await deps.suppressions?.(claims, waitAt, integration.receiver);
  const now = deps.clock.now();
  const isRouted = deps.isRouted ?? (() => true);
  const decideOne = deps.decide ?? (integration.resendMs === undefined ? decideByGroup : needsResend);
  const decideAll = (dueBy: Instant) =>
    mapYielding(claims, (group, i) => {
      const mayBeNews = (alert: Alert) =>
        group.group === coldStartGroup || isRouted(alert, integration, group.group) || !group.unsure.has(alert.id);
      const alerts = group.alerts.filter((alert) => alert.state === "resolved" || mayBeNews(alert));
      const claimed: ClaimedGroup = { ...group, alerts, suppressions: suppressions?.[i] };
      // An alert that nobody attends any more does not wait, and takes the news along.
      const claim = hasUnattended(claimed, unsuppressed(claimed)) ? { ...claimed, isForRoot: false } : claimed;
      // A pager or a program takes what it is sent for an alert, and an escalation may not have come there yet.
      const asks = !integration.isPager && !isProgram(integration) && claim.escalateAfterMs === undefined;
      const view = { ...claim, now, dueBy, sendResolved: integration.sendResolved, asks };
      const decided = view.isForRoot ? onlyTheRoot : decideOne(view);
      const decision = routedReminder(decided, (alert) => isRouted(alert, integration, claim.group));
      return { claim, decision: withUpdate(decision, view, integration) };
    });
  const decided = await decideAll(now);
  // What is due soon goes along with what is due.
  const isAny = decided.some(({ decision }) => decision.notify && decision.notify !== "update");
  if (claims.length === 1 || !(isAny || gathersEnds)) return decided;
  const ahead = await decideAll(now + (gathersEnds ? Number.POSITIVE_INFINITY : deps.stormMs));
  return ahead.map((one, i) => ({ ...one, isAhead: decided[i]?.decision.notify === undefined }));
}

function unsuppressed({ alerts, suppressions }: ClaimedGroup) {
  const { muted, suppressed } = suppressions ?? {};
  return muted ? [] : alerts.filter(({ id, state }) => state === "firing" && !suppressed?.has(id));
}

/** An alert that a reload routed elsewhere stays for its end, which is owed here; nobody here is reminded of it. */
function routedReminder(decision: GroupDecision, isRouted: (alert: NotifiedAlert) => boolean): GroupDecision {
  if (decision.notify !== "reminder" && decision.notify !== "question") return decision;
  const firing = decision.firing.filter(isRouted);
  if (firing.length > 0) return { ...decision, firing };
  const { settled, nextAt, suppressedState } = decision;
  return { notify: undefined, why: "routed_elsewhere", settled, nextAt, suppressedState };
}

function decideByGroup(view: GroupView & Claimed): GroupDecision {
  return view.group === coldStartGroup ? decideColdStart(view, coldStartFactsOf(view.labels)) : needsUpdate(view);
}
