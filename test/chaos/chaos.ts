/**
 * `npm run chaos`: replicas of the daemon, a fleet with outages, and faults of everything, at moments a seed decides;
 * then a calm, and an audit of every message against what truly happened. Exits 1 when a promise did not hold.
 */
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command, InvalidArgumentError } from "commander";
import type { Instant } from "../../src/lib/clock.ts";
import { picturedIn } from "../support/watch.ts";
import { type Diary, play } from "./act.ts";
import { receiverOf } from "./config-text.ts";
import { createJudge, type Judge, type Judged } from "./judge.ts";
import { type Plan, planChaos } from "./plan.ts";
import { type Replicas, startReplicas } from "./replicas.ts";
import { auditText, isClean } from "./report.ts";
import { type Fleet, type Stage, startStage } from "./stage.ts";
import { QUARTER_MS, type Zone, zoneBeginning, zoneEnding, zoneWhere } from "./zones.ts";

const RECORDINGS_PER_LOCATION = 5;
/** Fewer are told through two webhooks, so that there can be a storm at one of them. */
const FEW_LOCATIONS = 160;
/** From now on, and before the end of the run, how far away schedules end and begin. */
const CROSS_AFTER_MS = 150_000;
const CROSS_BEFORE_MS = 30_000;
const JUDGE_MS = 2_000;
/** Longer than the lease of any claim: what would be repeated has been by then. */
const QUIET_MS = 15_000;

interface Options {
  readonly seed?: number;
  readonly minutes: number;
  readonly kills: number;
  readonly recordings: number;
  readonly replicas: number;
  /** Back-offs may have grown to two minutes by then, and a claim may be out. */
  readonly calm: number;
  readonly cross?: true;
  readonly failover?: true;
  readonly report?: string;
  readonly logs?: string;
}

await new Command("chaos")
  .description(
    "Kills, cuts and refuses at random moments, then audits what was told against what truly happened.",
  )
  .option("--seed <n>", "the same seed plans the same run; any by default", whole)
  .option("--minutes <n>", "how long faults last, fractions allowed", positive, 3)
  .option("--kills <n>", "how many processes are killed", whole, 40)
  .option("--recordings <n>", "size of the fleet", whole, 600)
  .option("--replicas <n>", "daemons on one configuration", whole, 3)
  .option("--calm <seconds>", "how long to wait at most until everything is told", positive, 240)
  .option("--cross", "waits until uploading schedules end and begin within the run, 15 minutes at most")
  .option(
    "--failover",
    "Redis is followed by its replica, which lacks the last second: nothing is promised then",
  )
  .option("--report <file>", "where the JSON report goes; the temporary directory by default")
  .option("--logs <dir>", "keeps the log of every replica, at level debug")
  .action(run)
  .parseAsync();

async function run(options: Options): Promise<void> {
  const seed = options.seed ?? randomInt(1_000_000);
  const lengthMs = options.minutes * 60_000;
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  if (options.cross) await waitForQuarter(lengthMs, stopping.signal);
  const day = dayOf(options, lengthMs);
  const diary: Diary = { crashes: [], redisDown: [], blind: [], disturbed: [], held: [] };
  const stage = await startStage({ ...day.fleet, seed }, options.logs === undefined ? "info" : "debug");
  let replicas: Replicas | undefined;
  try {
    replicas = await startReplicas(options.replicas, stage.config, options.logs);
    await replicas.allWatching();
    await picturedIn(stage.redis.look());
    await stage.schedulesLearned();
    await untilMinute(lengthMs, stopping.signal);
    const plan = planChaos({ ...options, ...planOptions(day, stage), seed, lengthMs });
    say(`seed ${seed}: ${plan.actions.length} things to happen in ${options.minutes} min${day.says}`);
    const judge = createJudge(stage, replicas, diary);
    const progress = setInterval(() => say(progressOf(stage, replicas, diary)), 15_000);
    const played = play(plan.actions, { stage, replicas, diary }, stopping.signal);
    await played.finally(() => clearInterval(progress));
    await makeWell(stage, plan);
    await replicas.allWatching();
    const found = await calm(stage, judge, options.calm * 1_000, stopping.signal);
    await replicas.close();
    await report(found, { seed, options, diary, replicas, stage });
  } finally {
    await replicas?.close();
    await stage.close();
  }
}

/** Where the sun stands, and who is watched. */
interface Day {
  readonly fleet: Omit<Fleet, "seed">;
  readonly night: number;
  readonly twilight: number;
  /** When schedules end and begin; undefined: not in this run. */
  readonly crossing: Instant | undefined;
  readonly says: string;
}

function dayOf({ recordings, failover }: Options, lengthMs: number): Day {
  const now = Date.now();
  const span = { from: now - 3_600_000, to: now + lengthMs + 3_600_000 };
  const quarter = Math.ceil((now + CROSS_AFTER_MS) / QUARTER_MS) * QUARTER_MS;
  const crossing = quarter < now + lengthMs - CROSS_BEFORE_MS ? quarter : undefined;
  const all = Math.max(4, Math.ceil(recordings / RECORDINGS_PER_LOCATION));
  const some = Math.max(1, Math.floor(all / 40));
  const repeat = (zone: Zone, count: number) => Array.from({ length: count }, () => zone);
  const night = [...repeat(zoneWhere(23, now), some), ...repeat(zoneWhere(2, now), some)];
  const ends = crossing === undefined ? [] : repeat(zoneEnding(crossing), 2 * some);
  const begins = crossing === undefined ? [] : repeat(zoneBeginning(crossing), 2 * some);
  const scheduled = [...night, ...ends, ...begins];
  return {
    fleet: {
      locations: Math.max(1, all - scheduled.length),
      recordingsPerLocation: RECORDINGS_PER_LOCATION,
      webhooks: all < FEW_LOCATIONS ? 2 : 8,
      scheduled,
      span,
      failover: failover === true,
    },
    night: night.length,
    twilight: ends.length,
    crossing,
    says: crossing === undefined ? "" : `; schedules end and begin at ${iso(crossing)}`,
  };
}

