/**
 * External alerts: accepted by whichever replica they are sent to, evaluated by the one with the active configuration.
 * Each is one atomic write of one document; a write that lost its race starts again from what the other one wrote.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  acceptAlerts,
  evaluateExternal,
  isUnevaluated,
  RESOLVE_TIMEOUT_MS,
  type SentAlert,
} from "../alerting/external-alerts.ts";
import type { Instant } from "../lib/clock.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";

/** More that fire at once are a mistake of the sender; each is matched against every rule, silence and group. */
export const MAX_EXTERNAL_ALERTS = 2_000;
/** The bound of the one document of all external alerts: 2,000 characters each. */
const MAX_EXTERNAL_CHARACTERS = 4_000_000;
/** The longest wait after a lost race. */
const RACE_MS = 25;
const ACCEPT_TRIES = 40;
const EVALUATE_TRIES = 10;
/** Senders repeat alerts once a minute: a replica away for longer may have missed some. */
const MISSED_AFTER_MS = 60_000;

interface ExternalAlertsDeps extends Pick<PollContext, "clock" | "log" | "commit" | "statusIntervalMs"> {
  readonly store: Pick<Store, "externalAlerts" | "shards">;
  /** The write of evaluations: `lost` wherever the configuration is not the active one. */
  readonly commitIfActive: Store["shards"]["commit"];
  /** Asks for an evaluation soon; without one it follows within a second. */
  requestEvaluation(): void;
}

/** The outcome for alerts that were sent. `busy`: too many others send at this moment; nothing was accepted. */
export type AcceptedAlerts =
  | { readonly outcome: "taken"; readonly refused: number; readonly most: number }
  | { readonly outcome: "busy" };

type SentAlerts = readonly (readonly [fingerprint: string, alert: SentAlert])[];

export function createExternalAlerts(deps: ExternalAlertsDeps) {
  const missedAfterMs = Math.max(MISSED_AFTER_MS, 3 * deps.statusIntervalMs);
  let listenedAt: Instant | undefined;

  /** After a gap in which repetitions may have been missed, nothing expires until senders had the time to repeat. */
  async function noteListening(): Promise<void> {
    const now = deps.clock.now();
    if (listenedAt !== undefined && now - listenedAt > missedAfterMs)
      await deps.store.externalAlerts.extendDeafness(now + RESOLVE_TIMEOUT_MS);
    listenedAt = now;
  }

  return {
    /** Stores what was sent; once it resolves with `taken`, it survives everything Redis survives. */
    accept: (sent: SentAlerts) => accept(deps, sent),
    /** Evaluates what was accepted and what is over, if anything, and stores it with the groups now due. */
    async evaluate(): Promise<void> {
      await noteListening();
      await evaluate(deps);
    },
    /** Before the first evaluation: when any replica last evaluated; undefined: never. */
    async begin(awakeAt: Instant | undefined): Promise<void> {
      listenedAt ??= awakeAt;
      await noteListening();
    },
  };
}

async function accept(deps: ExternalAlertsDeps, sent: SentAlerts): Promise<AcceptedAlerts> {
  const { clock, log } = deps;
  const { externalAlerts, shards } = deps.store;
  for (let attempt = 0; attempt < ACCEPT_TRIES; attempt++) {
    const now = clock.now();
    const { nonce: expected, state } = await externalAlerts.read();
    const { next, refused } = acceptAlerts(state, sent, {
      now,
      most: MAX_EXTERNAL_ALERTS,
      characters: MAX_EXTERNAL_CHARACTERS,
    });
    const taken = { outcome: "taken", refused, most: MAX_EXTERNAL_ALERTS } as const;
    if (next.size === 0 && state.size === 0) return taken;
    const { key, encode } = externalAlerts;
    const committed = await shards.commit({ key, expected, document: encode(next), now, changes: [] });
    if (committed.outcome === "lost") {
      await sleep(Math.random() * RACE_MS);
      continue;
    }
    if (refused > 0) log.warn({ refused, most: MAX_EXTERNAL_ALERTS }, "external alerts refused, too many fire");
    deps.requestEvaluation();
    return taken;
  }
  return { outcome: "busy" };
}

async function evaluate({ clock, store, commit, commitIfActive }: ExternalAlertsDeps): Promise<void> {
  const { externalAlerts } = store;
  for (let attempt = 0; attempt < EVALUATE_TRIES; attempt++) {
    const now = clock.now();
    const { nonce: expected, state, ...known } = await externalAlerts.read();
    // Later than any replica would set it: a clock was wrong.
    const deafUntil = known.deafUntil <= now + RESOLVE_TIMEOUT_MS ? known.deafUntil : 0;
    if (!isUnevaluated(state, { now, deafUntil })) return;
    const { next, transitions, lines } = evaluateExternal(state, { now, deafUntil });
    const document = externalAlerts.encode(next);
    const { outcome } = await commit.evaluation(transitions, (changes) =>
      commitIfActive({ key: externalAlerts.key, expected, document, now, changes, lines }),
    );
    if (outcome === "stored") return;
    await sleep(Math.random() * RACE_MS);
  }
}
