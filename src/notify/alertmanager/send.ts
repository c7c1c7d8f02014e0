/** Posts alerts to an Alertmanager, once; the caller decides when they are sent again. */
import type { HttpClient } from "../../lib/http-client.ts";
import type { Logger } from "../../lib/log.ts";
import { type Notifier, NotifyError } from "../notifier.ts";
import { createWebEndpoint, type HttpClientSettings, httpVerdict } from "../web-endpoint.ts";
import { type PostableAlert, renderAlertmanager } from "./render.ts";

/** As many as Prometheus sends at once (its notifier's batch size). */
const ALERTS_PER_POST = 256;
/** How long alerts stay active there without us, at least: a restart or a failover here takes less. */
const EXPIRE_LEAST_MS = 15 * 60_000;
const RESENDS_MISSED = 5;

/** One after the other, the posts of a large fleet would take longer than a send may. */
const POSTS_AT_ONCE = 4;

/** A notifier for one `alertmanager_configs` entry. */
export function createAlertmanagerNotifier(options: {
  /** Without a trailing slash and without `/api/v2`. */
  readonly url: string;
  /** Interval at which firing alerts are posted again, ms. */
  readonly resendMs: number;
  readonly http: HttpClientSettings;
  /** Longest post, ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly client?: HttpClient | undefined;
}): Notifier {
  const { url, resendMs, log, ...rest } = options;
  const endpoint = createWebEndpoint({
    ...rest,
    url: `${url}/api/v2/alerts`,
    name: "Alertmanager",
    check: "its url, the network, DNS, its certificate and HTTPS_PROXY",
    verdict: httpVerdict,
  });
  const expireMs = Math.max(EXPIRE_LEAST_MS, RESENDS_MISSED * resendMs);
  return {
    /** In several posts where there are many; a send that fails half-way is harmless to repeat. */
    async send(notification, { signal, plain = false }) {
      const alerts = renderAlertmanager(notification, { expireMs, plain });
      await postAll(pagesOf(alerts), (page) => endpoint.post(JSON.stringify(page), { signal }));
      const fields = { integration: notification.integrationId, alerts: alerts.length };
      log.debug(fields, "Alertmanager accepted alerts");
    },
    close: endpoint.close,
  };
}

function* pagesOf(alerts: readonly PostableAlert[]): Generator<readonly PostableAlert[], void> {
  for (let from = 0; from < alerts.length; from += ALERTS_PER_POST) yield alerts.slice(from, from + ALERTS_PER_POST);
}

/**
 * Throws when no post is in flight any more. A refused page does not stop the others: Alertmanager accepts its valid
 * alerts. Any other error does.
 */
async function postAll<Page>(pages: Generator<Page, void>, post: (page: Page) => Promise<void>) {
  let refusal: unknown;
  let failure: unknown;
  const work = async () => {
    for (let next = pages.next(); !next.done && !failure; next = pages.next()) {
      await post(next.value).catch((thrown: unknown) => {
        if (thrown instanceof NotifyError && thrown.code === "bad_request") refusal ??= thrown;
        else failure ??= thrown;
      });
    }
  };
  await Promise.all(Array.from({ length: POSTS_AT_ONCE }, work));
  if (failure || refusal) throw failure ?? refusal;
}
