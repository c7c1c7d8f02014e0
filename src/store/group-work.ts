/**
 * One change of groups and their members. Groups that are read are changed by `alerting/group.ts` and written in one
 * transaction that holds only where none of them was written meanwhile; a sweep adds members and makes groups due blindly.
 */
import type { Redis } from "ioredis";
import type { GroupHead, GroupSettings } from "../alerting/group.ts";
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
  readonly before: GroupHead | undefined;
  head: GroupHead | undefined;
}

/** Episodes of many groups, and groups of many episodes, are written in one command each. */
class Members {
  readonly #by = new Map<string, Map<string, readonly [string] | readonly [since: Instant, string]>>();
  add(key: string, member: string, since?: Instant): void {
    const known = this.#by.get(key) ?? new Map();
    this.#by.set(key, known.set(member, since === undefined ? [member] : [since, member]));
  }
  delete(key: string, member: string): void {
    this.#by.get(key)?.delete(member);
  }
  writes(command: "SADD" | "SREM" | "ZADD" | "ZREM" | "HDEL"): Write[] {
    return [...this.#by].flatMap(([key, members]): Write[] =>
      members.size > 0 ? [[command, key, ...[...members.values()].flat()]] : [],
    );
  }
}

/** The episodes of groups, and the groups of episodes. */
class Memberships {
  readonly of = new Members();
  readonly in = new Members();
}

/** Times of groups in an index of each integration. */
class Times {
  readonly #by = new Map<Destined, Instant | undefined>();
  /** The sooner of two. */
  add(destination: Destined, at: Instant): void {
    this.#by.set(destination, Math.min(at, this.#by.get(destination) ?? at));
  }
  set(destination: Destined, at: Instant | undefined): void {
    this.#by.set(destination, at);
  }
  writes(keyOf: (integration: string) => string, isSooner: boolean): Write[] {
    const byIntegration = Map.groupBy(this.#by, ([destination]) => partsOf(destination).integration);
    return [...byIntegration].flatMap(([integration, all]): Write[] => {
      const key = keyOf(integration);
      const times = all.map(([destination, at]) => ({ group: partsOf(destination).group, at }));
      const set = times.flatMap(({ group, at }) => (at === undefined ? [] : [at, group]));
      const gone = times.flatMap(({ group, at }) => (at === undefined ? [group] : []));
      return [
        ...chunksOf(set, PAGE).map((page) => ["ZADD", key, ...(isSooner ? ["LT"] : []), ...page] as const),
        ...(gone.length > 0 ? [["ZREM", key, ...gone] as const] : []),
      ];
    });
  }
}

export class GroupWork {
  readonly redis: Redis;
  readonly keys: Keys;
  readonly #known = new Map<Destined, Known>();
  readonly #settings = new Map<Destined, GroupSettings>();
  readonly #joining = new Memberships();
  readonly #leaving = new Memberships();
  readonly #forgotten = new Members();
  readonly #changed = new Set<Destined>();
  readonly #integrations = new Set<string>();
  readonly #expiring = new Map<Destined, number>();
  readonly #gone = new Set<Destined>();
  readonly #due = { sooner: new Times(), set: new Times() };
  readonly #roots = { sooner: new Times(), set: new Times() };
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
    this.#settings.set(destination, settings);
    const known = this.#known.get(destination);
    if (known) known.head = { ...known.head, ...settings };
  }

  /** The group is to be looked at by then, or sooner; its integration is woken. */
  due(destination: Destined, at: Instant): void {
    this.#due.sooner.add(destination, at);
    const { integration } = partsOf(destination);
    this.#changed.add(destination);
    this.#wakes.set(integration, Math.min(at, this.#wakes.get(integration) ?? at));
  }

  /** The group is to be looked at then, and not sooner; undefined for not at all. Nothing may be added to it meanwhile. */
  schedule(destination: Destined, at: Instant | undefined): void {
    this.#due.set.set(destination, at);
  }

  /** The root of the group, where it has one, may be out of date. */
  touch(destination: Destined, at: Instant, head: GroupHead | undefined): void {
    const { shown, conversation } = head ?? {};
    // At a pager, what several groups share is acknowledged with the last of them.
    if (shown === undefined && conversation?.groups === undefined) return;
    this.#roots.sooner.add(destination, at);
    const { integration } = partsOf(destination);
    this.#changed.add(destination);
    this.#wakes.set(integration, Math.min(at, this.#wakes.get(integration) ?? at));
  }

