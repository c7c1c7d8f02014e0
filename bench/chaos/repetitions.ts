/**
 * Messages of webhooks without news, sooner than a reminder is due, and ends that are sent twice. Each kill excuses one
 * at each integration: the message in flight, whose groups may come again one by one. Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Verdict } from "./audit.ts";
import type { Notice } from "./notices.ts";
import type { Span } from "./timeline.ts";

/** From the acceptance of a message to the commit of its outcome, on a busy machine. */
const WRITING_MS = 3_500;
/** The kill may hit while the message is being accepted. */
const TAKING_MS = 500;
/** A reminder may be decided before the message is accepted that it repeats. */
const EARLY_MS = 3_000;

interface Kills {
  readonly crashes: readonly Instant[];
  readonly redisDown: readonly Span[];
}

interface Repetition {
  readonly integration: string;
  /** When the message was accepted that it repeats. */
  readonly firstAt: Instant;
  readonly verdict: Verdict;
}

/** Repetitions without an excuse, and how many there were in all. `notices` in order of time, of webhooks. */
export function auditRepetitions(
  notices: readonly Notice[],
  repeatMs: number,
  { crashes, redisDown }: Kills,
): { left: Verdict[]; messages: number; excused: number } {
  const all = [...Map.groupBy(notices, ({ integration }) => integration).values()].flatMap((own) =>
    repetitionsAt(own, repeatMs),
  );
  const used = new Map<string, Instant>();
  const isExcused = ({ integration, firstAt }: Repetition) => {
    const until = writtenBy(firstAt, redisDown);
    const crash = crashes.find((at) => {
      const mine = used.get(`${integration} ${at}`) ?? firstAt;
      return at >= firstAt - TAKING_MS && at <= until && mine === firstAt;
    });
    if (crash !== undefined) used.set(`${integration} ${crash}`, firstAt);
    return crash !== undefined;
  };
  const left = all.sort((a, b) => a.firstAt - b.firstAt).filter((one) => !isExcused(one));
  return { left: left.map(({ verdict }) => verdict), messages: all.length, excused: all.length - left.length };
}

function repetitionsAt(notices: readonly Notice[], repeatMs: number): Repetition[] {
  const last = new Map<string, Notice>();
  return [...Map.groupBy(notices, ({ message }) => message).values()].flatMap((lines): Repetition[] => {
    const before = lines.map((line) => last.get(keyOf(line)));
    for (const line of lines) last.set(keyOf(line), line);
    const isNews = lines.some(({ status }, i) => {
      return before[i] === undefined || (status === "resolved" && before[i].status === "firing");
    });
    const isDue = lines.some(
      (line, i) => line.status === "firing" && line.at - (before[i]?.at ?? 0) >= repeatMs - EARLY_MS,
    );
    const [first] = lines;
    const ended = before.find((one, i) => one?.status === "resolved" && lines[i]?.status === "resolved");
    const repeated = isNews || isDue ? ended : before.findLast((one) => one !== undefined);
    if (!first || !repeated) return [];
    const { integration, at, recordingId: subject } = first;
    const why = `${ended ? "an end" : "a message"} repeated, first at ${new Date(repeated.at).toISOString()}`;
    return [{ integration, firstAt: repeated.at, verdict: { kind: "doubled", integration, subject, at, why } }];
  });
}

function keyOf({ rule, recordingId, startsAt }: Notice): string {
  return `${rule} ${recordingId} ${startsAt}`;
}

/** Nothing is committed while Redis is down. */
function writtenBy(acceptedAt: Instant, redisDown: readonly Span[]): Instant {
  const down = redisDown.find(({ from, to }) => acceptedAt >= from - WRITING_MS && acceptedAt <= to);
  return (down?.to ?? acceptedAt) + WRITING_MS;
}
