/** A rehearsal: what would be sent of alerts, to whom and when, as routes and suppressions stand now. Pure. */
import type { Alert } from "../health/alert.ts";
import type { DirectoryLookup } from "../health/directory.ts";
import type { Instant } from "../lib/clock.ts";
import { createInhibitor, type InhibitRule, inhibitionBy } from "./inhibit.ts";
import { type Maintenance, maintenanceOf } from "./maintenance.ts";
import type { Suppression } from "./model.ts";
import { partition } from "./needs-update.ts";
import { destinationsOf, groupRoute, type Integration, type Route, viewsAt } from "./route.ts";
import { type Silence, silencedBy, silenceOf } from "./silence.ts";
import { muteOf } from "./time-interval.ts";

interface RehearsalFacts {
  readonly route: Route;
  readonly integrations: readonly Integration[];
  readonly inventory?: DirectoryLookup;
  readonly inhibitRules: readonly InhibitRule[];
  readonly maintenance: readonly Maintenance[];
  readonly silences: readonly Silence[];
  /** The alerts that fire already. */
  readonly firing: readonly Alert[];
}

/** A message about alerts of one name in one group at one integration. */
export interface RehearsedMessage {
  readonly integration: Integration;
  readonly alerts: readonly Alert[];
  /** The time of its first message at the earliest, if all of them still fire; undefined for never. */
  readonly at: Instant | undefined;
  /** It is sent there only where nobody acknowledged it for so long, ms. */
  readonly escalateAfterMs: number | undefined;
  /** Sent again this often, ms. */
  readonly repeatMs: number;
  /** What suppresses it until then, in this order. */
  readonly suppressions: readonly Suppression[];
}

/** The messages about these alerts, the earliest first; those that are never sent last. */
export function rehearse(alerts: readonly Alert[], facts: RehearsalFacts): RehearsedMessage[] {
  const { route, integrations, inventory, inhibitRules, firing } = facts;
  const inhibitions = createInhibitor(inhibitRules)([...firing, ...alerts]);
  const byId = new Map(integrations.map((one) => [one.id, one]));
  const single = alerts.flatMap((alert) => {
    const source = inhibitions.inhibitor(alert);
    const all = destinationsOf(alert, route, integrations, inventory);
    // Escalations count from the message at their route's own receiver.
    const [direct, escalations] = partition(all, ({ escalateAfterMs }) => escalateAfterMs === undefined);
    const messages: RehearsedMessage[] = [];
    for (const to of [...direct, ...escalations]) {
      const integration = byId.get(to.integration);
      const here = groupRoute(route, { id: to.group, labels: to.labels });
      if (!integration || !here) continue;
      const views = viewsAt(route, alert, integration.receiver);
      const { escalateAfterMs, repeatIntervalMs: repeatMs } = to;
      const own = messages.find((one) => one.integration.receiver === here.receiver && one.at !== undefined);
      const from = (escalateAfterMs && own?.at) ?? alert.firedAt + here.groupWaitMs;
      const sent = sentAt(from, escalateAfterMs ?? 0, (at) => {
        if (source && source.firedAt <= at) return inhibitionBy(source);
        const silence = silenceOf(facts.silences, alert, at, undefined, views);
        return muteOf(here, at) ?? (silence && silencedBy(silence)) ?? maintenanceOf(facts.maintenance, views, at);
      });
      messages.push({ integration, alerts: [alert], escalateAfterMs, repeatMs, ...sent });
    }
    return messages;
  });
  return together(single).sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity));
}

/** More suppressions than one alert is likely to have, one after another. */
const MOST_SUPPRESSIONS = 20;

/** How many times are looked at while an escalation waits. */
const LOOKS = 60;

/** The first time from which nothing suppresses it, after so long without a suppression, ms. */
function sentAt(from: Instant, unattendedMs: number, suppressionAt: (at: Instant) => Suppression | undefined) {
  const suppressions: Suppression[] = [];
  let left = unattendedMs;
  for (let at = from; suppressions.length < MOST_SUPPRESSIONS; ) {
    const found = suppressionAt(at);
    if (found) {
      suppressions.push(found);
      if (found.until === undefined || found.until <= at) break;
      at = found.until;
    } else {
      if (left <= 0) return { at, suppressions };
      const step = Math.min(left, Math.max(60_000, unattendedMs / LOOKS));
      at += step;
      left -= step;
    }
  }
  return { at: undefined, suppressions };
}

/** Alerts of one name that go the same way at the same time are one message. */
function together(all: readonly RehearsedMessage[]): RehearsedMessage[] {
  const alike = Map.groupBy(all, ({ integration, at, alerts, escalateAfterMs, suppressions }) =>
    JSON.stringify([
      integration.id,
      at,
      alerts[0]?.labels.alertname,
      escalateAfterMs,
      suppressions.map(({ by }) => by),
    ]),
  );
  return alike
    .values()
    .toArray()
    .flatMap(([first, ...more]) =>
      first ? [{ ...first, alerts: [...new Set([first, ...more].flatMap((one) => one.alerts))] }] : [],
    );
}
