/**
 * Sending to a receiver that takes an alert not repeated for resolved (another Alertmanager): everything that
 * fires again and again, and every end for a while, so that a restart there loses none. Grouping, silences and
 * reminders are its own; our suppressions apply only to what was never sent.
 */
import type { Instant } from "../lib/clock.ts";
import type { GroupDecision, GroupView, NotifiedAlert, NotifiedEntry, Suppression, Suppressions } from "./model.ts";
import { earliest, needsUpdate } from "./needs-update.ts";

/** The time for which an end is sent, Prometheus' (its rules' `resolvedRetention`). */
const END_FOR_MS = 15 * 60_000;
/** Not sent for this many of its intervals, and as long as an end is, an alert has expired there. */
const EXPIRE_INTERVALS = 5;

/**
 * The decision of `needsUpdate`; the view's `repeatIntervalMs` is how often firing alerts are sent again: at the same ticks for all
 * groups, so that they are sent together.
 */
export function needsResend(view: GroupView): GroupDecision {
  const notified = notifiedAtTicks(view);
  const decided = needsUpdate({ ...view, notified, sendResolved: true, suppressions: suppressionsOfUnsent(view) });
  // The next decision is at the next tick, or before.
  const decision = { ...decided, nextAt: decided.nextAt && Math.min(decided.nextAt, nextTick(view)) };
  if (decision.notify === undefined) return decision;
  const wasSent = ({ id }: NotifiedAlert) => view.notified.get(id)?.endNotifiedAt !== undefined;
  const resolved = decision.resolved.map((alert) => (wasSent(alert) ? { ...alert, isAgain: true as const } : alert));
  const members = new Set(view.alerts.map(({ id }) => id));
  const again = resolved.filter((alert) => members.has(alert.id) && isSentAgain(alert, view));
  const stay = new Set(again.map(({ id }) => id));
  const isNews = decision.firing.some(({ isNew }) => isNew) || resolved.some((alert) => !wasSent(alert));
  return {
    ...decision,
    notify: isNews ? decision.notify : "resend",
    resolved,
    settled: decision.settled.filter((id) => !stay.has(id)),
    nextAt: stay.size > 0 ? earliest([decision.nextAt, nextTick(view)]) : decision.nextAt,
  };
}

/** The log with what was sent between two ticks as sent at the first of them. */
function notifiedAtTicks({ notified, repeatIntervalMs }: GroupView): Map<string, NotifiedEntry> {
  const entries = [...notified].map(([id, entry]) => {
    const notifiedAt = entry.notifiedAt - (entry.notifiedAt % repeatIntervalMs);
    return [id, { ...entry, notifiedAt }] as const;
  });
  return new Map(entries);
}

function nextTick({ now, repeatIntervalMs }: GroupView): Instant {
  return now - (now % repeatIntervalMs) + repeatIntervalMs;
}

/**
 * Suppressions of what was never sent: left out, an alert would look resolved. After a pause that it did not survive there, it
 * waits until it was read. An end is sent even while nothing else is.
 */
function suppressionsOfUnsent({
  suppressions,
  notified,
  unsure,
  alerts,
  repeatIntervalMs,
  now,
}: GroupView): Suppressions | undefined {
  if (!suppressions) return undefined;
  const lastSentAt = Math.max(...[...notified.values()].map(({ notifiedAt }) => notifiedAt));
  const isGone = now - lastSentAt > Math.max(END_FOR_MS, EXPIRE_INTERVALS * repeatIntervalMs);
  const suppressed = new Map<string, Suppression>();
  for (const { id } of alerts) {
    const suppression = suppressions.muted ?? suppressions.suppressed.get(id);
    const isUnsent = !notified.has(id) && !unsure.has(id);
    if (suppression && (isUnsent || (isGone && suppression.reason === "stale"))) suppressed.set(id, suppression);
  }
  return { ...suppressions, muted: undefined, suppressed, recheckEveryMs: repeatIntervalMs, othersFire: false };
}

/** True if the end is to be sent again: not where it was never sent. One that has lost its alert never is. */
function isSentAgain({ id }: NotifiedAlert, { notified, now }: GroupView): boolean {
  const entry = notified.get(id);
  if (!entry) return false;
  return now - (entry.endNotifiedAt ?? now) < END_FOR_MS;
}
