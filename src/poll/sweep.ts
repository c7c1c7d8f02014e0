/**
 * The sweep of one shard: read what we knew, ask the service, judge, remember. A failed question changes nothing
 * but the note that it failed; a judgement that lost its race is thrown away.
 */

import { destinationsOf } from "../alerting/destinations.ts";
import type { Integration, Route } from "../alerting/route.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import { type DecisionReason, type Evaluation, judgeShard } from "../health/judge.ts";
import type { Reading, StatusSnapshot } from "../health/recording.ts";
import type { Rule } from "../health/rule.ts";
import type { ScheduleState } from "../health/schedule.ts";
import type { Inventory, ShardState } from "../health/shard-state.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { InventoryStore } from "../store/inventory.ts";
import type { Change, CommitResult, ShardStore } from "../store/shards.ts";

/** Looking up the name of every recording costs as much as judging them: it is done this often. */
const NAME_ALL_MS = 30_000;

export interface SweepDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly service: {
    statusUptime(query: { entities: readonly string[]; entityType: "location" }): Promise<StatusSnapshot>;
  };
  readonly store: Pick<ShardStore, "read" | "commitShard" | "noteAttempt" | "forgetShard">;
  readonly assigned: Assigned;
  readonly inventory: Inventory & Pick<InventoryStore, "forget" | "saveRecordings">;
  /** Makes sure names are known before they are frozen into labels; never throws, never waits long. */
  nameThem(recordingIds: readonly string[]): Promise<void>;
  uptime(recordingId: string, overMs: number): number | undefined;
  /** Those of a shard below a ratio. */
  lowUptimes(shard: number, overMs: number, below: number): ReadonlySet<string>;
  scheduleOf(recordingId: string, now: Instant): ScheduleState | undefined;
  scheduleBegan(recordingId: string, now: Instant): Instant | undefined;
  /** False only outside a schedule that is known. */
  inSchedule(recordingId: string, now: Instant): boolean;
  /** Reads the shard's uptime figures anew if another replica wrote them. */
  refreshFigures(shard: number): Promise<void>;
  readonly rules: readonly Rule[];
  readonly excluded: ReadonlySet<string>;
  readonly intervalMs: number;
  readonly forgetAfterMs: number;
  readonly route: Route;
  readonly integrations: readonly Integration[];
  /** Something is due: wake the deliverers. */
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
  /** Told after each sweep; `seconds` is its wall time. */
  swept(outcome: "ok" | "failed" | "lost", seconds: number, now: Instant): void;
}

