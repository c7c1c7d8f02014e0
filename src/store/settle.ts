/** The end of a claim: what was notified, what is over, and when each of its groups is due again, in one transaction. */
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import type { LogLine } from "../alerting/decision-log.ts";
import { type GroupHead, isKept, mayHaveSent, postponed, served } from "../alerting/group.ts";
import type {
  Conversation,
  EscalationClocks,
  NotificationLogEntry,
  NotifyErrorCode,
  NotifyErrorScope,
  SuppressedState,
  Suppression,
} from "../alerting/model.ts";
import type { Integration } from "../alerting/route.ts";
import type { Attempt } from "../health/model.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Intent } from "./claim.ts";
import { logWrites } from "./decision-log.ts";
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
import { newId, parseRead, type Read, type Transact, type Transaction, type Write } from "./transact.ts";

/** The result of a decision about a group, stored after its message was accepted, where there is one. */
export interface Settlement {
  readonly now: Instant;
  /** True where a message was accepted. */
  readonly sent: boolean;
  readonly notified: readonly NotificationLogEntry[];
  /** Episodes that leave the integration: their end was notified, or none is owed. */
  readonly over: readonly string[];
  /** Episodes that leave this group only: another group may owe them. */
  readonly unnotified: readonly string[];
  readonly nextAt: Instant | undefined;
  /** By default nothing is suppressed. */
  readonly suppressedState?: SuppressedState;
  /** The clocks of a group that is escalated to the integration. */
  readonly clocks?: EscalationClocks | undefined;
  /** JSON of the conversation, '' once it is closed; undefined: as it is. */
  readonly conversation?: string | undefined;
  /** A hash of what its own root shows, and since when. */
  readonly shown?: string | undefined;
  /** Only the root was looked at: what is due stays as it is. */
  readonly isForRoot?: boolean;
  /** Ends wait for those of other groups. */
  readonly endsWait?: true | undefined;
  /** The time to compare the root with the present, and do nothing else. */
  readonly rootAt?: Instant | undefined;
  readonly lines?: readonly LogLine[] | undefined;
}

/** The time at which a group is retried, and after which failure. */
export interface Postponement {
  readonly now: Instant;
  readonly at: Instant;
  /** The episodes of a message whose outcome stays unknown, and the conversation that it may have begun. */
  readonly maybe?: readonly string[] | undefined;
  readonly maybeIn?: Conversation | undefined;
  readonly failure?: { readonly code: NotifyErrorCode; readonly detail: string; readonly scope: NotifyErrorScope };
  readonly lines?: readonly LogLine[] | undefined;
}

export type GroupOutcome = { readonly group: string } & (
  | { readonly settle: Settlement }
  | { readonly postpone: Postponement }
);

const TALK_KEPT_MS = 90 * 86_400_000;
/** A failure is retried within minutes: one this old belongs to what is not configured any more. */
const FAILURE_KEPT_MS = 7 * 86_400_000;
const PAGE = 500;

/** The stored facts that a settlement is decided by. */
interface Stored {
  readonly claim: Read;
  readonly intent: Read;
  /** By group: its members, kept up to date. */
  readonly members: Map<Destined, Set<string>>;
  /** By group: the write that made it due since its claim, if one did. */
  readonly changes: ReadonlyMap<Destined, Read>;
  /** By episode: the groups of this integration, kept up to date. */
  readonly places: Map<string, Set<Destined>>;
  readonly alerts: ReadonlyMap<string, string>;
  readonly silences: ReadonlyMap<string, string>;
  readonly attempts: ReadonlyMap<string, string>;
  readonly backoffs: ReadonlyMap<string, Backoff>;
  readonly trouble: ReadonlyMap<string, string>;
}

interface Backoff {
  readonly until: Instant | undefined;
  readonly failedAt: Instant | undefined;
  readonly failures: number;
  readonly since: Instant | undefined;
}

