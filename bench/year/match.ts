/** Compares the messages of one integration with the ledger: what each message is about, and what nobody heard of. */

import type { Integration, Route } from "../../src/alerting/route.ts";
import { routesFor } from "../../src/alerting/route.ts";
import { muteOf } from "../../src/alerting/time-interval.ts";
import type { Rule } from "../../src/health/model.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { Excuse, Expectation } from "./expect.ts";
import { type Fleet, HOUR, MINUTE, type Site, type YearRecording } from "./fleet.ts";
import type { Effect, Incident } from "./ledger.ts";
import type { SentAlert, SentMessage } from "./notify-side.ts";
import { overlap } from "./spans.ts";

export interface Account {
  readonly integration: string;
  /** Incidents that had to be notified here. */
  readonly real: number;
  /** All incidents that were notified, and how many messages brought news of them first. */
  readonly notified: number;
  readonly firsts: number;
  readonly messages: number;
  /** Incidents that had to be notified and were not. */
  readonly missed: readonly Incident[];
  /** Incidents that were not notified, by the reason why they need not be. */
  readonly excused: ReadonlyMap<Excuse, number>;
  /** Alerts that no incident explains. */
  readonly unfounded: readonly { readonly message: SentMessage; readonly alert: SentAlert }[];
  /** Messages with news of a site that is closed. */
  readonly offHours: readonly SentMessage[];
  readonly worst: { readonly day: string; readonly messages: number };
  /** Of the incidents of each kind that were notified. */
  readonly kinds: ReadonlyMap<Incident["kind"], { notified: number; firsts: number }>;
  /** News of incidents that were notified before, by what it was: kind and alert. */
  readonly repeated: ReadonlyMap<string, number>;
}

interface MatchInput {
  readonly fleet: Fleet;
  readonly rules: readonly Rule[];
  readonly route: Route;
  readonly intervalMs: number;
  readonly expectations: readonly Expectation[];
}

export function createMatching({ fleet, rules, route, intervalMs, expectations }: MatchInput) {
  const causes = createCauses(
    fleet,
    expectations.map(({ incident }) => incident),
    rules,
    intervalMs,
  );
  const sites = new Map<string, Site>(fleet.sites.map((site) => [site.id, site]));
  const isClosed = ({ locationId }: SentAlert, at: Instant) => {
    const hours = locationId === undefined ? undefined : sites.get(locationId)?.hours;
    return hours !== undefined && !hours.isOpen(at) && !hours.isOpen(at - 2 * intervalMs);
  };
  const routesTo = ({ receiver }: Integration, own: readonly Rule[]) =>
    own
      .flatMap((rule) => routesFor(route, { ...rule.labels, alertname: rule.alert }))
      .filter((one) => one.receiver === receiver);

  return (integration: Integration, all: readonly SentMessage[]): Account => {
    const messages = all.filter((one) => one.integration === integration.id);
    /** At which sites. */
    const heard = new Map<Incident, Set<string | undefined>>();
    const firsts = new Map<Incident, number>();
    const repeated = new Map<string, number>();
    const unfounded: { message: SentMessage; alert: SentAlert }[] = [];
    for (const message of messages) {
      const about = new Map<Incident, SentAlert>();
      for (const alert of [...message.firing, ...message.resolved]) {
        const found = causes(alert, alert.endsAt ?? message.at);
        for (const incident of found.all) heard.set(incident, (heard.get(incident) ?? new Set()).add(alert.locationId));
        if (!alert.isNew) continue;
        if (found.first) about.set(found.first, alert);
        else unfounded.push({ message, alert });
      }
      for (const [incident, { alertname }] of about) {
        const before = firsts.get(incident) ?? 0;
        firsts.set(incident, before + 1);
        const what = `${incident.kind}: ${alertname}`;
        if (before > 0) repeated.set(what, (repeated.get(what) ?? 0) + 1);
      }
    }
    const routed = expectations.flatMap(({ excuse, incident, rules: own, sites: at }) => {
      const routes = routesTo(integration, own);
      const isMuted = !excuse && routes.every((one) => isMutedFor(one, incident, own));
      return [{ incident, at, isRouted: routes.length > 0, excuse: isMuted ? ("muted" as const) : excuse }];
    });
    const owed = routed.filter(({ excuse, isRouted }) => !excuse && isRouted);
    const excused = Map.groupBy(
      routed.filter(({ excuse, incident, isRouted }) => excuse && isRouted && !heard.has(incident)),
      ({ excuse }) => excuse as Excuse,
    );
    const kinds = Map.groupBy(firsts, ([{ kind }]) => kind);
    return {
      integration: integration.id,
      real: owed.length,
      notified: firsts.size,
      firsts: sumOf([...firsts.values()]),
      messages: messages.length,
      missed: owed
        .filter(({ incident, at }) => !heard.has(incident) || at.some(({ id }) => !heard.get(incident)?.has(id)))
        .map(({ incident }) => incident),
      excused: new Map([...excused].map(([excuse, own]) => [excuse, own.length])),
      unfounded,
      offHours: messages.filter(({ at, reason, firing }) =>
        firing.some((alert) => (alert.isNew || reason === "reminder") && isClosed(alert, at)),
      ),
      worst: worstDay(messages),
      kinds: new Map(
        [...kinds].map(([kind, own]) => [kind, { notified: own.length, firsts: sumOf(own.map(([, n]) => n)) }]),
      ),
      repeated,
    };
  };
}

