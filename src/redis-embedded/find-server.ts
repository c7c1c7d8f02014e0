/** Finds redis-server or valkey-server. Nothing is ever installed from here. */
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { StoreError } from "../store/errors.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** The path of redis-server or valkey-server; undefined where there is none. */
export async function findRedisServer(env: Env): Promise<string | undefined> {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const files = ["redis-server", "valkey-server"].flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = await Promise.allSettled(files.map((file) => access(file, constants.X_OK)));
  return files.find((_, i) => found[i]?.status === "fulfilled");
}

/** The path of a Redis server. Throws StoreError `no_server`, which names the package to install. */
export async function requireRedisServer(env: Env): Promise<string> {
  const found = await findRedisServer(env);
  if (found) return found;
  throw new StoreError(
    "no_server",
    "redis-server is not installed; install it (Debian and Ubuntu: apt-get install redis-server, Fedora: dnf install " +
      "valkey, macOS: brew install redis) or set redis.url to a running Redis.",
  );
}
