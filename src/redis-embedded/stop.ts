/** Ends a redis-server that nobody else uses: asked over its own connection, killed only where its pid is proven. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { StoreError } from "../store/errors.ts";
import { isGone, liveServerIn } from "./files.ts";
import { type Attached, attach, countOthersAndLeave, hangUp, isOver } from "./launch.ts";

const STOP_DEADLINE_MS = 5_000;

/** Leaves the server of `dir`, and shuts it down where this was its last user. Bounded, never throws. */
export async function leave({ connection, pid }: Attached, dir: string, log: Logger): Promise<"shared" | "stopped"> {
  if (isOver(connection)) return "stopped";
  try {
    if ((await withDeadline(countOthersAndLeave(connection), STOP_DEADLINE_MS)) > 0) return "shared";

    connection.shutdown().catch(() => {}); // ends without an answer; what is appended is on disk before
    await untilGone(pid);
  } catch (thrown) {
    const proven = await liveServerIn(dir);
    if (proven === undefined) return "stopped";
    log.warn({ pid: proven, err: toError(thrown) }, "embedded Redis did not shut down, killing it");
    process.kill(proven, "SIGKILL");
  } finally {
    hangUp(connection);
  }
  return "stopped";
}

async function untilGone(pid: number): Promise<void> {
  const deadline = Date.now() + STOP_DEADLINE_MS;
  while (!isGone(pid)) {
    if (Date.now() > deadline) throw new Error(`still running after ${STOP_DEADLINE_MS} ms`);
    await sleep(10);
  }
}

/**
 * Ends the server of an earlier version, which listened on a TCP port, with all its data on disk. The password is sent
 * only while that server is proven to run: then nobody else can have its port. Throws StoreError `unavailable` where a
 * server stays.
 */
export async function endEarlierServer(dir: string, log: Logger): Promise<void> {
  const file = join(dir, "redis.json");
  const pid = await liveServerIn(dir);
  if (pid !== undefined) {
    const text = await readFile(file, "utf8").catch(() => "");
    const [, port, password = ""] = /"port":(\d+),"password":"([0-9a-f]+)"/.exec(text) ?? [];
    const answer = port && (await attach({ host: "127.0.0.1", port: Number(port), password }));
    if (typeof answer !== "object" || (await leave(answer, dir, log)) !== "stopped") {
      throw new StoreError(
        "unavailable",
        `A redis-server (pid ${pid}) uses ${dir}, perhaps that of an earlier lenswatch: stop that one first.`,
      );
    }
    log.info({ pid }, "ended the embedded Redis of an earlier version, its data stays");
  }
  await rm(file, { force: true });
}
