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
import { pictured } from "../support/watch.ts";
import { type Diary, play } from "./act.ts";
import { type Audit, audit } from "./audit.ts";
import { RULE } from "./config-text.ts";
import { planChaos } from "./plan.ts";
import { type Replicas, startReplicas } from "./replicas.ts";
import { auditText, isClean } from "./report.ts";
import { type Stage, startStage } from "./stage.ts";

const RECORDINGS_PER_LOCATION = 5;
const WEBHOOKS = 8;
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
  .option("--report <file>", "where the JSON report goes; the temporary directory by default")
  .option("--logs <dir>", "keeps the log of every replica, at level debug")
  .action(run)
  .parseAsync();

async function run(options: Options): Promise<void> {
  const seed = options.seed ?? randomInt(1_000_000);
  const fleet = {
    seed,
    locations: Math.max(1, Math.ceil(options.recordings / RECORDINGS_PER_LOCATION)),
    recordingsPerLocation: RECORDINGS_PER_LOCATION,
    webhooks: WEBHOOKS,
  };
  const plan = planChaos({ ...fleet, ...options, seed, lengthMs: options.minutes * 60_000 });
  say(`seed ${seed}: ${plan.length} things to happen in ${options.minutes} min`);
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  const diary: Diary = { crashes: [], redisDown: [], blind: [], disturbed: [] };
  const stage = await startStage(fleet, options.logs === undefined ? "info" : "debug");
  let replicas: Replicas | undefined;
  try {
    replicas = await startReplicas(options.replicas, stage.config, options.logs);
    await replicas.allWatching();
    await pictured(stage);
    const progress = setInterval(() => say(progressOf(stage, replicas, diary)), 15_000);
    await play(plan, { stage, replicas, diary }, stopping.signal).finally(() => clearInterval(progress));
    const found = await calm(stage, replicas, diary, options.calm * 1_000, stopping.signal);
    await replicas.close();
    await report(found, { seed, options, diary, replicas, stage });
  } finally {
    await replicas?.close();
    await stage.close();
  }
}

function progressOf(stage: Stage, replicas: Replicas | undefined, { crashes, redisDown }: Diary): string {
  const killed = (replicas?.ended ?? []).filter(({ how }) => how === "kill").length;
  const { messages } = stage.told();
  return `${killed} replicas and ${redisDown.length} times Redis killed (${crashes.length}), ${messages} messages`;
}

/** Everything well and online, until all is told and nobody says any more. */
async function calm(
  stage: Stage,
  replicas: Replicas,
  diary: Diary,
  mostMs: number,
  signal: AbortSignal,
): Promise<Audit> {
  const { world, faults } = stage.simulator;
  faults.clearAll();
  stage.mail.respond({});
  for (let webhook = 0; webhook < WEBHOOKS; webhook++) stage.trouble(webhook, undefined);
  for (const { id } of stage.watched) world.setStatus(id, "online");
  await replicas.allWatching();
  const began = Date.now();
  say("calm: waiting until everything is told");
  for (;;) {
    await sleep(1_000);
    const { lastAt } = stage.told();
    const now = Date.now();
    const found = judge(stage, replicas, diary);
    const waiting = found.verdicts.filter(({ kind }) => kind === "lost" || kind === "unresolved");
    if (Math.floor((now - began) / 1_000) % 20 === 19) say(`still waiting for ${waiting.length}`);
    if (waiting.length === 0 && now - Math.max(lastAt, began) > QUIET_MS) return found;
    if (now - began > mostMs || signal.aborted) return found;
  }
}

function judge(stage: Stage, replicas: Replicas, diary: Diary): Audit {
  const { tellings, unreadable } = stage.told();
  const kills = replicas.ended.filter(({ how }) => how === "kill").map(({ at }) => at);
  return audit({
    ...diary,
    recordings: stage.watched,
    ledger: stage.simulator.world.ledger.filter(({ change }) => change === "status"),
    tellings,
    unreadable,
    answers: stage.answers,
    crashes: [...diary.crashes, ...kills].sort((a, b) => a - b),
    blind: [...diary.blind, ...diary.redisDown],
    rule: RULE,
    end: Date.now(),
  });
}

async function report(
  found: Audit,
  run: { seed: number; options: Options; diary: Diary; replicas: Replicas; stage: Stage },
): Promise<void> {
  const { seed, options, diary, replicas, stage } = run;
  const ended = (how: string) => replicas.ended.filter((one) => one.how === how).length;
  const file = options.report ?? join(tmpdir(), `lenswatch-chaos-${seed}.json`);
  const { tellings } = stage.told();
  await writeFile(
    file,
    `${JSON.stringify({ seed, options, audit: found, ended: replicas.ended, diary, watched: stage.watched, tellings, ledger: stage.simulator.world.ledger }, null, 1)}\n`,
  );
  const byItself = ended("by itself");
  process.stdout.write(
    `\nseed ${seed} · ${options.recordings} recordings · ${options.replicas} replicas · ${options.minutes} min\n` +
      `killed: ${ended("kill")} replicas, Redis ${diary.redisDown.length} times; ${ended("stop")} stopped; ` +
      `${byItself} ended by themselves; ${diary.blind.length} faults of the service\n\n` +
      `${auditText(found)}\nreport: ${file}\n`,
  );
  if (!isClean(found) || byItself > 0) process.exitCode = 1;
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
