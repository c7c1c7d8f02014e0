/** Entries of the audit log in words, for the page and the command line. */
import type { AuditAction, AuditEntry, AuditFacts, RefusalReason } from "./audit.ts";

const ACTIONS: Readonly<Record<Exclude<AuditAction, "refused">, string>> = {
  sign_in: "signed in",
  sign_out: "signed out",
  sessions_revoked: "revoked sessions",
  silence_set: "set silence",
  silence_changed: "changed silence",
  silence_expired: "expired silence",
  acknowledged: "acknowledged",
  reload: "reloaded the configuration",
};

const REASONS: Readonly<Record<RefusalReason, string>> = {
  wrong_token: "wrong token",
  missing_scope: "the scope is missing",
  other_site: "form of another site or session",
  untrusted_proxy: "signed in by a proxy that is not trusted",
  session_ended: "the session has ended",
  invalid_configuration: "invalid configuration",
};

/** `dana (oncall)`: the signed-in name and that of the token; `anonymous`. */
export function actorText({ actor: { via, name, person } }: Pick<AuditEntry, "actor">): string {
  if (person === undefined || person === name) return name || via;
  return `${person} (${name || via})`;
}

/** `changed silence 3f1c…: comment "a" → "b"`; `refused: wrong token, GET /metrics, 12 times`. */
export function auditText(entry: Omit<AuditEntry, "at">): string {
  const { action, outcome, reason, target, before, after, count } = entry;
  const facts = action === "silence_expired" ? before : changes(before, after);
  const done = [action === "refused" ? "" : (ACTIONS[action] ?? action), target ?? ""].filter((part) => part !== "");
  const times = count === undefined ? [] : [`${count} more`];
  if (outcome === "refused")
    return `refused: ${[...(reason ? [REASONS[reason] ?? reason] : []), done.join(" "), ...times].filter((part) => part !== "").join(", ")}`;
  const listed = Object.entries(facts ?? {}).map(([name, value]) => `${name} ${value}`);
  return listed.length === 0 ? done.join(" ") : `${done.join(" ")}: ${listed.join("; ")}`;
}

function changes(before: AuditFacts = {}, after: AuditFacts | undefined = before): AuditFacts {
  const changed = Object.entries(after).filter(([name, value]) => before[name] !== value);
  const words = (name: string, value: string) => (before[name] === undefined ? value : `${before[name]} → ${value}`);
  return after === before ? before : Object.fromEntries(changed.map(([name, value]) => [name, words(name, value)]));
}
