/** Stored alerts in the groups that the active configuration routes them to. */
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import { newsAt, settingsOf } from "../alerting/group.ts";
import { isNotified } from "../alerting/notification-log.ts";
import type { Destination } from "../alerting/route.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { episodesIn, type Intent } from "./claim.ts";
import { adding } from "./conversations.ts";
import {
  collectEpisodes,
  type Destined,
  destinationsIn,
  destined,
  GroupWork,
  isFiring,
  partsOf,
  statesOf,
} from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { earliestWakes, type Wakes } from "./releases.ts";
import { type Check, parseRead, type Read, type Transact } from "./transact.ts";

interface Reload {
  readonly integrations: ReadonlySet<string>;
  readonly now: Instant;
  readonly only?: Check | undefined;
  /** The alerts were routed by another configuration before. */
  readonly isNew: boolean;
}

type RoutedAlert = { readonly id: string; readonly to: readonly Destination[] };

const PAGE = 200;

export function createReroute(redis: Redis, keys: Keys, { transact }: Transact) {
  /** Undefined where `only` does not hold. */
  async function move(
    page: readonly RoutedAlert[],
    { integrations, now, only, isNew }: Reload,
  ): Promise<Wakes | undefined> {
    for (;;) {
      const work = new GroupWork(redis, keys);
      const rerouting = await readRerouting(redis, keys, work, page);
      const moving = new Moving(keys, work, rerouting, { integrations, now, isNew });
      for (const alert of page) moving.add(alert);
      const checks = page.map(({ id }) => ({
        place: [keys.alerts, id] as const,
        version: rerouting.alerts.get(id) ?? "",
      }));
      const outcome = await transact(work.transaction([...(only ? [only] : []), ...rerouting.intents, ...checks]));
      if (outcome.kind === "conflict" && outcome.place === only?.place) return undefined;
      if (outcome.kind === "conflict") continue;
      await collectEpisodes(redis, keys, [...moving.left]);
      return work.wakes;
    }
  }

  /** Forgets integrations that are not configured and owed nothing. */
  async function forget(integrations: ReadonlySet<string>): Promise<void> {
    for (const id of await redis.smembers(keys.integrations)) {
      if (integrations.has(id)) continue;
      // Owed there, or under way.
      if ((await redis.exists(keys.notificationLog(id), keys.claim(id), keys.intent(id))) > 0) continue;
      const groups = await redis.hkeys(keys.settings(id));
      const all = [
        keys.due(id),
        keys.roots(id),
        keys.changed(id),
        keys.settings(id),
        keys.backoff(id),
        keys.trouble(id),
      ];
      const own = [...all, ...groups.map((group) => keys.group(id, group))];
      await redis
        .multi()
        .srem(keys.integrations, id)
        .hdel(keys.started, id)
        .del(...own)
        .exec();
    }
  }

  /**
   * Moves stored alerts to the destinations of the active configuration (none for a resolved one): new groups become
   * due, and alerts leave groups they are not routed to any more unless they were notified there. Each group is looked at again
   * where the configuration is another than the last time. Gives what is due. Ends once `only` does not hold.
   */
  return async (
    alerts: readonly RoutedAlert[],
    integrations: readonly string[],
    now: Instant,
    only?: Check,
  ): Promise<Map<string, Instant>> => {
    const wakes: Wakes[] = [];
    const isNew = only === undefined || ((await redis.get(keys.routed)) ?? "") !== only.version;
    for (const page of chunksOf(alerts, PAGE)) {
      const moved = await move(page, { integrations: new Set(integrations), now, only, isNew });
      if (!moved) return earliestWakes(...wakes);
      wakes.push(moved);
    }
    if (only && isNew) await redis.set(keys.routed, only.version);
    await forget(new Set(integrations));
    return earliestWakes(...wakes);
  };
}

interface Rerouting {
  readonly alerts: ReadonlyMap<string, string>;
  readonly places: ReadonlyMap<string, readonly Destined[]>;
  /** Integrations with an episode that was, or may have been, notified there. */
  readonly notified: ReadonlySet<string>;
  /** The same, by since when the episode is in a group there; the summary of a cold start does not say. */
  readonly since: ReadonlyMap<string, Instant>;
  /** The intents of messages under way, to be checked. */
  readonly intents: readonly Read[];
  /** By group: how many members it has, kept up to date. */
  readonly sizes: Map<Destined, number>;
}

async function readRerouting(
  redis: Redis,
  keys: Keys,
  work: GroupWork,
  page: readonly RoutedAlert[],
): Promise<Rerouting> {
  const ids = page.map(({ id }) => id);
  const places = await destinationsIn(redis, keys, ids);
  const old = [...new Set([...places.values()].flat())];
  const asked = [...places].flatMap(([id, all]) => all.map((place) => ({ id, place })));
  // Before the log: a turn that writes that writes them.
  await work.load([
    ...old,
    ...page.flatMap(({ to }) => to.map(({ integration, group }) => destined(integration, group))),
  ]);
  const intents = await readIntents(redis, keys, [...new Set(old.map((place) => partsOf(place).integration))]);
  const [entries, times] = await Promise.all([
    pipelined<string | null>(redis, (batch) => {
      for (const { id, place } of asked) batch.hget(keys.notificationLog(partsOf(place).integration), id);
    }),
    pipelined<string | number | null>(redis, (batch) => {
      for (const { id, place } of asked)
        batch.zscore(keys.members(partsOf(place).integration, partsOf(place).group), id);
      for (const place of old) batch.zcard(keys.members(partsOf(place).integration, partsOf(place).group));
    }),
  ]);
  const here = asked.map(({ id, place }) => destined(partsOf(place).integration, id));
  const isOwn = asked.map(({ place }) => partsOf(place).group !== coldStartGroup);
  return {
    alerts: await statesOf(redis, keys, ids),
    places,
    notified: new Set([
      ...here.filter((_, i) => isNotified(JSON.parse(entries[i] ?? "{}"))),
      ...intents.flatMap(({ integration, episodes }) => episodes.map((id) => destined(integration, id))),
    ]),
    since: new Map(here.flatMap((one, i) => (isOwn[i] ? [[one, Number(times[i] ?? 0)] as const] : []))),
    intents: intents.map(({ read }) => read),
    sizes: new Map(old.map((place, i) => [place, Number(times[asked.length + i] ?? 0)])),
  };
}

