/** Answers to a person who pressed a button; nobody else sees them. Pure. */
import type { LogLine } from "../../alerting/decision-log.ts";
import { foldDecisions } from "../../alerting/fold-decisions.ts";
import type { Times } from "../../lib/when.ts";
import { clean } from "../name.ts";
import { bold, mrkdwn } from "./mrkdwn.ts";

const MOST_LINES = 20;
const MOST_CHARACTERS = 3_500;
const LINE = 300;

/** Newest last. `names` by subject, `kind/id`; shown where there are several. */
export function whyText(
  { name, names, timezone }: { name: string; names: ReadonlyMap<string, string>; timezone: string },
  lines: readonly LogLine[],
  times: Times,
): string {
  const rows = foldDecisions(lines, (at) => times.at(at, timezone)).map(({ subject, steps, ruleId }) => {
    const text = steps
      .map(({ at, words }) => `${times.at(at, timezone)} ${words.replace(`${ruleId}: `, "")}`)
      .join(" → ");
    const head = [names.size > 1 ? names.get(`${subject.kind}/${subject.id}`) : "", ruleId].filter(Boolean).join(" · ");
    return mrkdwn(clean(head === "" ? text : `${head}: ${text}`, LINE));
  });
  if (rows.length === 0) return `No decisions about ${bold(clean(name))} in the last week.`;
  return bounded([bold(clean(name)), ...rows.slice(-MOST_LINES)]);
}

/** The lines that a message of Slack's has room for, and how many more there are. */
function bounded(lines: readonly string[]): string {
  const kept: string[] = [];
  let left = MOST_CHARACTERS;
  for (const line of lines.slice(0, MOST_LINES + 1)) {
    left -= line.length + 1;
    if (left > 0) kept.push(line);
  }
  const more = lines.length - kept.length;
  return [...kept, ...(more > 0 ? [`… and ${more} more`] : [])].join("\n");
}
