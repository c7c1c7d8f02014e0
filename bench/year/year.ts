/** `npm run year`: plays a year and prints, for each receiver, how the messages compare with what happened. */

import { Command, InvalidArgumentError } from "commander";
import { Redis } from "ioredis";
import { ConfigError, formatProblem } from "../../src/config/problem.ts";
import { startTestRedis } from "../../test/support/redis.ts";
import { loadMix } from "./mix.ts";
import { lineOf, reportOf } from "./report.ts";
import { exampleConfig, loadPlayed, runYear } from "./run.ts";

interface Options {
  readonly seed: number;
  readonly recordings: number;
  readonly days: number;
  readonly mix: string;
  readonly config: string;
  readonly messages?: boolean;
}

const here = (path: string) => new URL(path, import.meta.url).pathname;

await new Command("year")
  .description(
    "Plays a year of router restarts, power cuts, loose cables and failing services through the real evaluation,\n" +
      "routing and delivery on an accelerated clock, and compares the messages with what happened.",
  )
  .option("--seed <n>", "another year for each", positive, 1)
  .option("--recordings <n>", "recordings of the fleet", positive, 2_000)
  .option("--days <n>", "how much of the year", positive, 365)
  .option("--mix <file>", "what happens", here("mix.yaml"))
  .option("--config <file>", "the configuration", exampleConfig)
  .option("--messages", "print every message too")
  .action(run)
  .parseAsync();

async function run(options: Options): Promise<void> {
  const began = performance.now();
  const redis = await startTestRedis();
  const connection = new Redis(redis.url);
  try {
    const mix = loadMix(options.mix);
    const config = await loadPlayed(options.config);
    const year = await runYear({ ...options, redis: connection, config, mix, progress });
    const seconds = Math.round((performance.now() - began) / 1000);
    const { sites, recordings } = year.fleet;
    process.stderr.write("\r");
    if (options.messages) process.stdout.write(`${year.messages.map(lineOf).join("\n")}\n\n`);
    process.stdout.write(
      `Seed ${options.seed}: ${recordings.length} recordings at ${sites.length} sites, ${options.days} days, ` +
        `${year.expectations.length} incidents, played in ${seconds} s.\n\n${reportOf(year.accountsOf(year.messages))}\n`,
    );
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    process.stderr.write(`${[thrown.message, ...thrown.problems.map(formatProblem)].join("\n")}\n`);
    process.exitCode = 1;
  } finally {
    connection.disconnect();
    await redis.stop();
  }
}

function progress(at: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${new Date(at).toISOString().slice(0, 10)} `);
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number above 0.");
  return Number(text);
}
