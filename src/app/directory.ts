/** Follows the directory: its files and URLs are read again and again; what cannot be read leaves the last one in force. */
import { isDeepStrictEqual } from "node:util";
import type { Directory } from "../health/directory.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { inSequence } from "../lib/one-at-a-time.ts";
import type { Store } from "../store/store.ts";
import { type DirectoryConfig, parseTexts, readTexts } from "./read-directory.ts";

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
        const directory = await parseTexts(texts, followed, [...inventory.locationIds()].length);
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
