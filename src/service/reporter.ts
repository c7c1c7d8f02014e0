/** Counts what the service got wrong, always, and logs it, at most once per kind and interval. */
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Redactor } from "../lib/redact.ts";
import type { ProtocolErrorKind, ServiceObserver } from "./observer.ts";

/** Reports one deviation; `detail` is only called when it is logged, its text is cut and blanked. */
export type ReportDeviation = (kind: ProtocolErrorKind, detail?: () => unknown) => void;

const LOG_INTERVAL_MS = 5 * 60_000;
const MAX_DETAIL = 200;
/**
 * How much of a detail is looked at, characters: longer than any secret and what is shown together, so that no secret
 * is cut before it is blanked.
 */
export const MAX_EXCERPT = 20_000;
const MAX_DEPTH = 32;

export function createReport(deps: {
  log: Logger;
  clock: Clock;
  observer: ServiceObserver;
  redactor: Redactor;
}): ReportDeviation {
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
      { kind, unloggedBefore: last?.unlogged ?? 0, detail: shown(deps.redactor.text(excerpt(detail?.()))) },
      "the service sent something it should not have",
    );
  };
}

/** The text of any value, as far as it is looked at. */
function excerpt(value: unknown): string {
  if (value === undefined) return "";
  return (typeof value === "string" ? value : beginning(value, MAX_EXCERPT)).slice(0, MAX_EXCERPT);
}

function shown(text: string): string {
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text;
}

/** JSON of the value, left off where `room` is used up: a reply may be of any size and depth. */
function beginning(value: unknown, room: number, depth = 0): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, Math.max(1, room)));
  if (typeof value !== "object" || value === null) return String(value);
  if (depth === MAX_DEPTH) return "…";
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  for (const key in value) {
    if (text.length > room) return text;
    const name = isList ? "" : `${JSON.stringify(key.slice(0, MAX_EXCERPT))}:`;
    const left = room - text.length - name.length;
    text += `${text.length > 1 ? "," : ""}${name}${beginning(value[key as keyof typeof value], left, depth + 1)}`;
  }
  return text + (isList ? "]" : "}");
}
