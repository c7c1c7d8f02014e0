/** A digest as a mail: headers, and one message per reader. */
import { mailboxAddress } from "./send.ts";
import type { MailTransport, OutgoingMail } from "./transport.ts";

const DIGEST_TIMEOUT_MS = 30_000;

interface DigestLetter extends Pick<OutgoingMail, "subject" | "html" | "text" | "attachments"> {
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

/** Sends digests through the transport of e-mail notifications. */
export function createDigestMail(transport: MailTransport, from: string) {
  const sender = mailboxAddress(from);
  const domain = sender.split("@")[1] ?? "localhost";
  return {
    send: ({ to, subject, html, text, messageId, unsubscribeUrl, attachments }: DigestLetter): Promise<void> =>
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
          attachments,
        },
        AbortSignal.timeout(DIGEST_TIMEOUT_MS),
      ),
  };
}
