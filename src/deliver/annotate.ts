/** Adds what is known of locations to the annotations of alerts, from Redis alone and within a short deadline. */
import { type LocationDetails, locationIdOf, withImpact } from "../alerting/impact.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import { createLocalHours } from "../lib/local-hours.ts";
import type { Logger } from "../lib/log.ts";
import { mapYielding } from "../lib/yield.ts";
import type { Store } from "../store/store.ts";

/** A message is not delayed any longer. */
const DEADLINE_MS = 250;

type AnnotateDeps = { log: Logger } & { [Key in "zones" | "usualEntries"]: Pick<Store[Key], "read"> };

/** Gives the alerts in their order, unchanged where nothing is known; never throws. */
export type Annotate = <A extends Alert>(alerts: readonly A[], now: Instant) => Promise<readonly A[]>;

export function createAnnotate({ log, zones, usualEntries }: AnnotateDeps): Annotate {
  const hours = createLocalHours();

  async function placesOf(alerts: readonly Alert[]): Promise<LocationDetails> {
    const ids = [...new Set(alerts.flatMap((alert) => locationIdOf(alert) ?? []))];
    const [known, usual] = await Promise.all([zones.read(ids), usualEntries.read(ids)]);
    return { zones: known, usual: new Map([...usual].map(([id, { weekdays }]) => [id, weekdays])) };
  }

  return async (alerts, now) => {
    try {
      const places = await withDeadline(placesOf(alerts), DEADLINE_MS);
      return await mapYielding(alerts, (alert) => withImpact(alert, places, now, hours));
    } catch (thrown) {
      log.debug({ err: toError(thrown) }, "reading zones and usual entries failed, leaving them out of the message");
      return alerts;
    }
  };
}
