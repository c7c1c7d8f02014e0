/** Decision log lines of one episode as one entry: `05:58 offline → Slack, e-mail → 05:59 recovered`. Pure. */
import type { Subject } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { counted } from "../lib/format.ts";
import { type LogLine, sentenceOf } from "./decision-log.ts";
import { integrationName } from "./integration-name.ts";

interface FoldedStep {
  readonly at: Instant;
  readonly words: string;
}

/** The lines of one episode of an alert, or a single line that belongs to none. */
export interface FoldedDecisions {
  readonly subject: Subject;
  readonly ruleId: string | undefined;
  /** Oldest first, at least one. */
  readonly steps: readonly FoldedStep[];
  /** The folded lines, oldest first. */
  readonly lines: readonly LogLine[];
}

const BEGINS: ReadonlySet<string> = new Set(["pending", "firing"]);

const ENDS: Readonly<Record<string, string>> = {
  resolved: "recovered",
  pending_ended: "over before it was to fire",
  expired: "expired",
  rule_removed: "rule removed",
  rule_changed: "rule changed",
  dropped_together: "counts dropped together",
  no_longer_watched: "no longer watched",
};

/** No steps: other lines of the episode say as much. */
const IMPLIED: ReadonlySet<string> = new Set(["pending", "clearing", "clearing_ended", "observed_online"]);

type Written = (instant: Instant) => string;

/** `lines` and entries are oldest first, entries by their first lines; `at` writes an instant. */
export function foldDecisions(lines: readonly LogLine[], at: Written): FoldedDecisions[] {
  const entries: LogLine[][] = [];
  const episodes = new Map<string, { readonly own: LogLine[]; isOver: boolean }>();
  /** The last observation of each subject, until a rule's line of the same time takes it. */
  const observed = new Map<string, LogLine[]>();
  for (const line of lines) {
    const subject = `${line.subject.kind}/${line.subject.id}`;
    if (line.ruleId === undefined) {
      entries.push([line]);
      observed.set(subject, entries.at(-1) ?? []);
      continue;
    }
    const key = `${subject} ${line.ruleId}`;
    let episode = episodes.get(key);
    if (!episode || (episode.isOver && BEGINS.has(line.reason))) {
      episode = { own: [], isOver: false };
      episodes.set(key, episode);
      entries.push(episode.own);
    }
    const cause = observed.get(subject);
    if (cause?.[0]?.at === line.at) episode.own.push(...cause.splice(0));
    episode.own.push(line);
    if (isEnd(line)) episode.isOver = true;
  }
  return entries.flatMap((own) => (own[0] ? entryOf(own[0], own, at) : []));
}

function isEnd({ reason, integration }: LogLine): boolean {
  return integration === undefined && Object.hasOwn(ENDS, reason);
}

function entryOf(first: LogLine, lines: readonly LogLine[], at: Written): FoldedDecisions {
  const { subject } = first;
  const ruleId = lines.find((line) => line.ruleId !== undefined)?.ruleId;
  const steps = lines.length === 1 ? [{ at: first.at, words: sentenceOf(first, at) }] : stepsOf(first, lines, at);
  return { subject, ruleId, steps, lines };
}

function stepsOf(first: LogLine, lines: readonly LogLine[], written: Written): FoldedStep[] {
  const notified = lines.filter(({ reason }) => reason === "notified");
  const reached = new Set(notified.map(({ integration = "" }) => integration));
  const steps: FoldedStep[] = [];
  const said = new Set<string>();
  let last = "";
  // An integration says the same once; what was done to the alert itself is a step each time.
  const add = ({ at, integration }: LogLine, words: string) => {
    if (integration === undefined ? words === last : said.has(words)) return;
    if (integration === undefined) last = words;
    said.add(words);
    steps.push({ at, words });
  };
  for (const line of lines) {
    const { reason, integration = "" } = line;
    if (reason === "notified") add(line, [...reached].map(integrationName).join(", "));
    else if (isEnd(line)) add(line, ENDS[reason] ?? reason);
    else if (reason === "firing" && notified.length > 0 && steps.length > 0) continue;
    else if (reason === "failed" && reached.has(integration)) continue;
    else if (reason === "notified_end" && reached.has(integration)) continue;
    else if (line === first || !IMPLIED.has(reason)) add(line, wordsOf(line, written));
  }
  return steps;
}

function wordsOf(line: LogLine, at: Written): string {
  const { reason, ruleId, detail } = line;
  const [, status] = /^observed_(.*)$/.exec(reason) ?? [];
  if (status !== undefined) return status;
  if (reason === "pending") return "condition met";
  if (reason === "reminded") return counted(Number(detail ?? 1), "reminder");
  const sentence = sentenceOf(line, at).slice(ruleId === undefined ? 0 : ruleId.length + 2);
  const [words = ""] = sentence.split("; ");
  return words;
}
