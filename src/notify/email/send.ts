/** Sends a group's message to one recipient of an `email_configs` entry. */

import addressparser from "nodemailer/lib/addressparser";
import { withTimeout } from "../../lib/abort.ts";
import type { Logger } from "../../lib/log.ts";
import type { Notifier } from "../notifier.ts";
import { renderEmail } from "./render.ts";
import type { MailTransport } from "./transport.ts";

/** A notifier for one recipient over a shared transport, which the caller closes. */
export function createEmailNotifier(deps: {
  readonly transport: MailTransport;
  /** `smtp.from`: `Name <address>` or an address. */
  readonly from: string;
  /** All recipients of the entry, shown in To:. */
  readonly to: readonly string[];
  /** The one this notifier sends to. */
  readonly recipient: string;
  /** Longest send, ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
}): Notifier {
  const { transport, from, to, timeoutMs, log } = deps;
  const addresses = { from, sender: mailboxAddress(from), to, recipient: mailboxAddress(deps.recipient) };
  return {
    async send(notification, { signal, plain = false }) {
      const mail = renderEmail(notification, addresses, { plain });
      await transport.sendMail(mail, withTimeout(signal, timeoutMs));
      log.debug(
        { integration: notification.integrationId, messageId: mail.messageId },
        "the mail server accepted a notification",
      );
    },
    async close() {},
  };
}

/** `Ops <ops@example.com>` → `ops@example.com`. */
export function mailboxAddress(mailbox: string): string {
  return addressparser(mailbox, { flatten: true })[0]?.address ?? mailbox;
}
