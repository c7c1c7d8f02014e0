/**
 * The inventory: which locations there are, which shard asks for them, and the names of recordings. A location
 * list that shrinks by more than a fifth, or to nothing, is held and said, not believed.
 */

import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Location, RecordingUptime } from "../health/recording.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { dayOf } from "../lib/days.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { AssignmentStore } from "../store/assignments.ts";
import type { InventoryStore } from "../store/inventory.ts";
import type { ShardStore } from "../store/shards.ts";

/** The share of the last believed list that may be gone before the new one is held. */
export const MAX_SHRINK_RATIO = 0.2;
const IDS_PER_REQUEST = 500;
/** A recording without details is asked for again after this long. */
const ASK_AGAIN_MS = 60_000;
/** Judging waits this long for names, then goes on with ids. */
const NAMES_DEADLINE_MS = 3_000;

export interface InventoryDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly service: {
    locations(): Promise<{ locations: readonly Location[]; dropped: number }>;
    uptimes(query: { start: string; end: string; recids: readonly string[] }): Promise<{
      results: readonly RecordingUptime[];
    }>;
  };
  readonly assignments: AssignmentStore;
  readonly assigned: Assigned;
  readonly inventory: InventoryStore;
  readonly store: Pick<ShardStore, "noteAttempt">;
  /** What else is known of locations; it goes when they are watched no more. */
  readonly places: readonly { forget(locationIds: readonly string[]): Promise<void> }[];
  readonly watch: {
    readonly locations: "all" | readonly string[];
    readonly exclude: readonly string[];
    readonly forgetAfterMs: number;
    readonly locationsPerRequest: number;
  };
  /** Assignments changed or were read: schedulers follow. */
  assignedChanged(): Promise<void>;
}

export function createInventoryJob(deps: InventoryDeps) {
  const { clock, log } = deps;
  const askedAt = new Map<string, Instant>();
  let failing = false;
  let holding = false;

  /** Reads the location list and follows it. Resolves to false where there was none, or none to believe. */
  async function refresh(): Promise<boolean> {
    try {
      const { locations, dropped } = await deps.service.locations();
      const held = await follow(locations, dropped === 0);
      if (failing) log.info("the location list can be read again");
      failing = false;
      return !held;
    } catch (thrown) {
      const err = toError(thrown);
      if (!failing)
        log.warn({ err }, "the location list could not be read; the fleet known so far is watched");
      failing = true;
      await deps.store.noteAttempt("inventory", clock.now(), err.message);
      return false;
    }
  }

  async function follow(listed: readonly Location[], complete: boolean): Promise<boolean> {
    const now = clock.now();
    const plan = planLocations({
      now,
      listed: listed.map(({ id }) => id),
      complete,
      lastSeen: await deps.assignments.lastSeen(),
      assigned: [...(await deps.assignments.read()).keys()],
      ...deps.watch,
    });
    await deps.inventory.saveLocations(listed);
    if (plan.held && !holding) log.error({ detail: plan.held }, "the location list is held, not believed");
    holding = plan.held !== undefined;
    if (plan.held) log.debug({ detail: plan.held }, "the location list is still held");
    else await deps.assignments.noteSeen(plan.seen, now);
    deps.assigned.set(
      await deps.assignments.update(plan.present, plan.removed, deps.watch.locationsPerRequest),
    );
    for (const place of deps.places) await place.forget(plan.removed);
    await deps.store.noteAttempt("inventory", now, plan.held);
    await deps.assignedChanged();
    return plan.held !== undefined;
  }

  async function fetchNames(ids: readonly string[]): Promise<void> {
    const day = dayOf(clock.now(), "UTC");
    for (let from = 0; from < ids.length; from += IDS_PER_REQUEST) {
      const recids = ids.slice(from, from + IDS_PER_REQUEST);
      const { results } = await deps.service.uptimes({ start: day, end: day, recids });
      await deps.inventory.saveRecordings(results.map(({ recording }) => recording));
    }
  }

  return {
    refresh,

    /** Makes sure names are known before labels are frozen; goes on without them after a short while. */
    async nameThem(ids: readonly string[]): Promise<void> {
      const now = clock.now();
      await deps.inventory.follow();
      const unknown = ids.filter(
        (id) => !deps.inventory.recording(id) && now - (askedAt.get(id) ?? 0) > ASK_AGAIN_MS,
      );
      if (unknown.length === 0) return;
      for (const id of unknown) askedAt.set(id, now);
      const fetched = fetchNames(unknown)
        .then(() => {
          for (const id of unknown) if (deps.inventory.recording(id)) askedAt.delete(id);
        })
        .catch((thrown: unknown) => {
          log.warn({ err: toError(thrown) }, "names of recordings could not be read; ids are shown instead");
        });
      await Promise.race([fetched, new Promise((resolve) => setTimeout(resolve, NAMES_DEADLINE_MS).unref())]);
    },
  };
}

export interface LocationPlan {
  /** Watched and listed now. */
  readonly present: string[];
  /** Listed, or possibly in a row of the list that could not be read. */
  readonly seen: string[];
  /** Give up their place: not to be watched, or absent for `forget_after` from every list believed. */
  readonly removed: string[];
  /** Why the list is not believed; undefined when it is. */
  readonly held: string | undefined;
}

/** What a new location list means. Pure. */
export function planLocations(input: {
  now: Instant;
  listed: readonly string[];
  /** False when rows of the list could not be read: then nothing is absent. */
  complete: boolean;
  lastSeen: ReadonlyMap<string, Instant>;
  assigned: readonly string[];
  locations: "all" | readonly string[];
  exclude: readonly string[];
  forgetAfterMs: number;
}): LocationPlan {
  const excluded = new Set(input.exclude);
  const named = input.locations === "all" ? undefined : new Set(input.locations);
  const watched = (id: string) => !excluded.has(id) && (named === undefined || named.has(id));
  const present = [...new Set(named ? [...named] : input.listed)].filter(watched);
  const here = new Set(present);
  const newest = Math.max(0, ...input.lastSeen.values());
  const before = [...input.lastSeen].filter(([id, at]) => at === newest && watched(id)).map(([id]) => id);
  const gone = before.filter((id) => !here.has(id)).length;
  const held =
    before.length > 0 && (present.length === 0 || gone > MAX_SHRINK_RATIO * before.length)
      ? `the location list went from ${before.length} to ${before.length - gone} of the same locations; if that is right, put those that left in watch.exclude`
      : undefined;
  const seen = input.complete ? present : [...new Set([...present, ...before])];
  const forgotten = (id: string) =>
    held === undefined &&
    !here.has(id) &&
    input.now - (input.lastSeen.get(id) ?? input.now) >= input.forgetAfterMs;
  return { present, seen, removed: input.assigned.filter((id) => !watched(id) || forgotten(id)), held };
}
