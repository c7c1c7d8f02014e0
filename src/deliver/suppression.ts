/** What suppresses alerts now; what did not change since the last time is neither read nor indexed again. */
import { isInForce, type StoredAcknowledgement } from "../alerting/acknowledgement.ts";
import { coldStartGroup } from "../alerting/cold-start.ts";
import { createInhibitor, type Inhibitions, type InhibitRule } from "../alerting/inhibit.ts";
import { clearingOf } from "../alerting/needs-update.ts";
import type { StandsFor, Suppression, Suppressions } from "../alerting/notification.ts";
import { groupRoute, type Route, routesFor } from "../alerting/route.ts";
import { type Silence, silencesOf } from "../alerting/silence.ts";
import { muteOf } from "../alerting/time-interval.ts";
import type { Alert } from "../health/alert.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { createYielder, runYielding } from "../lib/yield.ts";
import type { Claimed } from "../store/groups.ts";
import type { Store } from "../store/store.ts";
import type { Staleness } from "./stale.ts";

interface SuppressionDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "firing" | "silences" | "acks">;
  readonly route: Route;
  readonly inhibitRules: readonly InhibitRule[];
  /** By default nothing is stale. */
  readonly staleness?: Staleness;
}

/** One alert that fires, with everything that suppresses it. */
export interface SuppressibleAlert {
  readonly alert: Alert;
  /** Ids of silences. */
  readonly silencedBy: readonly string[];
  readonly inhibitedBy: readonly Alert[];
  /** Names of time intervals, where every route that takes it is muted. */
  readonly mutedBy: readonly string[];
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
  stale?(alert: Alert): Suppression | undefined;
}

export function createSuppression({ clock, store, route, inhibitRules, staleness }: SuppressionDeps) {
  const index = createInhibitor(inhibitRules);
  let indexed: { readonly firing: readonly Alert[]; readonly inhibitions: Inhibitions } | undefined;

  async function read(): Promise<Facts & { readonly firing: readonly Alert[] }> {
    const now = clock.now();
    const [firing, silences, acks] = await Promise.all([store.firing(), store.silences.read(now), store.acks.read()]);
    if (indexed?.firing !== firing) indexed = { firing, inhibitions: index(firing) };
    return { now, firing, silences, acks, inhibitions: indexed.inhibitions };
  }

  return {
    /** For groups under our lease, in their order. */
    async ofGroups(claims: readonly Claimed[]): Promise<Suppressions[]> {
      const alerts = claims.flatMap((claim) => claim.alerts);
      const [known, stale] = await Promise.all([read(), staleness?.(alerts, clock.now())]);
      const facts: Facts = stale ? { ...known, stale } : known;
      const found: Suppressions[] = [];
      const maybeYield = createYielder();
      for (const claim of claims) found.push(await runYielding(suppressionsOf(claim, route, facts), maybeYield));
      return found;
    },

    /** For everything that fires. */
    async ofAll(): Promise<SuppressibleAlert[]> {
      const facts = await read();
      return runYielding(suppressibleAlerts(route, facts));
    },
  };
}

function* suppressionsOf(claim: Claimed, root: Route, facts: Facts): Generator<void, Suppressions> {
  const suppressed = new Map<string, Suppression>();
  const standsFor = new Map<string, StandsFor>();
  const suppressedBefore = new Set(claim.suppressedBefore);
  for (const alert of claim.alerts) {
    const muted = claim.group === coldStartGroup ? mutesOf(alert, root, facts.now)[0] : undefined;
    const isKnown = suppressedBefore.has(alert.id) || claim.notified.has(alert.id);
    const suppression = muted ?? (yield* suppressionOf(alert, facts)) ?? clearingOf(alert, isKnown);
    if (suppression) suppressed.set(alert.id, suppression);
    const children = alert.state === "firing" ? facts.inhibitions.standsFor(alert) : undefined;
    if (children) standsFor.set(alert.id, children);
    yield;
  }
  const here = groupRoute(root, { id: claim.group, labels: claim.labels });
  return {
    muted: here && muteOf(here, facts.now),
    suppressed,
    suppressedBefore,
    maybeNotified: new Set(claim.maybeNotified),
    recheckEveryMs: claim.groupIntervalMs,
    standsFor,
  };
}

/** Acknowledgements come after the suppressions that end by themselves. */
function* suppressionOf(
  alert: Alert,
  { now, inhibitions, silences, acks, stale }: Facts,
): Generator<void, Suppression | undefined> {
  const source = inhibitions.inhibitor(alert);
  if (source) return { reason: "inhibited", by: source.id };
  const [silence] = yield* silencesOf(silences, alert.labels, now);
  if (silence) return { reason: "silenced", by: silence.id, until: silence.endsAt };
  const ack = acks.get(alert.id);
  if (ack && isInForce(ack, now)) return { reason: "acknowledged", by: ack.author, until: ack.until };
  if (alert.state === "firing" && alert.facts.paused) return { reason: "paused", by: alert.id };
  return stale?.(alert);
}

/** What mutes an alert outside of a group: an alert is muted where every route that takes it is. */
function mutesOf({ labels }: Alert, root: Route, now: Instant): Suppression[] {
  const mutes = routesFor(root, labels).map((route) => muteOf(route, now));
  return mutes.every((mute) => mute !== undefined) ? mutes : [];
}

function* suppressibleAlerts(
  root: Route,
  { firing, now, inhibitions, silences, acks }: Facts & { readonly firing: readonly Alert[] },
): Generator<void, SuppressibleAlert[]> {
  const found: SuppressibleAlert[] = [];
  for (const alert of firing) {
    const source = inhibitions.inhibitor(alert);
    const ack = acks.get(alert.id);
    const isAcknowledged = ack && isInForce(ack, now);
    found.push({
      alert,
      silencedBy: (yield* silencesOf(silences, alert.labels, now)).map(({ id }) => id),
      inhibitedBy: source ? [source] : [],
      mutedBy: [...new Set(mutesOf(alert, root, now).map(({ by }) => by))],
      acknowledgement: isAcknowledged ? ack : undefined,
      endedAcknowledgement: isAcknowledged ? undefined : ack,
    });
    yield;
  }
  return found;
}
