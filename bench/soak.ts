/**
 * `npm run soak`: model runs of random fleets, answers, edits, restarts and silences, until the time is over. Prints the
 * shortest run that still fails, and the seed that repeats it. Exits 1 when an invariant failed.
 */
import { Command, InvalidArgumentError } from "commander";
import { startTestRedis } from "../test/support/redis.ts";
import { type ActionKind, actionKinds } from "./model/actions.ts";
import { Connections } from "./model/connections.ts";
import { failureText } from "./model/report.ts";
import { type Outcome, type Plan, planRun, runModel } from "./model/run.ts";
import { shrink } from "./model/shrink.ts";

const FIRST_SEED_BELOW = 1_000_000;

interface Options {
  readonly seed?: number;
  readonly hours: number;
  readonly runs: number;
  readonly only?: readonly ActionKind[];
  readonly short?: true;
  readonly keepGoing?: true;
}

await new Command("soak")
  .description("Runs the convergence model with one seed after the other.")
  .option("--seed <n>", "the first seed; any by default", whole)
  .option("--hours <n>", "how long, fractions allowed", positive, 1)
  .option("--runs <n>", "how many runs at most", whole, Number.MAX_SAFE_INTEGER)
  .option("--only <kinds>", `actions of these kinds alone: ${actionKinds.join(", ")}`, kinds)
  .option("--short", "the runs of the tests: minutes alone")
  .option("--keep-going", "goes on after a failure")
  .action(soak)
  .parseAsync();

async function soak({ seed, hours, runs, only, short, keepGoing }: Options): Promise<void> {
  const first = seed ?? Math.floor(Math.random() * FIRST_SEED_BELOW);
  const until = performance.now() + hours * 3_600_000;
  const redis = await startTestRedis();
  const connections = new Connections(redis.url);
  let attempts = 0;
  const run = (plan: Plan): Promise<Outcome> => runModel(plan, connections, `model-${attempts++}`);
  let [failed, messages, done] = [0, 0, 0];
  try {
    while (done < runs && performance.now() < until) {
      const plan = planRun(first + done++, { only, short });
      const outcome = await run(plan);
      messages += outcome.messages;
      if (done % 20 === 0) say(`${done} runs, ${messages} messages, ${failed} failed; next seed ${first + done}`);
      if (outcome.failures.length === 0) continue;
      failed++;
      say(failureText(plan, await shrink(plan, outcome, run), only));
      if (!keepGoing) break;
    }
  } finally {
    connections.close();
    await redis.stop();
  }
  say(`${done} runs from seed ${first}, ${messages} messages, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function kinds(text: string): ActionKind[] {
  const found = actionKinds.filter((kind) => text.split(",").includes(kind));
  if (found.length === 0) throw new InvalidArgumentError("It must be kinds of actions, with commas between them.");
  return found;
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
