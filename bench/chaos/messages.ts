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
  /** It is back and may fail again: of the start nothing is shown but the minute. */
  readonly isClearing?: boolean;
}

/** A count of unnamed recordings of a location. */
export interface Counted {
  readonly locationName: string;
  readonly kind: NoticeKind;
  readonly count: number;
  /** How many of them are back and may fail again. */
  readonly recovering?: number;
}

/** A parsed message, without its integration. */
export interface Read {
  readonly lines: readonly Pick<Notice, "subject" | "kind" | "lastedMs" | "beganMinute" | "state" | "isClearing">[];
  readonly counted: readonly Counted[];
  /** Kinds of the lists that were cut. */
  readonly cut: readonly NoticeKind[];
  /** Recordings offline, recovering and recovered, as counted in the title. */
  readonly total: { readonly offline?: number; readonly recovering?: number; readonly back?: number };
  /** Lines that could not be parsed. */
  readonly unreadable: readonly string[];
}

const HEADING = /^(New|Still firing|Recovered|Resolved) \([\d,]+\)(?: · (.+))?$/;
/** What the entries below have in common, or, without any, what is said of the title's subject. */
const CLAUSE =
  /^(?:Since|Was|Back since|Offline|Online|Degraded|Flapping|Recovered, was|Notifications failing|\d+ changes in)\b.*\d\d:\d\d/;
const CUT = /^and [\d,]+ more|too many to list here/;

type Names = ReadonlySet<string>;

/** The lines of a Slack message, as its blocks show them. `names`: of all recordings, with their locations' names. */
export function readSlack(shown: string, names: Names = new Set()): Read {
  const [title = "", ...lines] = shown.split("\n");
  const parts = lines.map((line): Part => {
    const [, name, facts] = /^(?:• )?\*((?:\u200b\*\u200b|[^*])+)\*(?: ·)? (.+)$/.exec(line) ?? [];
    return facts === undefined
      ? { line: plain(line.replace(/^\*|\*$/g, "")) }
      : { name: plain(name), facts: plain(facts) };
  });
  return readParts(plain(title).replace(/^\*|\*$/g, ""), parts, names);
}

/** The lines of a mail's text. */
export function readMail(text: string, names: Names = new Set()): Read {
  const [title = "", ...blocks] = text.trim().split("\n\n");
  const parts = blocks.map((block): Part => {
    const [line = "", facts] = block.split("\n");
    return facts?.startsWith("  ") ? { name: line, facts: facts.trim() } : { line };
  });
  return readParts(title, parts, names);
}

type Part = { readonly line: string } | { readonly name: string; readonly facts: string };

interface Entry {
  readonly heading: string | undefined;
  /** Empty where the list was cut. */
  readonly name: string;
  readonly facts: string;
  /** What it leaves to the heading. */
  readonly clause?: string | undefined;
}

function readParts(signed: string, parts: readonly Part[], names: Names): Read {
  const title = signed.replace(/^(?:🔴|🟠|🔵|✅|⚪) /u, "");
  const entries: Entry[] = [];
  let heading: string | undefined;
  let clause: string | undefined;
  for (const part of parts) {
    if ("facts" in part) entries.push({ heading, clause, ...part });
    else if (HEADING.test(part.line)) [, heading, clause] = HEADING.exec(part.line) ?? [];
    else if (CUT.test(part.line)) entries.push({ heading, name: "", facts: "" });
    else if (CLAUSE.test(part.line)) clause ??= part.line.charAt(0).toLowerCase() + part.line.slice(1);
  }
  const titled = entries.length === 0 && clause !== undefined ? titledEntry(title, clause) : undefined;
  return readEntries(title, titled ? [titled] : entries, names);
}

