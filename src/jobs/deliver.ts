/**
 * Delivery: a wake-up makes an integration say what is due there, one group at a time, until nothing is. Claim,
 * decide on what is true now, take a pace token, send, write down what was told. Retries live in the due time.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { decideGroup, type GroupDecision, type Kept } from "../alerting/decide.ts";
import type { Holds } from "../alerting/hold.ts";
import type { Notification, NotifyErrorCode, NotifyReason } from "../alerting/notification.ts";
import type { Integration } from "../alerting/route.ts";
import { type BackoffPolicy, backoffMs } from "../lib/backoff.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Claimed, FailureScope, GroupStore } from "../store/groups.ts";
import { failedLines, heldLines, toldLines, untoldEndLines } from "./delivery-lines.ts";
import { latencySeconds, toNotification } from "./message.ts";
import { REST } from "./rest.ts";

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
  /** What holds a group's alerts back now; by default nothing does. */
  holds?(claim: Claimed): Promise<Holds>;
  /** What is to be said to a group; `decideGroup` unless given. */
  readonly decide?: typeof decideGroup;
  /** Reads what a channel threw; the only place that knows its class. */
  toRefusal(thrown: unknown): Refusal;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
  /** `latencySeconds` from the flip to the acceptance; undefined for a reminder. */
  told(integration: Integration, reason: NotifyReason, latencySeconds: number | undefined): void;
  failed(integration: Integration, code: NotifyErrorCode): void;
  suppressed(integration: Integration, why: string): void;
}

/** `late`: the claim was too old to send under; `nothing`: nothing to do before the next wake-up. */
type Served = "one" | "late" | "nothing";

type Saying = Extract<GroupDecision, { say: NotifyReason }>;

export interface Delivery {
  deliver(integrationId: string): Promise<void>;
  /** Claims nothing more; a message under way is sent and written down. */
  rest(): void;
  /** As `rest`, and gives up what Redis does not take. */
  stop(): void;
}

/** Gives `deliver(integration id)`; a call while one is under way makes that one look once more. */
export function createDeliver(deps: DeliverDeps): Delivery {
  const underWay = new Map<string, { again: boolean }>();
  const failing = new Set<string>();
  const stopping = new AbortController();
  const stopped = () => stopping.signal.aborted;
  let resting = false;
  const claimsMore = () => !resting && !stopped();

  async function deliver(channel: Channel): Promise<void> {
    let leaseMs = LEASE_MS;
    while (claimsMore()) {
      const served = await serveOne(channel, leaseMs);
      if (served === "nothing") return;
      leaseMs = served === "late" ? Math.min(LONGEST_LEASE_MS, 2 * leaseMs) : LEASE_MS;
    }
  }

  async function serveOne(channel: Channel, leaseMs: number): Promise<Served> {
    const { integration } = channel;
    const token = randomUUID();
    const claimedAt = deps.clock.now();
    const claim = await deps.groups.claim(integration, token, claimedAt, leaseMs);
    if (claim.kind !== "group") {
      if (claim.until !== undefined) await deps.wake(new Map([[integration.id, claim.until]]));
      return "nothing";
    }
    const holds = await deps.holds?.(claim);
    const now = deps.clock.now();
    const decision = (deps.decide ?? decideGroup)({
      now,
      repeatIntervalMs: claim.repeatIntervalMs,
      sendResolved: integration.sendResolved,
      dueSince: claim.dueSince,
      alerts: claim.alerts,
      told: claim.told,
      holds,
    });
    if (decision.say === undefined) {
      deps.suppressed(integration, decision.why);
      const parting = partings(claim, decision);
      const here = { integration: integration.id, claim, at: now };
      const lines = [...untoldEndLines(decision, here), ...heldLines(holds, here)];
      const outcome = { now, said: false, told: [], ...parting, nextAt: decision.nextAt, lines };
      await arm(integration, await deps.groups.settle(integration, claim.group, token, outcome));
      return "one";
    }
    return say(channel, claim, { token, startBy: claimedAt + leaseMs - NEEDED_MS }, decision);
  }

  async function say(
    channel: Channel,
    claim: Claimed,
    { token, startBy }: { token: string; startBy: Instant },
    decision: Saying,
  ): Promise<Served> {
    const { integration } = channel;
    const asked = deps.clock.now();
    const wait = await deps.groups.pace(integration, asked);
    if (wait > 0) {
      await deps.groups.postpone(integration, claim.group, token, { now: asked, at: asked + wait });
      await deps.wake(new Map([[integration.id, asked + wait]]));
      return "nothing";
    }
    const now = deps.clock.now();
    if (now > startBy) {
      await deps.groups.postpone(integration, claim.group, token, { now, at: now });
      return "late";
    }
    const notification = toNotification(integration, claim, decision, now, deps.externalUrl);
    try {
      await send(channel, notification);
    } catch (thrown) {
      await giveBack(integration, claim, token, decision, deps.toRefusal(thrown));
      return "one";
    }
    await writeDown(integration, claim, token, decision);
    return "one";
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
    const told = decision.firing.map(({ fingerprint: _, isNew: __, standsFor: ___, ...alert }) => ({
      alert,
      toldAt: now,
      groupId: claim.group,
    }));
    const lines = toldLines(decision, { integration: integration.id, claim, at: now });
    const { nextAt } = decision;
    const outcome = { now, said: true, told, ...partings(claim, decision), nextAt, lines };
    const settle = () => deps.groups.settle(integration, claim.group, token, outcome);
    deps.told(integration, decision.say, latencySeconds(decision, now));
    const next = await untilWritten(integration, settle);
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
    decision: Saying,
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
      lines: failedLines(decision, { integration: integration.id, claim, at: now }, code),
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
        while (state.again && claimsMore()) {
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
    rest() {
      resting = true;
    },
    stop: () => stopping.abort(),
  };
}

function oneMessage(integration: Integration, claim: Claimed): string {
  return `${integration.id}\n${claim.group}`;
}

/** Who was told, or is told now, is done with in every group here; who was not may be owed by another group. */
function partings(
  claim: Claimed,
  decision: GroupDecision,
): { over: string[]; untold: string[]; kept?: Kept } {
  const said = new Set(decision.say === undefined ? [] : decision.resolved.map(({ id }) => id));
  const isOver = (id: string) => claim.told.has(id) || said.has(id);
  const { kept } = decision;
  const isKept = kept.by.length + kept.maybeTold.length > 0;
  return {
    over: [...decision.settled.filter(isOver), ...claim.lost],
    untold: decision.settled.filter((id) => !isOver(id)),
    ...(isKept ? { kept } : {}),
  };
}
