/**
 * Alerts as clients post them to Alertmanager (its api/v2/openapi.yaml, `postableAlerts`). It identifies an alert by its
 * labels, and resolves one that is not posted again before its `endsAt`.
 */
import type { Notification, NotifiedAlert } from "../../alerting/notification.ts";
import { generatorUrl, timestamp, wellFormed, wireAnnotations } from "../wire-alert.ts";

/** A test alert resolves after this time. */
const TEST_MS = 60_000;

/**
 * Every alert once; of two with the same labels the firing one, else the one that ended last. `expireMs`: after this time
 * Alertmanager resolves a firing alert that is not posted again.
 */
export function renderAlertmanager(
  { reason, firing, resolved, now, externalUrl }: Notification,
  { expireMs, plain = false }: { readonly expireMs: number; readonly plain?: boolean },
) {
  const expiresAt = now + (reason === "test" ? TEST_MS : expireMs);
  const ended = [...resolved].sort((a, b) => endOf(a) - endOf(b));
  const byLabels = new Map([...ended, ...[...firing].reverse()].map((alert) => [alert.fingerprint, alert]));
  return [...byLabels.values()].map((alert) => {
    const generatorURL = generatorUrl(alert, externalUrl);
    const endsAt = alert.state === "firing" ? expiresAt : endOf(alert);
    return {
      labels: wellFormed(alert.labels),
      annotations: plain ? {} : wireAnnotations(alert),
      startsAt: timestamp(alert.startsAt),
      endsAt: timestamp(Math.max(alert.startsAt, endsAt)),
      ...(generatorURL === undefined ? {} : { generatorURL }),
    };
  });
}

function endOf({ endsAt, updatedAt }: NotifiedAlert): number {
  return endsAt ?? updatedAt;
}
