/**
 * Alerts about several shops: what matches any of them matches. Such an alert goes by every route that one of them takes;
 * a silence or a maintenance suppresses it at a receiver where all the shops that are routed there have one. Pure.
 */
import type { Alert, Labels } from "../health/alert.ts";
import { type Matcher, matchesAll } from "./matcher.ts";

export type Viewed = Pick<Alert, "labels" | "shops" | "subject">;

/** The labels of each shop that an alert is about. One about the service is about none alone as well. */
export function viewsOf({ labels, shops, subject }: Viewed): readonly Labels[] {
  if (!shops) return [labels];
  const each = shops.map((own) => ({ ...own, ...labels }));
  return subject.kind === "service" ? [labels, ...each] : each;
}

/** True if the matchers agree for any of its shops. */
export function matchesAny(matchers: readonly Matcher[], alert: Viewed): boolean {
  return viewsOf(alert).some((labels) => matchesAll(matchers, labels));
}
