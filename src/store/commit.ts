/** The one atomic write of an evaluation: a document, guarded by the nonce under which it was read, and what alerts did. */
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import type { LogLine } from "../alerting/decision-log.ts";
import { newsAt, settingsOf } from "../alerting/group.ts";
import type { Destination } from "../alerting/route.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { logWrites } from "./decision-log.ts";
import { changedAlerts, endedEpisodes, toStoredEpisode } from "./episodes.ts";
import { type Destined, destinationsIn, destined, GroupWork, isFiring, partsOf, statesOf } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { earliestWakes, type Releases, releasing } from "./releases.ts";
import { type Check, newId, type Transact, type Write } from "./transact.ts";

export interface AlertChange {
  readonly kind: "firing" | "resolved" | "updated";
  readonly alert: Alert;
  /** For `firing`; a resolved alert is due wherever it was sent as firing. */
  readonly to: readonly Destination[];
  /** For `resolved`: the name of the maintenance it began or ended in. */
  readonly planned?: string | undefined;
}

/** The outcome of a commit; `wake` is when something is due, by integration. */
export type CommitResult =
  | { readonly outcome: "stored"; readonly nonce: string; readonly wake: ReadonlyMap<string, Instant> }
  | { readonly outcome: "lost" };

export interface CommitInput {
  readonly key: string;
  /** The nonce under which the document was read. */
  readonly expected: string;
  readonly document: string;
  readonly now: Instant;
  /** A further check; by default none. */
  readonly only?: Check | undefined;
  /** Writes of the same transaction, before that of the document. */
  readonly writes?: readonly Write[] | undefined;
  /** What was read, as causes of suppression know it. */
  readonly read?: string | undefined;
  readonly changes: readonly AlertChange[];
  /** For the decision log. */
  readonly lines?: readonly LogLine[] | undefined;
}

export interface CommitDeps {
  readonly transact: Transact;
  readonly releases: Releases;
}

export function createCommit(redis: Redis, keys: Keys, { transact: { transact }, releases }: CommitDeps) {
  /** Members are added and groups made due, whatever becomes of these meanwhile: a turn that comes too early waits. */
  async function changeGroups({ changes, places, known }: Changing, now: Instant, id: string) {
    const [read, work] = [new GroupWork(redis, keys), new GroupWork(redis, keys, id)];
    // The summary of a cold start is sent once, whatever its members do.
    const ending = [...places.values()].flat().filter((place) => partsOf(place).group !== coldStartGroup);
    const joining = changes
      .filter(({ kind }) => kind === "firing")
      .flatMap(({ alert, to }) =>
        to.map((one) => ({ alert, place: destined(one.integration, one.group), settings: settingsOf(one) })),
      );
    await read.load([...ending, ...joining.map(({ place }) => place)]);
    for (const { alert, place, settings } of joining) {
      work.configure(place, settings);
      work.join(place, alert.id, alert.firedAt);
      work.due(place, newsAt({ ...read.head(place), ...settings }, now));
    }
    for (const place of ending) {
      const head = read.head(place);
      if (head) work.due(place, newsAt(head, now));
    }
    work.writes.push(...alertWrites(keys, { changes, places, known }));
    return work;
  }

  return async (input: CommitInput): Promise<CommitResult> => {
    const { key, expected, document, now, writes = [], read, lines, only } = input;
    const id = newId();
    const { changes, ...stored } = await readChanging(redis, keys, input.changes);
    const work = await changeGroups({ changes, ...stored }, now, id);
    const ended = { causes: idsOf(changes, "resolved"), isPaced: true };
    const episodes = changes.flatMap(({ kind, alert, planned }) =>
      kind === "resolved" ? [{ ...toStoredEpisode(alert), planned }] : [],
    );
    work.writes.unshift(...writes, ["HSET", key, "n", id, "d", document]);
    work.writes.push(
      ...releasing(keys, id, ended),
      ...endedEpisodes(keys, episodes, now),
      ...changedAlerts(
        keys,
        id,
        changes.map(({ alert }) => alert.id),
      ),
      ...logWrites(keys, lines),
    );
    const outcome = await transact(
      work.transaction([{ place: [key, "n"], version: expected }, ...(only ? [only] : [])]),
    );
    if (outcome.kind === "conflict") return { outcome: "lost" };
    const released = await releases.release(id, ended, now);
    const waited = await releases.read(read, now);
    return { outcome: "stored", nonce: id, wake: earliestWakes(work.wakes, released, waited) };
  };
}

interface Changing {
  readonly changes: readonly AlertChange[];
  /** Destinations of those that end. */
  readonly places: ReadonlyMap<string, readonly Destined[]>;
  /** Episodes as they are stored. */
  readonly known: ReadonlyMap<string, string>;
}

function idsOf(changes: readonly AlertChange[], ...kinds: readonly AlertChange["kind"][]): string[] {
  return changes.flatMap(({ kind, alert }) => (kinds.includes(kind) ? [alert.id] : []));
}

/** The changes without ends of what does not fire: an episode that moved to another shard may have ended there. */
async function readChanging(redis: Redis, keys: Keys, changes: readonly AlertChange[]): Promise<Changing> {
  const [places, known] = await Promise.all([
    destinationsIn(redis, keys, idsOf(changes, "resolved")),
    statesOf(redis, keys, idsOf(changes, "resolved", "updated")),
  ]);
  const beginning = new Set(idsOf(changes, "firing"));
  // Where the alert itself was lost, a group still has it as a member.
  const fires = (id: string) =>
    known.has(id) ? isFiring(known.get(id)) : beginning.has(id) || !!places.get(id)?.length;
  return { changes: changes.filter(({ kind, alert }) => kind !== "resolved" || fires(alert.id)), places, known };
}

/** The alerts themselves: `F` and JSON of one that fires, `R` of one that is resolved and still in a group. */
function alertWrites(keys: Keys, { changes, places, known }: Changing): Write[] {
  const kept = changes.flatMap(({ kind, alert }) => {
    if (kind === "resolved") return places.get(alert.id)?.length ? [alert.id, `R${JSON.stringify(alert)}`] : [];
    return kind === "firing" || known.has(alert.id) ? [alert.id, `F${JSON.stringify(alert)}`] : [];
  });
  const gone = changes.flatMap(({ kind, alert }) =>
    kind === "resolved" && !places.get(alert.id)?.length ? [alert.id] : [],
  );
  return [
    ...(kept.length > 0 ? [["HSET", keys.alerts, ...kept] as const] : []),
    ...(gone.length > 0 ? ([keys.alerts, keys.acks] as const).map((key) => ["HDEL", key, ...gone] as const) : []),
  ];
}
