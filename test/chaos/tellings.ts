/** What people were told, read back from the messages as a reader would: who, what, since when. Pure. */
import type { Instant } from "../../src/lib/clock.ts";

/**
 * `firing`: told for the first time; `still`: named again as going on; `recovered`: it is back; `late`: was offline
 * and is back already; `ended`: over for another reason.
 */
export type Says = "firing" | "still" | "recovered" | "late" | "ended";

/** One line of an accepted message about one subject. */
export interface Telling {
  readonly at: Instant;
  /** `slack/3`, `email/0`. */
  readonly integration: string;
  /** Number of the message, the same for all its lines. */
  readonly message: number;
  /** The name as shown: a recording's, `The service`, or an integration's. */
  readonly subject: string;
  readonly says: Says;
  /** How long it has lasted or had lasted, ms, rounded down to the second (from ten minutes on: to the minute). */
  readonly lastedMs: number;
  /** Minute of the hour it began in, as shown. */
  readonly beganMinute: number;
}

/** A message by its lines, before it is said who it went to. */
export interface Read {
  readonly lines: readonly Pick<Telling, "subject" | "says" | "lastedMs" | "beganMinute">[];
  /** Lines that could not be read, and lists that were cut. */
  readonly unreadable: readonly string[];
}

const HEADING = /^(New|Still going on|Recovered|Over) \((\d+)\)$/;
const CUT = /^and \d+ more|too many to list here/;

/** The lines of a Slack message, as its blocks show them. */
export function readSlack(shown: string): Read {
  const entries: Entry[] = [];
  let heading: string | undefined;
  const [title = "", ...lines] = shown.split("\n");
  for (const line of lines) {
    const head = HEADING.exec(line.replace(/^\*|\*$/g, ""));
    const entry = /^(?:• )?\*((?:\u200b\*\u200b|[^*])+)\*(?: ·)? (.+)$/.exec(line);
    if (head) heading = head[1];
    else if (entry) entries.push({ heading, name: plain(entry[1]), facts: plain(entry[2]) });
    else if (CUT.test(line)) entries.push({ heading, name: line, facts: "" });
  }
  return readEntries(plain(title).replace(/^\*|\*$/g, ""), entries);
}

/** The lines of a mail's text. */
export function readMail(text: string): Read {
  const entries: Entry[] = [];
  let heading: string | undefined;
  const [title = "", ...blocks] = text.trim().split("\n\n");
  for (const block of blocks) {
    const [name = "", facts] = block.split("\n");
    const head = HEADING.exec(name);
    if (head) heading = head[1];
    else if (facts !== undefined) entries.push({ heading, name, facts: facts.trim() });
    else if (CUT.test(name)) entries.push({ heading, name, facts: "" });
  }
  return readEntries(title, entries);
}

interface Entry {
  readonly heading: string | undefined;
  readonly name: string;
  readonly facts: string;
}

function readEntries(title: string, entries: readonly Entry[]): Read {
  const read = entries.map((entry) => ({ entry, line: readEntry(title, entry) }));
  const unreadable = read.flatMap(({ entry, line }) => (line ? [] : [`${entry.name}: ${entry.facts}`]));
  if (entries.length === 0) unreadable.push(title);
  return { lines: read.flatMap(({ line }) => line ?? []), unreadable };
}

function readEntry(title: string, { heading, name, facts }: Entry): Read["lines"][number] | undefined {
  const says = saysOf(title, heading, facts);
  const began = /\b\d\d:(\d\d)\b/.exec(facts);
  const lastedMs = spanOf(/\(([^()]+)\)/.exec(facts)?.[1] ?? "");
  if (!says || !began || lastedMs === undefined) return undefined;
  return { subject: name, says, lastedMs, beganMinute: Number(began[1]) };
}

function saysOf(title: string, heading: string | undefined, facts: string): Says | undefined {
  if (facts.startsWith("recovered, ")) return "recovered";
  if (/, recovered since\b/.test(facts)) return "late";
  if (
    /^(?:no longer watched|its rule was removed|expired)\b|, then (?:no longer|its rule|expired)/.test(facts)
  )
    return "ended";
  if (!/ since .*\d\d:\d\d/.test(facts)) return undefined;
  return heading === "Still going on" || title.startsWith("Reminder") ? "still" : "firing";
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function spanOf(text: string): number | undefined {
  if (text === "less than a second") return 0;
  const parts = [...text.matchAll(/(\d+) ([smhd])(?= |$)/g)];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, count, unit = "s"]) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}

/** Slack's escapes undone. */
function plain(text = ""): string {
  return text
    .replaceAll("\u200b", "")
    .replace(/&(lt|gt|amp);/g, (_, name: string) => ({ lt: "<", gt: ">", amp: "&" })[name] ?? "");
}
