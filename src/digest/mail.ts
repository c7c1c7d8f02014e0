/** A digest as the mail one reader gets. */

import type { Instant } from "../lib/clock.ts";
import { forReader, type RenderedDigest } from "./render/render.ts";

export interface Attachment {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string;
}

/** A digest made once, for all its readers. */
export interface MadeDigest extends RenderedDigest {
  readonly periodEnd: Instant;
  readonly attachments: readonly Attachment[];
  /** With `{recipient}` where the reader's address belongs. */
  readonly unsubscribeUrl: string | undefined;
}

export interface Letter extends RenderedDigest {
  readonly to: string;
  readonly messageId: string;
  readonly attachments: readonly Attachment[];
  /** The reader's own. */
  readonly unsubscribeUrl: string | undefined;
}

/** Mail of digests goes through here; the transport of notify/email. */
export interface DigestMail {
  send(letter: Letter): Promise<void>;
}

export function letterFor(made: MadeDigest, to: string, messageId: string): Letter {
  const { attachments } = made;
  const unsubscribeUrl = made.unsubscribeUrl?.replaceAll("{recipient}", () => encodeURIComponent(to));
  const { subject, html, text } = forReader(made, unsubscribeUrl);
  return { to, messageId, subject, html, text, attachments, unsubscribeUrl };
}
