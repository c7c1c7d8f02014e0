/**
 * Expands messages into notices per recording. A storm summary names locations and counts: the recordings behind it
 * are inferred from the ledger and the daemon's decision log, and a count that does not fit is reported.
 * Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Timing } from "./audit.ts";
import { SENDING_MS, TOLERANCE_MS } from "./match.ts";
import { type Counted, FLAPPING, type Notice, type NoticeKind, type Read } from "./messages.ts";
import { type Span, timeInside } from "./timeline.ts";

/** An accepted message. */
export interface Message {
  readonly at: Instant;
  readonly integration: string;
  readonly number: number;
  readonly read: Read;
}

/** A notified decision, from the daemon's decision log. */
export interface Logged {
  readonly at: Instant;
  readonly integration: string;
  readonly reason: string;
}

/** A recording that may be meant by a count. */
export interface Meant {
  readonly name: string;
  readonly locationName: string;
  readonly offline: readonly Span[];
  /** Number of status changes. */
  readonly changes: number;
  /** Decisions about being offline, oldest first; empty where not read. */
  readonly logged: readonly Logged[];
  readonly integrations: readonly string[];
}

/** The daemon's clock and that of the sinks differ by no more. */
const CLOCKS_MS = 100;
/** Longest time from acceptance to the log line of a message. */
const NOTING_MS = 20_000;
const REASONS: Partial<Record<NoticeKind, readonly string[]>> = {
  firing: ["notified"],
  still: ["reminded"],
  recovered: ["notified_end", "notified_late"],
};

export interface Expanded {
  readonly notices: Notice[];
  /** Counts that do not fit, and lines that could not be parsed. */
  readonly unreadable: string[];
  /** Number of messages that count recordings without naming them. */
  readonly summaries: number;
}

/** `messages` in order of acceptance. */
export function expandSummaries(messages: readonly Message[], recordings: readonly Meant[], rule: Timing): Expanded {
  const byLocation = Map.groupBy(recordings, ({ locationName }) => locationName);
  const byName = new Map(recordings.map((one) => [one.name, one]));
  const open = new Map<string, Notice>();
  const flapping = new Set<string>();
  const notices: Notice[] = [];
  const unreadable: string[] = [];
  let summaries = 0;
  /** By message: when the next one to the same integration was accepted. */
  const nextOf = new Map<number, Instant>();
  for (const own of Map.groupBy(messages, ({ integration }) => integration).values())
    own.forEach(({ number }, i) => void nextOf.set(number, own[i + 1]?.at ?? Number.POSITIVE_INFINITY));

  function note(notice: Notice): void {
    notices.push(notice);
    const key = `${notice.integration}\n${notice.subject}`;
    if (notice.kind === "firing") open.set(key, notice);
    if (notice.kind === "flapping") flapping.add(key);
    if (notice.kind === "steady") flapping.delete(key);
    if (notice.kind === "recovered" || notice.kind === "late" || notice.kind === "ended") open.delete(key);
  }

  /** A line that does not say how long it lasted, with the outage that it is about. */
  function started({ subject, kind }: Notice, context: SummaryContext): Notice | undefined {
    const recording = byName.get(subject);
    return recording && candidate(kind, recording, context)?.notice;
  }

  function one(message: Message): void {
    const { read, integration, at } = message;
    const complain = (what: string) => unreadable.push(`${integration} ${new Date(at).toISOString()}: ${what}`);
    const shown = read.lines.map((line): Notice => ({ ...line, at, integration, message: message.number }));
    for (const what of read.unreadable) complain(what);
    if (read.counted.length + read.cut.length > 0) summaries++;
    const named = new Set(shown.map(({ subject }) => subject));
    const context = {
      message,
      open,
      flapping,
      rule,
      named,
      next: nextOf.get(message.number) ?? Number.POSITIVE_INFINITY,
    };
    const mine = shown.map((line) => (line.isClearing ? (started(line, context) ?? line) : line));
    // Ends come before starts: the same recording may be in both lists.
    const counted = [...read.counted].sort((a, b) => rank(a.kind) - rank(b.kind));
    const expanded = counted.flatMap((count) => {
      const found = standFor(count, byLocation.get(count.locationName) ?? [], context);
      if (found.length < count.count)
        complain(`counts ${count.count} ${count.kind} at ${count.locationName}, where there were ${found.length}`);
      if (!FLAPPING.has(count.kind)) for (const { subject } of found) named.add(subject);
      return found;
    });
    for (const notice of [...mine, ...expanded]) note(notice);
    const left = leftOut(read, [...mine, ...expanded], byName);
    for (const { kinds, count } of left) {
      const kindOf = ({ name }: Meant) =>
        kinds.length > 1 ? (open.has(`${integration}\n${name}`) ? "still" : "firing") : kinds[0];
      const isElsewhere = (one: Meant) =>
        !read.counted.some(({ locationName, kind }) => locationName === one.locationName && kind === kindOf(one));
      const elsewhere = recordings.filter((one) => one.integrations.includes(integration) && isElsewhere(one));
      const found = likeliest(count, elsewhere, kindOf, context);
      if (found.length !== count)
        complain(`counts ${count} more than it names, ${kinds.join(" or ")}, where there were ${found.length}`);
      for (const notice of found) note(notice);
    }
    if (read.cut.length > 0 && left.length === 0 && !isWhole(read)) complain("a list was cut and nothing counts it");
  }

  for (const message of messages) one(message);
  return { notices, unreadable, summaries };
}

function rank(kind: NoticeKind): number {
  return kind === "recovered" || kind === "steady" ? 0 : 1;
}

/** Whether the title has a total. */
function isWhole({ total }: Read): boolean {
  return total.offline !== undefined || total.back !== undefined;
}

