/**
 * Repetitions excused by a kill: of one message for each kill and integration, the one in flight, whose groups may come
 * again one by one; never at the Slack app. Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Verdict } from "./audit.ts";
import type { Span } from "./timeline.ts";

/** From the acceptance of a message to the commit of its outcome, on a busy machine. */
const WRITING_MS = 3_500;
/** The kill may hit while the message is being accepted. */
const TAKING_MS = 500;

/** Repetitions without an excuse, and the number of repeated messages. */
export function allowedRepetitions(
  doubled: readonly Verdict[],
  { crashes, redisDown }: { readonly crashes: readonly Instant[]; readonly redisDown: readonly Span[] },
): { left: Verdict[]; messages: number; excused: number } {
  const repeated = new Map<string, number>();
  const repetitionOf = (verdict: Verdict) => {
    const first = `${verdict.integration} ${firstOf([verdict])}`;
    const key = `${first} ${verdict.subject} ${verdict.why}`;
    const times = repeated.get(key) ?? 0;
    repeated.set(key, times + 1);
    return `${first} ${times}`;
  };
  const messages = [...Map.groupBy(doubled, repetitionOf).values()].sort((a, b) => firstOf(a) - firstOf(b));
  const used = new Set<string>();
  const left = messages.filter((verdicts) => {
    const integration = verdicts[0]?.integration ?? "";
    const [from, to] = [firstOf(verdicts) - TAKING_MS, writtenBy(firstOf(verdicts), redisDown)];
    if (integration.startsWith("app/")) return true;
    const crash = crashes.find((at) => at >= from && at <= to && !used.has(`${integration} ${at}`));
    if (crash === undefined) return true;
    used.add(`${integration} ${crash}`);
    return false;
  });
  return { left: left.flat(), messages: messages.length, excused: messages.length - left.length };
}

function firstOf(verdicts: readonly Verdict[]): Instant {
  return Math.min(...verdicts.map(({ firstAt, at }) => firstAt ?? at));
}

/** Nothing is committed while Redis is down. */
function writtenBy(acceptedAt: Instant, redisDown: readonly Span[]): Instant {
  const down = redisDown.find(({ from, to }) => acceptedAt >= from - WRITING_MS && acceptedAt <= to);
  return (down?.to ?? acceptedAt) + WRITING_MS;
}
