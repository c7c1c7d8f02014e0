/** Reads the directory of a configuration from its files and URLs. */
import { readFile, stat } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import type { Directory } from "../health/directory.ts";
import { readDirectory } from "../health/read-directory.ts";
import { withTimeout } from "../lib/abort.ts";
import { createHttpClient, readBody } from "../lib/http-client.ts";
import { runYielding } from "../lib/yield.ts";
import { failureOf } from "../notify/heartbeat.ts";
import { authorizationOf } from "../notify/web-endpoint.ts";

export type DirectoryConfig = NonNullable<Config["directory"]>;
type Source = NonNullable<DirectoryConfig["locations"]>;
export type Texts = { readonly locations: string | undefined; readonly names: string | undefined };

const MOST_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const ROWS_PER_LOCATION = 2;

/** The directory of a configuration as it is now. Throws an Error whose message says what is wrong. */
export async function directoryNow(config: DirectoryConfig, locations = 0): Promise<Directory> {
  return parseTexts(await readTexts(config, new AbortController().signal), config, locations);
}

/** Throws an Error whose message says what is wrong with them. */
export function parseTexts(
  texts: Texts,
  { contacts, recipients }: Pick<DirectoryConfig, "contacts" | "recipients">,
  locations = 0,
): Promise<Directory> {
  const most = locations === 0 ? Number.POSITIVE_INFINITY : ROWS_PER_LOCATION * locations;
  return runYielding(readDirectory(texts, { contacts, recipients }, most));
}

/** Throws an Error whose message names the key. */
export async function readTexts({ locations, names }: DirectoryConfig, signal: AbortSignal): Promise<Texts> {
  const read = (one: Source | undefined, key: string) => one && readText(one, key, signal);
  const [rows, named] = await Promise.all([read(locations, "directory.locations"), read(names, "directory.names")]);
  return { locations: rows, names: named };
}

/** The text of a file or URL. A URL may have a secret in it: it is called by its key. */
async function readText({ file, url = "", http }: Source, key: string, signal: AbortSignal): Promise<string> {
  const bytes = file === undefined ? await download(url, http, key, signal) : await readBytes(file, key);
  if (bytes.length > MOST_BYTES) throw new Error(`${key} is larger than ${MOST_BYTES >> 20} MiB`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${key} is not in UTF-8: save it as "CSV UTF-8"`);
  }
}

async function readBytes(file: string, key: string): Promise<Buffer> {
  try {
    const found = await stat(file);
    // Reading a pipe would block.
    if (!found.isFile()) throw Object.assign(new Error(), { code: "no regular file" });
    return found.size > MOST_BYTES ? Buffer.alloc(MOST_BYTES + 1) : await readFile(file);
  } catch (thrown) {
    throw new Error(`${key}: ${file} cannot be read (${(thrown as NodeJS.ErrnoException).code})`);
  }
}

async function download(url: string, http: Source["http"], key: string, signal: AbortSignal): Promise<Buffer> {
  const client = createHttpClient({ tls: http.tls });
  const limited = withTimeout(signal, TIMEOUT_MS);
  const authorization = authorizationOf(http);
  try {
    const headers = { accept: "text/csv, */*", ...(authorization === undefined ? {} : { authorization }) };
    const answer = await client.send({ method: "GET", url, headers }, limited);
    if (answer.status === 200) return (await readBody(answer.body, MOST_BYTES + 1)).bytes;
    answer.discard();
    throw new AnswerError(`${key}: its URL answered ${answer.status}`);
  } catch (thrown) {
    throw thrown instanceof AnswerError ? thrown : new Error(`${key}: ${failureOf(thrown, limited)}`);
  } finally {
    await client.close();
  }
}

class AnswerError extends Error {}
