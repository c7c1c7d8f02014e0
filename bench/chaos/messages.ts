/** Parses accepted messages into notices: subject, kind, start. Pure. */
import type { Instant } from "../../src/lib/clock.ts";

/**
 * `firing`: new; `still`: a reminder; `recovered`: resolved; `late`: was offline and has recovered already;
 * `ended`: resolved for another reason. `flapping`, `still_flapping` and `steady` are about flapping.
 */
export type NoticeKind = "firing" | "still" | "recovered" | "late" | "ended" | "flapping" | "still_flapping" | "steady";

export const FLAPPING: ReadonlySet<NoticeKind> = new Set(["flapping", "still_flapping", "steady"]);

/** One line of an accepted message about one subject. */
export interface Notice {
  readonly at: Instant;
  /** `slack/3`, `email/0`. */
  readonly integration: string;
  /** Number of the message, the same for all its lines. */
  readonly message: number;
  /** The name as shown: a recording's, `Analytics service`, or an integration's. */
  readonly subject: string;
  readonly kind: NoticeKind;
  /** How long it has lasted or had lasted, ms, rounded down to the second (from ten minutes on: to the minute). */
  readonly lastedMs: number;
  /** Minute of the hour it began in, as shown. */
  readonly beganMinute: number;
  /** `steady`: the current status shown. */
  readonly state?: string;
}

/** A count of unnamed recordings of a location. */
export interface Counted {
  readonly locationName: string;
  readonly kind: NoticeKind;
  readonly count: number;
}

/** A parsed message, without its integration. */
export interface Read {
  readonly lines: readonly Pick<Notice, "subject" | "kind" | "lastedMs" | "beganMinute" | "state">[];
  readonly counted: readonly Counted[];
  /** Kinds of the lists that were cut. */
  readonly cut: readonly NoticeKind[];
  /** Recordings offline and recovered, as counted in the title. */
  readonly total: { readonly offline?: number; readonly back?: number };
  /** Lines that could not be parsed. */
  readonly unreadable: readonly string[];
}

const HEADING = /^(New|Still firing|Recovered|Resolved) \((\d+)\)$/;
const CUT = /^and [\d,]+ more|too many to list here/;

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
    else if (CUT.test(line)) entries.push({ heading, name: "", facts: "" });
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
    else if (CUT.test(name)) entries.push({ heading, name: "", facts: "" });
    else if (facts !== undefined) entries.push({ heading, name, facts: facts.trim() });
  }
  return readEntries(title, entries);
}

interface Entry {
  readonly heading: string | undefined;
  /** Empty where the list was cut. */
  readonly name: string;
  readonly facts: string;
}

type Line = Read["lines"][number];

function readEntries(title: string, entries: readonly Entry[]): Read {
  const lines: Line[] = [];
  const counted: Counted[] = [];
  const cut: NoticeKind[] = [];
  const unreadable: string[] = [];
  for (const entry of entries) {
    const ongoing = ongoingIn(title, entry.heading);
    const line = entry.name === "" ? undefined : readEntry(ongoing, entry);
    const counts = line || entry.name === "" ? [] : readCounts(ongoing, entry);
    if (entry.name === "") cut.push(ongoing);
    else if (line) lines.push(line);
    else if (counts.length > 0) counted.push(...counts);
    else unreadable.push(`${entry.name}: ${entry.facts}`);
  }
  if (entries.length === 0) unreadable.push(title);
  return { lines, counted, cut, unreadable, total: totalOf(title) };
}

/** The kind of the entries under a heading. */
function ongoingIn(title: string, heading: string | undefined): "firing" | "still" | "recovered" {
  const isOver =
    /^(Recovered|Resolved|Steady again|No longer watched|Expired|Rule removed)|— (?:recovered after|then) /.test(title);
  if (heading === "Recovered" || heading === "Resolved" || (heading === undefined && isOver)) return "recovered";
  return heading === "Still firing" || title.startsWith("Reminder") ? "still" : "firing";
}

/** A line about one subject, which may be the only one of a location. */
const ONE =
  /^(?:(?<name>.+?) )??(?:(?<recovered>recovered, was )|steady again: (?<state>\w+)|(?<flapping>flapping\b)|(?<late>was \w.*, recovered since\b)|(?<ended>no longer watched; |its rule was removed; |expired, |was .*, then (?:no longer|its rule|expired))|(?<firing>(?:offline|unreachable|notifications failing) since\b))/;

function readEntry(ongoing: NoticeKind, { name, facts }: Entry): Line | undefined {
  if (COUNT.test(facts)) return undefined;
  const found = ONE.exec(facts)?.groups;
  const began = /\b\d\d:(\d\d)\b/.exec(facts);
  const lastedMs = spanOf(/\(([^()]+)\)/.exec(facts)?.[1] ?? "");
  if (!found || !began || lastedMs === undefined) return undefined;
  const about = { subject: found.name ?? name, lastedMs, beganMinute: Number(began[1]) };
  if (found.state !== undefined) return { ...about, kind: "steady", state: found.state };
  if (found.flapping !== undefined) return { ...about, kind: ongoing === "still" ? "still_flapping" : "flapping" };
  if (found.firing !== undefined) return { ...about, kind: ongoing };
  return { ...about, kind: found.recovered ? "recovered" : found.late ? "late" : "ended" };
}

const COUNT = /^[\d,]+ (?:recordings? |recovered\b|steady again\b|no longer|rule removed|expired)/;

/** A line that counts: `5 recordings offline, 1 flapping since 14:05 GMT (3 s)`, `4 recovered, 1 steady again`. */
function readCounts(ongoing: NoticeKind, { name: locationName, facts }: Entry): Counted[] {
  if (!COUNT.test(facts)) return [];
  const isStill = ongoing === "still";
  const kind: Readonly<Record<string, NoticeKind>> = {
    offline: isStill ? "still" : "firing",
    flapping: isStill ? "still_flapping" : "flapping",
    recovered: "recovered",
    "steady again": "steady",
  };
  const parts = facts
    .replace(/ since .*/, "")
    .matchAll(/([\d,]+) (?:recordings? )?(?:still )?(offline|flapping|recovered|steady again|[a-z ]+)/g);
  return [...parts].map(([, count = "", what = ""]) => ({
    locationName,
    kind: kind[what] ?? "ended",
    count: numberOf(count),
  }));
}

function totalOf(title: string): Read["total"] {
  const offline = /([\d,]+) (?:recordings? )?(?:still )?offline/.exec(title);
  const back = /^Recovered: (?:[\d,]+ locations?, )?([\d,]+) recordings?/.exec(title);
  if (back) return { back: numberOf(back[1]) };
  return offline && !/^(Steady|Resolved)/.test(title) ? { offline: numberOf(offline[1]) } : {};
}

function numberOf(text = ""): number {
  return Number(text.replaceAll(",", ""));
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
