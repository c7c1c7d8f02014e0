/** A digest as mail: rendered once for all its recipients, then with each recipient's own unsubscribe link. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { html } from "../lib/markup.ts";
import { cut } from "../lib/text.ts";
import { dayOf } from "../lib/when.ts";
import { createYielder, inChunks } from "../lib/yield.ts";
import type { Digest } from "./digest.ts";
import { tablesOf } from "./render/csv.ts";
import { headline } from "./render/headline.ts";
import { renderDigestHtml, UNSUBSCRIBE_HERE } from "./render/html.ts";
import { renderDigestText } from "./render/text.ts";
import { type CutTable, type DigestFrame, viewOf } from "./render/view.ts";

type Attachment = { readonly filename: string; readonly content: Buffer; readonly contentType: string };

type RenderedDigest = Awaited<ReturnType<typeof renderDigest>>;

export interface MadeDigest extends RenderedDigest {
  readonly attachments: readonly Attachment[];
  /** With `{recipient}` as the placeholder for the recipient's address. */
  readonly unsubscribeUrl: string | undefined;
}

/** Gmail clips a message at 102 KB; mail servers add to it. */
export const MAX_BYTES = 90_000;
export const MAX_SUBJECT = 180;
const MOST_SHOWN = 60;
/** As in digest.css, for the link that is added after the styles. */
const LINK_COLOUR = "#1a66b8";

/**
 * Renders as many recordings as fit in `MAX_BYTES`: all are counted, those with most downtime are named. The subject is
 * one line without control characters.
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
    return { html: juice.inlineContent(page, styles, options), text: renderDigestText(view) };
  };
  const maybeYield = createYielder();
  let limit = MOST_SHOWN;
  let body = render(limit);
  for (let size = sizeOf(body); limit > 1 && size > MAX_BYTES; size = sizeOf(body)) {
    limit = Math.max(1, Math.min(limit - 1, Math.floor((limit * MAX_BYTES) / size)));
    await maybeYield();
    body = render(limit);
  }
  const label = ` · ${digest.period.label}`;
  return { subject: cut(headline(digest).sentence, MAX_SUBJECT - label.length) + label, ...body };
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

/** A longer table is compressed, to about a tenth. */
const MOST_PLAIN_BYTES = 2_000_000;
/** Of each of the two tables, so that a mail has less than 10 MB: mail servers refuse more. */
const MOST_BYTES = 3_500_000;
/** Without it Excel does not read UTF-8. */
const BOM = "\ufeff";

const compress = promisify(gzip);

/** The tables of a digest, named after it, its first day and the table; rows for which there is no room are left out. */
export async function attachmentsOf(name: string, digest: Digest): Promise<(Attachment & CutTable)[]> {
  const day = dayOf(digest.period.from, digest.timezone);
  const base = `${name.replace(/[^\p{L}\p{N}._-]+/gu, "-")}-${day}`;
  return Array.fromAsync(tablesOf(digest), async (table) => {
    let { rows } = table;
    let file = await csvFile(`${base}-${table.name}.csv`, table.csv(rows));
    while (rows > 1 && file.content.length > MOST_BYTES) {
      rows = Math.max(1, Math.floor((0.95 * rows * MOST_BYTES) / file.content.length));
      file = await csvFile(`${base}-${table.name}.csv`, table.csv(rows));
    }
    return { ...file, noun: table.noun, rows, total: table.total };
  });
}

async function csvFile(filename: string, pieces: Iterable<string>): Promise<Attachment> {
  const buffers = [Buffer.from(BOM)];
  for await (const chunk of inChunks(pieces)) buffers.push(Buffer.from(chunk));
  const content = Buffer.concat(buffers);
  if (content.length <= MOST_PLAIN_BYTES) return { filename, content, contentType: "text/csv; charset=utf-8" };
  return { filename: `${filename}.gz`, content: await compress(content), contentType: "application/gzip" };
}
