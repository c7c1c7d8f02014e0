/** The end of a claim: what was notified, what is over, and when each of its groups is due again, in one transaction. */
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import { type GroupHead, isKept, postponed, served } from "../alerting/group.ts";
import type { NotifiedEntry, Suppression } from "../alerting/model.ts";
import type { Attempt } from "../health/attempt.ts";
import type { Instant } from "../lib/clock.ts";
import { acceptedWrites, FAILURE_KEPT_MS, failedWrites } from "./backoff.ts";
import type { Intent } from "./claim.ts";
import { adding } from "./conversations.ts";
import { logWrites } from "./decision-log.ts";
import { collectEpisodes, type Destined, destined, GroupWork, isFiring, partsOf } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import {
  type GroupOutcome,
  type Postponement,
  readStored,
  type Settlement,
  type Stored,
  type Turn,
} from "./settlement.ts";
import { type Transact, type Transaction, type Write, writing } from "./transact.ts";

/** Time for a replica to learn that another configuration is active. */
const AGAIN_MS = 1_000;

export function createSettle(redis: Redis, keys: Keys, { transact }: Transact) {
  return async (decided: Turn): Promise<void> => {
    const { integration, gather } = decided;
    for (let turn = decided; ; ) {
      const work = new GroupWork(redis, keys);
      const stored = await readStored(redis, keys, work, turn);
      const settling = new Settling(keys, work, stored, turn);
      settling.end();
      for (const outcome of turn.outcomes) settling.add(outcome);
      if (gather) work.writes.push(["SET", keys.storm(integration.id), gather.until, "PX", gather.ms]);
      const only = turn.outcomes.some(isUnsent) ? turn.only : undefined;
      const outcome = await transact(work.transaction([...(only ? [only] : []), ...settling.checks()]));
      if (outcome.kind === "conflict" && outcome.place === only?.place) turn = withoutDecisions(turn);
      if (outcome.kind === "conflict") continue;
      await collectEpisodes(redis, keys, [...settling.left]);
      return;
    }
  };
}

const isUnsent = (outcome: GroupOutcome) => "settle" in outcome && !outcome.settle.sent;

