/** A digest as a mail: subject, HTML and text with the same figures. */
import { cut } from "../lib/text.ts";
import type { Digest } from "./digest.ts";
import { headline } from "./headline.ts";
import { renderHtml } from "./render-html.ts";
import { renderText } from "./render-text.ts";
import { viewOf } from "./view.ts";
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
export function renderDigest(digest: Digest, frame: DigestFrame): RenderedDigest {
  const head = headline(digest);
  const safe = { name: nameOf(frame.name, "digest"), externalUrl: httpUrl(frame.externalUrl) };
  const render = (limit: number) => {
    const view = viewOf(digest, limit);
    return {
      html: renderHtml(digest, view, head, safe),
      text: renderText(digest, view, head, safe),
    };
  };
  let limit = MOST_SHOWN;
  let body = render(limit);
  while (limit > 1 && Math.max(bytes(body.html), bytes(body.text)) > MAX_BYTES) {
    limit = Math.floor(limit * 0.8);
    body = render(limit);
  }
  const label = ` · ${digest.period.label}`;
  return { subject: cut(head.sentence, MAX_SUBJECT - label.length) + label, ...body };
}

function bytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

function httpUrl(url: string | undefined): string | undefined {
  return url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;
}