/** Gives `sweep(shard)`. A sweep of a shard already under way here is not begun again. */
export function createSweep(deps: SweepDeps): (shard: number) => Promise<void> {
  const underWay = new Set<number>();
  const blind = new Set<number>();
  const allNamedAt = new Map<number, Instant>();

  async function sweep(shard: number): Promise<void> {
    const began = performance.now();
    const outcome = await sweepOnce(shard);
    deps.swept(outcome, (performance.now() - began) / 1000, deps.clock.now());
  }

  async function sweepOnce(shard: number): Promise<"ok" | "failed" | "lost"> {
    const [before] = await Promise.all([deps.store.read(shard), deps.refreshFigures(shard)]);
    const locationIds = deps.assigned.locations(shard);
    // What an answer says was true at some time since the question: it counts as no newer than that, however slow it is.
    const now = deps.clock.now();
    const snapshot = await look(shard, locationIds, now);
    if (!snapshot) return "failed";
    await nameThem(shard, before.state, snapshot);
    const evaluation = judgeShard(before.state, snapshot, context(shard, locationIds, now));
    if (letsGo(evaluation) && (await deps.assigned.follow()) === "changed") return "lost";
    const committed = await deps.store.commitShard(shard, {
      expected: before.nonce,
      state: evaluation.next,
      now,
      changes: toChanges(evaluation, deps),
      lines: evaluation.decisions,
    });
    return finish(shard, committed, evaluation);
  }

  /** Newcomers at once; all of them now and then, for those whose names could not be read before. */
  async function nameThem(shard: number, before: ShardState, { readings }: StatusSnapshot): Promise<void> {
    const now = deps.clock.now();
    const all = now - (allNamedAt.get(shard) ?? 0) >= NAME_ALL_MS;
    if (all) allNamedAt.set(shard, now);
    const fresh = newcomers(before, readings);
    await noteMoves(fresh);
    await deps.nameThem((all ? readings : fresh).map((reading) => reading.recordingId));
  }

  /** Who comes from another shard is not missing there: the inventory learns of the move at once. */
  async function noteMoves(fresh: readonly Reading[]): Promise<void> {
    const moved = fresh.flatMap(({ recordingId, locationId }) => {
      const known = deps.inventory.recording(recordingId);
      return known && locationId && known.locationId !== locationId ? [{ ...known, locationId }] : [];
    });
    if (moved.length > 0) await deps.inventory.saveRecordings(moved);
  }

  async function look(
    shard: number,
    entities: readonly string[],
    askedAt: Instant,
  ): Promise<StatusSnapshot | undefined> {
    if (entities.length === 0) return { readings: [], unreadable: [], complete: false };
    try {
      const snapshot = await deps.service.statusUptime({ entities, entityType: "location" });
      if (blind.delete(shard)) deps.log.info({ shard }, "the service answers again for this shard");
      return snapshot;
    } catch (thrown) {
      const err = toError(thrown);
      if (!blind.has(shard)) deps.log.warn({ err, shard }, "a sweep failed; what was known stays as it was");
      blind.add(shard);
      await deps.store.noteAttempt(`shard:${shard}`, deps.clock.now(), err.message, askedAt);
      return undefined;
    }
  }

  function context(shard: number, locationIds: readonly string[], now: Instant) {
    const { intervalMs, forgetAfterMs, rules, inventory, excluded, uptime } = deps;
    return {
      now,
      intervalMs,
      forgetAfterMs,
      rules,
      inventory,
      locationIds,
      excluded,
      uptime,
      lowUptimes: (overMs: number, below: number) => deps.lowUptimes(shard, overMs, below),
      inSchedule: (id: string) => deps.inSchedule(id, now),
      scheduleOf: (id: string) => deps.scheduleOf(id, now),
      scheduleBegan: (id: string) => deps.scheduleBegan(id, now),
    };
  }

  async function finish(
    shard: number,
    committed: CommitResult,
    evaluation: Evaluation,
  ): Promise<"ok" | "lost"> {
    if (committed.outcome === "lost") return "lost";
    const { recordings, locations } = evaluation.next;
    if (recordings.size + locations.size === 0) await deps.store.forgetShard(shard, committed.nonce);
    const gone = evaluation.decisions
      .filter(({ reason }) => LEFT.has(reason))
      .map(({ subject }) => subject.id);
    await deps.inventory.forget(gone);
    for (const { kind, alert } of evaluation.transitions) {
      if (kind !== "updated") deps.log.info({ alert: alert.key, reason: alert.endReason }, `alert ${kind}`);
    }
    if (committed.wake.size > 0) await deps.wake(committed.wake);
    return "ok";
  }

  return async (shard) => {
    if (underWay.has(shard) || !deps.assigned.known()) return;
    underWay.add(shard);
    try {
      await sweep(shard);
    } finally {
      underWay.delete(shard);
    }
  };
}

const LEFT: ReadonlySet<DecisionReason> = new Set(["forgotten", "no_longer_watched"]);

/** Another replica may have been told of locations that we do not know to be ours: then nothing has left. */
function letsGo({ decisions }: Evaluation): boolean {
  return decisions.some(({ reason }) => reason === "no_longer_watched");
}

/** Readings of recordings not known before. Rows come in the order of last time, which saves most look-ups. */
function newcomers({ recordings }: ShardState, readings: readonly Reading[]): Reading[] {
  const walk = recordings.keys();
  let next = walk.next().value;
  return readings.filter(({ recordingId }) => {
    if (recordingId !== next) return !recordings.has(recordingId);
    next = walk.next().value;
    return false;
  });
}

/** A judgement's transitions with the places they are to be told at. */
export function toChanges(
  { transitions }: Pick<Evaluation, "transitions">,
  { route, integrations }: Pick<SweepDeps, "route" | "integrations">,
): Change[] {
  return transitions.map(({ kind, alert }) => ({
    kind,
    alert,
    to: kind === "firing" ? destinationsOf(alert, route, integrations) : [],
  }));
}
