/** Follows the directory: its files and URLs are read again and again; what cannot be read leaves the last one in force. */
import { readFile, stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/config.ts";
import type { Directory } from "../health/directory.ts";
import { readDirectory } from "../health/read-directory.ts";
import { withTimeout } from "../lib/abort.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { createHttpClient, readBody } from "../lib/http-client.ts";
import type { Logger } from "../lib/log.ts";
import { inSequence } from "../lib/one-at-a-time.ts";
import { runYielding } from "../lib/yield.ts";
import { failureOf } from "../notify/heartbeat.ts";
import { authorizationOf } from "../notify/web-endpoint.ts";
import type { Store } from "../store/store.ts";

export type DirectoryConfig = NonNullable<Config["directory"]>;
type Source = NonNullable<DirectoryConfig["locations"]>;
type Texts = { readonly locations: string | undefined; readonly names: string | undefined };

const MOST_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const ROWS_PER_LOCATION = 2;

/** Since when the directory cannot be read, and why. */
export interface DirectoryTrouble {
  readonly since: Instant;
  readonly detail: string;
}

/** By address the columns that have it, in their order. */
export type Recipients = ReadonlyMap<string, readonly string[]>;

/** More people are a mistake: each is an integration. */
const MOST_RECIPIENTS = 1_000;

function recipientsOf(directory: Directory | undefined): Recipients {
  const cells = (directory?.rows ?? []).flatMap((row) => Object.entries(row.recipients));
  const pairs = cells.flatMap(([column, some]) => some.map((address) => [address, column] as const));
  const found = Map.groupBy(pairs, ([address]) => address);
  return new Map(
    [...found]
      .sort()
      .slice(0, MOST_RECIPIENTS)
      .map(([address, all]) => [address, [...new Set(all.map(([, column]) => column))].sort()]),
  );
}

export type FollowedDirectory = ReturnType<typeof followDirectory>;

/** Nothing is read before `follow`. */
export function followDirectory({
  inventory,
  clock,
  log,
}: {
  readonly inventory: Pick<Store["inventory"], "useDirectory" | "locationIds">;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const queued = inSequence();
  const closing = new AbortController();
  let followed: DirectoryConfig | undefined;
  let timer: NodeJS.Timeout | undefined;
  let trouble: DirectoryTrouble | undefined;
  let read: string | undefined;
  let recipients: Recipients = new Map();
  let onRecipients = () => {};

  function use(directory: Directory | undefined): void {
    inventory.useDirectory(directory);
    const before = recipients;
    recipients = recipientsOf(directory);
    if (!isDeepStrictEqual(before, recipients)) onRecipients();
  }

  async function refresh(): Promise<void> {
    if (!followed) return;
    try {
      const texts = await readTexts(followed, closing.signal);
      const now = JSON.stringify([followed.contacts, followed.recipients, texts]);
      if (now !== read) {
        const directory = await parse(texts, followed, [...inventory.locationIds()].length);
        use(directory);
        read = now;
        const { warnings, names, rows } = directory;
        log.info({ rows: rows.length, names: names.size, warnings }, "directory read");
      } else if (trouble) log.info("directory read again");
      trouble = undefined;
    } catch (thrown) {
      if (closing.signal.aborted) return;
      const { message: detail } = toError(thrown);
      if (trouble?.detail !== detail) log.error({ detail }, "directory not read, keeping the last one");
      trouble = { since: trouble?.since ?? clock.now(), detail };
    }
  }

  return {
    /** Reads the directory of a configuration, now and from now on; resolves once it was tried. */
    follow: (config: DirectoryConfig | undefined): Promise<void> =>
      queued(async () => {
        clearInterval(timer);
        followed = config;
        if (config) {
          timer = setInterval(() => void queued(refresh), config.refreshIntervalMs).unref();
          return refresh();
        }
        use(undefined);
        [read, trouble] = [undefined, undefined];
      }),
    /** The addresses in each column that receivers name. */
    recipients: () => recipients,
    /** Calls this when other addresses are read. */
    set onRecipients(listener: () => void) {
      onRecipients = listener;
    },
    /** Undefined while it is read. */
    trouble: () => trouble,
    close(): void {
      clearInterval(timer);
      closing.abort();
    },
  };
}

/** The directory of a configuration as it is now. Throws an Error whose message says what is wrong. */
export async function directoryNow(config: DirectoryConfig, locations = 0): Promise<Directory> {
  return parse(await readTexts(config, new AbortController().signal), config, locations);
}

function parse(texts: Texts, { contacts, recipients }: DirectoryConfig, locations: number): Promise<Directory> {
  const most = locations === 0 ? Number.POSITIVE_INFINITY : ROWS_PER_LOCATION * locations;
  return runYielding(readDirectory(texts, { contacts, recipients }, most));
}

async function readTexts({ locations, names }: DirectoryConfig, signal: AbortSignal): Promise<Texts> {
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
