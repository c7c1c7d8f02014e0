/** Bodies too large to build at once: written while they are read, given up when the client disconnects. */
import { pipeline, Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";

/** No client may keep a body open longer, however slowly it reads. */
export const LONGEST_BODY_MS = 60_000;

const BUFFERED = 128 * 1024;

/**
 * A body of text in chunks, gzipped where asked. It ends with an error, and its source with it, when it is destroyed or
 * after a minute; `onEnd` is called once in every case.
 */
export function bodyOf(
  chunks: AsyncIterable<string>,
  options: { readonly gzip?: boolean; readonly onEnd?: () => void; readonly longestMs?: number } = {},
): Readable {
  const text = Readable.from(chunks, { objectMode: false, highWaterMark: BUFFERED });
  const tooSlow = () => text.destroy(new Error("the client read too slowly"));
  const limit = setTimeout(tooSlow, options.longestMs ?? LONGEST_BODY_MS);
  text.once("close", () => {
    clearTimeout(limit);
    options.onEnd?.();
  });
  if (!options.gzip) return text;
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: BUFFERED });
  // A failure destroys both ends, and with the outer one the response: there is nothing more to handle.
  return pipeline(text, gzip, () => undefined);
}

/** Whether an Accept-Encoding header accepts gzip. */
export function acceptsGzip(header = ""): boolean {
  return header.split(",").some((part) => {
    const [coding, ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return coding === "gzip" && Number(quality ?? 1) > 0;
  });
}
