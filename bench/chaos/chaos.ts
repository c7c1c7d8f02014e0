/**
 * `npm run chaos`: replicas of the daemon, a fleet with outages, and faults of everything, at moments a seed decides;
 * then a calm phase, and an audit of every message against the simulator's ledger. Exits 1 when a guarantee failed.
 */
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command, InvalidArgumentError } from "commander";
import type { Instant } from "../../src/lib/clock.ts";
import { picturedIn } from "../../test/support/app.ts";
import { type Environment, startEnvironment } from "./environment.ts";
import { execute, type RunLog } from "./execute.ts";
import { planFleet, planOptionsOf, waitForCrossing } from "./fleet.ts";
import { type Plan, planChaos } from "./plan.ts";
import { FLAPPING_MS } from "./plan-flapping.ts";
import { type Replicas, startReplicas } from "./replicas.ts";
import { auditText, isClean } from "./report.ts";
import { type Auditor, createAuditor, type RunAudit } from "./run-audit.ts";
import type { Message } from "./summaries.ts";

const JUDGE_MS = 2_000;
/** Longer than the lease of any claim, so that any repetition has been sent. */
const QUIET_MS = 15_000;

interface Options {
  readonly seed?: number;
  readonly minutes: number;
  readonly kills: number;
  readonly recordings: number;
  readonly replicas: number;
  /** Seconds; backoffs may have grown to two minutes, and a claim may be leased. */
  readonly calm: number;
  readonly cross?: true;
  readonly failover?: true;
  readonly report?: string;
  readonly logs?: string;
}

await new Command("chaos")
  .description("Injects kills and faults at random moments, then compares all messages with what happened.")
  .option("--seed <n>", "the same seed plans the same run; any by default", whole)
  .option("--minutes <n>", "how long faults last, fractions allowed", positive, 8)
  .option("--kills <n>", "how many processes are killed", whole, 400)
  .option("--recordings <n>", "size of the fleet", whole, 2_000)
  .option("--replicas <n>", "daemons on one configuration", whole, 3)
  .option("--calm <seconds>", "longest wait until everything is notified", positive, 300)
  .option("--cross", "waits, at most 15 minutes, so that uploading schedules end and begin during the run")
  .option("--failover", "a replica of Redis takes over without the last second of writes: nothing is guaranteed then")
  .option("--report <file>", "where the JSON report goes; the temporary directory by default")
  .option("--logs <dir>", "folder for the debug log of every replica")
  .action(run)
  .parseAsync();

async function run(options: Options): Promise<void> {
  const seed = options.seed ?? randomInt(1_000_000);
  const lengthMs = options.minutes * 60_000;
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  const waitMs = options.cross ? waitForCrossing(Date.now(), lengthMs) : 0;
  if (waitMs > 0) log(`waiting ${Math.round(waitMs / 1_000)} s for schedules that end and begin within the run`);
  await pause(waitMs);
  const day = planFleet(options, Date.now(), lengthMs);
  const runLog: RunLog = { crashes: [], redisDown: [], unreachable: [], disturbed: [], suppressions: [] };
  const environment = await startEnvironment({ ...day.fleet, seed }, options.logs === undefined ? "info" : "debug");
  let replicas: Replicas | undefined;
  try {
    replicas = await startReplicas(options.replicas, environment.config, options.logs);
    await replicas.allWatching();
    await picturedIn(environment.redis.connect());
    await environment.schedulesLearned();
    if (lengthMs >= FLAPPING_MS) await pause(60_000 - (Date.now() % 60_000));
    const ids = environment.simulator.world.locations.map(({ id }) => id);
    const plan = planChaos({ ...options, ...planOptionsOf(day, ids, Date.now()), seed, lengthMs });
    const crossing = day.crossing === undefined ? "" : `; schedules end and begin at ${iso(day.crossing)}`;
    log(`seed ${seed}: ${plan.actions.length} actions in ${options.minutes} min${crossing}`);
    const auditNow = createAuditor(environment, replicas, runLog);
    const progress = setInterval(() => log(progressOf(environment, replicas, runLog)), 15_000);
    const played = execute(plan.actions, { environment, replicas, runLog }, stopping.signal);
    await played.finally(() => clearInterval(progress));
    await clearFaultsAndRecover(environment, plan);
    await replicas.allWatching();
    const found = await calm(environment, auditNow, options.calm * 1_000, stopping.signal);
    await replicas.close();
    await report(found, { seed, options, runLog, replicas, environment });
  } finally {
    await replicas?.close();
    await environment.close();
  }
}

