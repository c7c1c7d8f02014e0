/** Installs redis-server where it is missing and allowed; prints a note otherwise. */
import { toError } from "../src/lib/errors.ts";
import { createLogger } from "../src/lib/log.ts";
import { ensureRedisServer } from "../src/redis-embedded/find-server.ts";

const log = createLogger({ level: "info", destination: process.stderr });

try {
  await ensureRedisServer({ install: true, log, env: process.env });
} catch (thrown) {
  process.stderr.write(`${toError(thrown).message} Tests that need it are skipped.\n`);
}