/** Counts in the title without a line. */
function leftOut(read: Read, shown: readonly Notice[], known: ReadonlyMap<string, Meant>) {
  // A title counts recordings, which may have two outages each.
  const count = (...kinds: NoticeKind[]) => {
    const meant = shown.filter(({ subject, kind }) => known.has(subject) && kinds.includes(kind));
    return new Set(meant.map(({ subject }) => subject)).size;
  };
  const recovering =
    read.lines.filter(({ isClearing }) => isClearing).length +
    read.counted.reduce((sum, one) => sum + (one.recovering ?? 0), 0);
  // Of some titles, those are no part.
  const offline = (read.total.offline ?? 0) + (read.total.recovering ?? recovering) - count("firing", "still");
  const back = (read.total.back ?? 0) - count("recovered", "late");
  const cut = (["firing", "still"] as const).filter((kind) => read.cut.includes(kind));
  const kinds: readonly NoticeKind[] = cut.length > 0 ? cut : ["still"];
  return [
    ...(read.total.offline !== undefined && offline !== 0 ? [{ kinds, count: offline }] : []),
    ...(read.total.back !== undefined && back !== 0 ? [{ kinds: ["recovered"] as const, count: back }] : []),
  ];
}

interface SummaryContext {
  readonly message: Message;
  readonly open: ReadonlyMap<string, Notice>;
  /** Recordings notified as flapping. */
  readonly flapping: ReadonlySet<string>;
  readonly rule: Timing;
  /** Recordings already in the same message. */
  readonly named: ReadonlySet<string>;
  /** When the next message to the integration was accepted. */
  readonly next: Instant;
}

/** The likeliest recordings behind a count, as notices; fewer where not enough fit. */
function standFor({ kind, count }: Counted, among: readonly Meant[], context: SummaryContext): Notice[] {
  if (kind === "ended") return [];
  if (FLAPPING.has(kind)) return flappingRecordings({ kind, count }, among, context);
  return likeliest(count, among, () => kind, context);
}

function likeliest(
  count: number,
  among: readonly Meant[],
  kindOf: (recording: Meant) => NoticeKind | undefined,
  context: SummaryContext,
): Notice[] {
  return among
    .filter(({ name }) => !context.named.has(name))
    .flatMap((recording) => {
      const kind = kindOf(recording);
      const found = kind && candidate(kind, recording, context);
      return found ? [found] : [];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, Math.max(0, count))
    .map(({ notice }) => notice);
}

/** Recordings notified as flapping, or, for new ones, those that changed most. */
function flappingRecordings(
  { kind, count }: Pick<Counted, "kind" | "count">,
  among: readonly Meant[],
  { message: { at, integration, number: message }, flapping }: SummaryContext,
): Notice[] {
  const isOpen = ({ name }: Meant) => flapping.has(`${integration}\n${name}`);
  return among
    .filter((one) => (kind === "flapping" ? one.changes > 0 : isOpen(one)))
    .sort((a, b) => Number(isOpen(a)) - Number(isOpen(b)) || b.changes - a.changes)
    .slice(0, count)
    .map(({ name: subject }) => ({ at, integration, message, subject, kind, lastedMs: 0, beganMinute: 0 }));
}

interface Candidate {
  readonly score: number;
  readonly notice: Notice;
}

/** The notice for one recording and how well it fits; undefined where it cannot fit. */
function candidate(
  kind: NoticeKind,
  recording: Meant,
  { message, open, rule, next }: SummaryContext,
): Candidate | undefined {
  const { at, integration, number } = message;
  const known = open.get(`${integration}\n${recording.name}`);
  const isLogged = recording.logged.some(
    (line) =>
      line.integration === integration &&
      line.at >= at - CLOCKS_MS &&
      line.at < Math.min(next - CLOCKS_MS, at + NOTING_MS) &&
      REASONS[kind]?.includes(line.reason),
  );
  // Of a message in flight at a kill nothing is logged: it is repeated, or its ends come later.
  const isLoggedLater = recording.logged.some(
    (line) => line.integration === integration && line.at >= next - CLOCKS_MS,
  );
  const span = spanMeant(kind, recording.offline, at, rule);
  if (!span) return undefined;
  const lastedMs = (kind === "recovered" ? span.to : at) - span.from;
  const isNew = known === undefined;
  const isFit = (kind === "firing") === isNew;
  // An outage that is over may be notified as ongoing where its end was not read.
  const isFresh = kind === "recovered" || span.to + rule.keepFiringForMs + SENDING_MS >= at;
  const notice: Notice = {
    at,
    integration,
    message: number,
    subject: recording.name,
    kind: kind === "recovered" && isNew ? "late" : kind,
    lastedMs: Math.max(0, Math.floor(lastedMs / 1_000) * 1_000),
    beganMinute: new Date(span.from).getUTCMinutes(),
  };
  const logged = isLogged ? 16 : isLoggedLater ? 4 : 0;
  // What began, or ended, first is notified first.
  const sinceMs = kind === "recovered" ? at - span.to : lastedMs;
  const score = logged + (isFit ? 8 : 0) + (isFresh ? 2 : 0) + Math.min(1, sinceMs / 1e7);
  return { notice, score };
}

/** The outage meant: the last one long enough, and resolved where the line says so. */
function spanMeant(kind: NoticeKind, offline: readonly Span[], at: Instant, rule: Timing): Span | undefined {
  const long = offline.filter(({ from }) => timeInside(offline, from, at) >= rule.forMs - TOLERANCE_MS);
  if (kind === "recovered") return long.findLast(({ to }) => to + rule.keepFiringForMs - TOLERANCE_MS <= at);
  return long.at(-1);
}
