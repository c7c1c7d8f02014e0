/** What `/alerts` and `/alerts/groups` are asked, and which alerts that is, by Alertmanager's rules (its api/v2/api.go). */
import { z } from "zod";
import { createMatcher, matchesAll, parseMatcher } from "../../alerting/matcher.ts";
import type { Matcher } from "../../alerting/route.ts";
import type { ActiveAlert } from "../deps.ts";
import { flag, repeated } from "../query.ts";

/** A text that has to be read by something that throws, its message being the problem. */
function readBy<T>(read: (text: string) => T) {
  return z.string().transform((text, context) => {
    try {
      return read(text);
    } catch (thrown) {
      context.addIssue({ code: "custom", message: (thrown as Error).message });
      return z.NEVER;
    }
  });
}

/** One matcher a parameter, repeated. */
export const matcherList: z.ZodType<Matcher[]> = repeated(readBy(parseMatcher));

/** Unknown parameters are passed over, as Alertmanager does. */
export const AlertsQuery = z.object({
  active: flag.default(true),
  silenced: flag.default(true),
  inhibited: flag.default(true),
  unprocessed: flag.default(true),
  filter: matcherList,
  /** Anchored at both ends. */
  receiver: readBy((text) => createMatcher("receiver", "=~", text)).optional(),
  receiver_matchers: matcherList,
});
export type AlertsQuery = z.infer<typeof AlertsQuery>;

export const GroupsQuery = AlertsQuery.omit({ unprocessed: true }).extend({ muted: flag.default(true) });
export type GroupsQuery = z.infer<typeof GroupsQuery>;

export type AlertState = "unprocessed" | "active" | "suppressed";

/** As it would be decided now; `mutedBy` of the group's route where one is asked about. */
export function stateOf(active: ActiveAlert, mutedBy: readonly string[] = active.mutedBy ?? []): AlertState {
  const { alert, silencedBy, inhibitedBy, acknowledgement, external } = active;
  const suppressed = silencedBy?.length || inhibitedBy?.length || mutedBy.length > 0;
  if (suppressed || acknowledgement || alert.facts.paused) return "suppressed";
  return external?.unprocessed ? "unprocessed" : "active";
}

/** Whether an alert fires and is asked for, whoever it goes to; `mutedBy` as for `stateOf`. */
export function isWanted(
  active: ActiveAlert,
  query: Pick<AlertsQuery, "active" | "silenced" | "inhibited" | "filter">,
  mutedBy?: readonly string[],
): boolean {
  if (active.alert.state !== "firing") return false;
  if (!query.active && stateOf(active, mutedBy) === "active") return false;
  if (!query.silenced && active.silencedBy?.length) return false;
  if (!query.inhibited && active.inhibitedBy?.length) return false;
  return matchesAll(query.filter, active.alert.labels);
}

/** Receivers have no labels here, so that a matcher of them holds for all or for none. */
export function isReceiverWanted(
  name: string,
  { receiver, receiver_matchers }: Pick<AlertsQuery, "receiver" | "receiver_matchers">,
): boolean {
  return (receiver?.matches(name) ?? true) && matchesAll(receiver_matchers, {});
}
