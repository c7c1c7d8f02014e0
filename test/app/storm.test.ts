import { expect, it } from "vitest";
import { pictured, prepareWatch, type Stage, startWatch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** Every recording counts at any hour. */
const RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
    respect_schedule: false
    labels: { severity: critical }`;

/** Sets all of them to the status at once. */
function turn({ simulator: { world } }: Stage, status: "offline" | "online"): void {
  for (const { id } of world.locations) world.setStatus({ locationId: id }, status);
}

/** Sums the recordings in titles such as `1,000 recordings offline at 50 locations`. */
function counted(titles: readonly string[], pattern: RegExp): number {
  return titles.reduce((sum, title) => sum + Number(pattern.exec(title)?.[1]?.replaceAll(",", "") ?? 0), 0);
}

const DARK = /^🔴 ([\d,]+) recordings? offline/;
const BACK = /^✅ ([\d,]+) recordings? recovered/;

const slackTitles = ({ slack }: Stage) => slack.messages.map(({ text }) => text.split("\n")[0] ?? "");
const mailTitles = ({ mail }: Stage) => mail.messages.map(({ subject }) => subject);

async function toldAll(stage: Stage, pattern: RegExp, recordings: number): Promise<void> {
  for (const titles of [slackTitles, mailTitles])
    await until(`${recordings} told: ${pattern}`, () => counted(titles(stage), pattern) >= recordings);
}

describeWithRedis("a storm", () => {
  it.concurrent("interrupted by kill -9 at each turn is sent at most once more, as one message, and its end is sent", async () => {
    await using stage = await prepareWatch({ rules: RULES, simulator: { locations: 12, recordingsPerLocation: 2 } });
    stage.slack.respond("hang");
    const first = await startDaemon(stage.config);
    await pictured(stage);
    turn(stage, "offline");
    await stage.slack.next();
    await first.end("SIGKILL");
    stage.slack.respond({ status: 200, body: "ok" });
    const second = await startDaemon(stage.config);
    await toldAll(stage, DARK, 24);
    await stage.slack.waitFor((message) => message !== stage.slack.messages[0]);
    turn(stage, "online");
    // Whatever it has read, committed or sent by then.
    await second.end("SIGKILL");
    const third = await startDaemon(stage.config);
    await toldAll(stage, BACK, 24);
    expect(await third.end("SIGTERM")).toBe(0);
    expect(slackTitles(stage).filter((title) => DARK.test(title))).toHaveLength(2);
    for (const titles of [slackTitles(stage), mailTitles(stage)]) {
      expect(titles.filter((title) => DARK.test(title)).length).toBeLessThanOrEqual(2);
      expect(titles.filter((title) => BACK.test(title)).length).toBeLessThanOrEqual(2);
    }
  });

  it.concurrent("found shard after shard is gathered", async () => {
    await using watch = await startWatch({
      rules: RULES,
      simulator: { locations: 40, recordingsPerLocation: 2 },
      watch: "{ status_interval: 3s, uptime_interval: 1h, inventory_interval: 1h, locations_per_request: 4 }",
    });
    turn(watch, "offline");
    await toldAll(watch, DARK, 80);
    turn(watch, "online");
    await toldAll(watch, BACK, 80);
    for (const titles of [slackTitles(watch), mailTitles(watch)]) {
      // One for each of the 40 locations, and its end, would be 80; up to `storm_groups` that are found last are by themselves.
      expect(titles.length).toBeLessThanOrEqual(20);
      expect(counted(titles, DARK)).toBe(80);
      expect(counted(titles, BACK)).toBe(80);
    }
  });
});
