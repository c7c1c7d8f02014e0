/**
 * Delivery: a wake-up makes an integration say what is due there, one group at a time, until nothing is. Claim,
 * decide on what is true now, take a pace token, send, write down what was told. Retries live in the due time.
 */
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { decideGroup, type GroupDecision } from "../alerting/decide.ts";
import type { Notification, NotifyErrorCode, NotifyReason } from "../alerting/notification.ts";
import type { Integration } from "../alerting/route.ts";
import { type BackoffPolicy, backoffMs } from "../lib/backoff.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Claimed, FailureScope, GroupStore } from "../store/groups.ts";

/** No send takes longer; the lease of a claim is longer still, so that two never send at once. */
export const SEND_DEADLINE_MS = 10_000;
export const LEASE_MS = 13_000;
/** A claim older than this has no time left for a send: Redis or this process was held up. */
const LATEST_START_MS = 2_500;

/** What passes by itself is tried again soon; what needs a person is tried seldom. */
const PASSING: BackoffPolicy = { baseMs: 1_000, capMs: 120_000 };
const LASTING: BackoffPolicy = { baseMs: 10_000, capMs: 300_000 };
const REST: Readonly<Record<NotifyErrorCode, BackoffPolicy>> = {
  network: PASSING,
  timeout: PASSING,
  rate_limited: PASSING,
  server_error: PASSING,
  other: PASSING,
  auth: LASTING,
  not_found: LASTING,
  bad_request: LASTING,
  recipient_refused: LASTING,
};

/** What was told is written down as soon as Redis takes it. */
const WRITE_AGAIN: BackoffPolicy = { baseMs: 200, capMs: 5_000 };

/** What a channel's error tells us; a folder of notify/ throws it. */
export interface Refusal {
  readonly code: NotifyErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly scope: FailureScope;
  readonly message: string;
}

export interface Channel {
  readonly integration: Integration;
  send(notification: Notification, options: { signal: AbortSignal; plain?: boolean }): Promise<void>;
}

export interface DeliverDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly groups: Pick<GroupStore, "claim" | "settle" | "postpone" | "pace">;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly externalUrl: string | undefined;
  /** Reads what a channel threw; the only place that knows its class. */
  toRefusal(thrown: unknown): Refusal;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
  /** `latencySeconds` from the flip to the acceptance; undefined for a reminder. */
  told(integration: Integration, reason: NotifyReason, latencySeconds: number | undefined): void;
  failed(integration: Integration, code: NotifyErrorCode): void;
  suppressed(integration: Integration, why: string): void;
}

type Saying = Extract<GroupDecision, { say: NotifyReason }>;

