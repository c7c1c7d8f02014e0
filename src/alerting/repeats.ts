/** Decisions that are taken again and again: their lines are left out of the decision log, or folded when they are read. */
import type { LogLine } from "./decision-log.ts";
import { suppressionReasons } from "./model.ts";

/** Reasons that the next decision gives again: one line for each detail, until the rule and integration have another reason. */
const REPEATED: ReadonlySet<string> = new Set([
  ...suppressionReasons,
  ...["failed", "not_escalated", "owed_nowhere", "no_location", "listed_elsewhere"],
]);

/** With more, all are forgotten. */
const MOST_KNOWN = 100_000;

export type Repeats = ReturnType<typeof createRepeats>;

/** The reasons that still hold of what was decided. One that is forgotten takes one more line, which reading folds. */
export function createRepeats() {
  const known = new Map<string, { readonly reason: string; readonly details: Set<string> }>();
  return {
    /** True where an earlier line says the same. */
    isRepeat(line: LogLine): boolean {
      const { reason } = line;
      const detail = `${line.detail} ${line.until}`;
      const track = trackOf(line);
      const before = known.get(track);
      const { details } = before?.reason === reason ? before : { details: new Set<string>() };
      const isRepeat = details.has(detail);
      known.delete(track);
      if (known.size >= MOST_KNOWN) known.clear();
      if (REPEATED.has(reason)) known.set(track, { reason, details: details.add(detail) });
      return isRepeat;
    },

    forget: () => known.clear(),
  };
}

/** Lines without repeats, oldest first; reminders in a row are the last of them, with their number. */
export function foldRepeats(lines: readonly LogLine[]): LogLine[] {
  const { isRepeat } = createRepeats();
  const folded = new Set<LogLine>();
  const last = new Map<string, LogLine>();
  for (const line of lines) {
    if (isRepeat(line)) continue;
    const before = last.get(trackOf(line));
    const reminders = before?.reason === "reminded" ? Number(before.detail) : 0;
    const isReminder = line.reason === "reminded";
    if (isReminder && before && reminders > 0) folded.delete(before);
    const shown = isReminder ? { ...line, detail: `${reminders + 1}` } : line;
    folded.add(shown);
    last.set(trackOf(line), shown);
  }
  return [...folded];
}

function trackOf({ subject: { kind, id }, ruleId, integration }: LogLine): string {
  return [kind, id, ruleId, integration].join("\n");
}
