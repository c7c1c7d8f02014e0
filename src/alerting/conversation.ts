/** The span in which a group fires at one integration: its messages there belong together. Pure. */
import type { Instant } from "../lib/clock.ts";

export interface Conversation {
  /** 16 hex digits, of the group's firing time at the integration. */
  readonly id: string;
  readonly openedAt: Instant;
  /** The channel's own text, at most 1,000 characters; undefined: not opened yet, or lost. */
  readonly handle?: string | undefined;
  /** How many groups the summary that opened it was about: its root is theirs together. Undefined: of one group. */
  readonly groups?: number | undefined;
}