/** Gives `deliver(integration id)`; a call while one is under way makes that one look once more. */
export function createDeliver(deps: DeliverDeps): { deliver(id: string): Promise<void>; stop(): void } {
  const underWay = new Map<string, { again: boolean }>();
  const failing = new Set<string>();
  const stopping = new AbortController();
  const stopped = () => stopping.signal.aborted;

  async function deliver(channel: Channel): Promise<void> {
    while (!stopped() && (await serveOne(channel)));
  }

  /** True when a group was served and there may be more. */
  async function serveOne(channel: Channel): Promise<boolean> {
    const { integration } = channel;
    const token = randomUUID();
    const claimedAt = deps.clock.now();
    const claim = await deps.groups.claim(integration, token, claimedAt, LEASE_MS);
    if (claim.kind !== "group") {
      if (claim.until !== undefined) await deps.wake(new Map([[integration.id, claim.until]]));
      return false;
    }
    const now = deps.clock.now();
    const decision = decideGroup({
      now,
      repeatIntervalMs: claim.repeatIntervalMs,
      sendResolved: integration.sendResolved,
      dueSince: claim.dueSince,
      alerts: claim.alerts,
      told: claim.told,
    });
    if (decision.say === undefined) {
      deps.suppressed(integration, decision.why);
      const outcome = { now, said: false, told: [], ...partings(claim, decision), nextAt: decision.nextAt };
      await arm(integration, await deps.groups.settle(integration, claim.group, token, outcome));
      return true;
    }
    return say(channel, claim, { token, claimedAt }, decision);
  }

  async function say(
    channel: Channel,
    claim: Claimed,
    { token, claimedAt }: { token: string; claimedAt: Instant },
    decision: Saying,
  ): Promise<boolean> {
    const { integration } = channel;
    const asked = deps.clock.now();
    const wait = await deps.groups.pace(integration, asked);
    if (wait > 0) {
      await deps.groups.postpone(integration, claim.group, token, { now: asked, at: asked + wait });
      await deps.wake(new Map([[integration.id, asked + wait]]));
      return false;
    }
    const now = deps.clock.now();
    if (now - claimedAt > LATEST_START_MS) {
      await deps.groups.postpone(integration, claim.group, token, { now, at: now });
      return true;
    }
    const notification = toNotification(integration, claim, decision, now, deps.externalUrl);
    try {
      await send(channel, notification);
    } catch (thrown) {
      await giveBack(integration, claim, token, deps.toRefusal(thrown));
      return true;
    }
    await writeDown(integration, claim, token, decision);
    return true;
  }

  /** One message; a refusal of the message itself is answered once with plain text. */
  async function send(channel: Channel, notification: Notification): Promise<void> {
    const signal = AbortSignal.timeout(SEND_DEADLINE_MS);
    try {
      await channel.send(notification, { signal });
    } catch (thrown) {
      if (deps.toRefusal(thrown).code !== "bad_request") throw thrown;
      await sleep(channel.integration.paceMs);
      await channel.send(notification, { signal, plain: true });
    }
  }

  async function writeDown(
    integration: Integration,
    claim: Claimed,
    token: string,
    decision: Saying,
  ): Promise<void> {
    const now = deps.clock.now();
    const told = decision.firing.map(({ fingerprint: _, isNew: __, ...alert }) => ({
      alert,
      toldAt: now,
      groupId: claim.group,
    }));
    const nextAt = told.length > 0 ? now + claim.repeatIntervalMs : undefined;
    const outcome = { now, said: true, told, ...partings(claim, decision), nextAt };
    const settle = () => deps.groups.settle(integration, claim.group, token, outcome);
    const next = await untilWritten(integration, settle);
    deps.told(integration, decision.say, latencySeconds(decision, now));
    deps.log.info(
      {
        integration: integration.id,
        reason: decision.say,
        group: claim.group,
        firing: told.length,
        resolved: decision.resolved.length,
      },
      "told",
    );
    const isBack = [integration.id, oneMessage(integration, claim)].map((what) => failing.delete(what));
    if (isBack.includes(true)) deps.log.info({ integration: integration.id }, "messages get through again");
    await arm(integration, next);
  }

  /** A message is out: nothing else is claimed here before that is written down. */
  async function untilWritten<T>(integration: Integration, write: () => Promise<T>): Promise<T> {
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

  async function giveBack(
    integration: Integration,
    claim: Claimed,
    token: string,
    refusal: Refusal,
  ): Promise<void> {
    deps.failed(integration, refusal.code);
    const before = refusal.scope === "message" ? claim.groupFailures : claim.failures;
    const now = deps.clock.now();
    const rest = backoffMs(REST[refusal.code], before + 1);
    const at = now + Math.max(rest, refusal.retryAfterMs ?? 0);
    const { code, scope, message } = refusal;
    const facts = { integration: integration.id, code, detail: message, retryInMs: at - now };
    const what = scope === "message" ? oneMessage(integration, claim) : integration.id;
    if (failing.has(what)) deps.log.debug(facts, "still not told");
    else deps.log.warn(facts, "a message was not accepted; it is kept and tried again");
    failing.add(what);
    await deps.groups.postpone(integration, claim.group, token, {
      now,
      at,
      failure: { code, detail: message, scope },
    });
    await arm(integration, at);
  }

  async function arm(integration: Integration, at: Instant | undefined): Promise<void> {
    if (at !== undefined) await deps.wake(new Map([[integration.id, at]]));
  }

  return {
    async deliver(id) {
      const channel = deps.channels.get(id);
      if (!channel) return;
      const running = underWay.get(id);
      if (running) {
        running.again = true;
        return;
      }
      const state = { again: true };
      underWay.set(id, state);
      try {
        while (state.again && !stopped()) {
          state.again = false;
          await deliver(channel);
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
    stop: () => stopping.abort(),
  };
}

function oneMessage(integration: Integration, claim: Claimed): string {
  return `${integration.id}\n${claim.group}`;
}

/** Who was told, or is told now, is done with in every group here; who was not may be owed by another group. */
function partings(claim: Claimed, decision: GroupDecision): { over: string[]; untold: string[] } {
  const said = new Set(decision.say === undefined ? [] : decision.resolved.map(({ id }) => id));
  const isOver = (id: string) => claim.told.has(id) || said.has(id);
  return {
    over: [...decision.settled.filter(isOver), ...claim.lost],
    untold: decision.settled.filter((id) => !isOver(id)),
  };
}

/** The message, with an id that stays the same while it is tried again and nothing new happened. */
export function toNotification(
  integration: Integration,
  claim: Pick<Claimed, "group" | "labels" | "told">,
  decision: Saying,
  now: Instant,
  externalUrl: string | undefined,
): Notification {
  let lastToldAt = 0;
  for (const { toldAt } of claim.told.values()) lastToldAt = Math.max(lastToldAt, toldAt);
  const facts = [
    integration.id,
    claim.group,
    decision.say,
    lastToldAt,
    ...decision.firing.map((alert) => `+${alert.id}`).sort(),
    ...decision.resolved.map((alert) => `-${alert.id}`).sort(),
  ];
  return {
    reason: decision.say,
    receiver: integration.receiver,
    integrationId: integration.id,
    group: { id: claim.group, labels: claim.labels },
    firing: decision.firing,
    resolved: decision.resolved,
    now,
    externalUrl,
    messageId: createHash("sha256").update(facts.join("\n")).digest("hex").slice(0, 32),
  };
}

/** Seconds since the oldest flip this message tells of; undefined where it tells of none. */
function latencySeconds(decision: Saying, now: Instant): number | undefined {
  let oldest: Instant | undefined;
  for (const { isNew, firedAt } of decision.firing) if (isNew) oldest = Math.min(oldest ?? firedAt, firedAt);
  for (const { updatedAt } of decision.resolved) oldest = Math.min(oldest ?? updatedAt, updatedAt);
  return oldest === undefined ? undefined : (now - oldest) / 1000;
}
