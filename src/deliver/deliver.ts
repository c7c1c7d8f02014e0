/**
 * Delivery: a wake-up makes an integration say what is due there, one group (or one storm) at a time, until nothing is. Claim,
 * decide on what is true now, take a pace token, send, write down what was told. Retries live in the due time.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { coldStartFactsOf, coldStartGroup, decideColdStart } from "../alerting/cold-start.ts";
import { type GroupDecision, type GroupView, needsUpdate } from "../alerting/needs-update.ts";
import type { Notification, NotifyErrorCode, NotifyReason } from "../alerting/notification.ts";
import { needsResend } from "../alerting/resend.ts";
import type { Integration } from "../alerting/route.ts";
import { decideStorm, joinDecisions } from "../alerting/storm.ts";
import type { Suppressions } from "../alerting/suppression.ts";
import { type BackoffPolicy, backoffMs } from "../lib/backoff.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { createYielder } from "../lib/yield.ts";
import type { Claimed, FailureScope, GroupOutcome, GroupStore } from "../store/groups.ts";
import type { Annotate } from "./annotate.ts";
import { postponed, refused, settled } from "./endings.ts";
import type { Taken } from "./outcome.ts";
import { BACKOFF } from "./retry-policy.ts";
import { latencySeconds, toNotification } from "./to-notification.ts";

/** No send takes longer; the lease of a claim is longer still, so that two never send at once. */
export const SEND_DEADLINE_MS = 10_000;
export const LEASE_MS = 13_000;
const LONGEST_LEASE_MS = 120_000;
/** What a send needs of its lease; a claim that grew older on its way is made again, for longer. */
const NEEDED_MS = SEND_DEADLINE_MS + 500;

/** What was told is written down as soon as Redis takes it. */
const WRITE_AGAIN: BackoffPolicy = { baseMs: 200, capMs: 5_000 };

/** What a channel's error tells us; a folder of notify/ throws it. */
export interface Refusal {
  readonly code: NotifyErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly scope: FailureScope;
  readonly message: string;
}

export interface Sender {
  readonly integration: Integration;
  send(notification: Notification, options: { signal: AbortSignal; plain?: boolean }): Promise<void>;
}

export interface DeliverDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly groups: Pick<GroupStore, "claim" | "settle" | "postpone" | "settleAll" | "pace">;
  readonly senders: ReadonlyMap<string, Sender>;
  readonly externalUrl: string | undefined;
  /** After a storm was told, how long more of it is gathered; who is due this soon joins it. */
  readonly stormMs: number;
  /** What holds the alerts of each of these groups back now; by default nothing does. */
  suppressions?(claims: readonly Claimed[]): Promise<readonly Suppressions[]>;
  /** Adds what is known of places; by default nothing is. */
  readonly annotate?: Annotate;
  /** What is to be said to a group; unless given, what its integration wants, and `decideColdStart` of a start's summary. */
  readonly decide?: (view: GroupView & Claimed) => GroupDecision;
  /** Reads what a channel threw; the only place that knows its class. */
  toRefusal(thrown: unknown): Refusal;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
  /** `latencySeconds` from the flip to the acceptance; undefined for a reminder. */
  notified(integration: Integration, reason: NotifyReason, latencySeconds: number | undefined): void;
  failed(integration: Integration, code: NotifyErrorCode): void;
  suppressed(integration: Integration, why: string): void;
}

/** `late`: the claim was too old to send under; `nothing`: nothing to do before the next wake-up. */
type Served = "one" | "late" | "nothing";

/** What is done with everything one claim took. */
type Batch = ReturnType<typeof decideStorm<Taken>>;
type Content = ReturnType<typeof joinDecisions>;

interface Lease {
  readonly token: string;
  /** A send that began later might outlast it. */
  readonly startBy: Instant;
  /** How long another storm is gathered once this one is told; 0 where there is none. */
  readonly gatherMs: number;
}

export interface Delivery {
  deliver(integrationId: string): Promise<void>;
  /** Claims nothing more; a message under way is sent and written down. */
  drain(): void;
  /** As `drain`, and gives up what Redis does not take. */
  stop(): void;
}