interface Turn {
  readonly integration: Integration;
  readonly token: string;
  readonly outcomes: readonly GroupOutcome[];
  /** A backoff that ended longer ago belongs to an earlier failure. */
  readonly overMs: number;
  /** The id of the message whose intent is over: its outcome is known, or stays unknown. */
  readonly intent?: string | undefined;
  /** Until when the next storm is gathered, and for how long that is kept. */
  readonly gather?: { readonly until: Instant; readonly ms: number } | undefined;
}

export function createSettle(redis: Redis, keys: Keys, { transact }: Transact) {
  return async (turn: Turn): Promise<void> => {
    const { integration, outcomes, gather } = turn;
    for (;;) {
      const work = new GroupWork(redis, keys);
      const stored = await readStored(redis, keys, work, turn);
      const settling = new Settling(keys, work, stored, turn);
      for (const outcome of outcomes) settling.add(outcome);
      if (gather && gather.ms > 0) work.writes.push(["SET", keys.storm(integration.id), gather.until, "PX", gather.ms]);
      const outcome = await transact(work.transaction(newId(), settling.checks()));
      if (outcome.kind === "conflict") continue;
      await collectEpisodes(redis, keys, [...settling.left]);
      return;
    }
  };
}

async function readStored(redis: Redis, keys: Keys, work: GroupWork, turn: Turn): Promise<Stored> {
  const { integration, outcomes } = turn;
  const own = outcomes.map(({ group }) => destined(integration.id, group));
  const settlements = outcomes.flatMap((one) => ("settle" in one ? [one.settle] : []));
  const scopes = [integration.endpoint, integration.id];
  const of = outcomes.map(({ group }) => group);
  const [claim, intent, trouble, changed, shared, owned, ...rows] = await pipelined<unknown>(redis, (batch) => {
    batch.get(keys.claim(integration.id)).get(keys.intent(integration.id)).hgetall(keys.trouble(integration.id));
    if (of.length > 0) batch.hmget(keys.changed(integration.id), ...of);
    else batch.echo("");
    for (const scope of scopes) batch.hmget(keys.backoff(scope), "until", "failedAt", "failures", "since");
    for (const group of of) batch.smembers(keys.members(integration.id, group));
  });
  const placeOf = (i: number) => [keys.changed(integration.id), of[i] ?? ""] as const;
  const members = new Map(own.map((one, i) => [one, new Set(rows[i] as string[])] as const));
  const backoffs = new Map(
    [shared, owned].map((row, i) => [scopes[i] ?? "", toBackoff(row as (string | null)[])] as const),
  );

  const isMember = new Set([...members.values()].flatMap((some) => [...some]));
  const over = settlements.flatMap((one) => one.over);
  const joining = settlements.flatMap(({ notified }) => notified.map(({ alert }) => alert.id));
  const maybe = outcomes.flatMap((one) => ("postpone" in one ? (one.postpone.maybe ?? []) : []));
  const asked = [...new Set([...over, ...[...joining, ...maybe].filter((id) => !isMember.has(id))])];
  const places = new Map<string, Set<Destined>>();
  for (const [episode, all] of await destinationsIn(redis, keys, asked))
    places.set(episode, new Set(all.filter((one) => partsOf(one).integration === integration.id)));
  await work.load([...own, ...[...places.values()].flatMap((all) => [...all])]);

  const causes = settlements.flatMap(({ suppressedState }) => suppressedState?.by ?? []);
  const by = (reason: Suppression["reason"]) => causes.flatMap((one) => (one.reason === reason ? [one.by] : []));
  const alerts = await statesOf(redis, keys, [...new Set([...asked, ...by("inhibited")])]);
  return {
    ...{ members, backoffs, places, alerts },
    changes: new Map(own.map((one, i) => [one, parseRead(placeOf(i), (changed as (string | null)[])[i])] as const)),
    claim: parseRead([keys.claim(integration.id)], claim as string | null),
    intent: parseRead([keys.intent(integration.id)], intent as string | null),
    trouble: new Map(Object.entries(trouble as Record<string, string>)),
    silences: await fieldsOf(redis, keys.silences, by("silenced")),
    attempts: await fieldsOf(redis, keys.attempts, by("stale")),
  };
}

