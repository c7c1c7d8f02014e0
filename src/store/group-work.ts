/**
 * One change of groups and their members. Groups that are read are changed by `alerting/group.ts` and written in one
 * transaction that holds only where none of them was written meanwhile; a sweep adds members and makes groups due blindly.
 */
import type { Redis } from "ioredis";
import type { GroupHead, GroupSettings } from "../alerting/group.ts";
import type { NotificationLogEntry } from "../alerting/model.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { newId, parseRead, type Read, type Transaction, type Write, writing } from "./transact.ts";

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
  readonly before: GroupHead | undefined;
  head: GroupHead | undefined;
}

/** Writes about one member each, of which the last one counts: those of one command and key are made in one. */
class Gathered {
  readonly #by = new Map<string, Map<string, Write>>();
  add(member: string, write: Write): void {
    const [, key] = write;
    this.#by.set(key, (this.#by.get(key) ?? new Map()).set(member, write));
  }
  writes(): Write[] {
    return [...this.#by].flatMap(([key, of]) =>
      [...Map.groupBy(of.values(), ([command]) => command)].map(
        ([command, all]): Write => [command, key, ...all.flatMap(([, , ...words]) => words)],
      ),
    );
  }
}

export class GroupWork {
  readonly redis: Redis;
  readonly keys: Keys;
  readonly id: string;
  readonly #known = new Map<Destined, Known>();
  readonly #gathered = new Gathered();
  /** By index, the times of groups that are to be looked at by then, or sooner. */
  readonly #times = new Map<string, Map<string, Instant>>();
  readonly #wakes = new Map<string, Instant>();
  /** Other writes of the same change, which come last. */
  readonly writes: Write[] = [];

