/** The suppressions of alerts now; what did not change since the last time is neither read nor indexed again. */
import { isInForce, type StoredAcknowledgement, suppressionBy } from "../alerting/acknowledgement.ts";
import { coldStartGroup } from "../alerting/cold-start.ts";
import { escalationOf } from "../alerting/escalation.ts";
import { createInhibitor, type Inhibitions, type InhibitRule, inhibitionBy } from "../alerting/inhibit.ts";
import { type Maintenance, maintenanceOf } from "../alerting/maintenance.ts";
import type { StandsFor, Suppression, Suppressions } from "../alerting/model.ts";
import { clearingOf } from "../alerting/needs-update.ts";
import { groupRoute, type Integration, type Route, routesOf, routesTo, viewsAt } from "../alerting/route.ts";
import { askAtOf, type Silence, silencedBy, silenceState, silencesOf } from "../alerting/silence.ts";
import { forgetVerdicts, lookBudget, type MatchingBudget } from "../alerting/silence-verdicts.ts";
import { muteOf } from "../alerting/time-interval.ts";
import { viewsOf } from "../alerting/views.ts";
import type { Alert, Labels } from "../health/alert.ts";
import type { DirectoryLookup } from "../health/directory.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { createYielder, runYielding } from "../lib/yield.ts";
import type { Claimed } from "../store/groups.ts";
import type { Store } from "../store/store.ts";
import type { Staleness } from "./stale.ts";
import { groupsWithOthers } from "./summary-ends.ts";

interface SuppressionDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "firing" | "silences" | "acks">;
  readonly route: Route;
  readonly inhibitRules: readonly InhibitRule[];
  readonly maintenance?: readonly Maintenance[];
  readonly inventory?: DirectoryLookup | undefined;
  /** By default nothing is stale. */
  readonly staleness?: Staleness;
  /** For escalations: the integrations of the routes' own receivers. */
  readonly integrations?: readonly Pick<Integration, "id" | "receiver">[];
  /** Gives the time at which each alert was first notified. */
  readonly groups?: Pick<Store["groups"], "firstNotified">;
}

/** One alert that fires, with everything that suppresses it. */
export interface SuppressibleAlert {
  readonly alert: Alert;
  /** Ids of silences. */
  readonly silencedBy: readonly string[];
  readonly inhibitedBy: readonly Alert[];
  /** Names of time intervals, where every route that takes it is muted. */
  readonly mutedBy: readonly string[];
  readonly maintenance?: Suppression | undefined;
  /** In force. */
  readonly acknowledgement: StoredAcknowledgement | undefined;
  /** One that ran out or was withdrawn. */
  readonly endedAcknowledgement?: StoredAcknowledgement | undefined;
}

interface Facts {
  readonly now: Instant;
  readonly inhibitions: Inhibitions;
  readonly silences: readonly Silence[];
  readonly acks: ReadonlyMap<string, StoredAcknowledgement>;
  readonly maintenance: readonly Maintenance[];
  /** The budget of matching external alerts. */
  readonly budget: MatchingBudget;
  stale?(alert: Alert): Suppression | undefined;
  /** By the id of a silence that ends soon: the alert by which it is asked about. */
  readonly asked?: ReadonlyMap<string, string>;
}

export function createSuppression(deps: SuppressionDeps) {
  const { clock, store, route, inhibitRules, maintenance = [], inventory, staleness } = deps;
  const index = createInhibitor(inhibitRules);
  let indexed: { readonly firing: readonly Alert[]; readonly inhibitions: Inhibitions } | undefined;

  async function read(): Promise<Facts & { readonly firing: readonly Alert[] }> {
    const now = clock.now();
    const [firing, silences, acks] = await Promise.all([store.firing(), store.silences.read(now), store.acks.read()]);
    if (indexed?.firing !== firing) {
      indexed = { firing, inhibitions: index(firing) };
      forgetVerdicts(
        silences.map(({ matchers }) => matchers),
        firing,
      );
    }
    return { now, firing, silences, acks, maintenance, inhibitions: indexed.inhibitions, budget: lookBudget() };
  }

  return {
    /** For groups under our lease, in their order; `waitAt`: of which integration, where ends may wait for others; `receiver`: to which they are sent. */
    async ofGroups(claims: readonly Claimed[], waitAt?: string, receiver = ""): Promise<Suppressions[]> {
      const alerts = claims.flatMap((claim) => claim.alerts);
      const startOf = await escalationStarts(claims, deps);
      const known = await read();
      const stale = await staleness?.(alerts, clock.now(), asksNow(known) ? known.firing : []);
      const facts: Facts = {
        ...known,
        ...(stale && { stale }),
        asked: await runYielding(askedAbout(known.firing, { ...known, ...(stale && { stale }) })),
      };
      const stillFiring = new Set(known.firing.map(({ id }) => id));
      const firstNotified = async (episodes: readonly string[]) =>
        (waitAt && (await deps.groups?.firstNotified([waitAt], episodes))) || new Map<string, Instant>();
      const withOthers = await groupsWithOthers(claims, known.firing, firstNotified);
      const found: Suppressions[] = [];
      const maybeYield = createYielder();
      for (const claim of claims) {
        const all = await runYielding(
          suppressionsOf(claim, { root: route, receiver, inventory }, facts),
          undefined,
          maybeYield,
        );
        const isOutdated = claim.alerts.some(({ id, state }) => state === "firing" && !stillFiring.has(id));
        const othersFire = withOthers.has(claim);
        found.push(withEscalation(claim, { ...all, isOutdated, othersFire }, facts.now, startOf));
      }
      return found;
    },

    /** For everything that fires. */
    async ofAll(): Promise<SuppressibleAlert[]> {
      const facts = await read();
      return runYielding(suppressibleAlerts(route, facts, inventory));
    },
  };
}

