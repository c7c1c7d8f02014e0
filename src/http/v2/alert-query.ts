/** Parameters and filters of `/alerts` and `/alerts/groups`, by Alertmanager's rules (its api/v2/api.go). */
import { z } from "zod";
import { createMatcher, matchesAll, parseMatcher } from "../../alerting/matcher.ts";
import type { Matcher } from "../../alerting/route.ts";
import type { ActiveAlert } from "../deps.ts";
import { booleanFlag, parsedBy, repeated } from "../query.ts";

/** One matcher per parameter, repeated. */
export const matcherList: z.ZodType<Matcher[]> = repeated(z.string().transform(parsedBy(parseMatcher)));

/** Unknown parameters are ignored, as Alertmanager does. */
export const AlertsQuery = z.object({
  active: booleanFlag.default(true),
  silenced: booleanFlag.default(true),
  inhibited: booleanFlag.default(true),
  unprocessed: booleanFlag.default(true),
  filter: matcherList,
  /** Anchored at both ends. */
  receiver: z
    .string()
    .transform(parsedBy((text: string) => createMatcher("receiver", "=~", text)))
    .optional(),
  receiver_matchers: matcherList,
});
export type AlertsQuery = z.infer<typeof AlertsQuery>;

export const GroupsQuery = AlertsQuery.omit({ unprocessed: true }).extend({ muted: booleanFlag.default(true) });
export type GroupsQuery = z.infer<typeof GroupsQuery>;

export type AlertStatus = "unprocessed" | "active" | "suppressed";

/** The alert's state now; in a group, `mutedBy` is that of the group's route. */
export function statusOf(active: ActiveAlert, mutedBy: readonly string[] = active.mutedBy ?? []): AlertStatus {
  const { alert, silencedBy, inhibitedBy, acknowledgement, external } = active;
  const suppressed = silencedBy?.length || inhibitedBy?.length || mutedBy.length > 0;
  if (suppressed || acknowledgement || alert.facts.paused) return "suppressed";
  return external?.unprocessed ? "unprocessed" : "active";
}

/** Whether an alert fires and passes the filters, whatever its receivers; `mutedBy` as for `statusOf`. */
export function isAlertWanted(
  active: ActiveAlert,
  query: Pick<AlertsQuery, "active" | "silenced" | "inhibited" | "filter">,
  mutedBy?: readonly string[],
): boolean {
  if (active.alert.state !== "firing") return false;
  if (!query.active && statusOf(active, mutedBy) === "active") return false;
  if (!query.silenced && active.silencedBy?.length) return false;
  if (!query.inhibited && active.inhibitedBy?.length) return false;
  return matchesAll(query.filter, active.alert.labels);
}

/** Receivers have no labels here, so a matcher of them applies to all or to none. */
export function isReceiverWanted(
  name: string,
  query: { readonly receiver?: Matcher | undefined; readonly receiver_matchers: readonly Matcher[] },
): boolean {
  return (query.receiver?.matches(name) ?? true) && matchesAll(query.receiver_matchers, {});
}
