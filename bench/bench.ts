/** `npm run bench`: measures and prints; it asserts nothing, since times depend on the machine. */
import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import { compile } from "./compile.ts";
import { benchCounts } from "./counts.ts";
import { benchDoubling } from "./doubling.ts";
import { benchFlip } from "./flip.ts";
import { load } from "./measure.ts";
import { benchMillion } from "./million.ts";
import { benchRedis } from "./redis.ts";
import { asText, type Report } from "./report.ts";
import { benchScrape } from "./scrape.ts";
import { benchScripts } from "./scripts.ts";
import { benchSteady } from "./steady.ts";
import { benchStorm } from "./storm.ts";
import { benchSweep } from "./sweep.ts";

interface Options {
  readonly recordings: number[];
  readonly replicas: number;
  readonly only: Part[];
  readonly times: number;
  readonly seconds: number;
  readonly output: "text" | "json";
}

const parts = {
  sweep: async ({ recordings, times }: Options) => [await benchSweep(recordings, times)],
  flip: async ({ recordings }: Options) => [await benchFlip(recordings)],
  storm: async ({ recordings }: Options) => [await benchStorm(recordings)],
  scripts: async ({ recordings }: Options) => [await benchScripts(recordings)],
  scrape: ({ recordings, times }: Options) => benchScrape(recordings, times),
  steady: async ({ recordings, seconds }: Options) => [await benchSteady(recordings, seconds)],
  redis: async ({ recordings, seconds }: Options) => [await benchRedis(recordings, seconds)],
  counts: async () => [await benchCounts()],
  million: ({ recordings, replicas, seconds }: Options) =>
    benchMillion({ recordings: Math.max(...recordings), replicas, seconds }),
  doubling: async ({ recordings, times }: Options) => [await benchDoubling(Math.max(...recordings), times)],
} satisfies Record<string, (options: Options) => Promise<Report[]>>;
type Part = keyof typeof parts;
const partNames = Object.keys(parts) as Part[];
/** They take long: only where they are asked for. */
const large: readonly Part[] = ["million", "doubling"];

await new Command("bench")
  .description(
    "Measures lenswatch on this machine, against the simulator and a Redis of its own, each in its own process.\n" +
      "Each figure stands beside its baseline from the same run, since times depend on the machine and on what\n" +
      "else it does (the load of the last minute is printed); nothing is asserted.\n\n" +
      "  sweep   one sweep of the whole fleet, beside the least it could take\n" +
      "  flip    from a recording's flip in the service to the message at the receiver\n" +
      "  storm   the whole fleet dark at once, and back: how many messages\n" +
      "  scripts thousands of alerts in one group: how long Redis and the event loop stand still\n" +
      "  scrape  /metrics, beside copying the same bytes; how long the event loop stands still\n" +
      "  steady  the daemon's CPU and memory at a 5 s interval, from outside\n" +
      "  redis   Redis' memory by what it is for, and its traffic and disk at each sweep\n" +
      "  counts  requests an hour for visitor counts, of 1,000 locations whatever the size\n" +
      "  million  1,000,000 recordings on several replicas at one sweep a minute: starts, and a minute of each\n" +
      "  doubling  one sweep of about 1,000 recordings, of twice as many and so on up to 1,000,000\n\n" +
      "The last two run only where --only names them; of several sizes they take the largest.",
  )
  .option("--recordings <sizes>", "sizes of the fleet (default: 1000,10000,100000; 1000000 for the last two)", sizes)
  .option(
    "--only <parts>",
    `any of ${partNames.join(", ")}`,
    chosenParts,
    partNames.filter((name) => !large.includes(name)),
  )
  .option("--replicas <n>", "how many share a million", positive, 4)
  .option("--times <n>", "sweeps and scrapes measured of each kind", positive, 20)
  .option("--seconds <n>", "how long a steady daemon is watched", positive, 60)
  .addOption(new Option("--output <format>", "how to print it").choices(["text", "json"]).default("text"))
  .addHelpText("after", "\nExample:\n  npm run bench -- --recordings 10000 --only sweep,flip")
  .action(run)
  .parseAsync();

async function run(options: Omit<Options, "recordings"> & Partial<Options>): Promise<void> {
  const print = (text: string) => process.stdout.write(text);
  const { output, only } = options;
  const machine = `Node ${process.version}, ${availableParallelism()} cores, load ${load().toFixed(2)}`;
  if (output === "text") print(`${machine}\n`);
  compile();
  const reports: Report[] = [];
  for (const part of only) {
    const usual = large.includes(part) ? [1_000_000] : [1_000, 10_000, 100_000];
    const found = await parts[part]({ ...options, recordings: options.recordings ?? usual });
    reports.push(...found);
    if (output === "text") print(found.map(asText).join(""));
  }
  if (output === "json") print(`${JSON.stringify({ machine, reports }, null, 2)}\n`);
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number above 0.");
  return Number(text);
}

function sizes(text: string): number[] {
  return text.split(",").map(positive);
}

function chosenParts(text: string): Part[] {
  return text.split(",").map((name) => {
    const part = partNames.find((known) => known === name);
    if (!part) throw new InvalidArgumentError(`There is no part ${name}; choose from ${partNames.join(", ")}.`);
    return part;
  });
}