function progressOf(environment: Environment, replicas: Replicas | undefined, { crashes, redisDown }: RunLog): string {
  const killed = (replicas?.ended ?? []).filter(({ how }) => how === "kill").length;
  const { length } = environment.messages();
  return `${killed} replicas and ${redisDown.length} times Redis killed (${crashes.length}), ${length} messages`;
}

/** Clears all faults and sets all recordings online but those that stay offline. */
async function clearFaultsAndRecover(environment: Environment, { leftOffline }: Plan): Promise<void> {
  const { world, faults } = environment.simulator;
  faults.clearAll();
  environment.mail.respond({});
  environment.clearFaults();
  for (const [i, { id }] of environment.watched.entries()) if (!leftOffline.has(i)) world.setStatus(id, "online");
}

/** Waits until everything is notified and no message follows. */
async function calm(
  environment: Environment,
  auditNow: Auditor,
  mostMs: number,
  signal: AbortSignal,
): Promise<RunAudit> {
  const began = Date.now();
  log("calm: waiting until everything is notified");
  for (let round = 1; ; round++) {
    await sleep(JUDGE_MS);
    const lastAt = environment.messages().findLast(isNews)?.at ?? 0;
    const found = await auditNow({ withLog: false });
    const now = Date.now();
    const isOver = now - began > mostMs || signal.aborted;
    if (round % 10 === 0) log(`still waiting for ${waitedFor(found)}`);
    const isQuiet = now - Math.max(lastAt, began) > QUIET_MS;
    if (!isOver && (!isQuiet || (waitedFor(found) > 0 && round % 5 > 0))) continue;
    const exact = await auditNow({ withLog: true });
    if (isOver || waitedFor(exact) === 0) return exact;
  }
}

/** Reminders of recordings left offline are no news. */
function isNews({ read: { lines, counted } }: Message): boolean {
  return [...lines, ...counted].some(({ kind }) => kind !== "still" && kind !== "still_flapping");
}

function waitedFor({ audit }: RunAudit): number {
  return audit.verdicts.filter(({ kind }) => ["lost", "unresolved", "stale"].includes(kind)).length;
}

async function report(
  { audit: found, notices, messages, posts, summaries }: RunAudit,
  run: { seed: number; options: Options; runLog: RunLog; replicas: Replicas; environment: Environment },
): Promise<void> {
  const { seed, options, runLog, replicas, environment } = run;
  const ended = (how: string) => replicas.ended.filter((one) => one.how === how).length;
  const file = options.report ?? join(tmpdir(), `lenswatch-chaos-${seed}.json`);
  const { watched, simulator } = environment;
  const { ledger } = simulator.world;
  const all = {
    seed,
    options,
    audit: found,
    ended: replicas.ended,
    runLog,
    watched,
    messages: environment.messages(),
    notices,
    groups: environment.incidents.groups,
    incidents: environment.incidents.events,
    ledger,
  };
  await writeFile(file, `${JSON.stringify(all, null, 1)}\n`);
  const byItself = ended("by itself");
  const count = (kind: string) => runLog.suppressions.filter((one) => one.kind === kind).length;
  process.stdout.write(
    `\nseed ${seed} · ${options.recordings} recordings · ${options.replicas} replicas · ${options.minutes} min\n` +
      `killed: ${ended("kill")} replicas, Redis ${runLog.redisDown.length} times; ${ended("stop")} stopped; ` +
      `${byItself} ended by themselves; ${runLog.unreachable.length} faults of the service\n` +
      `${messages} messages, ${summaries} of them summaries; ${posts} posts of the Slack app; ` +
      `${environment.incidents.events.length} events to PagerDuty, ${environment.incidents.escalated.length} lines escalated; ${count("silence")} silences, ${count("ack")} acknowledgements\n\n` +
      `${auditText(found)}\nreport: ${file}\n`,
  );
  if (options.failover)
    process.stdout.write(
      "Each failover lost the last second of writes, for which nothing is guaranteed: the verdicts are informative.\n",
    );
  else if (!isClean(found) || byItself > 0) process.exitCode = 1;
}

function iso(at: Instant): string {
  return new Date(at).toISOString();
}

function log(text: string): void {
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