/** What was decided without a message, by a configuration that is not active any more, is decided again. */
function withoutDecisions(turn: Turn): Turn {
  const outcomes = turn.outcomes.map((outcome): GroupOutcome => {
    if (!("settle" in outcome) || outcome.settle.sent) return outcome;
    const { now } = outcome.settle;
    return { group: outcome.group, postpone: { now, at: now + AGAIN_MS } };
  });
  return { ...turn, outcomes };
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
  }

  /** The claim is over, and the intent is, or waits to be asked about. */
  end(): void {
    const { integration, askAt } = this.#turn;
    const { place, text = "{}" } = this.#stored.intent;
    const later = askAt === undefined ? undefined : JSON.stringify({ ...(JSON.parse(text) as Intent), askAt });
    if (this.#isHeld()) this.#work.writes.push(["DEL", this.#keys.claim(integration.id)]);
    if (this.#isIntended()) this.#work.writes.push(writing(this.#work.id, place, later));
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
    this.#work.writes.push(...this.#aboutWrites(outcome));
    for (const episode of outcome.unnotified) this.#leave(destination, episode);
    for (const [episode, entry] of (own && outcome.known) ?? [])
      if (this.#isMember(destination, episode)) this.#work.know(partsOf(destination).integration, episode, entry);
    const head = own && this.#work.head(destination);
    if (head) this.#serve(destination, head, outcome, isOwed);
  }

  /** Stores what was, or may have been, notified. True where the end of one of them is owed already. */
  #notify(destination: Destined, isOwn: boolean, entries: readonly NotifiedEntry[]): boolean {
    const { id } = this.#turn.integration;
    let isOwed = false;
    for (const entry of entries) {
      const episode = entry.alert.id;
      const isMember = this.#isMember(destination, episode);
      // Rerouted while the message was under way: its end is owed here all the same.
      if (!isMember && isOwn) {
        this.#work.join(destination, episode, entry.notifiedAt);
        this.#stored.members.get(destination)?.add(episode);
        this.#stored.places.get(episode)?.add(destination);
        isOwed ||= !isFiring(this.#stored.alerts.get(episode));
      }
      if (isMember || isOwn) this.#work.know(id, episode, entry);
    }
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
    for (const episode of over) {
      this.#work.know(id, episode, undefined);
      for (const other of this.#stored.places.get(episode) ?? []) {
        this.#leave(other, episode);
        if (other !== destination) this.#work.touch(other, now, this.#work.head(other));
      }
    }
  }

  #leave(destination: Destined, episode: string): void {
    this.#work.leave(destination, episode);
    this.#stored.members.get(destination)?.delete(episode);
    const others = this.#stored.places.get(episode);
    others?.delete(destination);
    if (others?.size === 0) this.#work.know(partsOf(destination).integration, episode, undefined);
    this.left.add(episode);
  }

  #serve(destination: Destined, head: GroupHead, outcome: Settlement, isOwed: boolean): void {
    const { now, sent, causes = [], conversation, isForRoot = false } = outcome;
    const members = this.#stored.members.get(destination)?.size ?? 0;
    // Each: they are all to be checked.
    const areOver = causes.map((cause) => this.#isOver(cause, now));
    this.#suppress(destination, head, causes);
    if (sent) this.#work.writes.push(...acceptedWrites(this.#keys, this.#stored.backoffs, now));
    const isOvertaken = this.#work.version(destination) !== this.#turn.token;
    const next = served(head, {
      ...{ now, isSent: sent, isForRoot, isOvertaken, members },
      ...{ nextAt: outcome.nextAt, endsWait: outcome.endsWait, shown: outcome.shown },
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

  /** What a message was about, for the root that is edited at the end of its conversation. */
  #aboutWrites({ about, conversation, notified, over }: Settlement): Write[] {
    if (about === undefined || conversation === "") return [];
    const key = this.#keys.about(this.#turn.integration.id, about);
    return adding(key, [...notified.map(({ alert }) => alert.id), ...over]);
  }

  /** The groups that share a conversation. */
  #talkWrites(destination: Destined, before: GroupHead, after: GroupHead): Write[] {
    const { integration, group } = partsOf(destination);
    const keyOf = ({ conversation }: GroupHead) =>
      conversation?.groups === undefined ? undefined : this.#keys.talk(integration, conversation.id);
    const [left, joined] = [keyOf(before), keyOf(after)];
    return [
      ...(left !== undefined && left !== joined ? [["SREM", left, group] as const] : []),
      ...(joined === undefined ? [] : adding(joined, [group])),
    ];
  }

  #postpone(destination: Destined, head: GroupHead, outcome: Postponement): void {
    const { group } = partsOf(destination);
    const { now, at, unsure = [], failure } = outcome;
    // Where the intent is not this one any more, it is known by now what was notified.
    const isOwed = this.#isIntended() && this.#notify(destination, true, unsure);
    // Removed meanwhile: nothing is to be sent there any more, unless something may have been.
    const isOver = this.#isIntended() || this.#stored.intent.text === undefined;
    const members = this.#stored.members.get(destination)?.size ?? 0;
    if (isOver && group !== coldStartGroup && !isKept(members, head)) {
      this.#work.drop(destination);
      return;
    }
    const next = postponed(head, { at, isRefused: failure?.scope === "message" });
    this.#work.put(destination, next);
    this.#work.schedule(destination, isOwed || this.#isChanged(destination) ? Math.min(now, at) : at);
    if (failure?.scope === "message") this.#work.writes.push(...this.#troubleWrites(group, now, failure));
    else if (failure) {
      const { integration, overMs } = this.#turn;
      const scope = failure.scope === "endpoint" ? integration.endpoint : integration.id;
      const stored = this.#stored.backoffs.get(scope);
      const facts = { now, at, began: head.began ?? 0, overMs };
      this.#work.writes.push(...failedWrites(this.#keys.backoff(scope), stored, failure, facts));
    }
  }

  #troubleWrites(group: string, now: Instant, { code, detail }: NonNullable<Postponement["failure"]>): Write[] {
    const key = this.#keys.trouble(this.#turn.integration.id);
    const known = this.#stored.trouble.get(group);
    const since = known ? (JSON.parse(known) as { readonly since: Instant }).since : now;
    return [
      ["HSET", key, group, JSON.stringify({ since, code, detail })],
      ["PEXPIRE", key, FAILURE_KEPT_MS],
    ];
  }
}
