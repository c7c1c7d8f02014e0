/**
 * Alerts as clients post them to Alertmanager (its api/v2/openapi.yaml, `postableAlerts`). It identifies an alert by its
 * labels, and resolves one that is not posted again before its `endsAt`.
 */
import type { Notification, NotifiedAlert } from "../alerting/model.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { HttpClient } from "../lib/http-client.ts";
import { type ChannelOptions, type Notifier, NotifyError } from "./notifier.ts";
import { createWebEndpoint, type HttpClientSettings } from "./web-endpoint.ts";
import { generatorUrl, timestamp, wellFormed, wireAnnotations } from "./wire-alert.ts";

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

/** The batch size of Prometheus' notifier. */
const ALERTS_PER_POST = 256;
/** The least time for which alerts stay active there without us: a restart or a failover here takes less. */
const EXPIRE_LEAST_MS = 15 * 60_000;
const RESENDS_MISSED = 5;
/** One after the other, the posts of a large fleet would take longer than a send may. */
const POSTS_AT_ONCE = 4;

interface AlertmanagerOptions extends Omit<ChannelOptions, "clock"> {
  /** Without a trailing slash and without `/api/v2`. */
  readonly url: string;
  /** Interval at which firing alerts are posted again, ms. */
  readonly resendMs: number;
  readonly http: HttpClientSettings;
  readonly client?: HttpClient | undefined;
}

/** A notifier for one `alertmanager_configs` entry. */
export function createAlertmanagerNotifier(options: AlertmanagerOptions): Notifier {
  const { url, resendMs, log, ...rest } = options;
  const endpoint = createWebEndpoint({ ...rest, url: `${url}/api/v2/alerts`, name: "Alertmanager" });
  const expireMs = Math.max(EXPIRE_LEAST_MS, RESENDS_MISSED * resendMs);
  return {
    /** In several posts where there are many; a send that fails half-way is harmless to repeat. */
    async send(notification, { signal, plain = false }) {
      const alerts = renderAlertmanager(notification, { expireMs, plain });
      await postAll([...chunksOf(alerts, ALERTS_PER_POST)], (page) => endpoint.post(JSON.stringify(page), { signal }));
      const fields = { integration: notification.integrationId, alerts: alerts.length };
      log.debug(fields, "Alertmanager accepted alerts");
    },
    close: endpoint.close,
  };
}

/**
 * Throws when no post is in flight any more. A refused page does not stop the others: Alertmanager accepts its valid
 * alerts. Any other error does.
 */
async function postAll<Page>(pages: readonly Page[], post: (page: Page) => Promise<unknown>) {
  const left = pages.values();
  const errors: unknown[] = [];
  const isFailure = (error: unknown) => !(error instanceof NotifyError && error.code === "bad_request");
  const work = async () => {
    for (const page of left) {
      if (errors.some(isFailure)) return;
      await post(page).catch((thrown: unknown) => errors.push(thrown));
    }
  };
  await Promise.all(Array.from({ length: POSTS_AT_ONCE }, work));
  if (errors.length > 0) throw errors.find(isFailure) ?? errors[0];
}
