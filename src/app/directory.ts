/** Follows the directory: its files and URLs are read again and again; where that fails, the last text that any replica read is in force. */
import type { Directory, ShopRow } from "../health/directory.ts";
import type { Clock } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { inSequence } from "../lib/one-at-a-time.ts";
import type { Store } from "../store/store.ts";
import { type DirectoryConfig, parseTexts, readTexts } from "./read-directory.ts";

/** By address the columns that have it, in their order. */
export type Recipients = ReadonlyMap<string, readonly string[]>;

function recipientsOf(rows: readonly ShopRow[]): Recipients {
  const cells = rows.flatMap((row) => Object.entries(row.recipients));
  const pairs = cells.flatMap(([column, some]) => some.map((address) => [address, column] as const));
  const found = Map.groupBy(pairs, ([address]) => address);
  return new Map([...found].sort().map(([address, all]) => [address, [...new Set(all.map(([, one]) => one))].sort()]));
}

/** Which shop has which addresses: other text where any of it changed. */
function addressesOf(rows: readonly ShopRow[]): string {
  const own = rows.filter(({ recipients }) => Object.keys(recipients).length > 0);
  return own
    .map(({ id, name, recipients }) => JSON.stringify([id, name, recipients]))
    .sort()
    .join("\n");
}

type Read = { readonly text: string; readonly directory: Directory };

async function readNow(config: DirectoryConfig, locations: number, signal: AbortSignal): Promise<Read> {
  const { contacts, recipients } = config;
  const texts = await readTexts(config, signal);
  return {
    text: JSON.stringify([texts, { contacts, recipients }]),
    directory: await parseTexts(texts, config, locations),
  };
}

/** Nothing is read before `follow`, which waits for Redis. */
export function followDirectory({
  inventory,
  shards,
  clock,
  log,
}: {
  readonly inventory: Pick<Store["inventory"], "useDirectory" | "locationIds" | "lastDirectory" | "keepDirectory">;
  readonly shards: Pick<Store["shards"], "noteAttempt">;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const queued = inSequence();
  const closing = new AbortController();
  let followed: DirectoryConfig | undefined;
  let timer: NodeJS.Timeout | undefined;
  let inForce: string | undefined;
  let failure: string | undefined;
  let recipients: Recipients = new Map();
  let addresses = "";
  let onRecipients = () => {};

  /** True if others are written to than before. */
  function use(directory: Directory | undefined, text?: string): boolean {
    const [rows, before] = [directory?.rows ?? [], addresses];
    inventory.useDirectory(directory);
    [inForce, recipients, addresses] = [text, recipientsOf(rows), addressesOf(rows)];
    return addresses !== before;
  }

  async function useRead({ text, directory }: Read): Promise<boolean> {
    const { warnings, names, rows } = directory;
    if (text === inForce) {
      if (failure !== undefined) log.info("directory read again");
      return false;
    }
    await inventory.keepDirectory(text);
    log.info({ rows: rows.length, names: names.size, warnings }, "directory read");
    return use(directory, text);
  }

  /** The last text is read with its own columns, which the configuration may have no more. */
  async function useLast(detail: string): Promise<boolean> {
    const last = await inventory.lastDirectory();
    const isOther = last !== null && last !== inForce && use(await parseLast(last), last);
    if (failure !== detail)
      log.error({ detail, isKept: inForce !== undefined }, "directory not read, keeping the last one");
    return isOther;
  }

  async function refresh(): Promise<boolean> {
    if (!followed) return false;
    const askedAt = clock.now();
    const locations = [...inventory.locationIds()].length;
    const read = await readNow(followed, locations, closing.signal).catch(toError);
    if (closing.signal.aborted) return false;
    const detail = read instanceof Error ? read.message : undefined;
    // First: nothing may fail once others are in force, of which the caller has to learn.
    await shards.noteAttempt("directory", clock.now(), detail, askedAt);
    const isOther = read instanceof Error ? await useLast(read.message) : await useRead(read);
    failure = detail;
    return isOther;
  }

  const refreshLater = () =>
    queued(async () => {
      if (await refresh()) onRecipients();
    }).catch((thrown: unknown) => log.debug({ err: toError(thrown) }, "directory not followed, retrying"));

  return {
    /** Reads the directory of a configuration, now and from now on; true if others are written to than before. */
    follow: (config: DirectoryConfig | undefined): Promise<boolean> =>
      queued(async () => {
        clearInterval(timer);
        followed = config;
        if (config) {
          timer = setInterval(() => void refreshLater(), config.refreshIntervalMs).unref();
          return refresh();
        }
        await inventory.keepDirectory(undefined);
        return use(undefined);
      }),
    /** The addresses in each column that receivers name. */
    recipients: () => recipients,
    addresses: () => addresses,
    /** Calls this when others are to be written to, but for those that `follow` found. */
    set onRecipients(listener: () => void) {
      onRecipients = listener;
    },
    close(): void {
      clearInterval(timer);
      closing.abort();
    },
  };
}

function parseLast(text: string): Promise<Directory> {
  const [texts, columns] = JSON.parse(text) as Parameters<typeof parseTexts>;
  return parseTexts(texts, columns);
}
