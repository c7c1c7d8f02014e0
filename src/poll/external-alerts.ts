/**
 * Alerts from outside: taken by whichever replica they are sent to, judged by the one whose configuration is in force.
 * Both are one atomic write of one document; who loses the race begins again from what the other wrote.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { destinationsOf } from "../alerting/destinations.ts";
import {
  acceptAlerts,
  type ExternalAlertState,
  type ExternalEvaluation,
  evaluateExternal,
  isUnevaluated,
  RESOLVE_TIMEOUT_MS,
  type SentAlert,
} from "../alerting/external-alerts.ts";
import type { Integration, Route } from "../alerting/route.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Change, CommitInput, CommitResult, ShardStore } from "../store/shards.ts";
import type { Store } from "../store/store.ts";

/** More that fire at once are a mistake of whoever sends them; each is held against every rule, silence and group. */
export const MAX_EXTERNAL_ALERTS = 2_000;
/** A race is lost to somebody who has just written: waited for this long at most, times a few. */
const RACE_MS = 25;
const TAKE_TRIES = 40;
const JUDGE_TRIES = 10;
/** Senders repeat themselves once a minute: who was away for longer may not have heard them. */
const DEAF_AFTER_MS = 60_000;

export interface ExternalAlertsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Pick<Store, "externalAlerts">;
  /** The write, for whoever takes alerts. */
  readonly commit: ShardStore["commit"];
  /** The write, for whoever is in force: `lost` for everybody else. */
  readonly commitEvaluated: ShardStore["commit"];
  readonly route: Route;
  readonly integrations: readonly Integration[];
  readonly statusIntervalMs: number;
  encode(state: ExternalAlertState): string;
  /** Has what was taken judged soon, by somebody. */
  requestEvaluation(): Promise<void>;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}

/** What became of alerts that were sent. `busy`: too many others send at this moment; nothing was taken. */
export type AcceptedAlerts =
  | { readonly outcome: "taken"; readonly refused: number; readonly most: number }
  | { readonly outcome: "busy" };

export interface ExternalAlerts {
  /** Remembers what was sent; once it resolves with `taken`, it survives everything Redis survives. */
  take(sent: readonly (readonly [fingerprint: string, alert: SentAlert])[]): Promise<AcceptedAlerts>;
  /** Judges what was taken and what is over, if anything, and remembers it with the groups now due. */
  judge(): Promise<void>;
  /** When any replica was last awake, before the work begins here; undefined: never. */
  begin(awakeAt: Instant | undefined): Promise<void>;
}

export function createExternalAlerts(deps: ExternalAlertsDeps): ExternalAlerts {
  const { clock, store, log } = deps;
  const deafAfterMs = Math.max(DEAF_AFTER_MS, 3 * deps.statusIntervalMs);
  let heardAt: Instant | undefined;

  async function take(sent: Parameters<ExternalAlerts["take"]>[0]): Promise<AcceptedAlerts> {
    for (let attempt = 0; attempt < TAKE_TRIES; attempt++) {
      const now = clock.now();
      const { nonce, state } = await store.externalAlerts.read();
      const { next, refused } = acceptAlerts(state, sent, { now, most: MAX_EXTERNAL_ALERTS });
      const taken = { outcome: "taken", refused, most: MAX_EXTERNAL_ALERTS } as const;
      if (next.size === 0 && state.size === 0) return taken;
      if ((await write(deps.commit, { nonce, next, now })).outcome === "lost") {
        await sleep(Math.random() * RACE_MS);
        continue;
      }
      if (refused > 0)
        log.warn({ refused, most: MAX_EXTERNAL_ALERTS }, "alerts from outside were refused: too many fire");
      await deps.requestEvaluation().catch((thrown: unknown) => {
        log.debug({ err: toError(thrown) }, "judging could not be asked for; it is done within a second");
      });
      return taken;
    }
    return { outcome: "busy" };
  }

  async function judge(): Promise<void> {
    await noteListening();
    for (let attempt = 0; attempt < JUDGE_TRIES; attempt++) {
      const now = clock.now();
      const { nonce, state, ...known } = await store.externalAlerts.read();
      // Later than anybody would say it: a clock was wrong.
      const deafUntil = known.deafUntil <= now + RESOLVE_TIMEOUT_MS ? known.deafUntil : 0;
      if (!isUnevaluated(state, { now, deafUntil })) return;
      const evaluation = evaluateExternal(state, { now, deafUntil });
      const committed = await write(deps.commitEvaluated, { nonce, now, ...evaluation });
      if (committed.outcome === "stored") return said(evaluation, committed);
      await sleep(Math.random() * RACE_MS);
    }
  }

  function write(
    commit: ShardStore["commit"],
    {
      nonce,
      next,
      now,
      transitions = [],
      lines,
    }: Partial<ExternalEvaluation> & {
      readonly nonce: string;
      readonly next: ExternalAlertState;
      readonly now: Instant;
    },
  ): Promise<CommitResult> {
    const input: CommitInput = {
      key: store.externalAlerts.key,
      expected: nonce,
      document: deps.encode(next),
      now,
      changes: transitions.map(
        ({ kind, alert }): Change => ({
          kind,
          alert,
          to: kind === "firing" ? destinationsOf(alert, deps.route, deps.integrations) : [],
        }),
      ),
      lines,
    };
    return commit(input);
  }

  async function said(
    { transitions }: ExternalEvaluation,
    { wake }: Extract<CommitResult, { outcome: "stored" }>,
  ): Promise<void> {
    for (const { kind, alert } of transitions) {
      if (kind !== "updated") log.info({ alert: alert.key, reason: alert.endReason }, `alert ${kind}`);
    }
    if (wake.size > 0) await deps.wake(wake);
  }

  /**
   * Asked for again and again: where that stopped for a while, what was to be repeated meanwhile gets the time to be,
   * also from who begins to judge within that time.
   */
  async function noteListening(): Promise<void> {
    const now = clock.now();
    if (heardAt !== undefined && now - heardAt > deafAfterMs)
      await store.externalAlerts.extendDeafness(now + RESOLVE_TIMEOUT_MS);
    heardAt = now;
  }

  return {
    take,
    judge,
    async begin(awakeAt) {
      heardAt ??= awakeAt;
      await noteListening();
    },
  };
}
