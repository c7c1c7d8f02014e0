/**
 * One change of groups and their members: the groups are read, changed by `alerting/group.ts`, and written in one
 * transaction that holds only where none of them was written meanwhile. Whatever is written about a group writes its head.
 */
import type { Redis } from "ioredis";
import { dueAt, type GroupHead, type GroupState, touched, withNews } from "../alerting/group.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { parseRead, type Read, type Transaction, type Write, writing } from "./transact.ts";

/** A group at an integration, as it is stored among the destinations of an episode: `<integration>\n<group>`. */
export type Destined = string;

export const destined = (integration: string, group: string): Destined => `${integration}\n${group}`;

/** A group's id has no line break, the name of an integration might. */
export function partsOf(destination: Destined): { readonly integration: string; readonly group: string } {
  const at = destination.lastIndexOf("\n");
  return { integration: destination.slice(0, at), group: destination.slice(at + 1) };
}

/** Redis answers nothing else during a call: the most that one reads. */
const PAGE = 500;

interface Known {
  readonly read: Read;
  readonly before: GroupState | undefined;
  state: GroupState | undefined;
}

/** Episodes of many groups, and groups of many episodes, are written in one command each. */
class Members {
  readonly #by = new Map<string, Set<string>>();
  add(key: string, member: string): void {
    const known = this.#by.get(key);
    if (known) known.add(member);
    else this.#by.set(key, new Set([member]));
  }
  delete(key: string, member: string): void {
    this.#by.get(key)?.delete(member);
  }
  writes(command: "SADD" | "SREM"): Write[] {
    return [...this.#by].flatMap(([key, members]): Write[] => (members.size > 0 ? [[command, key, ...members]] : []));
  }
}

export class GroupWork {
  readonly redis: Redis;
  readonly keys: Keys;
  readonly #known = new Map<Destined, Known>();
  readonly #joining = new Members();
  readonly #leaving = new Members();
  readonly #integrations = new Set<string>();
  readonly #expiring = new Map<Destined, number>();
  readonly #wakes = new Map<string, Instant>();
  /** Other writes of the same change. */
  readonly writes: Write[] = [];

  constructor(redis: Redis, keys: Keys) {
    this.redis = redis;
    this.keys = keys;
  }

  /** When something is due at each integration that this change makes something due at. */
  get wakes(): ReadonlyMap<string, Instant> {
    return this.#wakes;
  }

