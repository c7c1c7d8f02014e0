/** A whole fleet that goes offline and recovers at once: number and delay of messages. */
import { startDaemon } from "../test/support/daemon.ts";
import { type SlackSink, startSlackSink } from "../test/support/slack-sink.ts";
import { configText, offlineAtOnce } from "./config-text.ts";
import { load } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import { prepareStage, RECORDINGS_PER_LOCATION, type Stage } from "./stage.ts";
import { watchDaemon } from "./watching.ts";

const INTERVAL_SECONDS = 5;
const LATEST_MS = 120_000;

/** For each size: all offline, then all online, at one Slack webhook. */
export async function benchStorm(sizes: readonly number[]): Promise<Report> {
  const rows: Row[] = [];
  for (const recordings of sizes) rows.push(await stormFleet(recordings));
  return {
    title: "All of the fleet at once",
    baseline: "one message per group. Given, not measured here: for 10,000 recordings a peer sends 9,429",
    columns: {
      recordings: "recordings",
      locations: "locations",
      messagesDark: "messages dark",
      toldDark: "told dark",
      darkSeconds: "all told after s",
      messagesBack: "messages back",
      toldBack: "told back",
      backSeconds: "all told after s",
      load: "load",
    },
    rows,
    notes: [
      `for, group_wait: 0 s; a sweep every ${INTERVAL_SECONDS} s; storm.groups: 10. Told: the sum of what the titles count.`,
    ],
  };
}

async function stormFleet(recordings: number): Promise<Row> {
  await using stage = await prepareStage(recordings);
  const sink = await startSlackSink();
  const watching = watchDaemon(stage.redis.url, recordings);
  const config = configText({
    service: stage.service,
    redisUrl: stage.redis.url,
    statusInterval: `${INTERVAL_SECONDS}s`,
    webhooks: [sink.url],
    atOnce: true,
    rules: [offlineAtOnce],
  });
  const daemon = await startDaemon(config);
  try {
    await daemon.logged("started");
    await watching.swept(0);
    const ids = (await stage.recordings()).map(({ id }) => id);
    const dark = await turn(stage, sink, ids, "offline", /^\S+ ([\d,]+) recordings? offline/);
    const back = await turn(stage, sink, ids, "online", /^✅ ([\d,]+) recordings? recovered/);
    return {
      recordings,
      locations: ids.length / RECORDINGS_PER_LOCATION,
      messagesDark: dark.messages,
      toldDark: dark.notified,
      darkSeconds: dark.seconds,
      messagesBack: back.messages,
      toldBack: back.notified,
      backSeconds: back.seconds,
      load: load(),
    };
  } finally {
    await daemon.end("SIGTERM");
    await watching.close();
    await sink.close();
  }
}

async function turn(
  stage: Stage,
  sink: SlackSink,
  ids: readonly string[],
  status: "offline" | "online",
  counted: RegExp,
): Promise<{ messages: number; notified: number; seconds: number }> {
  const before = sink.messages.length;
  const began = performance.now();
  await stage.setStatus(ids, status);
  const notified = () => sink.messages.slice(before).reduce((sum, { text }) => sum + countIn(text, counted), 0);
  await sink.waitFor(() => notified() >= ids.length, LATEST_MS).catch(() => {});
  const seconds = (performance.now() - began) / 1000;
  return { messages: sink.messages.length - before, notified: notified(), seconds };
}

function countIn(text: string, counted: RegExp): number {
  return Number(counted.exec(text)?.[1]?.replaceAll(",", "") ?? 0);
}
