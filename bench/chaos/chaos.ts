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
import { picturedIn } from "../../test/support/app.ts";
import { type Stage, startStage } from "./environment.ts";
import { type Diary, play } from "./execute.ts";
import { dayOf, placesOf, untilCrossing } from "./fleet.ts";
import { type Plan, planChaos } from "./plan.ts";
import { FLAPPING_MS } from "./plan-flapping.ts";
import { type Replicas, startReplicas } from "./replicas.ts";
import { auditText, isClean } from "./report.ts";
import { createJudge, type Judge, type Judged } from "./run-audit.ts";
import type { Message } from "./summaries.ts";

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
  .option("--minutes <n>", "how long faults last, fractions allowed", positive, 8)
  .option("--kills <n>", "how many processes are killed", whole, 400)
  .option("--recordings <n>", "size of the fleet", whole, 2_000)
  .option("--replicas <n>", "daemons on one configuration", whole, 3)
  .option("--calm <seconds>", "how long to wait at most until everything is told", positive, 300)
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
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  const waitMs = options.cross ? untilCrossing(Date.now(), lengthMs) : 0;
  if (waitMs > 0)
    say(`waiting ${Math.round(waitMs / 1_000)} s for schedules that end and begin within the run`);
  await pause(waitMs);
  const day = dayOf(options, Date.now(), lengthMs);
  const diary: Diary = { crashes: [], redisDown: [], blind: [], disturbed: [], held: [] };
  const stage = await startStage({ ...day.fleet, seed }, options.logs === undefined ? "info" : "debug");
  let replicas: Replicas | undefined;
  try {
    replicas = await startReplicas(options.replicas, stage.config, options.logs);
    await replicas.allWatching();
    await picturedIn(stage.redis.look());
    await stage.schedulesLearned();
    if (lengthMs >= FLAPPING_MS) await pause(60_000 - (Date.now() % 60_000));
    const ids = stage.simulator.world.locations.map(({ id }) => id);
    const plan = planChaos({ ...options, ...placesOf(day, ids, Date.now()), seed, lengthMs });
    const crossing = day.crossing === undefined ? "" : `; schedules end and begin at ${iso(day.crossing)}`;
    say(`seed ${seed}: ${plan.actions.length} things to happen in ${options.minutes} min${crossing}`);
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
    const lastAt = stage.told().findLast(isNews)?.at ?? 0;
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

/** A reminder of what is left dark says nothing new. */
function isNews({ read: { lines, counted } }: Message): boolean {
  return [...lines, ...counted].some(({ says }) => says !== "still" && says !== "still_flapping");
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