  /** Reads those of these groups that were not read yet. */
  async load(destinations: Iterable<Destined>): Promise<void> {
    const lacking = [...new Set(destinations)].filter((one) => !this.#known.has(one));
    for (const page of chunksOf(lacking, PAGE)) {
      const heads = page.map((one) => this.#headKey(one));
      const of = [...Map.groupBy(page, (one) => partsOf(one).integration)];
      const [texts = [], ...scores] = await pipelined<(string | null)[]>(this.redis, (batch) => {
        batch.mget(heads);
        for (const [integration, all] of of)
          batch.zmscore(
            this.keys.due(integration),
            all.map((one) => partsOf(one).group),
          );
      });
      const dues = new Map(
        of.flatMap(([, all], i) => all.map((one, j) => [one, scores[i]?.[j] ?? undefined] as const)),
      );
      for (const [i, destination] of page.entries()) {
        const read = parseRead([heads[i] ?? ""], texts[i]);
        const score = dues.get(destination);
        const due = score === undefined ? undefined : Number(score);
        const before = read.text === undefined ? undefined : { head: JSON.parse(read.text) as GroupHead, due };
        this.#known.set(destination, { read, before, state: before });
      }
    }
  }

  /** The group as it is after what was changed so far; undefined where there is none. It has to be loaded. */
  state(destination: Destined): GroupState | undefined {
    return this.#of(destination).state;
  }

  put(destination: Destined, state: GroupState): void {
    this.#of(destination).state = state;
  }

  /** The same, and its integration is woken when it is due. */
  wake(destination: Destined, state: GroupState | undefined): void {
    if (!state) return;
    this.put(destination, state);
    const { integration } = partsOf(destination);
    if (state.due !== undefined)
      this.#wakes.set(integration, Math.min(state.due, this.#wakes.get(integration) ?? state.due));
  }

  /** Due at that time or sooner, where there is such a group. */
  due(destination: Destined, at: Instant): void {
    const state = this.state(destination);
    if (state) this.wake(destination, dueAt(state, at));
  }

  /** Something to notify of, where there is such a group. */
  news(destination: Destined, now: Instant): void {
    const state = this.state(destination);
    if (state) this.wake(destination, withNews(state, now));
  }

  drop(destination: Destined): void {
    this.#of(destination).state = undefined;
  }

  /** Deletes the group after a while, unless it is written again. */
  expire(destination: Destined, ms: number): void {
    this.#expiring.set(destination, ms);
  }

  join(destination: Destined, episode: string): void {
    this.#touch(destination);
    this.#leaving.delete(this.#membersKey(destination), episode);
    this.#leaving.delete(this.keys.in(episode), destination);
    this.#joining.add(this.#membersKey(destination), episode);
    this.#joining.add(this.keys.in(episode), destination);
    this.#integrations.add(partsOf(destination).integration);
  }

  leave(destination: Destined, episode: string): void {
    this.#touch(destination);
    this.#joining.delete(this.#membersKey(destination), episode);
    this.#joining.delete(this.keys.in(episode), destination);
    this.#leaving.add(this.#membersKey(destination), episode);
    this.#leaving.add(this.keys.in(episode), destination);
  }

  /** The transaction of this change. */
  transaction(id: string, checks: Transaction["checks"] = []): Transaction {
    const changed = [...this.#known].filter(([, { before, state }]) => state !== before);
    const writes = changed.map(([, { read, state }]) => writing(id, read.place, state && JSON.stringify(state.head)));
    return {
      id,
      checks: [...checks, ...[...this.#known.values()].map(({ read }) => read)],
      writes: [
        ...writes,
        ...this.#dueWrites(changed.map(([destination]) => destination)),
        ...this.#joining.writes("SADD"),
        ...this.#leaving.writes("SREM"),
        ...(this.#integrations.size > 0 ? [["SADD", this.keys.integrations, ...this.#integrations] as const] : []),
        ...[...this.#expiring].map(([destination, ms]) => ["PEXPIRE", this.#headKey(destination), ms] as const),
        ...this.writes,
      ],
    };
  }

  #dueWrites(changed: readonly Destined[]): Write[] {
    const byIntegration = Map.groupBy(changed, (destination) => partsOf(destination).integration);
    return [...byIntegration].flatMap(([integration, all]): Write[] => {
      const key = this.keys.due(integration);
      const due = all.map((destination) => ({ ...partsOf(destination), at: this.state(destination)?.due }));
      const set = due.flatMap(({ group, at }) => (at === undefined ? [] : [at, group]));
      const gone = due.flatMap(({ group, at }) => (at === undefined ? [group] : []));
      return [
        ...(set.length > 0 ? [["ZADD", key, ...set] as const] : []),
        ...(gone.length > 0 ? [["ZREM", key, ...gone] as const] : []),
      ];
    });
  }

  /** A head is written with every change of its members. */
  #touch(destination: Destined): void {
    const known = this.#of(destination);
    if (known.state) known.state = { ...known.state };
  }

  #of(destination: Destined): Known {
    const known = this.#known.get(destination);
    if (!known) throw new Error(`a group was not read: ${destination}`);
    return known;
  }

  #headKey(destination: Destined): string {
    const { integration, group } = partsOf(destination);
    return this.keys.group(integration, group);
  }

  #membersKey(destination: Destined): string {
    const { integration, group } = partsOf(destination);
    return this.keys.members(integration, group);
  }
}

/** The root of the group may be out of date; during a claim, the end of it looks again. */
export function touchIn(work: GroupWork, destination: Destined, now: Instant, isAny = false): void {
  const state = work.state(destination);
  const next = state && touched(state, now, isAny);
  if (next?.head.claimed === undefined) work.wake(destination, next);
  else work.put(destination, next);
}

/** The destinations of episodes, by episode. */
export async function destinationsIn(
  redis: Redis,
  keys: Keys,
  episodes: readonly string[],
): Promise<ReadonlyMap<string, readonly Destined[]>> {
  const found = new Map<string, readonly Destined[]>();
  for (const page of chunksOf(episodes, PAGE)) {
    const sets = await pipelined<string[]>(redis, (batch) => {
      for (const episode of page) batch.smembers(keys.in(episode));
    });
    for (const [i, episode] of page.entries()) found.set(episode, sets[i] ?? []);
  }
  return found;
}

/** Whether each episode fires, as stored; undefined where nothing is stored of it. */
export async function statesOf(
  redis: Redis,
  keys: Keys,
  episodes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const page of chunksOf(episodes, PAGE)) {
    const texts = await redis.hmget(keys.alerts, ...page);
    for (const [i, episode] of page.entries()) {
      const text = texts[i];
      if (text) found.set(episode, text);
    }
  }
  return found;
}

export const isFiring = (text: string | undefined): boolean => text?.startsWith("F") === true;

/** Deletes those of these resolved episodes that no group has as a member any more, with their acknowledgements. */
export async function collectEpisodes(redis: Redis, keys: Keys, episodes: readonly string[]): Promise<void> {
  const texts = await statesOf(redis, keys, episodes);
  const ended = [...texts].flatMap(([episode, text]) => (isFiring(text) ? [] : [episode]));
  const destinations = await destinationsIn(redis, keys, ended);
  const gone = ended.filter((episode) => destinations.get(episode)?.length === 0);
  for (const page of chunksOf(gone, PAGE))
    await redis
      .multi()
      .hdel(keys.alerts, ...page)
      .hdel(keys.acks, ...page)
      .exec();
}
