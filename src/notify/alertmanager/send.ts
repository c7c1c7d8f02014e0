/** Posts alerts to an Alertmanager, once: when they are posted again is the caller's business. */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/log.ts";
import type { Fetch } from "../fetch.ts";
import { createHttpClient, type HttpClientSettings } from "../http-client.ts";
import { type Notifier, NotifyError } from "../notifier.ts";
import { type PostableAlert, renderAlertmanager } from "./render.ts";

/** As many as Prometheus sends at once (its notifier's batch size). */
const ALERTS_PER_POST = 256;
/**
 * What fires there is believed for at least so long without us: a restart, an update or a failover here takes less,
 * and must not look like an end.
 */
const EXPIRE_LEAST_MS = 15 * 60_000;
const RESENDS_MISSED = 5;

/** One after the other, the posts of a large fleet would outlast a send. */
const POSTS_AT_ONCE = 4;

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
      await postAll(pagesOf(alerts), (page) => client.post(JSON.stringify(page), { signal }));
      log.debug(
        { integration: notification.integrationId, alerts: alerts.length },
        "Alertmanager took alerts",
      );
    },
    close: client.close,
  };
}

function* pagesOf(alerts: readonly PostableAlert[]): Generator<readonly PostableAlert[], void> {
  for (let from = 0; from < alerts.length; from += ALERTS_PER_POST)
    yield alerts.slice(from, from + ALERTS_PER_POST);
}

/**
 * Throws once none is under way any more. What is refused costs its own page alone, of which Alertmanager takes what it
 * can; any other trouble ends it.
 */
async function postAll<Page>(pages: Generator<Page, void>, post: (page: Page) => Promise<void>) {
  let refusal: unknown;
  let trouble: unknown;
  const work = async () => {
    for (let next = pages.next(); !next.done && !trouble; next = pages.next()) {
      await post(next.value).catch((thrown: unknown) => {
        if (thrown instanceof NotifyError && thrown.code === "bad_request") refusal ??= thrown;
        else trouble ??= thrown;
      });
    }
  };
  await Promise.all(Array.from({ length: POSTS_AT_ONCE }, work));
  if (trouble || refusal) throw trouble ?? refusal;
}
