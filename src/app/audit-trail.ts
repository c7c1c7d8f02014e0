/** Writes the audit log: to Redis, and as log lines with `stream: "audit"`. Refused attempts are thinned out first. */
import { type AuditEntry, createRefusals } from "../alerting/audit.ts";
import type { Clock } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { entryText } from "../store/audit.ts";
import type { Store } from "../store/store.ts";

const FLUSH_MS = 60_000;

export type AuditTrail = ReturnType<typeof createAuditTrail>;

/** An entry whose time is now. */
export type AuditDraft = Omit<AuditEntry, "at">;

export function createAuditTrail(deps: { log: Logger; clock: Clock; store: Pick<Store, "audit"> }) {
  const { clock, store } = deps;
  // Changes are logged also where the log is to show problems alone.
  const level = deps.log.level === "silent" ? "silent" : "info";
  const log = deps.log.child({ stream: "audit" }, { level });
  const refusals = createRefusals();
  const timer = setInterval(() => void write(refusals.take(clock.now())), FLUSH_MS).unref();

  function stored(entries: readonly AuditEntry[]): void {
    for (const entry of entries) log.info(JSON.parse(entryText(entry)) as object, entry.action);
  }

  async function write(entries: readonly AuditEntry[]): Promise<void> {
    stored(entries);
    try {
      await store.audit.write(entries, clock.now());
    } catch (thrown) {
      deps.log.warn({ err: toError(thrown) }, "audit log could not be written");
    }
  }

  return {
    /** Logs entries that were stored together with what they record. */
    stored,

    /** Resolves when the entry is stored; it waits for Redis. Never throws. */
    record(draft: AuditDraft): Promise<void> {
      const entry = { ...draft, at: clock.now() };
      return write(entry.outcome === "refused" ? refusals.note(entry) : [entry]);
    },

    /** Writes what was counted. */
    close(): Promise<void> {
      clearInterval(timer);
      return write(refusals.take(clock.now(), true));
    },
  };
}
