/** Counts every deviation of the service from its contract, and logs each kind once per interval; logs outages. */
import type { Clock, Instant } from "../lib/clock.ts";
import type { Redactor } from "../lib/redact.ts";
import type { ServiceError, ServiceErrorCode } from "./errors.ts";
import type { ProtocolErrorKind, ServiceLog, ServiceObserver } from "./model.ts";

/** Reports one deviation; `detail` is only called when it is logged, its text is redacted and cut. */
export type ReportDeviation = (kind: ProtocolErrorKind, detail?: () => unknown) => void;

const LOG_INTERVAL_MS = 5 * 60_000;
const MAX_DETAIL = 200;
/** Characters of a detail that are redacted: more than any secret and the logged text, so that no secret is cut. */
export const MAX_EXCERPT = 20_000;
const MAX_DEPTH = 32;

export function createReport(deps: {
  log: ServiceLog;
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
      "the service deviated from its contract",
    );
  };
}

/** The text of any value, cut before it is redacted. */
function excerpt(value: unknown): string {
  if (value === undefined) return "";
  return (typeof value === "string" ? value : beginning(value, MAX_EXCERPT)).slice(0, MAX_EXCERPT);
}

function shown(text: string): string {
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text;
}

/** JSON of the value, cut after about `limit` characters: a reply may be of any size and depth. */
function beginning(value: unknown, limit: number, depth = 0): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, Math.max(1, limit)));
  if (typeof value !== "object" || value === null) return String(value);
  if (depth === MAX_DEPTH) return "…";
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  for (const key in value) {
    if (text.length > limit) return text;
    const name = isList ? "" : `${JSON.stringify(key.slice(0, MAX_EXCERPT))}:`;
    const left = limit - text.length - name.length;
    text += `${text.length > 1 ? "," : ""}${name}${beginning(value[key as keyof typeof value], left, depth + 1)}`;
  }
  return text + (isList ? "]" : "}");
}

/** Logs the first failure of each kind and the recovery. `what` begins the lines: `metrics socket`. */
export function createOutageLog(log: ServiceLog, what: string) {
  let failing: ServiceErrorCode | undefined;
  return {
    failed(error: ServiceError): void {
      if (error.code === failing) return;
      failing = error.code;
      log.warn({ err: error }, `${what} failed, retrying`);
    },
    recovered(): void {
      if (failing === undefined) return;
      failing = undefined;
      log.info(`${what} recovered`);
    },
  };
}

export type OutageLog = ReturnType<typeof createOutageLog>;
