/**
 * What to send to an integration that forgets (another Alertmanager): everything that fires again and again, so that
 * it is not taken for over, and every end for a while, so that a restart there loses none. Who groups, silences and
 * reminds there is not our business; what our own holds keep back is only what was never sent.
 */
import type { Instant } from "../lib/clock.ts";
import { type GroupDecision, type GroupView, needsUpdate } from "./needs-update.ts";
import type { NotifiedAlert } from "./notification.ts";
import type { NotificationLogEntry } from "./notification-log.ts";
import type { Suppression, Suppressions } from "./suppression.ts";

/** As long as Prometheus does (its rules' `resolvedRetention`). */
const END_FOR_MS = 15 * 60_000;

/**
 * As `needsUpdate`; the view's `repeatIntervalMs` is how often what fires is sent again: at the same moments for all
 * groups, so that they go together.
 */
export function needsResend(view: GroupView): GroupDecision {
  const notified = notifiedAtTicks(view);
  const decision = atMoments(
    needsUpdate({ ...view, notified, sendResolved: true, suppressions: suppressionsOfUnsent(view) }),
    view,
  );
  if (decision.notify === undefined) return decision;
  const resolved = decision.resolved.map((alert) => again(alert, view));
  const stay = new Set(resolved.filter((alert) => isToStay(alert, view)).map(({ id }) => id));
  const isNews = decision.firing.some(({ isNew }) => isNew) || resolved.some((alert) => !alert.isAgain);
  return {
    ...decision,
    notify: isNews ? decision.notify : "resend",
    resolved,
    settled: decision.settled.filter((id) => !stay.has(id)),
    nextAt: stay.size > 0 ? earliest(decision.nextAt, momentAfter(view)) : decision.nextAt,
  };
}

/** What was sent between two moments was sent at the first of them, as far as sending it again goes. */
function notifiedAtTicks({ notified, repeatIntervalMs }: GroupView): Map<string, NotificationLogEntry> {
  return new Map(
    [...notified].map(([id, known]) => [
      id,
      { ...known, notifiedAt: known.notifiedAt - (known.notifiedAt % repeatIntervalMs) },
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
function suppressionsOfUnsent({
  suppressions,
  notified,
  alerts,
  repeatIntervalMs,
}: GroupView): Suppressions | undefined {
  if (!suppressions) return undefined;
  const suppressed = new Map<string, Suppression>();
  for (const { id } of alerts) {
    const suppression = suppressions.muted ?? suppressions.suppressed.get(id);
    if (suppression && !notified.has(id) && !suppressions.maybeNotified.has(id))
      suppressed.set(id, suppression);
  }
  return { ...suppressions, muted: undefined, suppressed, recheckEveryMs: repeatIntervalMs };
}

function again(alert: NotifiedAlert, { notified }: GroupView): NotifiedAlert {
  return notified.get(alert.id)?.endNotifiedAt === undefined ? alert : { ...alert, isAgain: true };
}

/** Whether the end is to be sent again: what was never sent, or is known no more, has none. */
function isToStay({ id }: NotifiedAlert, { notified, alerts, now }: GroupView): boolean {
  const known = notified.get(id);
  if (!known || !alerts.some((alert) => alert.id === id)) return false;
  return now - (known.endNotifiedAt ?? now) < END_FOR_MS;
}

function earliest(at: Instant | undefined, other: Instant): Instant {
  return at === undefined ? other : Math.min(at, other);
}
