/**
 * Delivery: a wake-up makes an integration send what is due there, one group (or one storm) at a time, until nothing
 * is: claim → decide → render → send → settle. Retries are due times, stored with the group.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { coldStartFactsOf, coldStartGroup, decideColdStart } from "../alerting/cold-start.ts";
import { waitForNews, withUpdate } from "../alerting/conversation.ts";
import type { GroupDecision, GroupView, Notification, NotifiedAlert } from "../alerting/model.ts";
import { hasUnattended, needsUpdate } from "../alerting/needs-update.ts";
import { createRepeats } from "../alerting/repeats.ts";
import { needsResend } from "../alerting/resend.ts";
import type { Integration } from "../alerting/route.ts";
import { decideStorm } from "../alerting/storm.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { mapYielding } from "../lib/yield.ts";
import type { Claimed, Intent } from "../store/groups.ts";
import type { ClaimedGroup, Content, DeliverDeps, DeliveryRun, Lease, PostedConversation } from "./model.ts";
import { postponed, refused, settled } from "./outcome.ts";
import { talkOf } from "./paging.ts";
import { recover } from "./recover.ts";
import { isUnsure, type NotifyRefusal, retryAt } from "./retry-policy.ts";
import { contentOf, SEND_DEADLINE_MS, send, settle, settleAccepted } from "./send.ts";
import { latencySeconds, toNotification } from "./to-notification.ts";
import { update } from "./update.ts";

/** Longer than any send, so that two never send at once. */
export const LEASE_MS = 13_000;
const LONGEST_LEASE_MS = 120_000;
/** The time that a send needs of its lease; a claim that is older by then is made again, for longer. */
const NEEDED_MS = SEND_DEADLINE_MS + 500;
/** A message that took longer to prepare is prepared again where an alert that it names as firing has ended since. */
const OUTDATED_MS = 5_000;

/**
 * `late`: the claim was too old to send under, or what it read is over; `ends`: others may wait to be sent with it;
 * `nothing`: nothing to do before the next wake-up.
 */
type Served = "one" | "late" | "ends" | "paced" | "nothing";

type Batch = ReturnType<typeof decideStorm<ClaimedGroup>>;

export function createDeliver(deps: DeliverDeps) {
  const underWay = new Map<string, { again: boolean }>();
  const failing = new Set<string>();
  const repeats = createRepeats();
  const stopping = new AbortController();
  let draining = false;
  const claimsMore = () => !draining && !stopping.signal.aborted;

  async function deliverAll(run: DeliveryRun): Promise<void> {
    let leaseMs = LEASE_MS;
    let gathersEnds = false;
    while (claimsMore()) {
      const served = await serve(run, leaseMs, gathersEnds);
      gathersEnds = served === "ends" || (gathersEnds && served === "late");
      if (served === "nothing") return;
      if (served === "late") leaseMs = Math.min(LONGEST_LEASE_MS, 2 * leaseMs);
      else if (served === "one") leaseMs = LEASE_MS;
    }
  }

  return {
    /** Delivers what is due at an integration; a call during another makes that one check once more. */
    async deliver(id: string): Promise<void> {
      const sender = deps.senders.get(id);
      if (!sender) return;
      const running = underWay.get(id);
      if (running) {
        running.again = true;
        return;
      }
      const state = { again: true };
      underWay.set(id, state);
      const { integration } = sender;
      try {
        while (state.again && claimsMore()) {
          state.again = false;
          await deliverAll({ deps, sender, integration, stopping: stopping.signal, failing, repeats });
        }
      } catch (thrown) {
        deps.log.error({ err: toError(thrown), integration: integration.name }, "delivery failed, retrying");
      } finally {
        underWay.delete(id);
      }
    },

    /** Claims nothing more; a message under way is sent and settled. */
    drain: () => {
      draining = true;
    },

    /** Drains, and gives up what Redis does not take. */
    stop: () => stopping.abort(),
  };
}

async function serve(run: DeliveryRun, leaseMs: number, gathersEnds: boolean): Promise<Served> {
  const { deps, integration } = run;
  const token = randomUUID();
  const claimedAt = deps.clock.now();
  const claim = await deps.groups.claim(integration, token, claimedAt, leaseMs, deps.stormMs, gathersEnds);
  if (claim.kind === "pace") return pause(run, claim.until - claimedAt);
  if (claim.kind === "intent") return recover(run, token, claim);
  if (claim.kind !== "group" && claim.kind !== "storm") {
    if (claim.until !== undefined) await deps.wake(new Map([[integration.id, claim.until]]));
    return "nothing";
  }
  const isStorm = claim.kind === "storm";
  const { now, decided } = await decide(run, isStorm ? claim.groups : [claim], gathersEnds);
  const batch = decideStorm(decided, isStorm ? claim.due : 1, gathersEnds);
  const lease: Lease = {
    token,
    startBy: claimedAt + (isStorm ? claim.leaseMs : leaseMs) - NEEDED_MS,
    // However busy the machine, it is sent at last.
    outdatedFrom: leaseMs < LONGEST_LEASE_MS ? claimedAt + OUTDATED_MS : Number.POSITIVE_INFINITY,
    gatherMs: isStorm && claim.isAll && batch.isAll && !integration.resendMs ? deps.stormMs : 0,
  };
  if (!gathersEnds && endSummary(run, batch)) {
    await putOff(run, batch, lease, now, now);
    return "ends";
  }
  for (const { decision } of batch.skipped) deps.suppressed(integration, decision.why);
  const [first] = batch.now;
  if (first?.decision.notify === "update") return update(run, { ...first, rest: restOf(run, batch, now) }, lease);
  if (first) return notify(run, batch, lease);
  await putOff(run, batch, lease, now, now);
  return "one";
}

