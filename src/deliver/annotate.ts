/** Adds what is known of locations to the annotations of alerts, from Redis alone and within a short deadline. */
import { type LocationDetails, locationIdOf, withImpact } from "../alerting/impact.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import { createLocalHours } from "../lib/local-hours.ts";
import type { Logger } from "../lib/log.ts";
import { createYielder } from "../lib/yield.ts";
import type { Store } from "../store/store.ts";

/** A message is not delayed any longer. */
const DEADLINE_MS = 250;

interface AnnotateDeps {
  readonly log: Logger;
  readonly zones: Pick<Store["zones"], "read">;
  readonly usualEntries: Pick<Store["usualEntries"], "read">;
}

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
      const maybeYield = createYielder();
      const annotated: (typeof alerts)[number][] = [];
      for (const alert of alerts) {
        annotated.push(withImpact(alert, places, now, hours));
        await maybeYield();
      }
      return annotated;
    } catch (thrown) {
      log.debug({ err: toError(thrown) }, "reading zones and usual entries failed, leaving them out of the message");
      return alerts;
    }
  };
}
