import { Writable } from "node:stream";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { createLogger } from "../../src/lib/log.ts";
import { startWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";

const STORED = "{lenswatch}:shard:0";

describeWithRedis("a shard that this version cannot read", () => {
  it("is left as it is and reported, and read again once it can be", async () => {
    const wanted = "A stored document has format 99";
    const lines: string[] = [];
    const destination = new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(String(chunk));
        done();
      },
    });
    await using watch = await startWatch({ log: createLogger({ level: "warn", destination }) });
    const { simulator, slack } = watch;
    simulator.world.setStatus(simulator.world.recordings[0]?.id ?? "", "offline");
    await slack.next();
    await watch.app.stop();
    const redis = new Redis(watch.redis.url);
    const before = await redis.hgetall(STORED);
    await redis.hset(STORED, "d", JSON.stringify({ v: 99 }), "n", "later");
    await watch.start();

    const { text, shown } = await slack.next();
    expect(`${text}\n${shown}`).toContain(wanted);
    expect(shown).toContain("Stored state of recordings cannot be read");
    expect(shown).not.toContain("credentials");
    const answer = await fetch(`${watch.app.address}/api/v1/recordings`);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { error: { code: "unreadable", message: expect.stringContaining(wanted) } },
    ]);
    expect(lines.filter((line) => line.includes("sweep failed"))).toHaveLength(1);
    expect(await redis.hgetall(STORED)).toEqual({ ...before, d: JSON.stringify({ v: 99 }), n: "later" });

    await redis.hset(STORED, before);
    expect((await slack.next()).shown).toMatch(/recovered|again/i);
    expect(slack.messages).toHaveLength(3);
    redis.disconnect();
  });
});
