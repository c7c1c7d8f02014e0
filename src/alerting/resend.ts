/**
 * What to send to an integration that forgets (another Alertmanager): everything that fires again and again, so that
 * it is not taken for over, and every end for a while, so that a restart there loses none. Who groups, silences and
 * reminds there is not our business; what our own holds keep back is only what was never sent.
 */
import type { Instant } from "../lib/clock.ts";
import { decideGroup, type GroupDecision, type GroupView } from "./needs-update.ts";
import type { NotifiedAlert } from "./notification.ts";
import type { Told } from "./notification-log.ts";
import type { Hold, Holds } from "./suppression.ts";

/** As long as Prometheus does (its rules' `resolvedRetention`). */
const END_FOR_MS = 15 * 60_000;

/**
 * As `decideGroup`; the view's `repeatIntervalMs` is how often what fires is sent again: at the same moments for all
 * groups, so that they go together.
 */
export function decideForward(view: GroupView): GroupDecision {
  const told = toldAtMoments(view);
  const decision = atMoments(
    decideGroup({ ...view, told, sendResolved: true, holds: holdsOfUnsent(view) }),
    view,
  );
  if (decision.say === undefined) return decision;
  const resolved = decision.resolved.map((alert) => again(alert, view));
  const stay = new Set(resolved.filter((alert) => isToStay(alert, view)).map(({ id }) => id));
  const isNews = decision.firing.some(({ isNew }) => isNew) || resolved.some((alert) => !alert.isAgain);
  return {
    ...decision,
    say: isNews ? decision.say : "resend",
    resolved,
    settled: decision.settled.filter((id) => !stay.has(id)),
    nextAt: stay.size > 0 ? earliest(decision.nextAt, momentAfter(view)) : decision.nextAt,
  };
}

/** What was sent between two moments was sent at the first of them, as far as sending it again goes. */
function toldAtMoments({ told, repeatIntervalMs }: GroupView): Map<string, Told> {
  return new Map(
    [...told].map(([id, known]) => [
      id,
      { ...known, toldAt: known.toldAt - (known.toldAt % repeatIntervalMs) },
    ]),
  );
}

function momentAfter({ now, repeatIntervalMs }: GroupView): Instant {
  return now - (now % repeatIntervalMs) + repeatIntervalMs;
}

/** Whatever is to be looked at again is at the next moment, or before. */
function atMoments(decision: GroupDecision, view: GroupView): GroupDecision {
  const { nextAt } = decision;
  return nextAt === undefined ? decision : { ...decision, nextAt: Math.min(nextAt, momentAfter(view)) };
}

/** What was sent stays sent: left out, it would look like an end. An end is news even while nothing else may be said. */
function holdsOfUnsent({ holds, told, alerts, repeatIntervalMs }: GroupView): Holds | undefined {
  if (!holds) return undefined;
  const held = new Map<string, Hold>();
  for (const { id } of alerts) {
    const hold = holds.muted ?? holds.held.get(id);
    if (hold && !told.has(id) && !holds.maybeTold.has(id)) held.set(id, hold);
  }
  return { ...holds, muted: undefined, held, lookEveryMs: repeatIntervalMs };
}

function again(alert: NotifiedAlert, { told }: GroupView): NotifiedAlert {
  return told.get(alert.id)?.endToldAt === undefined ? alert : { ...alert, isAgain: true };
}

/** Whether the end is to be sent again: what was never sent, or is known no more, has none. */
function isToStay({ id }: NotifiedAlert, { told, alerts, now }: GroupView): boolean {
  const known = told.get(id);
  if (!known || !alerts.some((alert) => alert.id === id)) return false;
  return now - (known.endToldAt ?? now) < END_FOR_MS;
}

function earliest(at: Instant | undefined, other: Instant): Instant {
  return at === undefined ? other : Math.min(at, other);
}