function* suppressionsOf(
  claim: Claimed,
  {
    root,
    receiver,
    inventory,
  }: { readonly root: Route; readonly receiver: string } & Pick<SuppressionDeps, "inventory">,
  facts: Facts,
): Generator<void, Suppressions> {
  const suppressed = new Map<string, Suppression>();
  const standsFor = new Map<string, StandsFor>();
  const mayWait = claim.alerts.every(({ subject }) => subject.kind === "external");
  let isUnmatched = false;
  const { suppressedBefore } = claim;
  for (const alert of claim.alerts) {
    const muted = claim.group === coldStartGroup ? mutesOf(routesOf(root, alert, inventory), facts.now)[0] : undefined;
    const isKnown = suppressedBefore.has(alert.id) || claim.notified.has(alert.id);
    const found = muted ?? (yield* suppressionOf(alert, facts, viewsAt(root, alert, receiver)));
    if (found === "unmatched") isUnmatched = mayWait;
    const suppression = (found === "unmatched" ? undefined : found) ?? clearingOf(alert, isKnown);
    if (suppression) suppressed.set(alert.id, suppression);
    const children = alert.state === "firing" ? facts.inhibitions.standsFor(alert) : undefined;
    if (children) standsFor.set(alert.id, children);
    yield;
  }
  const here = groupRoute(root, { id: claim.group, labels: claim.labels });
  return {
    muted:
      claim.group === coldStartGroup
        ? mutesOf(routesTo(root, receiver), facts.now)[0]
        : here && muteOf(here, facts.now),
    suppressed,
    suppressedBefore,
    recheckEveryMs: claim.groupIntervalMs,
    standsFor,
    ...(isUnmatched && { isUnmatched }),
  };
}

type StartOf = (claim: Claimed, alert: Alert) => Instant;

/** Gives when alerts of groups that are escalated here were first notified at their route's own receiver, or due there. */
async function escalationStarts(claims: readonly Claimed[], deps: SuppressionDeps): Promise<StartOf> {
  const escalated = claims.filter(({ escalateAfterMs }) => escalateAfterMs !== undefined);
  const routes = new Map(
    escalated.map((claim) => [claim, groupRoute(deps.route, { id: claim.group, labels: claim.labels })]),
  );
  const first = new Map<string, ReadonlyMap<string, Instant>>();
  for (const [receiver, all] of Map.groupBy(escalated, (claim) => routes.get(claim)?.receiver ?? "")) {
    const ids = deps.integrations?.flatMap((one) => (one.receiver === receiver ? one.id : [])) ?? [];
    const episodes = new Set(all.flatMap(({ alerts }) => alerts.map(({ id }) => id)));
    first.set(receiver, (await deps.groups?.firstNotified(ids, [...episodes])) ?? new Map());
  }
  return (claim, { id, firedAt }) => {
    const route = routes.get(claim);
    // A route that was just removed: it is about to be rerouted.
    if (!route) return Number.POSITIVE_INFINITY;
    return first.get(route.receiver)?.get(id) ?? firedAt + route.groupWaitMs;
  };
}

function withEscalation(claim: Claimed, all: Suppressions, now: Instant, startOf: StartOf): Suppressions {
  const { escalateAfterMs: afterMs } = claim;
  if (afterMs === undefined) return all;
  const escalation = escalationOf({
    ...claim,
    now,
    afterMs,
    startOf: (alert) => startOf(claim, alert),
    suppressionOf: ({ id }) => all.muted ?? all.suppressed.get(id),
  });
  return { ...all, clocks: escalation.clocks, suppressed: new Map([...all.suppressed, ...escalation.suppressed]) };
}