  /** `id`: of its transaction. */
  constructor(redis: Redis, keys: Keys, id = newId()) {
    this.redis = redis;
    this.keys = keys;
    this.id = id;
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
      const [texts = [], ...settings] = await pipelined<(string | null)[]>(this.redis, (batch) => {
        batch.mget(heads);
        for (const [integration, all] of of)
          batch.hmget(this.keys.settings(integration), ...all.map((one) => partsOf(one).group));
      });
      const known = new Map(of.flatMap(([, all], i) => all.map((one, j) => [one, settings[i]?.[j]] as const)));
      for (const [i, destination] of page.entries()) {
        const read = parseRead([heads[i] ?? ""], texts[i]);
        const own = known.get(destination);
        const before = own
          ? { ...(JSON.parse(own) as GroupSettings), ...(JSON.parse(read.text ?? "{}") as Partial<GroupHead>) }
          : undefined;
        this.#known.set(destination, { read, before, head: before });
      }
    }
  }

  /** The group as it is after what was changed so far; undefined where there is none. It has to be loaded. */
  head(destination: Destined): GroupHead | undefined {
    return this.#of(destination).head;
  }

  /** The transaction that wrote the group last, as it was read. */
  version(destination: Destined): string {
    return this.#of(destination).read.version;
  }

  put(destination: Destined, head: GroupHead): void {
    this.#of(destination).head = head;
  }

  /** The settings of a group, which need not be loaded; with them it exists. */
  configure(destination: Destined, settings: GroupSettings): void {
    const { integration, group } = partsOf(destination);
    this.#gathered.add(group, ["HSET", this.keys.settings(integration), group, JSON.stringify(settings)]);
    const known = this.#known.get(destination);
    if (known) known.head = { ...known.head, ...settings };
  }

  /** The group is to be looked at by then, or sooner; its integration is woken. */
  due(destination: Destined, at: Instant): void {
    this.#lookAt(this.keys.due, destination, at);
  }

  /** The group is to be looked at then, and not sooner; undefined for not at all. Nothing may be added to it meanwhile. */
  schedule(destination: Destined, at: Instant | undefined): void {
    this.#set(this.keys.due, destination, at);
  }

  /** The root of the group, where it has one, may be out of date. */
  touch(destination: Destined, at: Instant, head: GroupHead | undefined): void {
    const { shown, conversation } = head ?? {};
    // At a pager, what several groups share is acknowledged with the last of them.
    if (shown !== undefined || conversation?.groups !== undefined) this.#lookAt(this.keys.roots, destination, at);
  }

  /** The root is compared with the present then; undefined for not at all. */
  scheduleRoot(destination: Destined, at: Instant | undefined): void {
    this.#set(this.keys.roots, destination, at);
  }

  drop(destination: Destined): void {
    this.#of(destination).head = undefined;
    this.#forgetSettings(destination);
    this.scheduleRoot(destination, undefined);
  }

  /** A group without members: what it remembers is forgotten after a while, unless it is written again. */
  leaveEmpty(destination: Destined, ms: number): void {
    this.#forgetSettings(destination);
    this.writes.push(["PEXPIRE", this.#headKey(destination), ms]);
  }

  join(destination: Destined, episode: string, since: Instant): void {
    const { integration, group } = partsOf(destination);
    this.#touch(destination);
    this.#gathered.add(episode, ["ZADD", this.keys.members(integration, group), since, episode]);
    this.#gathered.add(destination, ["SADD", this.keys.in(episode), destination]);
    this.#gathered.add(integration, ["SADD", this.keys.integrations, integration]);
  }

  leave(destination: Destined, episode: string): void {
    const { integration, group } = partsOf(destination);
    this.#touch(destination);
    this.#gathered.add(episode, ["ZREM", this.keys.members(integration, group), episode]);
    this.#gathered.add(destination, ["SREM", this.keys.in(episode), destination]);
  }

  /** The entry of the episode from now on; undefined: none. */
  know(integration: string, episode: string, entry: NotificationLogEntry | undefined): void {
    const log = this.keys.notificationLog(integration);
    this.#gathered.add(episode, entry ? ["HSET", log, episode, JSON.stringify(entry)] : ["HDEL", log, episode]);
  }

  /** The transaction of this change. */
  transaction(checks: Transaction["checks"] = []): Transaction {
    const changed = [...this.#known.values()].filter(({ before, head }) => head !== before);
    return {
      id: this.id,
      checks: [...checks, ...[...this.#known.values()].map(({ read }) => read)],
      writes: [
        ...changed.map(({ read, head }) => writing(this.id, read.place, head && storedHead(head))),
        ...this.#gathered.writes(),
        ...[...this.#times].flatMap(([key, times]) => {
          const pages = [...chunksOf([...times], PAGE)];
          return pages.map((page): Write => ["ZADD", key, "LT", ...page.flatMap(([group, at]) => [at, group])]);
        }),
        ...this.writes,
      ],
    };
  }

  #lookAt(index: (integration: string) => string, destination: Destined, at: Instant): void {
    const { integration, group } = partsOf(destination);
    const times = this.#times.get(index(integration)) ?? new Map<string, Instant>();
    this.#times.set(index(integration), times.set(group, Math.min(at, times.get(group) ?? at)));
    this.#gathered.add(group, ["HSET", this.keys.changed(integration), group, this.id]);
    this.#wakes.set(integration, Math.min(at, this.#wakes.get(integration) ?? at));
  }

  #set(index: (integration: string) => string, destination: Destined, at: Instant | undefined): void {
    const { integration, group } = partsOf(destination);
    const key = index(integration);
    this.#gathered.add(group, at === undefined ? ["ZREM", key, group] : ["ZADD", key, at, group]);
  }

  #forgetSettings(destination: Destined): void {
    const { integration, group } = partsOf(destination);
    const { changed, settings } = this.keys;
    for (const key of [changed(integration), settings(integration)]) this.#gathered.add(group, ["HDEL", key, group]);
    this.schedule(destination, undefined);
  }

  /** The head of a group that was read is written with every change of its members. */
  #touch(destination: Destined): void {
    const known = this.#known.get(destination);
    if (known?.head) known.head = { ...known.head };
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
}

function storedHead({ labels, waitMs, intervalMs, repeatMs, stormGroups, escalateAfterMs, ...own }: GroupHead): string {
  return JSON.stringify(own);
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
