/** Counts what the service got wrong, always, and logs it, at most once per kind and interval. */
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { ProtocolErrorKind, ServiceObserver } from "./observer.ts";
import type { Secrets } from "./secrets.ts";

/** Reports one deviation; `detail` is only called when it is logged, its text is cut and blanked. */
export type Report = (kind: ProtocolErrorKind, detail?: () => unknown) => void;

const LOG_INTERVAL_MS = 5 * 60_000;
const MAX_DETAIL = 200;

export function createReport(deps: {
  log: Logger;
  clock: Clock;
  observer: ServiceObserver;
  secrets: Secrets;
}): Report {
  const logged = new Map<ProtocolErrorKind, { at: Instant; unlogged: number }>();
  return (kind, detail) => {
    deps.observer.protocolError?.(kind);
    const last = logged.get(kind);
    const now = deps.clock.now();
    if (last && now - last.at < LOG_INTERVAL_MS) {
      last.unlogged += 1;
      return;
    }
    logged.set(kind, { at: now, unlogged: 0 });
    deps.log.warn(
      { kind, unloggedBefore: last?.unlogged ?? 0, detail: deps.secrets.blank(excerpt(detail?.())) },
      "the service sent something it should not have",
    );
  };
}

/** At most 200 characters of any value, on one line. */
function excerpt(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text;
}
