/** The routing tree as loaded: every option inherited and filled in. */
import type { RouteTimes } from "./time-interval.ts";

export type MatchOperator = "=" | "!=" | "=~" | "!~";

/** A label matcher, Alertmanager's: a missing label is the empty string, regular expressions are anchored. */
export interface Matcher {
  readonly name: string;
  readonly operator: MatchOperator;
  readonly value: string;
  matches(value: string): boolean;
}

export interface Route extends RouteTimes {
  /** Where in the tree it stands: `{}` for the root, then its matchers and positions; part of a group's id. */
  readonly key: string;
  readonly receiver: string;
  readonly matchers: readonly Matcher[];
  readonly continue: boolean;
  /** Label names, or "..." for no grouping at all. */
  readonly groupBy: readonly string[] | "...";
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly repeatIntervalMs: number;
  /** More groups than this due at once at one integration are told as one; undefined: never. */
  readonly stormGroups?: number | undefined;
  readonly routes: readonly Route[];
}

/**
 * The unit of delivery: one entry of a receiver's `…_configs`, or one recipient of one `email_configs` entry. What was
 * told, what is due, pace and back-off are each its own.
 */
export interface Integration {
  /** `receiver/type/position`, for e-mail followed by `/recipient`. */
  readonly id: string;
  readonly receiver: string;
  /** `slack`, `email` and so on: a receiver's key without `_configs`. */
  readonly type: string;
  readonly sendResolved: boolean;
  /** Shared by all integrations that use the same endpoint (a hash of webhook URL or SMTP server): pace and back-off. */
  readonly endpoint: string;
  /** At most one message per this many ms at the endpoint. */
  readonly paceMs: number;
  /** A program reads it: every group is told by itself, never in a summary. */
  readonly everyGroup?: true;
  /**
   * What fires is sent again this often, ms, and its end for a while: whoever listens forgets, and takes what is not
   * said again for over. The timers of routes do not count there.
   */
  readonly resendMs?: number | undefined;
}

/** Whether a program reads what is told there: it gets every alert as it is, and no summaries. */
export function isProgram({ everyGroup, resendMs }: Integration): boolean {
  return everyGroup === true || resendMs !== undefined;
}