/**
 * Acknowledgements come after the suppressions that end by themselves, and are named beside those. `unmatched`: none, but
 * not all silences were asked.
 */
function* suppressionOf(
  alert: Alert,
  facts: Facts,
  views: readonly Labels[],
): Generator<void, Suppression | "unmatched" | undefined> {
  // An alert that was acknowledged when it ended stays so: nobody has to know of it any more.
  const acknowledged = suppressionBy(
    facts.acks.get(alert.id),
    alert.state === "firing" ? facts.now : Math.min(facts.now, alert.updatedAt),
  );
  const other = yield* otherSuppressionOf(alert, facts, views);
  // What is not read is not asked about, as it may be over; of a silence, people are asked by one alert.
  const askAt = facts.stale?.(alert) ? undefined : acknowledged?.askAt;
  if (other && other !== "unmatched") {
    const { askAt: at = Number.POSITIVE_INFINITY } = other;
    const isAskedElsewhere = at <= facts.now && facts.asked?.get(other.by) !== alert.id;
    return { ...other, acknowledged, ...(isAskedElsewhere && { askAt: undefined }) };
  }
  if (acknowledged) return { ...acknowledged, askAt };
  if (alert.state === "firing" && alert.facts.paused) return { reason: "paused", by: alert.id };
  return facts.stale?.(alert) ?? other;
}

function* otherSuppressionOf(
  alert: Alert,
  { now, inhibitions, silences, maintenance, budget }: Facts,
  views: readonly Labels[],
): Generator<void, Suppression | "unmatched" | undefined> {
  const source = inhibitions.inhibitor(alert);
  if (source) return inhibitionBy(source);
  const { found, isComplete } = yield* silencesOf(silences, alert, now, budget, views);
  const [silence] = found;
  if (silence) return silencedBy(silence);
  return maintenanceOf(maintenance, views, now) ?? (isComplete ? undefined : "unmatched");
}

/** True while people may be asked about a silence. */
function asksNow({ silences, now }: Pick<Facts, "silences" | "now">): boolean {
  return silences.some((one) => silenceState(one, now) === "active" && (askAtOf(one) ?? now + 1) <= now);
}

/**
 * The silences that end soon and still suppress something, each with the first alert of those that it suppressed by the
 * time to ask: people are asked once, not once for each group.
 */
function* askedAbout(firing: readonly Alert[], facts: Facts): Generator<void, Map<string, string>> {
  const { now, acks, stale } = facts;
  const asked = new Map<string, string>();
  if (!asksNow(facts)) return asked;
  for (const alert of firing.toSorted((a, b) => a.firedAt - b.firedAt || (a.id < b.id ? -1 : 1))) {
    const ack = acks.get(alert.id);
    if ((ack && isInForce(ack, now)) || alert.facts.clearing || alert.facts.paused || stale?.(alert)) continue;
    const by = yield* otherSuppressionOf(alert, facts, viewsOf(alert));
    if (by === "unmatched" || by?.reason !== "silenced" || asked.has(by.by)) continue;
    if (by.askAt !== undefined && by.askAt <= now && alert.firedAt <= by.askAt) asked.set(by.by, alert.id);
  }
  return asked;
}

/** The mute times of what goes by several routes, which is muted where all of them are; the first that ends first. */
function mutesOf(routes: readonly Route[], now: Instant): Suppression[] {
  const mutes = routes.map((route) => muteOf(route, now));
  const endOf = ({ until = Number.POSITIVE_INFINITY }: Suppression) => until;
  return mutes.every((mute) => mute !== undefined) ? mutes.sort((a, b) => (endOf(a) < endOf(b) ? -1 : 1)) : [];
}

function* suppressibleAlerts(
  root: Route,
  { firing, now, inhibitions, silences, acks, maintenance, budget }: Facts & { readonly firing: readonly Alert[] },
  inventory: SuppressionDeps["inventory"],
): Generator<void, SuppressibleAlert[]> {
  const found: SuppressibleAlert[] = [];
  for (const alert of firing) {
    const source = inhibitions.inhibitor(alert);
    const ack = acks.get(alert.id);
    const isAcknowledged = ack && isInForce(ack, now);
    found.push({
      alert,
      silencedBy: (yield* silencesOf(silences, alert, now, budget)).found.map(({ id }) => id),
      inhibitedBy: source ? [source] : [],
      mutedBy: [...new Set(mutesOf(routesOf(root, alert, inventory), now).map(({ by }) => by))],
      maintenance: maintenanceOf(maintenance, viewsOf(alert), now),
      acknowledgement: isAcknowledged ? ack : undefined,
      endedAcknowledgement: isAcknowledged ? undefined : ack,
    });
    yield;
  }
  return found;
}
