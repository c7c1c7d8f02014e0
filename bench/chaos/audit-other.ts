/** Notices about subjects other than recordings: each start once, each with its end. Pure. */
import type { AuditInput, Verdict } from "./audit.ts";
import type { Notice } from "./messages.ts";

/** Checks the notices of one subject at one integration, in order. */
export function auditOther(
  notices: readonly Notice[],
  { end, recordings }: Pick<AuditInput, "end" | "recordings">,
): Verdict[] {
  const verdicts: Verdict[] = [];
  let open: Notice | undefined;
  let last: Notice | undefined;
  const judge = (kind: Verdict["kind"], { integration, subject, at, message }: Notice, why: string) => {
    verdicts.push({ kind, integration, subject, at, why, message, firstAt: last?.at ?? at });
  };
  const [first] = notices;
  const known = recordings.some(({ name }) => name === first?.subject);
  if (first && known) judge("false", first, "notified to an integration it is not routed to");
  for (const notice of notices) {
    if (notice.kind === "firing" && open) judge("doubled", notice, "notified twice as new");
    if (notice.kind === "still" && !open) judge("false", notice, "reminder without a first notification");
    if (notice.kind === "recovered" && !open) judge("doubled", notice, "resolved without a first notification");
    if (notice.kind === "firing") open = notice;
    else if (notice.kind !== "still") open = undefined;
    last = notice;
  }
  if (open) judge("unresolved", { ...open, at: end }, `notified at ${new Date(open.at).toISOString()}, never resolved`);
  return verdicts;
}