/** Waits for the next pace token: too short for a job, which may be a tenth of a second late. */
async function pause({ stopping }: DeliveryRun, ms: number): Promise<Served> {
  await sleep(ms, undefined, { signal: stopping }).catch(() => {});
  return "paced";
}

/** True where the message would only end what summaries began: ends that wait for others are sent with it. */
function endSummary({ integration }: DeliveryRun, { now }: Batch): boolean {
  if (integration.resendMs !== undefined || now.length === 0) return false;
  return now.every(({ claim: { notified, stormGroups }, decision: { notify, resolved } }) => {
    const isBegun = ({ id }: NotifiedAlert) => notified.get(id)?.inSummary;
    return notify === "resolved" && stormGroups !== undefined && resolved.some(isBegun);
  });
}

async function decide({ deps, integration }: DeliveryRun, claims: readonly Claimed[], gathersEnds: boolean) {
  const suppressions = await deps.suppressions?.(claims, gathersEnds ? undefined : integration.id);
  const now = deps.clock.now();
  const isRouted = deps.isRouted ?? (() => true);
  const decideOne = deps.decide ?? (integration.resendMs === undefined ? decideByGroup : needsResend);
  const decided = await mapYielding(claims, (group, i) => {
    const claimed: ClaimedGroup = { ...group, suppressions: suppressions?.[i] };
    // An alert that nobody attends any more does not wait, and takes the news along.
    const claim = hasUnattended(claimed, unsuppressed(claimed)) ? { ...claimed, newsAt: undefined } : claimed;
    const view = { ...claim, now, sendResolved: integration.sendResolved };
    const decided = view.newsAt === undefined ? decideOne(view) : waitForNews(view.newsAt);
    const decision = routedReminder(decided, (alert) => isRouted(alert, integration, claim.group));
    return { claim, decision: withUpdate(decision, view, integration) };
  });
  return { now, decided };
}

function unsuppressed({ alerts, suppressions }: ClaimedGroup) {
  const { muted, suppressed } = suppressions ?? {};
  return muted ? [] : alerts.filter(({ id, state }) => state === "firing" && !suppressed?.has(id));
}

/** An alert that a reload routed elsewhere stays for its end, which is owed here; nobody here is reminded of it. */
function routedReminder(decision: GroupDecision, isRouted: (alert: NotifiedAlert) => boolean): GroupDecision {
  if (decision.notify !== "reminder") return decision;
  const firing = decision.firing.filter(isRouted);
  if (firing.length > 0) return { ...decision, firing };
  const { settled, nextAt, suppressedState } = decision;
  return { notify: undefined, why: "routed_elsewhere", settled, nextAt, suppressedState };
}

function decideByGroup(view: GroupView & Claimed): GroupDecision {
  return view.group === coldStartGroup ? decideColdStart(view, coldStartFactsOf(view.labels)) : needsUpdate(view);
}

async function notify(run: DeliveryRun, batch: Batch, lease: Lease): Promise<Served> {
  const { deps, integration } = run;
  const askedAt = deps.clock.now();
  if (isOverAlready(batch, lease)) {
    await putOff(run, batch, lease, askedAt, askedAt);
    return "late";
  }
  const waitMs = await deps.groups.pace(integration, askedAt);
  if (waitMs > 0) {
    await putOff(run, batch, lease, askedAt, askedAt + waitMs);
    return pause(run, waitMs);
  }
  const content = await contentOf(run, batch.now, askedAt);
  const isOutdated = await isOver(run, content, lease);
  const now = deps.clock.now();
  if (isOutdated || now > lease.startBy) {
    await putOff(run, batch, lease, now, now);
    return "late";
  }
  const { externalUrl } = deps;
  const conversation = await talkOf(run, batch.now, content, { token: lease.token, now });
  const notification = toNotification(integration, batch.now, content, { now, externalUrl, conversation });
  const intent = notification.reason === "resend" ? undefined : notification.messageId;
  if (intent !== undefined && !(await deps.groups.intend(integration, lease.token, intentOf(notification, batch)))) {
    await putOff(run, batch, lease, now, now);
    return "late";
  }
  const outcome = await send(run, notification);
  if ("refusal" in outcome) await settleRefused(run, batch, { ...lease, intent }, outcome.refusal);
  else await settleSent(run, batch, { ...lease, intent }, content, outcome.conversation);
  return "one";
}

