/** A configuration file with its secret files; changes are detected by contents, never by modification times. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Environment } from "./document.ts";
import { type LoadedConfig, loadWithWarnings } from "./load.ts";

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_TRIES = 3;

export type ConfigSource = ReturnType<typeof createConfigSource>;

export function createConfigSource(file: string, env: Environment) {
  let secretFiles: readonly string[] = [];
  let loadedHash: string | undefined;

  /** A hash of the contents of the file and its secret files. Never throws. */
  async function contentHash(): Promise<string> {
    const hash = createHash("sha256");
    for (const path of [file, ...secretFiles]) hash.update(`${path}\n`).update(await contentOf(path));
    return hash.digest("hex");
  }

  return {
    contentHash,
    /** `contentHash` at the beginning of the last load, successful or not; undefined before the first. */
    loadedHash: () => loadedHash,
    /** Loads and validates. Throws ConfigError. */
    async load(): Promise<LoadedConfig> {
      for (let tries = 1; ; tries++) {
        const before = await contentHash();
        const found = new Set<string>();
        const load = loadWithWarnings(file, env, (path) => found.add(path));
        const [outcome] = await Promise.allSettled([load]);
        const known = secretFiles.join("\n") === [...found].join("\n");
        secretFiles = [...found];
        // The hash did not cover new secret files, which may have changed since: load again.
        if (!known && tries < MAX_TRIES) continue;
        loadedHash = before;
        if (outcome.status === "rejected") throw outcome.reason;
        return outcome.value;
      }
    },
  };
}

async function contentOf(path: string): Promise<Buffer | string> {
  try {
    const found = await stat(path);
    // Reading a pipe would block.
    if (!found.isFile() || found.size > MAX_BYTES) return "unreadable";
    return await readFile(path);
  } catch (thrown) {
    return `unreadable: ${(thrown as NodeJS.ErrnoException).code}`;
  }
}
