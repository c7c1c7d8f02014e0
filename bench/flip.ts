/** From a recording's flip in the service to the message about it at the receiver. */
import { setTimeout as sleep } from "node:timers/promises";
import { startDaemon } from "../test/support/daemon.ts";
import { type SlackSink, startSlackSink } from "../test/support/slack-sink.ts";
import { configText, offlineAtOnce, webhookOf } from "./config-text.ts";
import { load, series } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import { prepareStage, type SimulatedRecording, type Stage } from "./stage.ts";
import { watchDaemon } from "./watching.ts";

const WEBHOOKS = 32;
/** Flips of one webhook come so much later than the interval that it never hears of two in one second. */
const APART_MS = 1_200;
const LATEST_MS = 30_000;

interface Case {
  readonly recordings: number;
  readonly intervalSeconds: number;
  readonly flips: number;
}

/** Every size at 1 s, those from 100,000 on at 5 s. */
export async function benchFlip(sizes: readonly number[]): Promise<Report> {
  const rows: Row[] = [];
  for (const recordings of sizes) rows.push(await flipFleet(caseOf(recordings)));
  return {
    title: "From a flip to the receiver",
    baseline:
      "the interval: a flip just after a sweep waits for the next. Given, not measured here: at 5 s, Prometheus' way takes 5.0 s median, 7.4–8.4 s worst",
    columns: {
      recordings: "recordings",
      intervalSeconds: "interval s",
      flips: "flips",
      lost: "lost",
      more: "too many",
      medianMs: "median ms",
      p99Ms: "p99 ms",
      worstMs: "worst ms",
      beyondMs: "p99 beyond interval, ms",
      worstBeyondMs: "worst beyond, ms",
      load: "load",
    },
    rows,
    notes: ["for, group_wait: 0 s. One flip per location; a webhook gets none in the interval and second after one."],
  };
}

function caseOf(recordings: number): Case {
  if (recordings >= 100_000) return { recordings, intervalSeconds: 5, flips: 320 };
  return { recordings, intervalSeconds: 1, flips: Math.min(480, Math.floor(recordings / 20)) };
}

async function flipFleet(one: Case): Promise<Row> {
  await using stage = await prepareStage(one.recordings);
  const sink = await startSlackSink();
  const watching = watchDaemon(stage.redis.url, one.recordings);
  const webhooks = Array.from({ length: WEBHOOKS }, (_, i) => `${sink.url}-${i}`);
  const config = configText({
    service: stage.service,
    redisUrl: stage.redis.url,
    statusInterval: `${one.intervalSeconds}s`,
    webhooks,
    atOnce: true,
    rules: [offlineAtOnce],
  });
  const daemon = await startDaemon(config);
  try {
    await daemon.logged("started");
    await watching.swept(0);
    await watching.figured(0);
    return { ...one, ...(await flipAndListen(stage, sink, one)), load: load() };
  } finally {
    await daemon.end("SIGTERM");
    await watching.close();
    await sink.close();
  }
}

interface Flip {
  readonly at: number;
  readonly webhook: number;
}

/** Flips one recording after the other, each at a location of its own and no webhook twice within the interval. */
async function flipAndListen(stage: Stage, sink: SlackSink, { flips, intervalSeconds }: Case): Promise<Row> {
  const chosen = inSequence(await stage.recordings()).slice(0, flips);
  const done: Flip[] = [];
  const freeAt = new Map<number, number>();
  const apartMs = 1000 * intervalSeconds + APART_MS;
  for (const { id, locationId } of chosen) {
    const webhook = webhookOf(locationId, WEBHOOKS);
    await sleep(Math.max((2 * Math.random() * apartMs) / WEBHOOKS, (freeAt.get(webhook) ?? 0) - Date.now()));
    freeAt.set(webhook, Date.now() + apartMs);
    const [at = Number.NaN] = await stage.setStatus([id], "offline");
    done.push({ at, webhook });
  }
  await sink.waitFor(() => sink.messages.length >= chosen.length, LATEST_MS).catch(() => {});
  const latencies = latenciesOf(done, sink);
  const { median, p99, worst } = series(latencies);
  return {
    flips: chosen.length,
    lost: chosen.length - latencies.length,
    more: sink.messages.length - latencies.length,
    medianMs: median,
    p99Ms: p99,
    worstMs: worst,
    beyondMs: p99 - 1000 * intervalSeconds,
    worstBeyondMs: worst - 1000 * intervalSeconds,
  };
}

/** The nth message at a webhook is about the nth flip of its locations, since flips come one by one. */
function latenciesOf(flips: readonly Flip[], sink: SlackSink): number[] {
  const heard = Map.groupBy(sink.messages, ({ path }) => Number(path.split("-").at(-1)));
  const notified = Map.groupBy(flips, ({ webhook }) => webhook);
  return [...notified].flatMap(([webhook, ofWebhook]) =>
    (heard.get(webhook) ?? [])
      .slice(0, ofWebhook.length)
      .map(({ receivedAt }, i) => receivedAt - (ofWebhook[i]?.at ?? Number.NaN)),
  );
}

/** One recording per location, webhook after webhook. */
function inSequence(recordings: readonly SimulatedRecording[]): SimulatedRecording[] {
  const oneEach = [...new Map(recordings.map((recording) => [recording.locationId, recording])).values()];
  const queues = [...Map.groupBy(oneEach, ({ locationId }) => webhookOf(locationId, WEBHOOKS)).values()];
  const longest = Math.max(...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => queues.flatMap((queue) => queue[i] ?? [])).flat();
}