async function fieldsOf(redis: Redis, key: string, fields: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const page of chunksOf([...new Set(fields)], PAGE)) {
    const texts = await redis.hmget(key, ...page);
    for (const [i, field] of page.entries()) if (texts[i]) found.set(field, texts[i]);
  }
  return found;
}

function toBackoff(row: readonly (string | null)[]): Backoff {
  const [until, failedAt, failures, since] = row.map((text) => (text === null ? undefined : Number(text)));
  return { until, failedAt, failures: failures ?? 0, since };
}

class Settling {
  readonly #keys: Keys;
  readonly #work: GroupWork;
  readonly #stored: Stored;
  readonly #turn: Turn;
  /** Groups that this claim still holds. */
  readonly #own = new Set<Destined>();
  readonly #causes = new Map<string, { readonly place: readonly [string, string]; readonly version: string }>();
  /** Episodes that left a group. */
  readonly left = new Set<string>();

  constructor(keys: Keys, work: GroupWork, stored: Stored, turn: Turn) {
    this.#keys = keys;
    this.#work = work;
    this.#stored = stored;
    this.#turn = turn;
    if (this.#isHeld()) work.writes.push(["DEL", keys.claim(turn.integration.id)]);
    if (this.#isIntended()) work.writes.push(["DEL", keys.intent(turn.integration.id)]);
  }

  /** A change that comes before this is written is another reason to look at its group. */
  checks(): Transaction["checks"] {
    const { claim, intent, changes } = this.#stored;
    const own = [...this.#own].flatMap((one) => changes.get(one) ?? []);
    return [
      ...(this.#isHeld() ? [claim] : []),
      ...(this.#isIntended() ? [intent] : []),
      ...this.#causes.values(),
      ...own,
    ];
  }

  add(outcome: GroupOutcome): void {
    const { id } = this.#turn.integration;
    const destination = destined(id, outcome.group);
    const head = this.#work.head(destination);
    const own = head?.claimed === this.#turn.token ? head : undefined;
    if (own) this.#own.add(destination);
    const { lines } = "settle" in outcome ? outcome.settle : outcome.postpone;
    if ("settle" in outcome) this.#settle(destination, own, outcome.settle);
    else if (own) this.#postpone(destination, own, outcome.postpone);
    else return;
    this.#work.writes.push(...logWrites(this.#keys, lines));
  }

  #isChanged(destination: Destined): boolean {
    return this.#stored.changes.get(destination)?.text !== undefined;
  }

  #isHeld(): boolean {
    return this.#stored.claim.version === this.#turn.token;
  }

  #isIntended(): boolean {
    const { text } = this.#stored.intent;
    return text !== undefined && (JSON.parse(text) as Intent).messageId === this.#turn.intent;
  }

  #settle(destination: Destined, own: GroupHead | undefined, outcome: Settlement): void {
    const isOwed = this.#notify(destination, own !== undefined, outcome.notified);
    this.#end(destination, outcome);
    for (const episode of outcome.unnotified) this.#leave(destination, episode);
    const head = own && this.#work.head(destination);
    if (head) this.#serve(destination, head, outcome, isOwed);
  }

  /** Stores what was notified. True where the end of one of them is owed already. */
  #notify(destination: Destined, isOwn: boolean, entries: readonly NotificationLogEntry[]): boolean {
    const { id } = this.#turn.integration;
    const fields: string[] = [];
    let isOwed = false;
    for (const entry of entries) {
      const episode = entry.alert.id;
      const isMember = this.#isMember(destination, episode);
      // Rerouted while the message was under way: its end is owed here all the same.
      if (!isMember && isOwn) {
        this.#work.join(destination, episode);
        this.#stored.members.get(destination)?.add(episode);
        this.#stored.places.get(episode)?.add(destination);
        isOwed ||= !isFiring(this.#stored.alerts.get(episode));
      }
      if (isMember || isOwn) fields.push(episode, JSON.stringify(entry));
    }
    if (fields.length > 0) this.#work.writes.push(["HSET", this.#keys.notificationLog(id), ...fields]);
    return isOwed;
  }

  #isMember(destination: Destined, episode: string): boolean {
    const places = this.#stored.places.get(episode);
    return places
      ? places.size > 0
      : this.#stored.members.get(destination)?.has(episode) === true || this.#isElsewhere(episode);
  }

