/** What the inbox catches. */
import type { Instant } from "../lib/clock.ts";
import type { SlackMessage } from "./slack-message.ts";

export interface Mail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Undefined for a mail of plain text alone. */
  readonly html: string | undefined;
}

export type InboxMessage = { readonly id: number; readonly receivedAt: Instant } & (
  | { readonly kind: "slack"; readonly slack: SlackMessage }
  | { readonly kind: "email"; readonly mail: Mail }
);
