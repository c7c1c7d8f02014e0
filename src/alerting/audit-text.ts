/** Entries of the audit log in words, for the page and the command line. */
import { isoMinute } from "../lib/format.ts";
import type { AuditAction, AuditEntry, AuditFacts, RefusalReason } from "./audit.ts";

const ACTIONS: Readonly<Record<AuditAction, string>> = {
  sign_in: "signed in",
  sign_out: "signed out",
  sessions_revoked: "revoked sessions",
  silence_set: "set silence",
  silence_changed: "changed silence",
  silence_expired: "expired silence",
  acknowledged: "acknowledged",
  ack_withdrawn: "withdrew the acknowledgement of",
  ack_noted: "added a note to",
  reload: "reloaded the configuration",
  refused: "attempt",
};

const REASONS: Readonly<Record<RefusalReason, string>> = {
  wrong_token: "wrong token",
  wrong_login: "wrong user or password",
  missing_scope: "the scope is missing",
  other_site: "form of another site or session",
  untrusted_proxy: "user named by a proxy that is not trusted",
  session_ended: "the session has ended",
  invalid_configuration: "invalid configuration",
  not_allowed: "not among those who may",
  other_channel: "from another channel, workspace or app",
};

/** Names of facts that read better otherwise. */
const FACTS: Readonly<Record<string, string>> = { startsAt: "from", endsAt: "until", createdBy: "by" };

const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** `dana (oncall)`: the signed-in name and that of the token; `anonymous`. */
export function actorText({ actor: { via, name, person } }: Pick<AuditEntry, "actor">): string {
  if (person === undefined || person === name) return name || via;
  return `${person} (${name || via})`;
}

/** `changed silence 3f1c…: comment a → b`; `GET /metrics refused: wrong token, 12 more`. */
export function auditText(entry: Omit<AuditEntry, "at">): string {
  const { action, outcome, reason, target, before, after, count } = entry;
  if (outcome === "refused") {
    const why = [reason && (REASONS[reason] ?? reason), count && `${count} more`].filter((part) => !!part);
    return `${target || (action === "reload" ? "reload" : ACTIONS[action])} refused: ${why.join(", ")}`;
  }
  const [was, is] = [shown(before), shown(after)];
  const facts = action === "silence_expired" ? was : is ? changed(was ?? {}, is) : was;
  const listed = Object.entries(facts ?? {})
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${FACTS[name] ?? name} ${value}`);
  const done = [ACTIONS[action] ?? action, target].filter((part) => !!part).join(" ");
  return listed.length === 0 ? done : `${done}: ${listed.join("; ")}`;
}

/** With times to the minute. */
function shown(facts: AuditFacts | undefined): AuditFacts | undefined {
  const text = (value: string) => (ISO_TIME.test(value) ? isoMinute(Date.parse(value)) : value);
  return facts && Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, text(value)]));
}

function changed(before: AuditFacts, after: AuditFacts): AuditFacts {
  const facts = Object.entries(after).filter(([name, value]) => before[name] !== value);
  return Object.fromEntries(
    facts.map(([name, value]) => [name, before[name] ? `${before[name]} → ${value || "none"}` : value]),
  );
}
