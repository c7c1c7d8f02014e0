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
import { Redis } from "ioredis";
import { picturedIn } from "../../test/support/app.ts";
import { type Audit, audit } from "./audit.ts";
import { RULE, receiverOf } from "./config-text.ts";
import { type Environment, startEnvironment } from "./environment.ts";
import { execute, type RunLog } from "./execute.ts";
import { planChaos } from "./plan.ts";
import { type Replicas, startReplicas } from "./replicas.ts";
import { auditText } from "./report.ts";

const JUDGE_MS = 2_000;
/** Longer than the lease of any claim, so that any repetition has been sent. */
const QUIET_MS = 15_000;
const RECORDINGS_PER_LOCATION = 5;
/** Fewer locations use two webhooks, so that one of them can have a storm. */
const FEW_LOCATIONS = 160;

interface Options {
  readonly seed?: number;
  readonly minutes: number;
  readonly kills: number;
  readonly recordings: number;
  readonly replicas: number;
  /** Seconds; backoffs may have grown to two minutes, and a claim may be leased. */
  readonly calm: number;
  readonly report?: string;
  readonly logs?: string;
  readonly other?: string;
}

await new Command("chaos")
  .description("Injects kills and faults at random moments, then compares all messages with what happened.")
  .option("--seed <n>", "the same seed plans the same run; any by default", whole)
  .option("--minutes <n>", "how long faults last, fractions allowed", positive, 8)
  .option("--kills <n>", "how many processes are killed", whole, 400)
  .option("--recordings <n>", "size of the fleet", whole, 2_000)
  .option("--replicas <n>", "daemons on one configuration", whole, 3)
  .option("--calm <seconds>", "longest wait until everything is notified", positive, 300)
  .option("--report <file>", "where the JSON report goes; the temporary directory by default")
  .option("--logs <dir>", "folder for the debug log of every replica")
  .option("--other <main.ts>", "another build's; every second start of a replica takes it, as rolling updates do")
  .action(run)
  .parseAsync();

async function run(options: Options): Promise<void> {
  const seed = options.seed ?? randomInt(1_000_000);
  const lengthMs = options.minutes * 60_000;
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  const locations = Math.max(4, Math.ceil(options.recordings / RECORDINGS_PER_LOCATION));
  const webhooks = locations < FEW_LOCATIONS ? 2 : 8;
  const fleet = { seed, locations, recordingsPerLocation: RECORDINGS_PER_LOCATION, webhooks };
  const runLog: RunLog = { crashes: [], redisDown: [], unreachable: [], disturbed: [], suppressions: [] };
  const environment = await startEnvironment(fleet, options.logs === undefined ? "info" : "debug");
  let replicas: Replicas | undefined;
  try {
    replicas = await startReplicas(options.replicas, { ...options, config: environment.config });
    await replicas.allWatching();
    await picturedIn(new Redis(environment.redis.url));
    const ids = environment.simulator.world.locations.map(({ id }) => id);
    const atWebhook = (location: number) => receiverOf(ids[location] ?? "00", webhooks);
    const actions = planChaos({ ...options, ...fleet, lengthMs, receiverOf: atWebhook });
    log(`seed ${seed}: ${actions.length} actions in ${options.minutes} min`);
    const run = { environment, replicas, runLog };
    const progress = setInterval(() => log(killedIn(run)), 15_000);
    const played = execute(actions, run, stopping.signal);
    await played.finally(() => clearInterval(progress));
    clearFaultsAndRecover(environment);
    await replicas.allWatching();
    const found = await calm(run, options.calm * 1_000, stopping.signal);
    await replicas.close();
    await report(found, { ...run, seed, options });
  } finally {
    await replicas?.close();
    await environment.close();
  }
}

interface Run {
  readonly environment: Environment;
  readonly replicas: Replicas;
  readonly runLog: RunLog;
}

function auditNow({ environment, replicas, runLog }: Run): Audit {
  const { app, receivers, sweeps, simulator, watched, answers } = environment;
  const kills = replicas.ended.filter(({ how }) => how === "kill").map(({ at }) => at);
  return audit({
    ...runLog,
    recordings: watched,
    ledger: simulator.world.ledger.filter(({ change }) => change === "status"),
    notices: receivers.notices,
    app: { posts: app.posts(), roots: app.roots(), episodes: sweeps.episodes },
    incidents: receivers.events,
    answers,
    judged: sweeps.byLocation(),
    crashes: [...runLog.crashes, ...kills].sort((a, b) => a - b),
    rule: RULE,
    end: Date.now(),
  });
}

function killedIn({ environment, replicas, runLog }: Run): string {
  const killed = replicas.ended.filter(({ how }) => how === "kill").length;
  return `killed: ${killed} replicas, ${runLog.redisDown.length} times Redis; ${environment.receivers.accepted()} messages`;
}

/** Clears all faults and sets all recordings online. */
function clearFaultsAndRecover({ simulator, app, receivers, watched }: Environment): void {
  simulator.faults.clearAll();
  app.clearFaults();
  receivers.clearFaults();
  for (const { id } of watched) simulator.world.setStatus(id, "online");
}

/** Waits until everything is notified and no message follows. */
async function calm(run: Run, mostMs: number, signal: AbortSignal): Promise<Audit> {
  const began = Date.now();
  let quietSince = began;
  let before = 0;
  log("calm: waiting until everything is notified");
  for (let round = 1; ; round++) {
    await sleep(JUDGE_MS);
    const found = auditNow(run);
    const left = found.verdicts.filter(({ kind }) => ["lost", "unresolved", "stale"].includes(kind)).length;
    const accepted = run.environment.receivers.accepted();
    if (accepted !== before) quietSince = Date.now();
    before = accepted;
    if (round % 10 === 0) log(`still waiting for ${left}`);
    const isOver = Date.now() - began > mostMs || signal.aborted;
    if (isOver || (left === 0 && Date.now() - quietSince > QUIET_MS)) return found;
  }
}

async function report(found: Audit, run: Run & { seed: number; options: Options }): Promise<void> {
  const { seed, options, runLog, replicas, environment } = run;
  const { watched, simulator, receivers, app } = environment;
  const ended = (how: string) => replicas.ended.filter((one) => one.how === how).length;
  const file = options.report ?? join(tmpdir(), `lenswatch-chaos-${seed}.json`);
  const { notices, events } = receivers;
  const all = {
    seed,
    options,
    audit: found,
    ended: replicas.ended,
    runLog,
    watched,
    notices,
    events,
    posts: app.posts(),
  };
  await writeFile(file, `${JSON.stringify({ ...all, ledger: simulator.world.ledger }, null, 1)}\n`);
  const byItself = ended("by itself");
  const count = (kind: string) => runLog.suppressions.filter((one) => one.kind === kind).length;
  process.stdout.write(
    `\nseed ${seed} · ${options.recordings} recordings · ${options.replicas} replicas · ${options.minutes} min\n` +
      `${killedIn(run)}; ${ended("stop")} stopped; ${byItself} ended by themselves; ` +
      `${runLog.unreachable.length} faults of the service\n` +
      `${app.posts().length} posts of the Slack app; ${events.length} events to PagerDuty; ` +
      `${count("silence")} silences, ${count("ack")} acknowledgements\n\n` +
      `${auditText(found)}\nreport: ${file}\n`,
  );
  if (found.verdicts.length > 0 || byItself > 0) process.exitCode = 1;
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