/** Whether the route is muted from when a rule fires until the incident is over. */
function isMutedFor(route: Route, { from, to }: Incident, rules: readonly Rule[]): boolean {
  for (let at = from + Math.min(...rules.map(({ forMs }) => forMs)); at < to + MINUTE; at += MINUTE)
    if (!muteOf(route, at)) return false;
  return true;
}

function sumOf(all: readonly number[]): number {
  return all.reduce((sum, one) => sum + one, 0);
}

function worstDay(messages: readonly SentMessage[]): Account["worst"] {
  const days = Map.groupBy(messages, ({ at }) => new Date(at).toISOString().slice(0, 10));
  const [day = "", most = []] = [...days].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  return { day, messages: most.length };
}

interface Causes {
  /** The one that explains most of it. */
  readonly first: Incident | undefined;
  readonly all: readonly Incident[];
}

/** Which incidents explain an alert: those that had its effect when it began or, until `until`, while it fired. */
function createCauses(fleet: Fleet, ledger: readonly Incident[], rules: readonly Rule[], intervalMs: number) {
  const effects = Map.groupBy(
    ledger.flatMap((one) => one.effects),
    ({ recording }) => recording,
  );
  const sorted = new Map([...effects].map(([recording, own]) => [recording, own.sort((a, b) => a.from - b.from)]));
  const recordings = new Map<string, YearRecording>(fleet.recordings.map((one) => [one.id, one]));
  const sites = new Map<string, Site>(fleet.sites.map((site) => [site.id, site]));
  const byName = new Map(rules.map((rule) => [rule.alert, rule]));
  const service = ledger.filter(({ failing }) => failing.length > 0);

  function effectsOf({ subject }: SentAlert): readonly Effect[] {
    const own = subject.kind === "location" ? (sites.get(subject.id)?.recordings ?? []) : [recordings.get(subject.id)];
    return own.flatMap((recording) => (recording && sorted.get(recording)) ?? []);
  }

  return (alert: SentAlert, until: Instant): Causes => {
    const rule = byName.get(alert.alertname);
    if (!rule) return { first: undefined, all: [] };
    const from = Math.min(alert.startsAt, alert.firedAt - backOf(rule)) - 2 * intervalMs;
    const began = { from, to: alert.firedAt };
    const whole = { from, to: Math.max(until, alert.firedAt) };
    if (alert.subject.kind === "service") {
      const all = service.filter(({ failing }) => failing.some((one) => overlap(one, whole) > 0));
      return { first: all.find(({ failing }) => failing.some((one) => overlap(one, began) > 0)), all };
    }
    const weights = new Map<Incident, number>();
    const all = new Set<Incident>();
    for (const effect of effectsOf(alert)) {
      if (!explains(rule, effect) || overlap(effect, whole) === 0) continue;
      all.add(effect.incident);
      const common = overlap(effect, began);
      const weight = rule.when.kind === "flapping" ? (common > 0 ? 1 : 0) : common * lossOf(rule, effect);
      if (weight > 0) weights.set(effect.incident, (weights.get(effect.incident) ?? 0) + weight);
    }
    const [first] = [...weights].sort(([, a], [, b]) => b - a)[0] ?? [];
    return { first, all: [...all] };
  };
}

/** How long before it fires the cause of an alert may lie, ms. */
function backOf({ when, forMs }: Rule): number {
  if (when.kind === "overall_uptime") return when.overMs + 2 * HOUR;
  return when.kind === "flapping" ? 25 * MINUTE : forMs;
}

function lossOf({ when }: Rule, { what, value }: Effect): number {
  return when.kind === "overall_uptime" && what === "low_uptime" ? 1 - value : 1;
}

function explains({ when }: Rule, { what }: Effect): boolean {
  switch (when.kind) {
    case "status":
      return what === when.status;
    case "location_offline":
    case "flapping":
      return what === "offline" || (what === "degraded" && when.kind === "flapping");
    case "overall_uptime":
      return what === "offline" || what === "low_uptime";
    case "average_quality":
      return what === "low_quality";
    case "missing":
      return what === "missing";
    default:
      return false;
  }
}
