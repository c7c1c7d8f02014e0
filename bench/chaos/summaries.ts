/**
 * What messages say of each recording. A summary of a storm names locations and counts: whom it stands for is worked
 * out from what truly happened and from what the daemon says that it told (its incident log), and a count that nobody
 * can stand for is found. Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Timing } from "./audit.ts";
import { SENDING_MS, TOLERANCE_MS } from "./match.ts";
import { type Counted, FLAPPING, type Read, type Says, type Telling } from "./messages.ts";
import { type Span, timeInside } from "./timeline.ts";

/** An accepted message. */
export interface Message {
  readonly at: Instant;
  readonly integration: string;
  readonly number: number;
  readonly read: Read;
}

/** That the daemon told somebody, as its incident log has it. */
export interface Logged {
  readonly at: Instant;
  readonly integration: string;
  readonly reason: string;
}

/** A recording that may be meant by a count. */
export interface Meant {
  readonly name: string;
  readonly place: string;
  readonly dark: readonly Span[];
  /** How often its status changed. */
  readonly changes: number;
  /** Of being offline alone, oldest first; empty where it was not asked for. */
  readonly logged: readonly Logged[];
  readonly integrations: readonly string[];
}

/** The daemon's clock and that of the sinks differ by no more. */
const CLOCKS_MS = 100;
/** A message of which it was not noted that it was told is none of an earlier one. */
const NOTING_MS = 20_000;
const REASONS: Partial<Record<Says, readonly string[]>> = {
  firing: ["told"],
  still: ["reminded"],
  recovered: ["notified_end", "notified_late"],
};

export interface Spelled {
  readonly tellings: Telling[];
  /** What was counted and is not there, and what could not be read. */
  readonly unreadable: string[];
  /** Messages that count and do not name. */
  readonly summaries: number;
}

/** `messages` in order of acceptance. */
export function spellOut(messages: readonly Message[], recordings: readonly Meant[], rule: Timing): Spelled {
  const byPlace = Map.groupBy(recordings, ({ place }) => place);
  const byName = new Map(recordings.map((one) => [one.name, one]));
  const open = new Map<string, Telling>();
  const flapping = new Set<string>();
  const tellings: Telling[] = [];
  const unreadable: string[] = [];
  let summaries = 0;
  /** By message: when the next one to the same integration was accepted. */
  const nextOf = new Map<number, Instant>();
  for (const own of Map.groupBy(messages, ({ integration }) => integration).values())
    own.forEach(({ number }, i) => void nextOf.set(number, own[i + 1]?.at ?? Number.POSITIVE_INFINITY));

  function note(telling: Telling): void {
    tellings.push(telling);
    const key = `${telling.integration}\n${telling.subject}`;
    if (telling.says === "firing") open.set(key, telling);
    if (telling.says === "flapping") flapping.add(key);
    if (telling.says === "steady") flapping.delete(key);
    if (telling.says === "recovered" || telling.says === "late" || telling.says === "ended") open.delete(key);
  }

  function one(message: Message): void {
    const { read, integration, at } = message;
    const mine = read.lines.map((line): Telling => ({ ...line, at, integration, message: message.number }));
    const complain = (what: string) =>
      unreadable.push(`${integration} ${new Date(at).toISOString()}: ${what}`);
    for (const what of read.unreadable) complain(what);
    if (read.counted.length + read.cut.length > 0) summaries++;
    const named = new Set(mine.map(({ subject }) => subject));
    const desk = {
      message,
      open,
      flapping,
      rule,
      named,
      next: nextOf.get(message.number) ?? Number.POSITIVE_INFINITY,
    };
    // What is over is told before what begins: the same recording may be in both lists.
    const counted = [...read.counted].sort((a, b) => rank(a.says) - rank(b.says));
    const spelled = counted.flatMap((count) => {
      const found = standFor(count, byPlace.get(count.place) ?? [], desk);
      if (found.length < count.count)
        complain(`counts ${count.count} ${count.says} at ${count.place}, where there were ${found.length}`);
      if (!FLAPPING.has(count.says)) for (const { subject } of found) named.add(subject);
      return found;
    });
    for (const telling of [...mine, ...spelled]) note(telling);
    const left = leftOut(read, [...mine, ...spelled], byName);
    for (const { says, count } of left) {
      const elsewhere = recordings.filter(
        ({ place, integrations }) =>
          integrations.includes(integration) && !read.counted.some((c) => c.place === place),
      );
      const found = standFor({ says, count, place: "" }, elsewhere, desk);
      if (found.length !== count)
        complain(`counts ${count} more than it names, ${says}, where there were ${found.length}`);
      for (const telling of found) note(telling);
    }
    if (read.cut.length > 0 && left.length === 0 && !isWhole(read))
      complain("a list was cut and nothing counts it");
  }

  for (const message of messages) one(message);
  return { tellings, unreadable, summaries };
}

