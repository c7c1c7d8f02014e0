/** Made-up alerts: of a test message, and of the first message of an installation. */
import { fingerprint } from "../alerting/fingerprint.ts";
import type { NotifiedAlert } from "../alerting/model.ts";
import type { Instant } from "../lib/clock.ts";

type Own = Pick<NotifiedAlert, "subject" | "labels" | "annotations" | "facts">;

/** An alert that fires since then, and was never evaluated. */
export function exampleAlert(own: Own, startsAt: Instant): NotifiedAlert {
  const key = `Example/${own.subject.kind}/${own.subject.id}`;
  const times = { startsAt, firedAt: startsAt, updatedAt: startsAt };
  const print = fingerprint(own.labels);
  return {
    ...own,
    id: `${key}@${startsAt}`,
    key,
    ruleId: "Example",
    state: "firing",
    ...times,
    fingerprint: print,
    isNew: true,
  };
}
