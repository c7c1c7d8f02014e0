/** A digest as mail: rendered once for all its recipients, then with each recipient's own unsubscribe link. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Document } from "../alerting/document.ts";
import { looks, tones } from "../alerting/tone.ts";
import { html } from "../lib/markup.ts";
import { createYielder } from "../lib/yield.ts";
import type { Digest } from "./digest.ts";
import { renderDigestHtml, UNSUBSCRIBE_HERE } from "./render/html.ts";
import { subjectOf } from "./render/subject.ts";
import { renderDigestText } from "./render/text.ts";
import { type DigestFrame, viewOf } from "./render/view.ts";

type RenderedDigest = Awaited<ReturnType<typeof renderDigest>>;

export interface MadeDigest extends RenderedDigest {
  /** Of a handover, for other channels than mail. */
  readonly document?: Document;
  /** With `{recipient}` as the placeholder for the recipient's address. */
  readonly unsubscribeUrl: string | undefined;
}

/** Gmail clips a message at 102 KB; mail servers add to it. */
export const MAX_BYTES = 90_000;
const MOST_SHOWN = 60;
/** The colour of links in digest.css, for the link that is added after the styles. */
const LINK_COLOUR = "#1a66b8";

const TONES = tones
  .map(
    (tone) =>
      `.top-${tone} { border-top: 5px solid ${looks[tone].colour} } .dot-${tone} { color: ${looks[tone].colour} }`,
  )
  .join("\n");

/**
 * Renders as many recordings as fit in `MAX_BYTES`: all are counted, those with most downtime are named.
 */
export async function renderDigest(digest: Digest, frame: DigestFrame) {
  // Loaded when needed: juice is large.
  const { default: juice } = await import("juice");
  const read = (file: string) => readFile(join(import.meta.dirname, "render", file), "utf8");
  const [styles, embedded] = await Promise.all([read("digest.css"), read("embedded.css")]);
  const render = (limit: number) => {
    const view = viewOf(digest, frame, limit);
    const page = renderDigestHtml(view, embedded);
    const options = { applyStyleTags: false, removeStyleTags: false };
    return { html: juice.inlineContent(page, styles + TONES, options), text: renderDigestText(view) };
  };
  const maybeYield = createYielder();
  let limit = MOST_SHOWN;
  let body = render(limit);
  for (let size = sizeOf(body); limit > 1 && size > MAX_BYTES; size = sizeOf(body)) {
    limit = Math.max(1, Math.min(limit - 1, Math.floor((limit * MAX_BYTES) / size)));
    await maybeYield();
    body = render(limit);
  }
  return { subject: subjectOf(digest), ...body };
}

function sizeOf({ html, text }: { html: string; text: string }): number {
  return Math.max(Buffer.byteLength(html, "utf8"), Buffer.byteLength(text, "utf8"));
}

/** The mail with one recipient's unsubscribe link, where there is one. */
export function forReader<T extends RenderedDigest>(mail: T, unsubscribeUrl: string | undefined): T {
  if (unsubscribeUrl === undefined) return { ...mail, html: mail.html.replace(UNSUBSCRIBE_HERE, "") };
  const link = html`<a href="${unsubscribeUrl}" style="color: ${LINK_COLOUR};">Unsubscribe</a>`;
  return {
    ...mail,
    html: mail.html.replace(UNSUBSCRIBE_HERE, () => link.html),
    text: `${mail.text}Unsubscribe: ${unsubscribeUrl}\n`,
  };
}

export function letterFor(made: MadeDigest, to: string, messageId: string) {
  const unsubscribeUrl = made.unsubscribeUrl?.replaceAll("{recipient}", () => encodeURIComponent(to));
  return { ...forReader(made, unsubscribeUrl), to, messageId, unsubscribeUrl };
}
