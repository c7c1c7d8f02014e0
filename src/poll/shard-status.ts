/**
 * The status of a shard's locations, in requests of `watch.locations_per_request` at most. Splitting the request, not
 * the shard, leaves all state in its document, and needs no good sweep of a shard that is too large.
 */
import type { StatusSnapshot } from "../health/recording.ts";
import { chunksOf } from "../lib/chunks.ts";
import { toError } from "../lib/errors.ts";
import type { Service } from "../service/service.ts";

const REQUESTS_AT_ONCE = 4;

/** The answers of a sweep, by the first location asked for. */
export type Answers = ReadonlyMap<string, StatusSnapshot>;

/**
 * Gives `ask(locationIds, last)`: all answers as one snapshot, and the `error` why the locations in its `unread` have none.
 * `last`: the answers of the sweep before; undefined where none are to be followed. Throws the first error where there is no answer.
 */
export function createAskStatus(service: Pick<Service, "statusUptime">, locationsPerRequest: number) {
  /** Locations whose last request failed: they are asked for last. */
  const failed = new Set<string>();
  return async (locationIds: readonly string[], last?: Answers) => {
    const requests = [...chunksOf(locationIds, locationsPerRequest)];
    const hasFailed = ([first = ""]: readonly string[]) => failed.has(first);
    const ordered = [...requests.filter((ids) => !hasFailed(ids)), ...requests.filter(hasFailed)];
    const answers = new Map<string, StatusSnapshot>();
    const unread = new Set(locationIds);
    let error: Error | undefined;
    for (const round of chunksOf(ordered, REQUESTS_AT_ONCE)) {
      const before = answers.size;
      const asked = round.map((entities) =>
        service.statusUptime({ entities, entityType: "location", last: last && (last.get(entities[0] ?? "") ?? null) }),
      );
      for (const [i, settled] of (await Promise.allSettled(asked)).entries()) {
        const isAnswered = settled.status === "fulfilled";
        if (isAnswered) answers.set(round[i]?.[0] ?? "", settled.value);
        else error ??= toError(settled.reason);
        for (const id of round[i] ?? []) {
          if (isAnswered) unread.delete(id);
          if (isAnswered) failed.delete(id);
          else failed.add(id);
        }
      }
      // A service that does not answer is not waited for again and again.
      if (answers.size === before) break;
    }
    if (error && answers.size === 0) throw error;
    return { snapshot: joined([...answers.values()], unread), error, answers };
  };
}

function joined(answers: readonly StatusSnapshot[], unread: ReadonlySet<string>): StatusSnapshot {
  const [only] = answers;
  if (only && answers.length === 1 && unread.size === 0) return only;
  return {
    readings: answers.flatMap(({ readings }) => readings),
    unreadable: answers.flatMap(({ unreadable }) => unreadable),
    complete: answers.every(({ complete }) => complete),
    unread,
  };
}