/** True where an alert of the message had ended when it was decided. */
function isOverAlready({ now }: Batch, { outdatedFrom }: Lease): boolean {
  return outdatedFrom < Number.POSITIVE_INFINITY && now.some(({ claim }) => claim.suppressions?.isOutdated);
}

/** True where an alert that the message would name as firing has ended since it was read. */
async function isOver({ deps }: DeliveryRun, { firing }: Content, { outdatedFrom }: Lease): Promise<boolean> {
  return deps.clock.now() > outdatedFrom && deps.groups.hasEnded(firing.map(({ id }) => id));
}

/** Outcomes of all but the first group. */
function restOf({ integration }: DeliveryRun, { skipped, now: [, ...others], later }: Batch, now: Instant) {
  return [...settled(integration, skipped, now), ...postponed([...others, ...later], { now, at: now })];
}

async function putOff(run: DeliveryRun, batch: Batch, lease: Lease, now: Instant, at: Instant): Promise<void> {
  const sendable = [...batch.now, ...batch.later];
  const outcomes = [...settled(run.integration, batch.skipped, now), ...postponed(sendable, { now, at })];
  await settle(run, { ...lease, gatherMs: 0 }, now, outcomes);
}

/** What may be sent from now on. */
function intentOf({ messageId, now: at, conversation }: Notification, { now }: Batch): Intent {
  const idsOf = (alerts: readonly NotifiedAlert[]) => alerts.map(({ id }) => id);
  const { id = "", openedAt = at, handle, groups } = conversation ?? {};
  return {
    messageId,
    at,
    ...(conversation && { conversation: { id, openedAt, handle, groups } }),
    isSummary: now.length > 1,
    groups: Object.fromEntries(
      now.map(({ claim, decision }) => [
        claim.group,
        { firing: idsOf(decision.firing), resolved: idsOf(decision.resolved) },
      ]),
    ),
  };
}

async function settleSent(
  run: DeliveryRun,
  batch: Batch,
  lease: Lease,
  content: Content,
  conversation: PostedConversation | undefined,
): Promise<void> {
  const { deps, integration, failing } = run;
  const now = deps.clock.now();
  const { notify: reason, firing, resolved } = content;
  const isEscalated = batch.now.some(({ claim }) => claim.escalateAfterMs !== undefined);
  const isLateOnPurpose = isEscalated || endSummary(run, batch);
  deps.notified(integration, reason, isLateOnPurpose ? undefined : latencySeconds(content, now));
  const isStorm = batch.now.length > 1;
  await settleAccepted(run, isStorm ? lease : { ...lease, gatherMs: 0 }, now, [
    ...settled(integration, batch.skipped, now),
    ...settled(integration, batch.now, now, conversation),
    ...postponed(batch.later, { now, at: now }),
  ]);
  const which = isStorm ? { groups: batch.now.length } : { group: batch.now[0]?.claim.group };
  const counts = { firing: firing.length, resolved: resolved.length };
  const facts = { integration: integration.name, reason, ...which, ...counts };
  deps.log[reason === "resend" ? "debug" : "info"](facts, "notified");
  const recovered = [integration.id, messageKey(integration, batch)].map((key) => failing.delete(key));
  if (recovered.includes(true)) deps.log.info({ integration: integration.name }, "notifications are accepted again");
}

async function settleRefused(run: DeliveryRun, batch: Batch, lease: Lease, refusal: NotifyRefusal): Promise<void> {
  const { deps, integration, failing } = run;
  const { code, scope, message } = refusal;
  deps.failed(integration, code);
  const now = deps.clock.now();
  const claims = batch.now.map(({ claim }) => claim);
  const at = retryAt(integration, refusal, claims, now);
  const facts = { integration: integration.name, code, detail: message, retryInMs: at - now };
  const key = scope === "message" ? messageKey(integration, batch) : integration.id;
  deps.log[failing.has(key) ? "debug" : "warn"](facts, "notification failed, retrying");
  failing.add(key);
  // What may have been accepted all the same stays written down.
  const intent = isUnsure(refusal) ? undefined : lease.intent;
  await settle(run, { ...lease, gatherMs: 0, intent }, now, [
    ...refused(integration, batch.now, { now, at, failure: { code, detail: message, scope } }),
    ...postponed(batch.later, { now, at: now }),
    ...settled(integration, batch.skipped, now),
  ]);
}

function messageKey(integration: Integration, batch: Batch): string {
  return `${integration.id}\n${batch.now.length > 1 ? "storm" : batch.now[0]?.claim.group}`;
}
