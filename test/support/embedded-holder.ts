/** Runs only the embedded Redis of the given directory, until SIGTERM. */
import { silentLogger } from "../../src/lib/log.ts";
import { startEmbeddedRedis } from "../../src/redis-embedded/embedded.ts";

const server = await startEmbeddedRedis({ dir: process.argv[2] ?? "", log: silentLogger });
process.once("SIGTERM", () => server.stop().then(() => process.disconnect?.()));
process.send?.(server.pid);
