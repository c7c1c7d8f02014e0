/** A digest as a mail: headers, and one message per reader. */
import { addressOf } from "./send.ts";
import type { Mail, MailTransport } from "./transport.ts";

const DIGEST_TIMEOUT_MS = 30_000;

interface DigestLetter extends Pick<Mail, "subject" | "html" | "text" | "attachments"> {
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
  const sender = addressOf(from);
  const domain = sender.split("@")[1] ?? "localhost";
  return {
    send: ({
      to,
      subject,
      html,
      text,
      messageId,
      unsubscribeUrl,
      attachments,
    }: DigestLetter): Promise<void> =>
      transport.sendMail(
        {
          from,
          to: [to],
          envelope: { from: sender, to: addressOf(to) },
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
