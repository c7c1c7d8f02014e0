/** Which repetitions a kill excuses: one message for each kill and integration, the one that was in flight. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Verdict } from "./audit.ts";
import type { Span } from "./timeline.ts";

/** From the acceptance of a message until it is written down that it was told, on a busy machine. */
const WRITING_MS = 3_500;
/** The kill may be that of the client whose message is still being taken in. */
const TAKING_MS = 500;

/** The doubled verdicts that nothing excuses, and how many messages there were in all. */
export function excuse(
  doubled: readonly Verdict[],
  { crashes, redisDown }: { readonly crashes: readonly Instant[]; readonly redisDown: readonly Span[] },
): { left: Verdict[]; messages: number; excused: number } {
  const messages = [...Map.groupBy(doubled, ({ message }) => message).values()].sort(
    (a, b) => firstOf(a) - firstOf(b),
  );
  const used = new Set<string>();
  const left = messages.filter((verdicts) => {
    const integration = verdicts[0]?.integration ?? "";
    const [from, to] = [firstOf(verdicts) - TAKING_MS, writtenBy(firstOf(verdicts), redisDown)];
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

/** While Redis is down nothing can be written. */
function writtenBy(acceptedAt: Instant, redisDown: readonly Span[]): Instant {
  const down = redisDown.find(({ from, to }) => acceptedAt >= from - WRITING_MS && acceptedAt <= to);
  return (down?.to ?? acceptedAt) + WRITING_MS;
}
