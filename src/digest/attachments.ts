/** The CSV files of a digest. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { DateTime } from "luxon";
import { createYielder } from "../lib/yield.ts";
import type { Digest } from "./digest.ts";
import { countsCsv, recordingsCsv } from "./render/csv.ts";

export interface Attachment {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string;
}

/** Mail servers refuse messages beyond 10 MB or so: a longer table is compressed, to about a tenth. */
const MOST_PLAIN_BYTES = 4_000_000;
/** Without it Excel does not read UTF-8. */
const BOM = "\ufeff";

const compress = promisify(gzip);

/** The recordings, and the visitor counts where some are untrusted; named after the digest and its first day. */
export async function attachmentsOf(name: string, digest: Digest): Promise<Attachment[]> {
  const day = DateTime.fromMillis(digest.period.start, { zone: digest.timezone }).toFormat("yyyy-MM-dd");
  const base = `${name.replace(/[^\p{L}\p{N}._-]+/gu, "-")}-${day}`;
  const recordings = await csvFile(`${base}-recordings.csv`, recordingsCsv(digest));
  if (digest.untrusted.length === 0) return [recordings];
  return [recordings, await csvFile(`${base}-visitor-counts.csv`, countsCsv(digest))];
}

async function csvFile(filename: string, pieces: Iterable<string>): Promise<Attachment> {
  const yielder = createYielder();
  const buffers = [Buffer.from(BOM)];
  for (const piece of pieces) {
    buffers.push(Buffer.from(piece));
    await yielder.maybeYield();
  }
  const content = Buffer.concat(buffers);
  if (content.length <= MOST_PLAIN_BYTES)
    return { filename, content, contentType: "text/csv; charset=utf-8" };
  return { filename: `${filename}.gz`, content: await compress(content), contentType: "application/gzip" };
}