function rank(says: Says): number {
  return says === "recovered" || says === "steady" ? 0 : 1;
}

/** Whether the title says how many there are in all. */
function isWhole({ total }: Read): boolean {
  return total.offline !== undefined || total.back !== undefined;
}

/** By what the title counts: those that no line stands for. */
function leftOut(read: Read, said: readonly Telling[], known: ReadonlyMap<string, Meant>) {
  // A title counts recordings: one may have had two outages.
  const count = (...kinds: Says[]) => {
    const meant = said.filter(({ subject, says }) => known.has(subject) && kinds.includes(says));
    return new Set(meant.map(({ subject }) => subject)).size;
  };
  const offline = (read.total.offline ?? 0) - count("firing", "still");
  const back = (read.total.back ?? 0) - count("recovered", "late");
  const says: Says = read.cut.includes("firing") ? "firing" : "still";
  return [
    ...(read.total.offline !== undefined && offline !== 0 ? [{ says, count: offline }] : []),
    ...(read.total.back !== undefined && back !== 0 ? [{ says: "recovered" as const, count: back }] : []),
  ];
}

interface Desk {
  readonly message: Message;
  readonly open: ReadonlyMap<string, Telling>;
  /** Told to flap. */
  readonly flapping: ReadonlySet<string>;
  readonly rule: Timing;
  /** Spoken of in the same message already. */
  readonly named: ReadonlySet<string>;
  /** When the next message to the integration was accepted. */
  readonly next: Instant;
}

/** The likeliest recordings behind a count, as tellings; fewer where there are not so many. */
function standFor({ says, count }: Counted, among: readonly Meant[], desk: Desk): Telling[] {
  if (says === "ended") return [];
  if (FLAPPING.has(says)) return flappers({ says, count }, among, desk);
  return among
    .filter(({ name }) => !desk.named.has(name))
    .flatMap((recording) => {
      const found = candidate(says, recording, desk);
      return found ? [found] : [];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, Math.max(0, count))
    .map(({ telling }) => telling);
}

/** Those that were told to flap, or of which it is new: the ones that changed most. In which state they are now is not said. */
function flappers(
  { says, count }: Pick<Counted, "says" | "count">,
  among: readonly Meant[],
  { message: { at, integration, number: message }, flapping }: Desk,
): Telling[] {
  const isOpen = ({ name }: Meant) => flapping.has(`${integration}\n${name}`);
  return among
    .filter((one) => (says === "flapping" ? one.changes > 0 : isOpen(one)))
    .sort((a, b) => Number(isOpen(a)) - Number(isOpen(b)) || b.changes - a.changes)
    .slice(0, count)
    .map(({ name: subject }) => ({ at, integration, message, subject, says, lastedMs: 0, beganMinute: 0 }));
}

interface Candidate {
  readonly score: number;
  readonly telling: Telling;
}

/** What the line would say of one recording, and how well that fits; undefined where it cannot be meant. */
function candidate(says: Says, recording: Meant, { message, open, rule, next }: Desk): Candidate | undefined {
  const { at, integration, number } = message;
  const known = open.get(`${integration}\n${recording.name}`);
  const isLogged = recording.logged.some(
    (line) =>
      line.integration === integration &&
      line.at >= at - CLOCKS_MS &&
      line.at < Math.min(next - CLOCKS_MS, at + NOTING_MS) &&
      REASONS[says]?.includes(line.reason),
  );
  const span = spanMeant(says, recording.dark, at, rule);
  if (!span) return undefined;
  const lastedMs = (says === "recovered" ? span.to : at) - span.from;
  const isNew = known === undefined;
  const isFit = (says === "firing") === isNew;
  // What is over is told as going on where nobody could see it: whether anybody did is another question.
  const isFresh = says === "recovered" || span.to + rule.keepFiringForMs + SENDING_MS >= at;
  const telling: Telling = {
    at,
    integration,
    message: number,
    subject: recording.name,
    says: says === "recovered" && isNew ? "late" : says,
    lastedMs: Math.max(0, Math.floor(lastedMs / 1_000) * 1_000),
    beganMinute: new Date(span.from).getUTCMinutes(),
  };
  const score = (isLogged ? 8 : 0) + (isFit ? 4 : 0) + (isFresh ? 2 : 0) + Math.min(1, lastedMs / 1e7);
  return { telling, score };
}

/** The dark time that may be spoken of: the last that was long enough, and is over where that is said. */
function spanMeant(says: Says, dark: readonly Span[], at: Instant, rule: Timing): Span | undefined {
  const long = dark.filter(({ from }) => timeInside(dark, from, at) >= rule.forMs - TOLERANCE_MS);
  if (says === "recovered") return long.findLast(({ to }) => to + rule.keepFiringForMs - TOLERANCE_MS <= at);
  return long.at(-1);
}
