/** Entries of the audit log: each change that somebody made, and attempts that were refused. */
import type { Instant } from "../lib/clock.ts";
import { formatMatcher } from "./matcher.ts";
import type { Silence } from "./silence.ts";

export const auditActions = [
  "sign_in",
  "sign_out",
  "sessions_revoked",
  "silence_set",
  "silence_changed",
  "silence_expired",
  "acknowledged",
  "ack_withdrawn",
  "ack_noted",
  "reload",
  "refused",
] as const;
export type AuditAction = (typeof auditActions)[number];

/** The way an actor was authenticated; `signal` and `file` are changes made on the machine. */
export const actorKinds = [
  ...["anonymous", "token", "session", "proxy", "basic", "certificate"],
  ...["slack", "signal", "file"],
] as const;

export const refusalReasons = [
  "wrong_token",
  "wrong_login",
  "missing_scope",
  "other_site",
  "untrusted_proxy",
  "session_ended",
  "invalid_configuration",
  "not_allowed",
  "other_channel",
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** The actor of an entry, and its address. */
export interface AuditOrigin {
  readonly actor: {
    readonly via: (typeof actorKinds)[number];
    /** Of a token or a basic user; the signal or the file. */
    readonly name: string;
    /** As signed in. */
    readonly person?: string | undefined;
  };
  /** Of the connection, or as a trusted proxy names it. */
  readonly address?: string | undefined;
}

/** The name of who did it. */
export function personOf({ actor: { via, name, person } }: Pick<AuditOrigin, "actor">): string {
  return person || name || via;
}

/** What something was, or became: texts by name, times in ISO 8601. */
export type AuditFacts = Readonly<Record<string, string>>;

export interface AuditEntry extends AuditOrigin {
  readonly at: Instant;
  readonly action: AuditAction;
  readonly outcome: "done" | "refused";
  /** The id of a silence or alert, or a request's path. */
  readonly target?: string | undefined;
  /** Undefined for what is new. */
  readonly before?: AuditFacts | undefined;
  readonly after?: AuditFacts | undefined;
  readonly reason?: RefusalReason | undefined;
  /** How many refused attempts alike this entry stands for, until `until`. */
  readonly count?: number | undefined;
  readonly until?: Instant | undefined;
}

/** `id` is unique; ids go up with time. */
export type StoredAuditEntry = AuditEntry & { readonly id: string };

/** Sorts the newest first; counted attempts, which are written later, by when they began. */
export function auditSortKey({ id, at, count }: Pick<StoredAuditEntry, "id" | "at" | "count">): string {
  const [, ms, sequence, stream] = /^(\d+)-(\d+)(.)/.exec(id) ?? [];
  const falling = (n = "0") => String(Number.MAX_SAFE_INTEGER - Number(n)).padStart(16, "0");
  return `${falling(count === undefined ? ms : String(at))}${falling(ms)}${falling(sequence)}${stream}`;
}

/** The entry of a silence that was written; `before` is as it was stored. */
export function silenceEntry(
  silence: Silence,
  before: Silence | undefined,
  { isEnded, ...origin }: AuditOrigin & { readonly isEnded: boolean },
): AuditEntry {
  const action = isEnded ? "silence_expired" : before ? "silence_changed" : "silence_set";
  return {
    ...origin,
    at: silence.updatedAt,
    action,
    outcome: "done",
    target: silence.id,
    before: before && silenceFacts(before),
    after: silenceFacts(silence),
  };
}

function silenceFacts({ matchers, startsAt, endsAt, createdBy, comment }: Silence): AuditFacts {
  return {
    matchers: matchers.map(formatMatcher).join(", "),
    startsAt: new Date(startsAt).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
    createdBy,
    comment,
  };
}

const WINDOW_MS = 600_000;
/** Different ones within the window; further ones are counted together. */
const MOST_ALIKE = 50;

/**
 * Thins out refused attempts: within ten minutes the first of each kind is an entry at once, those alike are counted
 * and become one more entry at its end. So a flood writes a hundred entries in that time, whatever it varies.
 */
export function createRefusals() {
  const seen = new Map<string, { entry: AuditEntry; more: number; until: Instant }>();
  let since = Number.NEGATIVE_INFINITY;

  /** The entries of what was counted, where the window is over or `isLast`. */
  function take(now: Instant, isLast = false): AuditEntry[] {
    if (!isLast && now < since + WINDOW_MS && now >= since) return [];
    const counted = [...seen.values()].filter(({ more }) => more > 0);
    seen.clear();
    since = now;
    return counted.map(({ entry, more, until }) => ({ ...entry, count: more, until }));
  }

  return {
    take,
    /** The entries to write now. */
    note(entry: AuditEntry): AuditEntry[] {
      const due = take(entry.at);
      const { actor, address, action, reason } = entry;
      const own = JSON.stringify([actor, address, action, reason]);
      const key = seen.has(own) || seen.size < MOST_ALIKE ? own : "";
      const known = seen.get(key);
      if (known) {
        known.more += 1;
        known.until = entry.at;
        return due;
      }
      // Nothing of a single one stands for all of them.
      const others: AuditEntry = { at: entry.at, actor: OTHERS, action: "refused", outcome: "refused" };
      seen.set(key, { entry: key === "" ? others : entry, more: key === "" ? 1 : 0, until: entry.at });
      return key === "" ? due : [...due, entry];
    },
  };
}

const OTHERS = { via: "anonymous", name: "others" } as const;
