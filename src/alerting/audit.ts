/** The audit trail: each change that somebody made, and attempts that were refused, as they are logged. */
import { formatMatcher } from "./matcher.ts";
import type { Silence } from "./silence.ts";

type AuditAction =
  | "sign_in"
  | "sign_out"
  | "silence_set"
  | "silence_changed"
  | "silence_expired"
  | "acknowledged"
  | "ack_withdrawn"
  | "ack_noted"
  | "shift_noted"
  | "report_shared"
  | "ack_undone"
  | "reload"
  | "refused";

export type RefusalReason =
  | "wrong_token"
  | "missing_scope"
  | "other_site"
  | "untrusted_proxy"
  | "invalid_configuration"
  | "not_allowed"
  | "other_channel";

/** The actor of an entry, and its address. */
export interface AuditOrigin {
  readonly actor: {
    /** The way an actor was authenticated; `signal` and `file` are changes made on the machine. */
    readonly via: "anonymous" | "token" | "session" | "proxy" | "slack" | "signal" | "file";
    /** The name of a token or a user; the signal or the file. */
    readonly name: string;
    /** The name given at sign-in. */
    readonly person?: string | undefined;
  };
  /** The address of the connection, or the one that a trusted proxy names. */
  readonly address?: string | undefined;
}

/** The name of who did it. */
export function personOf({ actor: { via, name, person } }: Pick<AuditOrigin, "actor">): string {
  return person || name || via;
}

/** The facts of a thing before or after a change: texts by name, times in ISO 8601. */
export type AuditFacts = Readonly<Record<string, string>>;

export interface AuditEntry extends AuditOrigin {
  readonly action: AuditAction;
  readonly outcome: "done" | "refused";
  /** The id of a silence or alert, or a request's path. */
  readonly target?: string | undefined;
  /** Undefined for what is new. */
  readonly before?: AuditFacts | undefined;
  readonly after?: AuditFacts | undefined;
  readonly reason?: RefusalReason | undefined;
}

/** Logs an entry, soon. */
export type Audit = (entry: AuditEntry) => void;

/** The entry of a silence that was written; `before` is as it was stored. */
export function silenceEntry(
  silence: Silence,
  before: Silence | undefined,
  { isEnded, ...origin }: AuditOrigin & { readonly isEnded: boolean },
): AuditEntry {
  const action = isEnded ? "silence_expired" : before ? "silence_changed" : "silence_set";
  const facts = { before: before && silenceFacts(before), after: silenceFacts(silence) };
  return { ...origin, action, outcome: "done", target: silence.id, ...facts };
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
