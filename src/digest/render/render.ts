/** A digest as a mail: subject, HTML and text with the same figures. */

import { html } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { createYielder } from "../../lib/yield.ts";
import type { Digest } from "../digest.ts";
import { headline } from "./headline.ts";
import { renderHtml, UNSUBSCRIBE_HERE } from "./html.ts";
import { LINK_COLOUR } from "./palette.ts";
import { STYLES } from "./style-sheet.ts";
import { renderText } from "./text.ts";
import { countsOf, standingsOf, viewOf } from "./view.ts";
import { nameOf } from "./words.ts";

export interface DigestFrame {
  /** Of the digest in the configuration. */
  readonly name: string;
  /** Base of links; undefined, or anything but http(s): no links. */
  readonly externalUrl: string | undefined;
}

export interface RenderedDigest {
  /** One line without control characters, at most `MAX_SUBJECT` code points. */
  readonly subject: string;
  /** At most `MAX_BYTES` in UTF-8. */
  readonly html: string;
  readonly text: string;
}

/** Gmail clips a message at 102 KB; the rest is room for what a mail server does to it. */
export const MAX_BYTES = 90_000;
export const MAX_SUBJECT = 180;

const MOST_SHOWN = 60;

/** Renders as many recordings as fit: all are counted, those with most downtime are named. */
export async function renderDigest(digest: Digest, frame: DigestFrame): Promise<RenderedDigest> {
  const { inlineStyles } = await import("./inline.ts");
  const head = headline(digest);
  const safe = { name: nameOf(frame.name, "digest"), externalUrl: httpUrl(frame.externalUrl) };
  const render = (limit: number) => {
    const view = {
      parts: viewOf(digest, limit),
      standings: standingsOf(digest, limit),
      counts: countsOf(digest, limit),
    };
    return {
      html: inlineStyles(renderHtml(digest, view, head, safe), STYLES),
      text: renderText(digest, view, head, safe),
    };
  };
  const yielder = createYielder();
  let limit = MOST_SHOWN;
  let body = render(limit);
  for (let size = sizeOf(body); limit > 1 && size > MAX_BYTES; size = sizeOf(body)) {
    limit = Math.max(1, Math.min(limit - 1, Math.floor((limit * MAX_BYTES) / size)));
    await yielder.maybeYield();
    body = render(limit);
  }
  const label = ` · ${digest.period.label}`;
  return { subject: cut(head.sentence, MAX_SUBJECT - label.length) + label, ...body };
}

/** The mail as one reader gets it: with the link that ends it for them, where there is one. */
export function forReader<T extends RenderedDigest>(mail: T, unsubscribeUrl: string | undefined): T {
  if (unsubscribeUrl === undefined) return { ...mail, html: mail.html.replace(UNSUBSCRIBE_HERE, "") };
  const link = html`<a href="${unsubscribeUrl}" style="color: ${LINK_COLOUR};">Unsubscribe</a>`;
  return {
    ...mail,
    html: mail.html.replace(UNSUBSCRIBE_HERE, () => link.html),
    text: `${mail.text}Unsubscribe: ${unsubscribeUrl}\n`,
  };
}

function sizeOf({ html, text }: { html: string; text: string }): number {
  return Math.max(Buffer.byteLength(html, "utf8"), Buffer.byteLength(text, "utf8"));
}

function httpUrl(url: string | undefined): string | undefined {
  return url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;
}
