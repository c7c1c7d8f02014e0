/** Posts alerts to an Alertmanager, once: when they are posted again is the caller's business. */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/log.ts";
import type { Fetch } from "../fetch.ts";
import { createHttpClient, type HttpClientSettings } from "../http-client.ts";
import type { Notifier } from "../notifier.ts";
import { renderAlertmanager } from "./render.ts";

/** As many as Prometheus sends at once (its notifier's batch size). */
const ALERTS_PER_POST = 256;
/**
 * What fires there is believed for at least so long without us: a restart, an update or a failover here takes less,
 * and must not look like an end.
 */
const EXPIRE_LEAST_MS = 15 * 60_000;
const RESENDS_MISSED = 5;

/** A channel to one `alertmanager_configs` entry. */
export function createAlertmanagerNotifier(deps: {
  /** Without a trailing slash and without `/api/v2`. */
  readonly url: string;
  /** How often what fires is posted again, ms. */
  readonly resendMs: number;
  readonly http: HttpClientSettings;
  /** No send takes longer, ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly fetch?: Fetch | undefined;
  readonly clock?: Clock | undefined;
}): Notifier {
  const { url, resendMs, log, ...rest } = deps;
  const client = createHttpClient({ ...rest, url: `${url}/api/v2/alerts`, who: "Alertmanager" });
  const expireMs = Math.max(EXPIRE_LEAST_MS, RESENDS_MISSED * resendMs);
  return {
    /** In several posts where there are many; a send that fails half-way is harmless to repeat. */
    async send(notification, { signal, plain = false }) {
      const alerts = renderAlertmanager(notification, { expireMs, plain });
      for (let from = 0; from < alerts.length; from += ALERTS_PER_POST) {
        await client.post(JSON.stringify(alerts.slice(from, from + ALERTS_PER_POST)), { signal });
      }
      log.debug(
        { integration: notification.integrationId, alerts: alerts.length },
        "Alertmanager took alerts",
      );
    },
    close: client.close,
  };
}
