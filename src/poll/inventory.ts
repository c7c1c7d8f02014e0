/**
 * The inventory: which locations there are, which shard asks for them, and the names of recordings. A location list
 * that shrinks by more than a fifth, or to nothing, is rejected: the previous one stays, and an alert is raised.
 */
import type { Config } from "../config/config.ts";
import type { Location, ReportedRecording } from "../health/recording.ts";
import { unlessAborted } from "../lib/abort.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import { dayOf } from "../lib/when.ts";
import type { Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";
import { createTurns } from "./rounds.ts";

/** The share of the last accepted list that may be absent from a new one. */
const MAX_SHRINK_RATIO = 0.2;
/** A day of a recording is 4 kB: an answer is parsed in a few milliseconds. */
const IDS_PER_REQUEST = 100;
const REQUESTS_AT_ONCE = 10;
/** A recording without details is asked for again after this long. */
const ASK_AGAIN_MS = 60_000;
/** Evaluation waits this long for names, then goes on with ids. */
const NAMES_DEADLINE_MS = 3_000;

interface InventoryDeps
  extends Pick<PollContext, "clock" | "log" | "assigned">,
    Pick<Store, "assignments" | "inventory"> {
  readonly service: Pick<Service, "locations" | "uptimes">;
  readonly store: Pick<Store["shards"], "noteAttempt">;
  /** Other data of locations, deleted when they are no longer watched. */
  readonly locationDetails: readonly { forget(locationIds: readonly string[]): Promise<void> }[];
  readonly watch: Pick<Config["watch"], "locations" | "exclude" | "forgetAfterMs" | "locationsPerRequest">;
  /** Aborted once this replica drains: a list under way is left to the next job. */
  readonly signal: AbortSignal;
  /** Assignments changed or were read: ticks follow. */
  assignedChanged(): Promise<void>;
}

export function createInventoryJob(deps: InventoryDeps) {
  return { refresh: createRefresh(deps), nameThem: createNameThem(deps) };
}

/**
 * Gives `refresh()`: reads and follows the location list, one at a time: one of 50,000 locations takes tens of MB. It
 * resolves to false where the list failed or was rejected.
 */
function createRefresh(deps: InventoryDeps): () => Promise<boolean> {
  const { clock, log } = deps;
  let failing = false;
  let wasRejected = false;
  return oneAtATime(async () => {
    try {
      const { locations, dropped } = await unlessAborted(deps.service.locations(), deps.signal);
      const { rejected } = await follow(deps, locations, dropped === 0);
      if (failing) log.info("location list read again");
      failing = false;
      if (rejected && !wasRejected) log.error({ detail: rejected }, "location list rejected, keeping the previous one");
      else if (rejected) log.debug({ detail: rejected }, "location list still rejected");
      wasRejected = rejected !== undefined;
      return !wasRejected;
    } catch (thrown) {
      if (deps.signal.aborted) return false;
      const err = toError(thrown);
      if (!failing) log.warn({ err }, "location list not read, watching the known locations");
      failing = true;
      await deps.store.noteAttempt("inventory", clock.now(), err.message);
      return false;
    }
  });
}

async function follow(deps: InventoryDeps, locations: readonly Location[], complete: boolean) {
  const { assignments, inventory, watch } = deps;
  const now = deps.clock.now();
  const stored = await assignments.read();
  const plan = planLocations({
    now,
    listed: locations.map(({ id }) => id),
    complete,
    lastSeen: await assignments.lastSeen(),
    assigned: [...stored.keys()],
    ...watch,
  });
  await inventory.saveLocations(locations);
  if (!plan.rejected) await assignments.noteSeen(plan.seen, now);
  const added = plan.present.filter((id) => !stored.has(id));
  const isSame = added.length + plan.removed.length === 0;
  deps.assigned.set(isSame ? stored : await assignments.update(added, plan.removed, watch.locationsPerRequest));
  for (const details of deps.locationDetails) await details.forget(plan.removed);
  await deps.store.noteAttempt("inventory", now, plan.rejected);
  await deps.assignedChanged();
  return plan;
}

/** Gives `nameThem(ids)`: makes names known before labels are frozen; goes on without them after a short while. */
function createNameThem({ clock, log, service, inventory }: InventoryDeps) {
  const askedAt = new Map<string, Instant>();
  const inTurn = createTurns(REQUESTS_AT_ONCE);

  async function fetchNames(ids: readonly string[]): Promise<void> {
    const day = dayOf(clock.now(), "UTC");
    const found: ReportedRecording[] = [];
    const pages = chunksOf(ids, IDS_PER_REQUEST).map((recids) =>
      inTurn(async () => {
        const { results } = await service.uptimes({ start: day, end: day, recids });
        for (const { recording } of results) found.push(recording);
      }),
    );
    const asked = await Promise.allSettled(pages);
    // In one write: replicas that are many writes behind read all names again.
    await inventory.takeRecordings(found);
    for (const page of asked) if (page.status === "rejected") throw page.reason;
    for (const id of ids) if (inventory.recording(id)) askedAt.delete(id);
  }

  return async (ids: readonly string[]): Promise<void> => {
    const now = clock.now();
    await inventory.follow();
    const unknown = ids.filter((id) => !inventory.recording(id) && now - (askedAt.get(id) ?? 0) > ASK_AGAIN_MS);
    if (unknown.length === 0) return;
    for (const id of unknown) askedAt.set(id, now);
    const fetched = fetchNames(unknown).catch((thrown: unknown) => {
      log.warn({ err: toError(thrown) }, "recording names not read, showing ids instead");
    });
    await Promise.race([fetched, new Promise((resolve) => setTimeout(resolve, NAMES_DEADLINE_MS).unref())]);
  };
}

/**
 * The meaning of a new location list. `present` are watched and listed now; `seen` also those possibly in a row that could
 * not be read; `removed` lose their shard: not to be watched, or absent for `forget_after` from every accepted list;
 * `rejected` says why the list is rejected, undefined when it is accepted. Pure.
 */
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
}) {
  const excluded = new Set(input.exclude);
  const named = input.locations === "all" ? undefined : new Set(input.locations);
  const watched = (id: string) => !excluded.has(id) && (named === undefined || named.has(id));
  const present = [...new Set(named ? [...named] : input.listed)].filter(watched);
  const isPresent = new Set(present);
  const newest = input.lastSeen.values().reduce((latest, at) => Math.max(latest, at), 0);
  const before = [...input.lastSeen].filter(([id, at]) => at === newest && watched(id)).map(([id]) => id);
  const absent = before.filter((id) => !isPresent.has(id)).length;
  const rejected =
    before.length > 0 && (present.length === 0 || absent > MAX_SHRINK_RATIO * before.length)
      ? `the location list went from ${before.length} to ${before.length - absent} of the same locations; if that is right, put those that left in watch.exclude`
      : undefined;
  const seen = input.complete ? present : [...new Set([...present, ...before])];
  const forgotten = (id: string) =>
    rejected === undefined &&
    !isPresent.has(id) &&
    input.now - (input.lastSeen.get(id) ?? input.now) >= input.forgetAfterMs;
  return { present, seen, removed: input.assigned.filter((id) => !watched(id) || forgotten(id)), rejected };
}
