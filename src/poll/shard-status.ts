/**
 * The status of a shard's locations, in requests of `watch.locations_per_request` at most. Splitting the request, not
 * the shard, leaves all state in its document, and needs no good sweep of a shard that is too large. A request that is
 * refused, or fails again and again, is halved, so that one location that the service refuses ends alone.
 */
import type { StatusSnapshot } from "../health/recording.ts";
import { chunksOf } from "../lib/chunks.ts";
import { CodedError, toError } from "../lib/errors.ts";
import type { Service } from "../service/service.ts";

const REQUESTS_AT_ONCE = 4;
/** Failures in a row after which a request is halved that was not refused. */
const FAILS_BEFORE_HALVING = 3;
/** Requests are halved to this part of their size at most where nothing of a sweep is answered. */
const FEWEST_UNANSWERED = 1 / 8;
/** Answers in a row after which a halved request is doubled again. */
const ANSWERS_BEFORE_DOUBLING = 20;

/** The answers of a sweep, by the first location asked for. */
export type Answers = ReadonlyMap<string, StatusSnapshot>;

/**
 * Gives `ask(locationIds, last)`: all answers as one snapshot, and the `error` why the locations in its `unread` have none.
 * `last`: the answers of the sweep before. Throws the first error where there is no answer.
 */
export function createAskStatus(service: Pick<Service, "statusUptime">, locationsPerRequest: number) {
  const sizes = createRequestSizes(locationsPerRequest);
  return async (locationIds: readonly string[], last?: Answers) => {
    const answers = new Map<string, StatusSnapshot>();
    const failures: [request: readonly string[], error: Error][] = [];
    const unread = new Set(locationIds);
    for (const round of chunksOf(sizes.requests(locationIds), REQUESTS_AT_ONCE)) {
      let isSilent = true;
      const asked = round.map((entities) =>
        service.statusUptime({ entities, entityType: "location", last: last?.get(entities[0] ?? "") }),
      );
      for (const [i, settled] of (await Promise.allSettled(asked)).entries()) {
        const request = round[i] ?? [];
        if (settled.status === "rejected") {
          failures.push([request, toError(settled.reason)]);
          if (isRefusal(settled.reason)) isSilent = false;
        } else {
          isSilent = false;
          answers.set(request[0] ?? "", settled.value);
          for (const id of request) unread.delete(id);
          sizes.answered(request);
        }
      }
      // A service that does not answer is not waited for again and again.
      if (isSilent) break;
    }
    for (const [request, error] of failures) sizes.failed(request, error, answers.size > 0);
    const error = failures[0]?.[1];
    if (error && answers.size === 0) throw error;
    return { snapshot: joined([...answers.values()], unread), error, answers };
  };
}

/** The sizes of requests, by what became of the last ones. */
function createRequestSizes(most: number) {
  /** Failures in a row, by location. */
  const failures = new Map<string, number>();
  /** By location, where its request was halved. */
  const halved = new Map<string, { readonly size: number; readonly answers: number }>();
  const sizeOf = (id: string) => halved.get(id)?.size ?? most;

  function cut(locationIds: readonly string[]): string[][] {
    const requests: string[][] = [];
    let size = 0;
    for (const id of locationIds) {
      const open = requests.at(-1);
      size = Math.min(size, sizeOf(id));
      if (open && open.length < size) open.push(id);
      else {
        requests.push([id]);
        size = sizeOf(id);
      }
    }
    return requests;
  }

  return {
    /** The requests of a sweep; those that failed most often come last, so that they keep no other from being asked. */
    requests(locationIds: readonly string[]): string[][] {
      const failed = ([first = ""]: readonly string[]) => failures.get(first) ?? 0;
      return cut(locationIds).sort((a, b) => failed(a) - failed(b));
    },

    answered(request: readonly string[]): void {
      for (const id of request) {
        failures.delete(id);
        const last = halved.get(id);
        if (!last) continue;
        const answers = last.answers + 1;
        if (answers < ANSWERS_BEFORE_DOUBLING) halved.set(id, { ...last, answers });
        else if (last.size < most) halved.set(id, { size: Math.min(most, 2 * last.size), answers: 0 });
        else halved.delete(id);
      }
    },

    /** `isAnswered`: another request of the same sweep was answered, so it is this one that fails. */
    failed(request: readonly string[], error: Error, isAnswered: boolean): void {
      for (const id of request) failures.set(id, (failures.get(id) ?? 0) + 1);
      const [first = ""] = request;
      const isDue = isRefusal(error) || halved.has(first) || (failures.get(first) ?? 0) >= FAILS_BEFORE_HALVING;
      const size = Math.ceil(request.length / 2);
      if (!isDue || (!isAnswered && size < most * FEWEST_UNANSWERED)) return;
      for (const id of request) halved.set(id, { size, answers: 0 });
    },
  };
}

function isRefusal(error: unknown): boolean {
  return error instanceof CodedError && error.code === "bad_request";
}

function joined(answers: readonly StatusSnapshot[], unread: ReadonlySet<string>): StatusSnapshot {
  const [only] = answers;
  if (only && answers.length === 1 && unread.size === 0) return only;
  return {
    readings: answers.flatMap(({ readings }) => readings),
    unreadable: answers.flatMap(({ unreadable }) => unreadable),
    unidentified: answers.reduce((sum, { unidentified }) => sum + unidentified, 0),
    unread,
  };
}
