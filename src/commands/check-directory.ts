/** The directory in `check-config`: its columns and rows, and how they meet the locations that a daemon has stored. */

import { directoryNow } from "../app/read-directory.ts";
import { connectToDaemons } from "../app/runtime.ts";
import type { Config } from "../config/config.ts";
import type { Directory } from "../health/directory.ts";
import { type DirectoryMatch, matchDirectory } from "../health/read-directory.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import { count, counted } from "../lib/format.ts";
import { silentLogger } from "../lib/log.ts";
import { createStore } from "../store/store.ts";

const REDIS_DEADLINE_MS = 3_000;
const NAMED = 8;

export interface DirectoryReport extends Partial<Pick<Directory, "labels" | "warnings">> {
  /** Why it cannot be read. */
  readonly problem?: string;
  readonly rows?: number;
  readonly names?: number;
  readonly contacts?: readonly string[];
  /** Undefined where no stored locations can be read here. */
  readonly match?: DirectoryMatch | undefined;
}

/** Undefined without a directory. Never throws. */
export async function checkDirectory({ directory: config, redis }: Config): Promise<DirectoryReport | undefined> {
  if (!config) return undefined;
  try {
    const locations = await withDeadline(storedLocations(redis), REDIS_DEADLINE_MS).catch(() => []);
    const directory = await directoryNow(config, locations.length);
    const { labels, warnings, rows, names } = directory;
    const match = locations.length > 0 ? matchDirectory(directory, locations) : undefined;
    return { rows: rows.length, names: names.size, labels, contacts: config.contacts, warnings, match };
  } catch (thrown) {
    return { problem: toError(thrown).message };
  }
}

async function storedLocations(config: Config["redis"]) {
  const redis = await connectToDaemons(config, silentLogger, "lenswatch-check-config");
  try {
    const { inventory } = createStore(redis, config.prefix);
    await inventory.follow();
    return [...inventory.locationIds()].map((id) => ({ id, name: inventory.location(id)?.name }));
  } finally {
    redis.disconnect();
  }
}

export function describeDirectory({ problem, match, ...report }: DirectoryReport): string[] {
  if (problem !== undefined) return [`directory: ${problem}`];
  const { rows = 0, names = 0, labels = [], contacts = [], warnings = [] } = report;
  return [
    `directory: ${counted(rows, "row")}, labels ${list(labels)}, contacts ${list(contacts)}; ${counted(names, "name")}`,
    ...warnings.map((warning) => `warning: directory: ${warning}`),
    ...(match ? describeMatch(match) : ["directory: no stored locations here to compare the rows with"]),
  ];
}

function describeMatch({ matched, locations, without, unmatched }: DirectoryMatch): string[] {
  return [
    `directory: ${count(matched)} of ${counted(locations, "location")} have a row`,
    ...(without.length > 0 ? [`warning: directory: without a row: ${few(without)}`] : []),
    ...(unmatched.length > 0 ? [`warning: directory: rows of no location: ${few(unmatched)}`] : []),
  ];
}

const list = (names: readonly string[]) => names.join(", ") || "none";

function few(names: readonly string[]): string {
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${count(more)} more` : ""}`;
}