/** The messages under way at these integrations, and the episodes that each is about. */
async function readIntents(redis: Redis, keys: Keys, integrations: readonly string[]) {
  const texts = await pipelined<string | null>(redis, (batch) => {
    for (const id of integrations) batch.get(keys.intent(id));
  });
  return integrations.map((integration, i) => {
    const read = parseRead([keys.intent(integration)], texts[i]);
    const { groups = {} }: Partial<Intent> = JSON.parse(read.text ?? "{}");
    return { integration, read, episodes: Object.values(groups).flatMap(episodesIn) };
  });
}

class Moving {
  readonly #keys: Keys;
  readonly #work: GroupWork;
  readonly #stored: Rerouting;
  readonly #integrations: ReadonlySet<string>;
  readonly #now: Instant;
  readonly #isNew: boolean;
  /** Episodes that left a group. */
  readonly left = new Set<string>();

  constructor(keys: Keys, work: GroupWork, stored: Rerouting, { integrations, now, isNew }: Reload) {
    this.#keys = keys;
    this.#work = work;
    this.#stored = stored;
    this.#integrations = integrations;
    this.#now = now;
    this.#isNew = isNew;
  }

  add({ id, to }: RoutedAlert): void {
    const fires = isFiring(this.#stored.alerts.get(id));
    const wanted = fires
      ? new Map(to.map((one) => [destined(one.integration, one.group), one]))
      : new Map<Destined, Destination>();
    const places = this.#stored.places.get(id) ?? [];
    for (const [place, one] of wanted) this.#work.configure(place, settingsOf(one));
    for (const place of places) {
      const hasLeft = !wanted.has(place) && this.#leaveOld(id, place, fires, [...wanted.keys()]);
      if (this.#isNew && !hasLeft) this.#look(place);
    }
    for (const place of wanted.keys()) if (!places.includes(place)) this.#join(id, place);
  }

  /**
   * Whatever the configuration changes may be due: news, an end, a reminder, an escalation, what was suppressed. Not what
   * waits since its cause ended.
   */
  #look(place: Destined): void {
    const head = this.#work.head(place);
    if (!head) return;
    this.#work.put(place, { ...head, releasedAt: head.releasedAt ?? this.#now, nextAt: this.#now });
    this.#work.due(place, this.#now);
  }

  /** An alert leaves a group that it is not routed to any more, unless its end is owed there: false. */
  #leaveOld(id: string, place: Destined, fires: boolean, wanted: readonly Destined[]): boolean {
    const { integration, group } = partsOf(place);
    const isNotified = this.#stored.notified.has(destined(integration, id));
    const others = wanted.filter((one) => partsOf(one).integration === integration);
    const isConfigured = this.#integrations.has(integration);
    const isRegrouped = fires && others.length > 0 && group !== coldStartGroup;
    const isUnrouted = (fires && others.length === 0) || !isConfigured;
    if (!isRegrouped && !(isUnrouted && !isNotified)) return false;
    for (const other of others) {
      this.#look(other);
      if (isNotified) this.#shareConversation(place, other);
    }
    this.#work.leave(place, id);
    if (others.length === 0) this.#work.know(integration, id, undefined);
    this.left.add(id);
    const size = (this.#stored.sizes.get(place) ?? 0) - 1;
    this.#stored.sizes.set(place, size);
    const head = this.#work.head(place);
    this.#work.touch(place, this.#now, head);
    // A message under way may still be accepted; the end of its claim removes the group.
    if (head && !isConfigured && size <= 0 && head.claimed === undefined) this.#work.drop(place);
    return true;
  }

  /**
   * An alert that was notified takes the open conversation of its old group along: the groups share it from now on, and
   * it is over with the last of them.
   */
  #shareConversation(from: Destined, to: Destined): void {
    const head = this.#work.head(from);
    const other = this.#work.head(to);
    const known = head?.conversation;
    if (!head || !other || !known) return;
    const { integration, group } = partsOf(from);
    const conversation = { ...known, groups: known.groups ?? 1 };
    const talk = this.#keys.talk(integration, conversation.id);
    const together = [group];
    if (!other.conversation) {
      this.#work.put(to, { ...other, conversation });
      together.push(partsOf(to).group);
    }
    const shared = { ...head, conversation, shown: undefined };
    this.#work.put(from, shared);
    this.#work.writes.push(...adding(talk, together));
    this.#work.touch(from, this.#now, shared);
  }

  /** It is there as long as it was in another group of the integration. */
  #join(id: string, place: Destined): void {
    const head = this.#work.head(place);
    if (!head) return;
    this.#work.join(place, id, this.#stored.since.get(destined(partsOf(place).integration, id)) ?? this.#now);
    this.#work.due(place, newsAt(head, this.#now));
  }
}
