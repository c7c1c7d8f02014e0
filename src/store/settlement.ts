/** What the end of a claim says of its groups, and the stored facts that it is decided by. */
import type { Redis } from "ioredis";
import type { LogLine } from "../alerting/decision-log.ts";
import type {
  NotificationLogEntry,
  NotifiedEntry,
  NotifyErrorCode,
  NotifyErrorScope,
  Suppression,
} from "../alerting/model.ts";
import type { Integration } from "../alerting/route.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { type Backoff, toBackoff } from "./backoff.ts";
import { type Destined, destinationsIn, destined, type GroupWork, partsOf, statesOf } from "./group-work.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { type Check, parseRead, type Read } from "./transact.ts";

/** The result of a decision about a group, stored after its message was accepted, where there is one. */
export interface Settlement {
  readonly now: Instant;
  /** True where a message was accepted. */
  readonly sent: boolean;
  readonly notified: readonly NotifiedEntry[];
  /** What else is known, by episode: of what was suppressed. */
  readonly known?: ReadonlyMap<string, NotificationLogEntry>;
  /** Episodes that leave the integration: their end was notified, or none is owed. */
  readonly over: readonly string[];
  /** Episodes that leave this group only: another group may owe them. */
  readonly unnotified: readonly string[];
  readonly nextAt: Instant | undefined;
  /** What suppresses something in it; by default nothing does. */
  readonly causes?: readonly Suppression[] | undefined;
  /** JSON of the conversation, '' once it is closed; undefined: as it is. */
  readonly conversation?: string | undefined;
  /** The id of the conversation of an accepted message, where its channel keeps roots: what is notified or over is of it. */
  readonly about?: string | undefined;
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
  /** The episodes of a message whose outcome stays unknown. */
  readonly unsure?: readonly NotifiedEntry[] | undefined;
  readonly failure?: { readonly code: NotifyErrorCode; readonly detail: string; readonly scope: NotifyErrorScope };
  readonly lines?: readonly LogLine[] | undefined;
}

export type GroupOutcome = { readonly group: string } & (
  | { readonly settle: Settlement }
  | { readonly postpone: Postponement }
);

const PAGE = 500;

/** The stored facts that a settlement is decided by. */
export interface Stored {
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

export interface Turn {
  readonly integration: Integration;
  readonly token: string;
  readonly outcomes: readonly GroupOutcome[];
  /** A backoff that ended longer ago belongs to an earlier failure. */
  readonly overMs: number;
  /** The id of the message whose intent is over: its outcome is known, or stays unknown. With `askAt`, it is asked about then. */
  readonly intent?: string | undefined;
  readonly askAt?: Instant | undefined;
  /** The check under which decisions without a message hold. */
  readonly only?: Check | undefined;
  /** Until when the next storm is gathered, and for how long that is kept. */
  readonly gather?: { readonly until: Instant; readonly ms: number } | undefined;
}

/** Loads the groups of the claim, and those that share its episodes. */
export async function readStored(redis: Redis, keys: Keys, work: GroupWork, turn: Turn): Promise<Stored> {
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
    for (const group of of) batch.zrange(keys.members(integration.id, group), 0, "-1");
  });
  const placeOf = (i: number) => [keys.changed(integration.id), of[i] ?? ""] as const;
  const members = new Map(own.map((one, i) => [one, new Set(rows[i] as string[])] as const));
  const backoffs = new Map(
    [shared, owned].map((row, i) => [scopes[i] ?? "", toBackoff(row as (string | null)[])] as const),
  );

  const isMember = new Set([...members.values()].flatMap((some) => [...some]));
  const leaving = settlements.flatMap(({ over, unnotified }) => [...over, ...unnotified]);
  const entries = outcomes.flatMap((one) => ("settle" in one ? one.settle.notified : (one.postpone.unsure ?? [])));
  const known = settlements.flatMap((one) => [...(one.known?.keys() ?? [])]);
  const others = [...entries.map(({ alert: { id } }) => id), ...known].filter((id) => !isMember.has(id));
  const asked = [...new Set([...leaving, ...others])];
  const places = new Map<string, Set<Destined>>();
  for (const [episode, all] of await destinationsIn(redis, keys, asked))
    places.set(episode, new Set(all.filter((one) => partsOf(one).integration === integration.id)));
  const over = settlements.flatMap((one) => one.over);
  await work.load([...own, ...over.flatMap((episode) => [...(places.get(episode) ?? [])])]);

  const causes = settlements.flatMap((one) => one.causes ?? []);
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