function planOptions({ fleet, night, twilight, crossing }: Day, stage: Stage) {
  const { locations, recordingsPerLocation, webhooks, failover } = fleet;
  const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
  const ids = stage.simulator.world.locations.map(({ id }) => id);
  return {
    locations,
    recordingsPerLocation,
    webhooks,
    failover,
    receiverOf: (location: number) => receiverOf(ids[location] ?? "00", webhooks),
    scheduled: {
      night: from(locations, night),
      ends: from(locations + night, twilight),
      begins: from(locations + night + twilight, twilight),
      crossingAt: crossing === undefined ? undefined : crossing - Date.now(),
    },
  };
}

/** Until a full quarter of an hour falls into the run. */
async function waitForQuarter(lengthMs: number, signal: AbortSignal): Promise<void> {
  const left = QUARTER_MS - (Date.now() % QUARTER_MS);
  const most = lengthMs - 2 * CROSS_BEFORE_MS;
  if (left >= CROSS_AFTER_MS && left <= most) return;
  const wait = (left - most + QUARTER_MS) % QUARTER_MS;
  say(`waiting ${Math.round(wait / 1_000)} s so that uploading schedules end and begin within the run`);
  await sleep(wait, undefined, { signal }).catch(() => {});
}

/** A run with cameras that flap begins with a minute. */
async function untilMinute(lengthMs: number, signal: AbortSignal): Promise<void> {
  if (lengthMs < 7.5 * 60_000) return;
  await sleep(60_000 - (Date.now() % 60_000), undefined, { signal }).catch(() => {});
}

function progressOf(stage: Stage, replicas: Replicas | undefined, { crashes, redisDown }: Diary): string {
  const killed = (replicas?.ended ?? []).filter(({ how }) => how === "kill").length;
  const { length } = stage.told();
  return `${killed} replicas and ${redisDown.length} times Redis killed (${crashes.length}), ${length} messages`;
}

/** Nothing fails any more, and everything is online but what came to rest dark. */
async function makeWell(stage: Stage, { leftDark }: Plan): Promise<void> {
  const { world, faults } = stage.simulator;
  faults.clearAll();
  stage.mail.respond({});
  stage.noTrouble();
  for (const [i, { id }] of stage.watched.entries()) if (!leftDark.has(i)) world.setStatus(id, "online");
}

/** Until all is told and nobody says any more. */
async function calm(stage: Stage, judge: Judge, mostMs: number, signal: AbortSignal): Promise<Judged> {
  const began = Date.now();
  say("calm: waiting until everything is told");
  for (let round = 1; ; round++) {
    await sleep(JUDGE_MS);
    const lastAt = stage.told().at(-1)?.at ?? 0;
    const found = await judge({ withLog: false });
    const now = Date.now();
    const isOver = now - began > mostMs || signal.aborted;
    if (round % 10 === 0) say(`still waiting for ${waitedFor(found)}`);
    const isQuiet = now - Math.max(lastAt, began) > QUIET_MS;
    if (!isOver && (!isQuiet || (waitedFor(found) > 0 && round % 5 > 0))) continue;
    const exact = await judge({ withLog: true });
    if (isOver || waitedFor(exact) === 0) return exact;
  }
}

function waitedFor({ audit }: Judged): number {
  return audit.verdicts.filter(({ kind }) => kind === "lost" || kind === "unresolved").length;
}

async function report(
  { audit: found, tellings, messages, summaries }: Judged,
  run: { seed: number; options: Options; diary: Diary; replicas: Replicas; stage: Stage },
): Promise<void> {
  const { seed, options, diary, replicas, stage } = run;
  const ended = (how: string) => replicas.ended.filter((one) => one.how === how).length;
  const file = options.report ?? join(tmpdir(), `lenswatch-chaos-${seed}.json`);
  const { watched, simulator } = stage;
  const { ledger } = simulator.world;
  const all = {
    seed,
    options,
    audit: found,
    ended: replicas.ended,
    diary,
    watched,
    messages: stage.told(),
    tellings,
    ledger,
  };
  await writeFile(file, `${JSON.stringify(all, null, 1)}\n`);
  const byItself = ended("by itself");
  const count = (kind: string) => diary.held.filter((one) => one.kind === kind).length;
  process.stdout.write(
    `\nseed ${seed} · ${options.recordings} recordings · ${options.replicas} replicas · ${options.minutes} min\n` +
      `killed: ${ended("kill")} replicas, Redis ${diary.redisDown.length} times; ${ended("stop")} stopped; ` +
      `${byItself} ended by themselves; ${diary.blind.length} faults of the service\n` +
      `${messages} messages, ${summaries} of them summaries; ${count("silence")} silences, ${count("ack")} acknowledgements\n\n` +
      `${auditText(found)}\nreport: ${file}\n`,
  );
  if (options.failover)
    process.stdout.write(
      "Each failover lost the last second, for which nothing is promised: the verdicts are what came of it.\n",
    );
  else if (!isClean(found) || byItself > 0) process.exitCode = 1;
}

function iso(at: Instant): string {
  return new Date(at).toISOString();
}

function say(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0 && number < 10_000)) throw new InvalidArgumentError("It must be a number above 0.");
  return number;
}