  /** The root is compared with the present then; undefined for not at all. */
  scheduleRoot(destination: Destined, at: Instant | undefined): void {
    this.#roots.set.set(destination, at);
  }

  drop(destination: Destined): void {
    const { integration, group } = partsOf(destination);
    this.writes.push(["HDEL", this.keys.changed(integration), group]);
    this.#of(destination).head = undefined;
    this.#gone.add(destination);
    this.schedule(destination, undefined);
    this.scheduleRoot(destination, undefined);
  }

  /** A group without members: what it remembers is forgotten after a while, unless it is written again. */
  leaveEmpty(destination: Destined, ms: number): void {
    const { integration, group } = partsOf(destination);
    this.writes.push(["HDEL", this.keys.changed(integration), group]);
    this.#expiring.set(destination, ms);
    this.#gone.add(destination);
    this.schedule(destination, undefined);
  }

  join(destination: Destined, episode: string, since: Instant): void {
    this.#move(destination, episode, this.#leaving, this.#joining, since);
    this.#integrations.add(partsOf(destination).integration);
  }

  leave(destination: Destined, episode: string): void {
    this.#move(destination, episode, this.#joining, this.#leaving);
  }

  #move(destination: Destined, episode: string, from: Memberships, to: Memberships, since?: Instant): void {
    const { integration, group } = partsOf(destination);
    const [members, places] = [this.keys.members(integration, group), this.keys.in(episode)];
    this.#touch(destination);
    from.of.delete(members, episode);
    from.in.delete(places, destination);
    to.of.add(members, episode, since);
    to.in.add(places, destination);
  }

  /** The integration knows nothing of the episode any more. */
  forget(integration: string, episode: string): void {
    this.#forgotten.add(this.keys.notificationLog(integration), episode);
  }

  /** The transaction of this change. */
  transaction(id: string, checks: Transaction["checks"] = []): Transaction {
    const changed = [...this.#known.values()].filter(({ before, head }) => head !== before);
    const { due, roots } = this.keys;
    return {
      id,
      checks: [...checks, ...[...this.#known.values()].map(({ read }) => read)],
      writes: [
        ...changed.map(({ read, head }) => writing(id, read.place, head && storedHead(head))),
        ...this.#settingWrites(),
        ...this.#due.set.writes(due, false),
        ...this.#due.sooner.writes(due, true),
        ...this.#roots.set.writes(roots, false),
        ...this.#roots.sooner.writes(roots, true),
        ...this.#changeWrites(id),
        ...this.#joining.of.writes("ZADD"),
        ...this.#joining.in.writes("SADD"),
        ...this.#leaving.of.writes("ZREM"),
        ...this.#leaving.in.writes("SREM"),
        ...this.#forgotten.writes("HDEL"),
        ...(this.#integrations.size > 0 ? [["SADD", this.keys.integrations, ...this.#integrations] as const] : []),
        ...[...this.#expiring].map(([destination, ms]) => ["PEXPIRE", this.#headKey(destination), ms] as const),
        ...this.writes,
      ],
    };
  }

  #settingWrites(): Write[] {
    const byIntegration = Map.groupBy(this.#settings, ([destination]) => partsOf(destination).integration);
    const gone = Map.groupBy(this.#gone, (destination) => partsOf(destination).integration);
    return [
      ...[...byIntegration].map(([integration, all]): Write => {
        const fields = all.flatMap(([destination, one]) => [partsOf(destination).group, JSON.stringify(one)]);
        return ["HSET", this.keys.settings(integration), ...fields];
      }),
      ...[...gone].map(([integration, all]): Write => {
        return ["HDEL", this.keys.settings(integration), ...all.map((one) => partsOf(one).group)];
      }),
    ];
  }

  #changeWrites(id: string): Write[] {
    const byIntegration = Map.groupBy(this.#changed, (destination) => partsOf(destination).integration);
    return [...byIntegration].map(([integration, all]): Write => {
      return ["HSET", this.keys.changed(integration), ...all.flatMap((one) => [partsOf(one).group, id])];
    });
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
