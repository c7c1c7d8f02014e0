/** Stored alerts in the groups that the active configuration routes them to. */
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import { carried, configured, type GroupState, withNews } from "../alerting/group.ts";
import type { Destination } from "../alerting/route.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import {
  collectEpisodes,
  type Destined,
  destinationsIn,
  destined,
  GroupWork,
  isFiring,
  partsOf,
  statesOf,
  touchIn,
} from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { earliestWakes, type Wakes } from "./releases.ts";
import { newId, type Transact } from "./transact.ts";

type RoutedAlert = { readonly id: string; readonly to: readonly Destination[] };

const PAGE = 200;
/** A message under way may still be accepted; the end of its claim removes the group. */
const CLAIMED_MOST_MS = 600_000;
const TALK_KEPT_MS = 90 * 86_400_000;

export function createReroute(redis: Redis, keys: Keys, { transact }: Transact) {
  async function move(page: readonly RoutedAlert[], integrations: ReadonlySet<string>, now: Instant) {
    for (;;) {
      const work = new GroupWork(redis, keys);
      const rerouting = await readRerouting(redis, keys, work, page);
      const moving = new Moving(keys, work, rerouting, integrations, now);
      for (const alert of page) moving.add(alert);
      const checks = page.map(({ id }) => ({
        place: [keys.alerts, id] as const,
        version: rerouting.alerts.get(id) ?? "",
      }));
      const outcome = await transact(work.transaction(newId(), checks));
      if (outcome.kind === "conflict") continue;
      await collectEpisodes(redis, keys, [...moving.left]);
      return work.wakes;
    }
  }

  /** Forgets integrations that are not configured and owed nothing. */
  async function forget(integrations: ReadonlySet<string>): Promise<void> {
    for (const id of await redis.smembers(keys.integrations)) {
      if (integrations.has(id)) continue;
      // A cold start's summary not sent before its integration was removed would be out of date when that returns.
      if ((await redis.zrem(keys.due(id), coldStartGroup)) === 1) await redis.del(keys.group(id, coldStartGroup));
      if ((await redis.exists(keys.notificationLog(id), keys.due(id))) > 0) continue;
      await redis.multi().srem(keys.integrations, id).del(keys.backoff(id), keys.trouble(id)).exec();
    }
  }

  /**
   * Moves stored alerts to the destinations of the active configuration (none for a resolved one): new groups become
   * due, and alerts leave groups they are not routed to any more unless they were notified there. Gives what is due.
   */
  return async (
    alerts: readonly RoutedAlert[],
    integrations: readonly string[],
    now: Instant,
  ): Promise<Map<string, Instant>> => {
    const wakes: Wakes[] = [];
    for (const page of chunksOf(alerts, PAGE)) wakes.push(await move(page, new Set(integrations), now));
    await forget(new Set(integrations));
    return earliestWakes(...wakes);
  };
}

interface Rerouting {
  readonly alerts: ReadonlyMap<string, string>;
  readonly places: ReadonlyMap<string, readonly Destined[]>;
  /** Destinations with an episode that was notified there. */
  readonly notified: ReadonlySet<string>;
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
  const rows = await pipelined<number>(redis, (batch) => {
    for (const { id, place } of asked) batch.hexists(keys.notificationLog(partsOf(place).integration), id);
    for (const place of old) batch.scard(keys.members(partsOf(place).integration, partsOf(place).group));
  });
  await work.load([
    ...old,
    ...page.flatMap(({ to }) => to.map(({ integration, group }) => destined(integration, group))),
  ]);
  return {
    alerts: await statesOf(redis, keys, ids),
    places,
    notified: new Set(
      asked.flatMap(({ id, place }, i) => (rows[i] === 1 ? [`${partsOf(place).integration}\n${id}`] : [])),
    ),
    sizes: new Map(old.map((place, i) => [place, rows[asked.length + i] ?? 0])),
  };
}

class Moving {
  readonly #keys: Keys;
  readonly #work: GroupWork;
  readonly #stored: Rerouting;
  readonly #integrations: ReadonlySet<string>;
  readonly #now: Instant;
  /** Episodes that left a group. */
  readonly left = new Set<string>();

  constructor(keys: Keys, work: GroupWork, stored: Rerouting, integrations: ReadonlySet<string>, now: Instant) {
    this.#keys = keys;
    this.#work = work;
    this.#stored = stored;
    this.#integrations = integrations;
    this.#now = now;
  }

