import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QueueEvents } from "bullmq";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { keysUnder } from "../../src/store/keys.ts";
import { lenswatch } from "../commands/run-command.ts";
import { metricsOf, startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const HOUR = 3_600_000;

const digests = (cron: string) => `
digests:
  - name: daily-ops
    cron: "${cron}"
    timezone: Europe/London
    period: 1d
    to: [ boss@example.com, ops@example.com ]
`;

/** A recording's name as shown below its location's. */
function inItsPlace({ name, location }: { name: string; location: { name: string } }): string {
  return name.slice(location.name.length + 1);
}

async function seenUptime(watch: Pick<Watch, "app">): Promise<void> {
  await until("uptime figures are there", async () => (await metricsOf(watch.app)).includes("overall_uptime_ratio{"));
}

describeWithRedis("a digest", () => {
  it.concurrent("reports yesterday's outage and current ones; preview writes a file, send mails the readers", async () => {
    await using watch = await startWatch({
      placeNames: true,
      watch: "{ status_interval: 1s, uptime_interval: 1s, inventory_interval: 1h }",
      http: 'http: { listen: "127.0.0.1:0", admin_token: s3cret-of-the-admin }',
    });
    const dir = await mkdtemp(join(tmpdir(), "lenswatch-digest-"));
    const file = join(dir, "lenswatch.yaml");
    await writeFile(file, watch.config + digests("0 8 * * *"));
    const [dark] = watch.simulator.world.recordings;
    const past = watch.simulator.world.recordings.at(-1);
    if (!dark || !past) throw new Error("no cameras");
    watch.simulator.world.setStatus(past.id, "offline", Date.now() - 30 * HOUR);
    watch.simulator.world.setStatus(past.id, "online", Date.now() - 26 * HOUR);
    watch.simulator.world.setStatus(dark.id, "offline");
    await watch.slack.next();
    await watch.mail.next();
    await fetch(`${watch.app.address}/api/v2/alerts`, {
      method: "POST",
      headers: { authorization: "Bearer s3cret-of-the-admin", "content-type": "application/json" },
      body: JSON.stringify([
        { labels: { alertname: "DiskFull" }, startsAt: new Date(Date.now() - 30 * HOUR).toISOString() },
      ]),
    });
    await watch.slack.waitFor(({ text }) => text.includes("DiskFull"));
    await seenUptime(watch);

    const out = join(dir, "digest.html");
    const preview = await lenswatch(["digest", "preview", "daily-ops", "--config", file, "--out", out]);
    expect(preview).toMatchObject({ exitCode: 0 });
    const html = await readFile(out, "utf8");
    expect(html).toContain(inItsPlace(dark));
    expect(html).toContain(inItsPlace(past));
    expect(html).not.toMatch(/disk ?full/i);

    const sent = await lenswatch(["digest", "send", "daily-ops", "--config", file]);
    expect(sent).toMatchObject({ exitCode: 0, stdout: "boss@example.com: accepted\nops@example.com: accepted\n" });
    const json = ["--config", file, "--output", "json"];
    const again = await lenswatch(["digest", "preview", "daily-ops", "--out", out, ...json]);
    expect(JSON.parse(again.stdout)).toEqual({ subject: expect.any(String), files: [out] });
    const boss = await watch.mail.waitFor(({ rcpts }) => rcpts.includes("boss@example.com"));
    expect(boss.text).toContain(`${inItsPlace(dark)} since `);
    expect(boss.headers["auto-submitted"]).toBe("auto-generated");
    expect(boss.headers["list-unsubscribe"]).toMatch(/^<mailto:/);
    expect(await lenswatch(["digest", "send", "weekly", "--config", file])).toMatchObject({ exitCode: 2 });

    const elsewhere = join(dir, "elsewhere.yaml");
    await writeFile(elsewhere, (await readFile(file, "utf8")).replace("redis: {", "redis: { prefix: elsewhere,"));
    const empty = await lenswatch(["digest", "send", "daily-ops", "--config", elsewhere]);
    expect(empty).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("this Redis knows no recordings") });
    await rm(dir, { recursive: true });
  });

  it.concurrent("of a week is sent once by two replicas, with a one-click unsubscribe link", async () => {
    const weekly = digests("0 8 * * 1").replace("1d", "1w").replace("daily-ops", "weekly ops");
    await using watch = await startWatch({
      placeNames: true,
      more: `${weekly}    unsubscribe_url: https://lists.example.com/u?who={recipient}\n`,
      adjust: (config) => ({ ...config, digests: config.digests.map((one) => ({ ...one, cron: "* * * * * *" })) }),
      mail: { connect: { code: 421, message: "not yet" } },
    });
    const connection = new Redis(watch.redis.url, { maxRetriesPerRequest: null });
    const runs = new QueueEvents("digest", { prefix: keysUnder("lenswatch").queuePrefix, connection });
    let ended = 0;
    runs.on("completed", () => {
      ended += 1;
    });
    await runs.waitUntilReady();
    await watch.join();
    watch.mail.respond({});
    const boss = await watch.mail.waitFor(({ rcpts }) => rcpts.includes("boss@example.com"));
    await watch.mail.waitFor(({ rcpts }) => rcpts.includes("ops@example.com"));
    const before = ended;
    await until("the digest was due again and again", () => ended >= before + 3);
    await runs.close();
    connection.disconnect();
    const sent = watch.mail.messages.filter(({ headers }) => headers["list-unsubscribe"]);
    expect(sent.map(({ rcpts }) => rcpts[0]).sort()).toEqual(["boss@example.com", "ops@example.com"]);

    expect(boss.headers["list-unsubscribe"]).toBe("<https://lists.example.com/u?who=boss%40example.com>");
    expect(boss.headers["list-unsubscribe-post"]).toBe("List-Unsubscribe=One-Click");
    expect(boss.raw).toMatch(/^List-Unsubscribe: <https:\S+>\r$/m);
    expect(boss.html).toContain('href="https://lists.example.com/u?who=boss%40example.com"');
    expect(boss.text).toContain("Unsubscribe: https://lists.example.com/u?who=boss%40example.com");
  });
});
