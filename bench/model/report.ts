/** A failed run in words. */
import { type Outcome, type Plan, stamp } from "./run.ts";

const MOST = 5;

export function failureText(plan: Plan, { failures, log, account }: Outcome, only?: readonly string[]): string {
  const { seed, scale } = plan;
  const [first] = failures;
  const heard = account.words
    .filter(({ alert }) => alert.key === first?.key)
    .map(({ at, endpoint, integration, says, reason, alert }) => {
      const as = [reason, alert.isNew ? "new" : "", says === "resolved" ? (alert.endReason ?? "") : ""].filter(Boolean);
      return `  ${stamp(at)} ${endpoint} (${integration}): ${says}, ${as.join(", ")}`;
    });
  return [
    `seed ${seed} failed, ${scale.daily ? "days" : "hours"} in intervals of ${scale.intervalMs / 60_000} min${plan.slowly ? ", service slow to the end" : ""}`,
    ...failures.slice(0, MOST).map(({ invariant, what }) => `${invariant}: ${what}`),
    ...(failures.length > MOST ? [`and ${failures.length - MOST} more`] : []),
    "what was done:",
    ...log.map((line) => `  ${line}`),
    `what was said of ${first?.key}:`,
    ...heard,
    `replay: npm run soak -- --seed ${seed}${plan.short ? " --short" : ""}${only ? ` --only ${only}` : ""}`,
  ].join("\n");
}