  add({ id, to }: RoutedAlert): void {
    const fires = isFiring(this.#stored.alerts.get(id));
    const wanted = fires
      ? new Map(to.map((one) => [destined(one.integration, one.group), one]))
      : new Map<Destined, Destination>();
    const places = this.#stored.places.get(id) ?? [];
    for (const place of places) if (!wanted.has(place)) this.#leaveOld(id, place, fires, [...wanted.keys()]);
    for (const [place, one] of wanted) this.#send(id, place, one, places.includes(place));
  }

  /** An alert leaves a group that it is not routed to any more, unless its end is owed there. */
  #leaveOld(id: string, place: Destined, fires: boolean, wanted: readonly Destined[]): void {
    const { integration, group } = partsOf(place);
    const isNotified = this.#stored.notified.has(`${integration}\n${id}`);
    const others = wanted.filter((one) => partsOf(one).integration === integration);
    const isConfigured = this.#integrations.has(integration);
    const isRegrouped = fires && others.length > 0 && group !== coldStartGroup;
    const isUnrouted = (fires && others.length === 0) || !isConfigured;
    if (isRegrouped) for (const other of others) this.#carry(id, place, other);
    if (isRegrouped && isNotified) for (const other of others) this.#shareConversation(place, other);
    if (!isRegrouped && !(isUnrouted && !isNotified)) return;
    this.#work.leave(place, id);
    this.left.add(id);
    const size = (this.#stored.sizes.get(place) ?? 0) - 1;
    this.#stored.sizes.set(place, size);
    touchIn(this.#work, place, this.#now);
    const state = this.#work.state(place);
    if (state && !isConfigured && size <= 0) this.#dropGroup(place, state);
  }

  #dropGroup(place: Destined, state: GroupState): void {
    if (state.head.claimed === undefined) this.#work.drop(place);
    else {
      this.#work.put(place, { ...state, due: undefined });
      this.#work.expire(place, CLAIMED_MOST_MS);
    }
  }

  #carry(id: string, from: Destined, to: Destined): void {
    const state = this.#work.state(from);
    const other = this.#work.state(to);
    if (state) this.#work.put(to, { head: carried(state.head, other?.head ?? EMPTY, id, this.#now), due: other?.due });
  }

  /**
   * An alert that was notified takes the open conversation of its old group along: the groups share it from now on, and
   * it is over with the last of them.
   */
  #shareConversation(from: Destined, to: Destined): void {
    const state = this.#work.state(from);
    const known = state?.head.conversation;
    if (!state || !known) return;
    const { integration, group } = partsOf(from);
    const conversation = { ...known, groups: known.groups ?? 1 };
    const talk = this.#keys.talk(integration, conversation.id);
    const other = this.#work.state(to);
    const sharing = [group];
    if (!other?.head.conversation) {
      // One that does not exist yet has its settings a moment later.
      const head = { ...(other?.head ?? EMPTY), conversation };
      this.#work.put(to, { head, due: other?.due });
      sharing.push(partsOf(to).group);
    }
    this.#work.put(from, { ...state, head: { ...state.head, conversation, shown: undefined } });
    this.#work.writes.push(["SADD", talk, ...sharing], ["PEXPIRE", talk, TALK_KEPT_MS]);
    touchIn(this.#work, from, this.#now, true);
  }

  #send(id: string, place: Destined, to: Destination, isMember: boolean): void {
    const before = this.#work.state(place);
    const head = configured(before?.head, to);
    const state = { head, due: before?.due };
    const isOther = before?.head.repeatMs !== head.repeatMs || before.head.escalateAfterMs !== head.escalateAfterMs;
    if (!isMember || state.due === undefined) {
      this.#work.put(place, state);
      this.#work.join(place, id);
      this.#work.wake(place, withNews(this.#work.state(place) ?? state, this.#now));
    } else if (isOther && state.due > this.#now) {
      // Another repeat_interval or escalation: a reminder, or the escalation, may be due already.
      this.#work.wake(place, { head: { ...head, later: undefined }, due: this.#now });
    } else this.#work.put(place, state);
  }
}

const EMPTY = { labels: "{}", waitMs: 0, intervalMs: 0, repeatMs: 0 };
