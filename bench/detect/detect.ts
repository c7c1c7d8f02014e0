/** `npm run detect`: how soon blind cameras are found in a simulated world, and how often one is named that is not. */
import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { parseScenario } from "../../src/simulator/scenario.ts";
import type { Fault } from "./faults.ts";
import { lostTable, playLost } from "./lost.ts";
import { createMissed } from "./missed.ts";
import { monthsOf, rowsOf, tableOf } from "./report.ts";
import { type Episode, playWorld } from "./run.ts";

interface Options {
  readonly seed: number;
  readonly locations: number;
  readonly recordings: number;
  readonly weeks: number;
  readonly world?: string;
  readonly from?: string;
  readonly sensitivity: readonly number[];
  readonly wrong?: boolean;
  readonly missed?: boolean;
  readonly lost?: boolean;
  readonly together?: boolean;
  readonly tills: boolean;
}

const DAY_MS = 86_400_000;

await new Command("detect")
  .description(
    "Simulates visitors, and cameras that go blind, see less, are turned aside, see ghosts or are offline, and runs\n" +
      "the detection of implausible counts on what the service would have served. Prints what it found and what not.",
  )
  .option("--seed <n>", "another world and other faults for each", positive, 1)
  .option("--locations <n>", "locations of the fleet", positive, 40)
  .option("--recordings <n>", "recordings of each location", positive, 5)
  .option("--weeks <n>", "weeks after the eight that are only learned from", positive, 8)
  .option("--from <date>", "first day, YYYY-MM-DD; without, one of a year that the seed gives")
  .option("--world <file>", "a scenario file whose `visits` and `traits` make the world")
  .option("--sensitivity <n...>", "sensitivities to compare", (text, all: number[] = []) => [...all, positive(text)])
  .option("--no-tills", "nothing is known of sales; with one recording of each location there is no witness")
  .option("--wrong", "print each false alarm too")
  .option("--missed", "print each blind camera too that was not found within a trading day, and why")
  .option("--lost", "instead, an outage at each location: the visits said to be lost against those that were missed")
  .option("--together", "with --lost: all outages at the same time, of all recordings")
  .action((options: Options) => (options.lost ? runLost(options) : run(options)))
  .parseAsync();

function run(options: Options): void {
  const began = performance.now();
  const { seed, locations, recordings, weeks, world: file, sensitivity = [10, 20, 30, 50] } = options;
  const scenario = file === undefined ? undefined : parseScenario(readFileSync(file, "utf8"), file);
  const from = Date.parse(options.from ?? startOf(seed));
  const missed = createMissed();
  const played = playWorld({
    observe: options.missed ? missed.observe : undefined,
    ...{ seed, locations, weeks, scenario, from },
    recordingsPerLocation: recordings,
    withTills: options.tills,
    sensitivities: sensitivity,
    progress: process.stderr.isTTY ? (share) => process.stderr.write(`\r${Math.floor(share * 100)} %`) : undefined,
  });
  const rows = rowsOf(played);
  const months = monthsOf(played);
  const seconds = Math.round((performance.now() - began) / 1000);
  if (process.stderr.isTTY) process.stderr.write("\r");
  process.stdout.write(
    `Seed ${seed}${file === undefined ? "" : `, ${file}`}: ${locations} locations with ${recordings} recordings, ` +
      `${weeks} weeks from ${new Date(from).toISOString().slice(0, 10)}, ${Math.round(months.all)} camera-months ` +
      `(${Math.round(months.withoutHolidays)} of them not on or beside holidays), in ${seconds} s.\n\n` +
      `${tableOf(rows, months, played)}\n`,
  );
  for (const one of options.missed ? sensitivity : [])
    process.stdout.write(
      missed
        .linesOf(played, one)
        .map((line) => `${one}: ${line}\n`)
        .join(""),
    );
  if (options.wrong) for (const row of rows) for (const one of row.wrong) printWrong(one, played.faults);
}

function runLost({ seed, locations, recordings, world: file, together: isTogether }: Options): void {
  const scenario = file === undefined ? undefined : parseScenario(readFileSync(file, "utf8"), file);
  const cases = playLost({ seed, locations, recordings, scenario, isTogether });
  const world = file === undefined ? "" : `, ${file}`;
  process.stdout.write(`Seed ${seed}${world}: an outage at each of ${locations} locations.\n\n${lostTable(cases)}\n`);
}

function printWrong({ at, endedAt, finding, usualOf: _, ...episode }: Episode, faults: readonly Fault[]): void {
  const rounded = { ...finding, expected: Math.round(finding.expected), since: new Date(finding.since) };
  process.stdout.write(
    `${JSON.stringify({ at: new Date(at), endedAt: endedAt && new Date(endedAt), ...episode, finding: rounded })}\n`,
  );
  const near = faults.filter(
    (one) => one.locationId === episode.locationId && one.from < at && one.to > at - 2 * DAY_MS,
  );
  for (const { kind, recordingId, from, to } of near)
    process.stdout.write(`  ${kind} ${recordingId} ${new Date(from).toISOString()} – ${new Date(to).toISOString()}\n`);
}

/** Another season for each seed. */
function startOf(seed: number): string {
  return new Date(Date.UTC(2026, 0, 5 + ((seed * 11) % 52) * 7)).toISOString().slice(0, 10);
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("It must be a whole number from 1.");
  return value;
}
