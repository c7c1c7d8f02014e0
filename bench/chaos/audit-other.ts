/** What was told of other subjects than recordings: each beginning once, each with its end. Pure. */
import type { AuditInput, Verdict } from "./audit.ts";
import type { Telling } from "./messages.ts";

/** `tellings` of one subject at one integration, in order. */
export function auditOther(
  tellings: readonly Telling[],
  { end, recordings }: Pick<AuditInput, "end" | "recordings">,
): Verdict[] {
  const verdicts: Verdict[] = [];
  let open: Telling | undefined;
  let last: Telling | undefined;
  const say = (kind: Verdict["kind"], { integration, subject, at, message }: Telling, why: string) => {
    verdicts.push({ kind, integration, subject, at, why, message, firstAt: last?.at ?? at });
  };
  const [first] = tellings;
  const known = recordings.some(({ name }) => name === first?.subject);
  if (first && known) say("false", first, "told to somebody who is not to hear of it");
  for (const telling of tellings) {
    if (telling.says === "firing" && open) say("doubled", telling, "told twice as new");
    if (telling.says === "still" && !open) say("false", telling, "told as going on, never told as new");
    if (telling.says === "recovered" && !open) say("doubled", telling, "its end told without a beginning");
    if (telling.says === "firing") open = telling;
    else if (telling.says !== "still") open = undefined;
    last = telling;
  }
  if (open)
    say("unresolved", { ...open, at: end }, `told at ${new Date(open.at).toISOString()}, its end never`);
  return verdicts;
}
