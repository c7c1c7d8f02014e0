/** Mails: a group's message to one recipient of an `email_configs` entry, and a digest to one reader. */
import addressparser from "nodemailer/lib/addressparser";
import { withTimeout } from "../../lib/abort.ts";
import type { ChannelOptions, Notifier } from "../notifier.ts";
import { renderEmail } from "./render.ts";
import type { MailTransport, OutgoingMail } from "./transport.ts";

const DIGEST_TIMEOUT_MS = 30_000;

interface EmailOptions extends ChannelOptions {
  readonly transport: MailTransport;
  /** `smtp.from`: `Name <address>` or an address. */
  readonly from: string;
  /** All recipients of the entry, shown in To:. */
  readonly to: readonly string[];
  /** The one this notifier sends to. */
  readonly recipient: string;
}

/** A notifier for one recipient over a shared transport, which the caller closes. */
export function createEmailNotifier(deps: EmailOptions): Notifier {
  const { transport, from, to, timeoutMs, log } = deps;
  const addresses = { from, sender: mailboxAddress(from), to, recipient: mailboxAddress(deps.recipient) };
  return {
    async send(notification, { signal, plain = false }) {
      const mail = renderEmail(notification, addresses, { plain });
      await transport.sendMail(mail, withTimeout(signal, timeoutMs));
      const { integrationId: integration } = notification;
      log.debug({ integration, messageId: mail.messageId }, "the mail server accepted a notification");
      return { handle: mail.inReplyTo ?? mail.messageId };
    },
    async close() {},
  };
}

/** `Ops <ops@example.com>` → `ops@example.com`. */
export function mailboxAddress(mailbox: string): string {
  return addressparser(mailbox, { flatten: true })[0]?.address ?? mailbox;
}

interface DigestLetter extends Pick<OutgoingMail, "subject" | "html" | "text"> {
  readonly to: string;
  readonly messageId: string;
  readonly unsubscribeUrl: string | undefined;
}

/**
 * With a URL per reader one click unsubscribes (RFC 8058: the mail program posts to it, so the header holds nothing
 * else that it might take instead); without one a mail to the sender asks for it.
 */
function unsubscribeHeaders(sender: string, url: string | undefined): Record<string, string> {
  if (url === undefined) return { "List-Unsubscribe": `<mailto:${sender}?subject=unsubscribe>` };
  return { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}

export type DigestMail = ReturnType<typeof createDigestMail>;

/** Sends digests through the transport of e-mail notifications. */
export function createDigestMail(transport: MailTransport, from: string) {
  const sender = mailboxAddress(from);
  const domain = sender.split("@")[1] ?? "localhost";
  return {
    send: ({ to, subject, html, text, messageId, unsubscribeUrl }: DigestLetter): Promise<void> =>
      transport.sendMail(
        {
          from,
          to: [to],
          envelope: { from: sender, to: mailboxAddress(to) },
          subject,
          html,
          text,
          messageId: `<${messageId}@${domain}>`,
          headers: { "Auto-Submitted": "auto-generated", ...unsubscribeHeaders(sender, unsubscribeUrl) },
        },
        AbortSignal.timeout(DIGEST_TIMEOUT_MS),
      ),
  };
}