/** Gives `deliver(integration id)`; a call while one is under way makes that one look once more. */
export function createDeliver(deps: DeliverDeps): Delivery {
  const underWay = new Map<string, { again: boolean }>();
  const failing = new Set<string>();
  const stopping = new AbortController();
  const stopped = () => stopping.signal.aborted;
  let draining = false;
  const claimsMore = () => !draining && !stopped();

  async function deliver(sender: Sender): Promise<void> {
    let leaseMs = LEASE_MS;
    while (claimsMore()) {
      const served = await serve(sender, leaseMs);
      if (served === "nothing") return;
      leaseMs = served === "late" ? Math.min(LONGEST_LEASE_MS, 2 * leaseMs) : LEASE_MS;
    }
  }

  /** One due group, or a storm of them, in one message at most. */
  async function serve(sender: Sender, leaseMs: number): Promise<Served> {
    const { integration } = sender;
    const token = randomUUID();
    const claimedAt = deps.clock.now();
    const claim = await deps.groups.claim(integration, token, claimedAt, leaseMs, deps.stormMs);
    if (claim.kind === "pace") return pause(claim.until - claimedAt);
    if (claim.kind !== "group" && claim.kind !== "storm") {
      if (claim.until !== undefined) await deps.wake(new Map([[integration.id, claim.until]]));
      return "nothing";
    }
    const isStorm = claim.kind === "storm";
    const { now, decided } = await decide(integration, isStorm ? claim.groups : [claim]);
    const batch = decideStorm(decided, isStorm ? claim.due : 1);
    const lease: Lease = {
      token,
      startBy: claimedAt + (isStorm ? claim.leaseMs : leaseMs) - NEEDED_MS,
      gatherMs: isStorm && claim.isAll && !integration.resendMs ? deps.stormMs : 0,
    };
    for (const { decision } of batch.quiet) deps.suppressed(integration, decision.why);
    if (batch.now.length > 0) return notify(sender, batch, lease);
    await end(integration, lease, now, settled(integration, batch.quiet, now));
    return "one";
  }

  /** For the next pace token: too short to go by a job, which may be a tenth of a second late. */
  async function pause(ms: number): Promise<Served> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
    return "one";
  }

  async function decide(integration: Integration, claims: readonly Claimed[]) {
    const suppressions = await deps.suppressions?.(claims);
    const now = deps.clock.now();
    const decideOne = deps.decide ?? (integration.resendMs === undefined ? decideMessage : needsResend);
    const yielder = createYielder();
    const decided: { claim: Taken; decision: GroupDecision }[] = [];
    for (const [i, group] of claims.entries()) {
      const claim = { ...group, suppressions: suppressions?.[i] };
      decided.push({
        claim,
        decision: decideOne({ ...claim, now, sendResolved: integration.sendResolved }),
      });
      await yielder.maybeYield();
    }
    return { now, decided };
  }

  async function notify(sender: Sender, batch: Batch, lease: Lease): Promise<Served> {
    const { integration } = sender;
    const asked = deps.clock.now();
    const wait = await deps.groups.pace(integration, asked);
    if (wait > 0) {
      await end(integration, lease, asked, [
        ...settled(integration, batch.quiet, asked),
        ...postponed([...batch.now, ...batch.later], { now: asked, at: asked + wait }),
      ]);
      return pause(wait);
    }
    const content = await contentOf(integration, batch, asked);
    const now = deps.clock.now();
    if (now > lease.startBy) {
      const again = postponed([...batch.now, ...batch.later], { now, at: now });
      await end(integration, lease, now, [...settled(integration, batch.quiet, now), ...again]);
      return "late";
    }
    const notification = toNotification(integration, batch.now, content, now, deps.externalUrl);
    try {
      await send(sender, notification);
    } catch (thrown) {
      await postponeRefused(integration, batch, lease, deps.toRefusal(thrown));
      return "one";
    }
    await settleSent(integration, batch, lease, content);
    return "one";
  }

  /** What a message is to say. A summary has no room for what is known of each place. */
  async function contentOf(integration: Integration, { now: shares }: Batch, at: Instant): Promise<Content> {
    const content = joinDecisions(shares.map(({ decision }) => decision));
    const isSummary = shares.length > 1 && integration.resendMs === undefined;
    if (!deps.annotate || isSummary) return content;
    const alerts = await deps.annotate([...content.firing, ...content.resolved], at);
    const { length } = content.firing;
    return { ...content, firing: alerts.slice(0, length), resolved: alerts.slice(length) };
  }

  /** One message; a refusal of the message itself is answered once with plain text. */
  async function send(sender: Sender, notification: Notification): Promise<void> {
    const signal = AbortSignal.timeout(SEND_DEADLINE_MS);
    try {
      await sender.send(notification, { signal });
    } catch (thrown) {
      if (deps.toRefusal(thrown).code !== "bad_request") throw thrown;
      await sleep(sender.integration.paceMs);
      await sender.send(notification, { signal, plain: true });
    }
  }

  async function settleSent(
    integration: Integration,
    batch: Batch,
    lease: Lease,
    content: Content,
  ): Promise<void> {
    const now = deps.clock.now();
    const isStorm = batch.now.length > 1;
    const endings = [
      ...settled(integration, [...batch.quiet, ...batch.now], now),
      ...postponed(batch.later, { now, at: now }),
    ];
    deps.notified(integration, content.notify, latencySeconds(content, now));
    await untilSettled(integration, () =>
      end(integration, isStorm ? lease : { ...lease, gatherMs: 0 }, now, endings),
    );
    const facts = { integration: integration.id, reason: content.notify, ...whichOf(batch) };
    const level = content.notify === "resend" ? "debug" : "info";
    deps.log[level](
      { ...facts, firing: content.firing.length, resolved: content.resolved.length },
      "notified",
    );
    const isBack = [integration.id, oneMessage(integration, batch)].map((what) => failing.delete(what));
    if (isBack.includes(true)) deps.log.info({ integration: integration.id }, "messages get through again");
  }

  /** A message is out: nothing else is claimed here before that is written down. */
  async function untilSettled<T>(integration: Integration, write: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (thrown) {
        const facts = { err: toError(thrown), integration: integration.id };
        if (stopped()) throw thrown;
        if (attempt === 1)
          deps.log.error(facts, "what was told could not be written down; tried until it can");
        await sleep(backoffMs(WRITE_AGAIN, attempt), undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  }

  async function postponeRefused(
    integration: Integration,
    batch: Batch,
    lease: Lease,
    refusal: Refusal,
  ): Promise<void> {
    deps.failed(integration, refusal.code);
    const { code, scope, message } = refusal;
    const counts = batch.now.map(({ claim }) => (scope === "message" ? claim.groupFailures : claim.failures));
    const now = deps.clock.now();
    const { resendMs = Number.POSITIVE_INFINITY } = integration;
    const drain = Math.min(resendMs, backoffMs(BACKOFF[code], Math.max(...counts) + 1));
    const at = now + Math.max(drain, refusal.retryAfterMs ?? 0);
    const facts = { integration: integration.id, code, detail: message, retryInMs: at - now };
    const what = scope === "message" ? oneMessage(integration, batch) : integration.id;
    if (failing.has(what)) deps.log.debug(facts, "still not told");
    else deps.log.warn(facts, "a message was not accepted; it is kept and tried again");
    failing.add(what);
    const failure = { code, detail: message, scope };
    await end(integration, { ...lease, gatherMs: 0 }, now, [
      ...refused(integration, batch.now, { now, at, failure }),
      ...postponed(batch.later, { now, at: now }),
      ...settled(integration, batch.quiet, now),
    ]);
  }

  /** Ends the claim, all of it or nothing, and sees to it that somebody comes when there is more to do. */
  async function end(
    integration: Integration,
    { token, gatherMs }: Lease,
    now: Instant,
    endings: readonly GroupOutcome[],
  ): Promise<void> {
    const next = await written(integration, token, endings, { now, gatherMs });
    if (next !== undefined) await deps.wake(new Map([[integration.id, next]]));
  }

  async function written(
    integration: Integration,
    token: string,
    endings: readonly GroupOutcome[],
    after: { readonly now: Instant; readonly gatherMs: number },
  ): Promise<Instant | undefined> {
    const [only] = endings;
    if (!only || endings.length > 1) return deps.groups.settleAll(integration, token, endings, after);
    if ("settle" in only) return deps.groups.settle(integration, only.group, token, only.settle);
    await deps.groups.postpone(integration, only.group, token, only.postpone);
    return only.postpone.at;
  }

  return {
    async deliver(id) {
      const sender = deps.senders.get(id);
      if (!sender) return;
      const running = underWay.get(id);
      if (running) {
        running.again = true;
        return;
      }
      const state = { again: true };
      underWay.set(id, state);
      try {
        while (state.again && claimsMore()) {
          state.again = false;
          await deliver(sender);
        }
      } catch (thrown) {
        deps.log.error(
          { err: toError(thrown), integration: id },
          "delivery stopped short; it is taken up again",
        );
      } finally {
        underWay.delete(id);
      }
    },
    drain() {
      draining = true;
    },
    stop: () => stopping.abort(),
  };
}

function decideMessage(view: GroupView & Claimed): GroupDecision {
  return view.group === coldStartGroup
    ? decideColdStart(view, coldStartFactsOf(view.labels))
    : needsUpdate(view);
}

function oneMessage(integration: Integration, batch: Batch): string {
  return `${integration.id}\n${batch.now.length > 1 ? "storm" : batch.now[0]?.claim.group}`;
}

function whichOf({ now }: Batch): { group: string | undefined } | { groups: number } {
  return now.length > 1 ? { groups: now.length } : { group: now[0]?.claim.group };
}