  #isElsewhere(episode: string): boolean {
    return [...this.#stored.members.values()].some((all) => all.has(episode));
  }

  /** Episodes that leave the integration. */
  #end(destination: Destined, { over, now }: Settlement): void {
    const { id } = this.#turn.integration;
    if (over.length > 0) this.#work.writes.push(["HDEL", this.#keys.notificationLog(id), ...over]);
    for (const episode of over) {
      for (const other of this.#stored.places.get(episode) ?? []) {
        this.#leave(other, episode);
        if (other !== destination) this.#work.touch(other, now, this.#work.head(other));
      }
    }
  }

  #leave(destination: Destined, episode: string): void {
    this.#work.leave(destination, episode);
    this.#stored.members.get(destination)?.delete(episode);
    this.#stored.places.get(episode)?.delete(destination);
    this.left.add(episode);
  }

  #serve(destination: Destined, head: GroupHead, outcome: Settlement, isOwed: boolean): void {
    const { now, sent, suppressedState, conversation, isForRoot = false } = outcome;
    const members = this.#stored.members.get(destination)?.size ?? 0;
    const causes = suppressedState?.by ?? [];
    // Each: they are all to be checked.
    const areOver = causes.map((cause) => this.#isOver(cause, now));
    this.#suppress(destination, head, causes);
    if (sent) this.#accept(now);
    const isOvertaken = this.#work.version(destination) !== this.#turn.token;
    const next = served(head, {
      ...{ now, isSent: sent, isForRoot, isOvertaken, members },
      ...{ nextAt: outcome.nextAt, endsWait: outcome.endsWait, shown: outcome.shown },
      clocks: outcome.clocks && Object.keys(outcome.clocks).length > 0 ? outcome.clocks : undefined,
      waiting: suppressedState?.unnotified.size ? Object.fromEntries(suppressedState.unnotified) : undefined,
      maybe: suppressedState?.maybeNotified.length ? suppressedState.maybeNotified : undefined,
      conversation: conversation === undefined ? undefined : conversation === "" ? null : JSON.parse(conversation),
    });
    const { integration, group } = partsOf(destination);
    this.#work.put(destination, next);
    this.#work.writes.push(
      ["HDEL", this.#keys.trouble(integration), group],
      ...this.#talkWrites(destination, head, next),
    );
    const isChanged = this.#isChanged(destination);
    const rootAt = isChanged ? now : outcome.rootAt;
    this.#work.scheduleRoot(destination, next.shown === undefined ? undefined : rootAt);
    const isDue = isOwed || areOver.includes(true) || isOvertaken || isChanged;
    if (!isForRoot) this.#work.schedule(destination, isDue ? now : next.nextAt);
    else if (isDue) this.#work.due(destination, now);
    if (!isKept(members, next)) this.#work.leaveEmpty(destination, Math.max(60_000, next.intervalMs * 2));
  }

  /** True where the cause that the decision found in force is over; else it has to be so still when this is written. */
  #isOver({ reason, by, until, goodAt = 0 }: Suppression, now: Instant): boolean {
    const { alerts, silences, attempts } = this.#stored;
    if (reason === "inhibited") {
      const text = alerts.get(by);
      this.#causes.set(by, { place: [this.#keys.alerts, by], version: text ?? "" });
      return !isFiring(text);
    }
    if (reason === "silenced") {
      const text = silences.get(by);
      this.#causes.set(by, { place: [this.#keys.silences, by], version: text ?? "" });
      const endsAt = text ? (JSON.parse(text) as { readonly endsAt: Instant }).endsAt : now;
      return endsAt <= now || (until !== undefined && endsAt < until);
    }
    const attempt = reason === "stale" ? attempts.get(by) : undefined;
    return attempt !== undefined && (JSON.parse(attempt) as Attempt).goodAt > goodAt;
  }

  #suppress(destination: Destined, { intervalMs }: GroupHead, causes: readonly Suppression[]): void {
    const keptMs = Math.max(3_600_000, intervalMs * 3);
    for (const { by } of causes) {
      const key = this.#keys.suppressed(by);
      this.#work.writes.push(["SADD", key, destination], ["PEXPIRE", key, keptMs]);
    }
  }

  /** A backoff that lasts longer was set by another message since. */
  #accept(now: Instant): void {
    for (const [scope, { until = 0 }] of this.#stored.backoffs)
      if (until <= now) this.#work.writes.push(["DEL", this.#keys.backoff(scope)]);
  }

  /** The groups that share a conversation. */
  #talkWrites(destination: Destined, before: GroupHead, after: GroupHead): Write[] {
    const { integration, group } = partsOf(destination);
    const keyOf = ({ maybeIn, conversation = maybeIn }: GroupHead) =>
      conversation?.groups === undefined ? undefined : this.#keys.talk(integration, conversation.id);
    const [left, joined] = [keyOf(before), keyOf(after)];
    return [
      ...(left !== undefined && left !== joined ? [["SREM", left, group] as const] : []),
      ...(joined === undefined ? [] : [["SADD", joined, group] as const, ["PEXPIRE", joined, TALK_KEPT_MS] as const]),
    ];
  }

  #postpone(destination: Destined, head: GroupHead, outcome: Postponement): void {
    const { group } = partsOf(destination);
    const { now, at, maybe = [], maybeIn, failure } = outcome;
    for (const episode of maybe) this.#mayHaveSent(episode, maybeIn);
    // Removed meanwhile: nothing is to be sent there any more.
    if (group !== coldStartGroup && !isKept(this.#stored.members.get(destination)?.size ?? 0, head)) {
      this.#work.drop(destination);
      return;
    }
    const next = postponed(head, { at, isRefused: failure?.scope === "message", maybe, maybeIn });
    this.#work.put(destination, next);
    this.#work.schedule(destination, this.#isChanged(destination) ? Math.min(now, at) : at);
    this.#work.writes.push(...this.#talkWrites(destination, head, next));
    if (failure) this.#fail(group, head.began ?? 0, { ...outcome, failure });
  }

  /** Rerouted while the message was under way: its end is owed there. */
  #mayHaveSent(episode: string, conversation: Conversation | undefined): void {
    for (const place of this.#stored.places.get(episode) ?? []) {
      const head = this.#work.head(place);
      if (head) this.#work.put(place, { ...head, ...mayHaveSent(head, [episode], conversation) });
    }
  }

  #fail(
    group: string,
    began: Instant,
    { now, at, failure }: Postponement & Required<Pick<Postponement, "failure">>,
  ): void {
    const { id, endpoint } = this.#turn.integration;
    const { code, detail, scope } = failure;
    if (scope === "message") {
      const key = this.#keys.trouble(id);
      const known = this.#stored.trouble.get(group);
      const since = known ? (JSON.parse(known) as { readonly since: Instant }).since : now;
      this.#work.writes.push(
        ["HSET", key, group, JSON.stringify({ since, code, detail })],
        ["PEXPIRE", key, FAILURE_KEPT_MS],
      );
      return;
    }
    const of = scope === "endpoint" ? endpoint : id;
    const key = this.#keys.backoff(of);
    const stored = this.#stored.backoffs.get(of);
    // Nothing was due there for as long: this is another failure.
    const isOld = stored?.until !== undefined && stored.until + this.#turn.overMs < now;
    const known = isOld ? undefined : stored;
    // Sends side by side that began before the last failure met the same trouble, not another one.
    const isSame = known?.failedAt !== undefined && began < known.failedAt;
    this.#work.writes.push(
      ...(isOld ? [["DEL", key] as const] : []),
      [
        "HSET",
        key,
        "since",
        known?.since ?? now,
        "until",
        Math.max(known?.until ?? 0, at),
        "code",
        code,
        "detail",
        detail,
      ],
      ["PEXPIRE", key, FAILURE_KEPT_MS],
      ...(isSame ? [] : [["HSET", key, "failedAt", now, "failures", (known?.failures ?? 0) + 1] as const]),
    );
  }
}