/** A title about one subject, in the order in which its words can be told apart. */
const TITLED: readonly (readonly [title: RegExp, facts: (clause: string, title: string, state: string) => string])[] = [
  [/^Notifications to (.+?) recovered — /, (clause, title) => `recovered, ${clause} ${lastedIn(title)}`],
  [/^(?:Reminder: )?Notifications (?:still )?failing: (.+?)(?: — |$)/, (clause) => `notifications failing ${clause}`],
  [/^(.+?) was \w+ (?:· .*)?— recovered after/, (clause, title) => `${clause} ${lastedIn(title)}, recovered since`],
  [/^(.+?) steady again, /, (clause) => `steady again: ${clause}`],
  [/^(.+?) recovered (?:· .*)?— after/, (clause, title) => `recovered, ${clause} ${lastedIn(title)}`],
  [/^(.+?):? (its rule was removed|no longer watched|expired)/, (clause, _, end) => `${end}; ${clause}`],
  [/^(?:Reminder: )?(.+?) recovering\b/, (clause) => clause],
  [/^(?:Reminder: )?(.+?)(?: still)? (flapping)\b/, (clause) => `flapping: ${clause}`],
  [/^(?:Reminder: )?(.+?)(?: still)? (offline|unreachable)\b/, (clause, _, state) => `${state} ${clause}`],
];

function titledEntry(title: string, clause: string): Entry | undefined {
  for (const [pattern, factsOf] of TITLED) {
    const [found, name = "", state = ""] = pattern.exec(title) ?? [];
    if (found !== undefined) return { heading: undefined, name, facts: factsOf(clause, title, state) };
  }
  return undefined;
}

/** `(9 m)` of a title that ends with `after 9 m`. */
function lastedIn(title: string): string {
  return `(${/ after (?:up to )?([^,]+)/.exec(title)?.[1] ?? ""})`;
}

type Line = Read["lines"][number];

function readEntries(title: string, entries: readonly Entry[], names: Names): Read {
  const lines: Line[] = [];
  const counted: Counted[] = [];
  const cut: NoticeKind[] = [];
  const unreadable: string[] = [];
  for (const entry of entries) {
    const ongoing = ongoingIn(title, entry.heading);
    const facts = [entry.facts, `${entry.facts} ${entry.clause ?? ""}`, `${entry.facts} ${ongoing}`];
    const readings = facts.map((text) => readingOf(ongoing, { ...entry, facts: text }));
    const { line, counts } = readings.find((one) => one.line || one.counts.length > 0) ?? { counts: [] };
    if (entry.name === "") cut.push(ongoing);
    else if (line)
      lines.push({ ...line, subject: fullName(line.subject, [entry.name, ...placesIn(title, entry)], names) });
    else if (counts.length > 0) counted.push(...counts);
    else unreadable.push(`${entry.name}: ${entry.facts}`);
  }
  if (entries.length === 0) unreadable.push(title);
  return { lines, counted, cut, unreadable, total: totalOf(title, cut) };
}

function readingOf(ongoing: NoticeKind, entry: Entry): { line?: Line | undefined; counts: Counted[] } {
  const line = entry.name === "" ? undefined : readEntry(ongoing, entry);
  return { line, counts: line || entry.name === "" ? [] : readCounts(ongoing, entry) };
}

/** Locations that a title or a line names. */
function placesIn(title: string, { facts }: Entry): string[] {
  return [facts, title].flatMap((text) => / · (?:location )?([^·—]+?)(?: — .*)?$/.exec(text)?.[1]?.split(", ") ?? []);
}

/** A name is shown without that of its location. */
function fullName(name: string, places: readonly string[], names: Names): string {
  return [name, ...places.map((place) => `${place} ${name}`)].find((full) => names.has(full)) ?? name;
}

/** The kind of the entries under a heading. */
function ongoingIn(title: string, heading: string | undefined): "firing" | "still" | "recovered" {
  const isOver =
    /^(Resolved|Steady again)| (?:recovered|steady again, \w+|no longer watched)(?: |$)(?!.*still offline)|: (?:expired|its rule)|— recovered after /.test(
      title,
    );
  if (heading === "Recovered" || heading === "Resolved" || (heading === undefined && isOver)) return "recovered";
  return heading === "Still firing" || title.startsWith("Reminder") ? "still" : "firing";
}

