/**
 * Delivery: a wake-up makes an integration send what is due there, one group (or one storm) at a time, until nothing
 * is. Retries are due times, stored with the group.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createRepeats } from "../alerting/repeats.ts";
import { decideStorm } from "../alerting/storm.ts";
import { toError } from "../lib/errors.ts";
import { decide } from "./decide.ts";
import { type Ending, outcomesOf, reportEnding } from "./ending.ts";
import type { DeliverDeps, DeliveryRun, Lease } from "./model.ts";
import { recover } from "./recover.ts";
import { LEASE_MS, SEND_DEADLINE_MS, sendBatch } from "./send.ts";
import { settle, settleAccepted } from "./settle.ts";

const LONGEST_LEASE_MS = 120_000;
/** The time that a send needs of its lease; a claim that is older by then is made again, for longer. */
const NEEDED_MS = SEND_DEADLINE_MS + 500;
/** A message that took longer to prepare is prepared again where an alert that it names as firing has ended since. */
const OUTDATED_MS = 5_000;

/** `nothing`: nothing to do before the next wake-up; the others as an ending has them. */
type Served = Ending["served"] | "nothing";

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
      const served = await turn(run, leaseMs, gathersEnds);
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

/** Claim, recover, suppress and decide, compose and send, settle. `gathersEnds`: ends are sent with others that wait. */
async function turn(run: DeliveryRun, leaseMs: number, gathersEnds: boolean): Promise<Served> {
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
  const decided = await decide(run, isStorm ? claim.groups : [claim], gathersEnds);
  const batch = decideStorm(decided, isStorm ? claim.due : 1, gathersEnds);

  const ms = isStorm ? claim.leaseMs : leaseMs;
  const lease: Lease = {
    token,
    ms,
    startBy: claimedAt + ms - NEEDED_MS,
    // However busy the machine, it is sent at last.
    outdatedFrom: leaseMs < LONGEST_LEASE_MS ? claimedAt + OUTDATED_MS : Number.POSITIVE_INFINITY,
  };
  const ending = await sendBatch(run, batch, lease, gathersEnds);

  const now = deps.clock.now();
  const gathers = ending.kind === "sent" && batch.now.length > 1 && isStorm && claim.isAll && batch.isAll;
  const gatherMs = gathers && !integration.resendMs ? deps.stormMs : 0;
  const settleIt = ending.kind === "sent" && !ending.isUpdate ? settleAccepted : settle;
  await settleIt(run, { token, gatherMs, intent: ending.intent }, now, outcomesOf(run, batch, ending, now));
  // Who reads that it was notified may rely on it being stored.
  reportEnding(run, batch, ending, now);
  if (ending.kind === "put_off" && ending.served === "paced") return pause(run, ending.at - now);
  return ending.served;
}

/** Waits for the next pace token: too short for a job, which may be a tenth of a second late. */
async function pause({ stopping }: DeliveryRun, ms: number): Promise<"paced"> {
  await sleep(Math.max(0, ms), undefined, { signal: stopping }).catch(() => {});
  return "paced";
}
