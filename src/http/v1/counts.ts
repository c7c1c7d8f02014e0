/** The last results of rules on counts, and why they found nothing. */
import { z } from "zod";
import type { CountsSubject, CountsVerdict } from "../../counts/verdict.ts";
import type { JudgedCounts } from "../../store/count-verdicts.ts";
import { isoTime } from "../query.ts";
import { timeSchema } from "./operation.ts";

type Reason = Exclude<CountsVerdict, { is: "implausible" }>["reason"] | "witnessed" | "beyond_chance" | "not_evaluated";

const WORDS: Readonly<Record<Reason, string>> = {
  as_usual: "as usual",
  counts_are_back: "counted again",
  dropped_together: "dropped with most locations alike, no camera of its own is at fault",
  history_too_thin: "not compared, the history is too thin",
  no_data: "not compared, the service has no data",
  nothing_expected: "not compared, hardly anything is usual at this time",
  not_recording: "not compared, known not to record",
  too_early: "not compared yet, too little time since it may have changed",
  chance_explains_it: "nothing said, chance explains the difference",
  happens_here: "nothing said, it happens here now and then",
  nobody_seems_there: "nothing said, nothing else shows that people are there",
  others_dropped_too: "nothing said, many others dropped too",
  zones_shared: "not compared, other recordings cover its zones too",
  not_evaluated: "not evaluated, its counts were not read yet or it covers no zone",
  witnessed: "implausible, something else at the location contradicts it",
  beyond_chance: "implausible, beyond chance",
};

export const ApiCounts = z
  .strictObject({
    at: timeSchema.describe("When counts were last evaluated."),
    about: z.strictObject({ kind: z.enum(["recording", "location"]), id: z.string() }).readonly(),
    condition: z.string().describe("Of the rules on counts: `low/30` is implausibly low with a sensitivity of 30."),
    implausible: z.boolean().nullable().describe("null: not decided."),
    reason: z.string().describe("Its name, for scripts; there may be new ones."),
    text: z.string().describe("The same in words."),
  })
  .readonly();

/** The rows of a recording and its location, or the location alone, for each condition; empty without a rule on counts. */
export function countsRows(
  { at, rules }: JudgedCounts,
  id: string | undefined,
  locationId: string,
): z.infer<typeof ApiCounts>[] {
  const subjects: CountsSubject[] = id === undefined ? [] : [{ locationId, recordingId: id }];
  subjects.push({ locationId });
  return Object.entries(rules).flatMap(([condition, { verdicts }]) =>
    subjects.map(({ recordingId }) => {
      const found = verdicts.find(
        ({ subject }) => subject.locationId === locationId && subject.recordingId === recordingId,
      );
      const reason = reasonOf(found?.verdict);
      return {
        at: isoTime(at),
        about:
          recordingId === undefined ? { kind: "location", id: locationId } : { kind: "recording", id: recordingId },
        condition,
        implausible: found && found.verdict.is !== "undecided" ? found.verdict.is === "implausible" : null,
        reason,
        text: Object.hasOwn(WORDS, reason) ? WORDS[reason] : reason,
      } as const;
    }),
  );
}

function reasonOf(verdict: CountsVerdict | undefined): Reason {
  if (!verdict) return "not_evaluated";
  return verdict.is === "implausible" ? verdict.finding.reason : verdict.reason;
}