/** A line about one subject, which may be the only one of a location. */
const ONE =
  /^(?:(?<name>.+?) )??(?:(?<recovered>recovered, was )|steady again: (?<state>\w+)|(?<flapping>flapping\b)|(?<late>was \w.*, recovered since\b)|(?<clearing>back since .+, was offline since\b)|(?<ended>no longer watched; |its rule was removed; |expired[,;] )|(?<firing>(?:offline|unreachable|notifications failing) since\b))/;

function readEntry(ongoing: NoticeKind, { name, facts }: Entry): Line | undefined {
  if (COUNT.test(facts)) return undefined;
  const found = ONE.exec(facts)?.groups;
  const began = /\b\d\d:(\d\d)\b/.exec(found?.clearing ? facts.slice(facts.indexOf(", was ")) : facts);
  const lastedMs = spanOf(/\(([^()]+)\)/.exec(facts)?.[1] ?? "");
  if (!found || !began || lastedMs === undefined) return undefined;
  const about = { subject: found.name ?? name, lastedMs, beganMinute: Number(began[1]) };
  if (found.state !== undefined) return { ...about, kind: "steady", state: found.state };
  if (found.flapping !== undefined) return { ...about, kind: ongoing === "still" ? "still_flapping" : "flapping" };
  if (found.clearing !== undefined) return { ...about, kind: ongoing, lastedMs: 0, isClearing: true };
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
    recovering: isStill ? "still" : "firing",
    flapping: isStill ? "still_flapping" : "flapping",
    recovered: "recovered",
    "was offline": "recovered",
    "were offline": "recovered",
    "steady again": "steady",
  };
  const [, among] = / \((all|[\d,]+) recovering\)/.exec(facts) ?? [];
  const parts = facts
    .replace(/ \((?:all|[\d,]+) recovering\)/, "")
    .replace(/ since .*/, "")
    .matchAll(/([\d,]+) (?:recordings? )?(?:still )?(offline|flapping|recovered|steady again|[a-z ]+)/g);
  return [...parts].flatMap(([, count = "", what = ""]): Counted[] => {
    // What they do is said by the title or the heading.
    if (/^recordings? ?$/.test(what)) return [];
    const one = { locationName, kind: kind[what.trim()] ?? "ended", count: numberOf(count) };
    const recovering = what.trim() === "recovering" || among === "all" ? one.count : numberOf(among ?? "0");
    return [{ ...one, ...(/^(?:offline|recovering)$/.test(what.trim()) && recovering > 0 ? { recovering } : {}) }];
  });
}

function totalOf(title: string, cut: readonly NoticeKind[]): Read["total"] {
  const backToo = cut.includes("recovered") ? / — (?:.+, )?([\d,]+) recovered/.exec(title) : null;
  return { ...ownTotal(title), ...(backToo ? { back: numberOf(backToo[1]) } : {}) };
}

function ownTotal(title: string): Read["total"] {
  const offline = /([\d,]+) (?:recordings? )?(?:still )?offline/.exec(title);
  const back = /^(?:[\d,]+ locations?, )?([\d,]+) recordings? (?:recovered|were offline .*— recovered)/.exec(title);
  if (back) return { back: numberOf(back[1]) };
  if (
    /^(?!\d|Notif|Analytics).+? (?:recovered (?:· .*|at 1 location )?— after|was offline .*— recovered after)/.test(
      title,
    )
  )
    return { back: 1 };
  if (/^(?!(?:Reminder: )?(?:\d|Notif|Analytics)).+?(?: still)? offline(?: ·| at 1 location|,| —|$)/.test(title))
    return { offline: 1 };
  const recovering = /([\d,]+) recordings? recovering/.exec(title);
  if (/^(Steady|Resolved)/.test(title) || (!offline && !recovering)) return {};
  return { offline: numberOf(offline?.[1] ?? "0"), ...(recovering ? { recovering: numberOf(recovering[1]) } : {}) };
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
