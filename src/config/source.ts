/**
 * A configuration file that is loaded again and again. Whether it changed is decided by what it and its secret files
 * hold, never by their times: a Kubernetes ConfigMap swaps links, and editors write files anew.
 */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Environment } from "./environment.ts";
import { type Loaded, loadWithWarnings } from "./load.ts";

const LONGEST_FILE = 16 * 1024 * 1024;
const MOST_TRIES = 3;

export interface ConfigSource {
  /** Reads and checks everything. Throws ConfigError. */
  load(): Promise<Loaded>;
  /** Something to compare: the same as long as the file and its secret files hold the same. Never throws. */
  look(): Promise<string>;
  /** What `look` gave when the last load, good or bad, began; undefined before the first. */
  loaded(): string | undefined;
}

export function createConfigSource(file: string, env: Environment): ConfigSource {
  let secretFiles: readonly string[] = [];
  let loaded: string | undefined;

  async function look(): Promise<string> {
    const hash = createHash("sha256");
    for (const path of [file, ...secretFiles]) hash.update(`${path}\n`).update(await contentOf(path));
    return hash.digest("hex");
  }

  return {
    look,
    loaded: () => loaded,
    async load() {
      for (let tries = 1; ; tries++) {
        const before = await look();
        const found = new Set<string>();
        const outcome = await settle(loadWithWarnings(file, env, (path) => found.add(path)));
        const known = isSame(secretFiles, [...found]);
        secretFiles = [...found];
        // What secret files held that nobody had heard of before could have changed since: once more.
        if (!known && tries < MOST_TRIES) continue;
        loaded = before;
        if (outcome.status === "rejected") throw outcome.reason;
        return outcome.value;
      }
    },
  };
}

async function settle<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [outcome] = await Promise.allSettled([work]);
  return outcome;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((path, i) => path === b[i]);
}

/** What it holds, or why that cannot be read. */
async function contentOf(path: string): Promise<Buffer | string> {
  try {
    const found = await stat(path);
    // Reading a pipe would wait for whoever writes to it.
    if (!found.isFile() || found.size > LONGEST_FILE) return "unreadable";
    return await readFile(path);
  } catch (thrown) {
    return `unreadable: ${(thrown as NodeJS.ErrnoException).code}`;
  }
}
