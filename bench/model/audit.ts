/** The account at the end of a run: every endpoint's last word about every alert is true, or there is a reason. */
import { destinationsOf, type Integration, routesFor } from "../../src/alerting/route.ts";
import { muteOf } from "../../src/alerting/time-interval.ts";
import type { SuppressibleAlert } from "../../src/deliver/suppression.ts";
import type { Alert } from "../../src/health/alert.ts";
import { type Account, endpointOf } from "./account.ts";
import type { Lenswatch } from "./lenswatch.ts";

export async function auditEnd(lenswatch: Lenswatch, account: Account): Promise<void> {
  const { engine, senders } = lenswatch.setup();
  const firing = await engine.notify.suppression.ofAll();
  for (const integration of senders.list) {
    for (const one of firing) auditFiring(lenswatch, account, integration, one);
    auditEnds(lenswatch, account, integration, new Set(firing.map(({ alert }) => alert.id)));
  }
}

function auditFiring(lenswatch: Lenswatch, account: Account, integration: Integration, one: SuppressibleAlert): void {
  const { alert } = one;
  const { route } = lenswatch.setup().config;
  const endpoint = endpointOf(integration);
  if (account.last(endpoint, alert.id)?.says === "firing") return;
  if (destinationsOf(alert, route, [integration]).length === 0) return;
  if (isSuppressed(lenswatch, integration, one)) return;
  fail(account, alert, `fires, and ${endpoint} was not told`);
}

function isSuppressed(lenswatch: Lenswatch, { receiver }: Integration, one: SuppressibleAlert): boolean {
  const { alert, silencedBy, inhibitedBy, acknowledgement } = one;
  if (silencedBy.length > 0 || inhibitedBy.length > 0 || acknowledgement) return true;
  if (alert.facts.paused || alert.facts.clearing) return true;
  const { route } = lenswatch.setup().config;
  const now = lenswatch.runtime.clock.now();
  return routesFor(route, alert.labels).some(
    (taken) => taken.receiver === receiver && muteOf(taken, now) !== undefined,
  );
}

function auditEnds(
  lenswatch: Lenswatch,
  account: Account,
  integration: Integration,
  firing: ReadonlySet<string>,
): void {
  if (!integration.sendResolved) return;
  const { route } = lenswatch.setup().config;
  const now = lenswatch.runtime.clock.now();
  const endpoint = endpointOf(integration);
  for (const { says, alert } of account.lastWords(endpoint)) {
    if (says === "resolved" || firing.has(alert.id)) continue;
    // A mute time postpones an end; which route's group owes it is not known here.
    if (route.routes.some((one) => muteOf(one, now) !== undefined)) continue;
    fail(account, alert, `is over, and ${endpoint} still takes it for firing`);
  }
}

function fail(account: Account, { key, subject }: Alert, what: string): void {
  account.failures.push({ invariant: "account", what: `${key} ${what}`, subject, key });
}
