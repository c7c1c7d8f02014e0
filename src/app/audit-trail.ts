/** Logs changes and refused attempts as lines with `audit: true`. */
import type { Audit } from "../alerting/audit.ts";
import type { Clock } from "../lib/clock.ts";
import { type Logger, scrub } from "../lib/log.ts";
import { cut, stripControls } from "../lib/text.ts";

/** The most characters of a text in an entry. */
const MOST_CHARACTERS = 300;
const WINDOW_MS = 600_000;
/** Kinds of refused attempts that are logged within the window. */
const MOST_KINDS = 50;

/** Refused attempts are logged once of each kind within ten minutes, and the others counted: a flood fills no log. */
export function createAuditTrail({ log: parent, clock }: { readonly log: Logger; readonly clock: Clock }): Audit {
  // Changes are logged also where the log is to show problems alone.
  const log = parent.child({ audit: true }, { level: parent.level === "silent" ? "silent" : "info" });
  const kinds = new Set<string>();
  let since = Number.NEGATIVE_INFINITY;
  let more = 0;

  function isOneMore(kind: string): boolean {
    const now = clock.now();
    if (now >= since + WINDOW_MS || now < since) {
      if (more > 0) log.info({ outcome: "refused", attempts: more }, "further attempts were refused");
      kinds.clear();
      [since, more] = [now, 0];
    }
    if (!kinds.has(kind) && kinds.size < MOST_KINDS) return kinds.add(kind) && false;
    more += 1;
    return true;
  }

  return (entry) => {
    const { actor, address, action, outcome, reason } = entry;
    if (outcome === "refused" && isOneMore(JSON.stringify([actor, address, action, reason]))) return;
    log.info(JSON.parse(JSON.stringify(entry, bounded)) as object, action);
  };
}

function bounded(_name: string, value: unknown): unknown {
  return typeof value === "string" ? cut(stripControls(scrub(value)), MOST_CHARACTERS) : value;
}
