/** `demo`: the daemon, a simulated service with a scripted outage and an inbox, without any account. */
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load.ts";
import { namesCsv, shopsCsv } from "../demo/directory.ts";
import { type Inbox, startInbox } from "../demo/inbox.ts";
import { createNarrator } from "../demo/narrator.ts";
import { openShop } from "../demo/open-shop.ts";
import { localTime, type Paint, paintFor, printEvent } from "../demo/print.ts";
import { systemClock } from "../lib/clock.ts";
import { Closer } from "../lib/closer.ts";
import { humanDuration } from "../lib/duration.ts";
import { freePort } from "../lib/free-port.ts";
import { createLogger, type Logger, logLevels } from "../lib/log.ts";
import { startEmbeddedRedis } from "../redis-embedded/embedded.ts";
import { createService } from "../service/service.ts";
import { stepsOf } from "../simulator/player.ts";
import type { Scenario } from "../simulator/scenario.ts";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { connectRedis } from "../store/redis.ts";
import { createStore } from "../store/store.ts";
import type { CommandIo } from "./cli/command.ts";
import { storePastCounts } from "./demo-counts.ts";
import { readScenario, settingsOf } from "./simulate.ts";

const SCENARIO = fileURLToPath(new URL("../demo/scenario.yaml", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../config/demo.yaml", import.meta.url));
const FLEET = { locations: 6, recordingsPerLocation: 4, seed: 7 };
const DAEMON_PORT = 9595;
const INBOX_PORT = 9596;
/** After the last event of the scenario: long enough for its last message. */
const AFTERMATH_MS = 15_000;

export type StartDaemon = (deps: { config: Config; log: Logger }) => Promise<{ stop(): Promise<void> }>;

type DemoContext = Readonly<{ io: CommandIo; closer: Closer; log: Logger; paint: Paint; scenario: Scenario }>;

/** Runs until `io.signal`. Throws where it cannot start, after stopping what has started. */
export function demoCommand(io: CommandIo, startDaemon: StartDaemon): Command {
  return new Command("demo")
    .description(
      "Run a simulated service with a scripted outage, the daemon, and an inbox for its messages on this machine. " +
        "Ctrl-C stops all of it.",
    )
    .option("--scenario <file>", "another scenario")
    .addHelpText("after", "\nExample:\n  lenswatch demo")
    .action(async (options: { scenario?: string }) => {
      const scenario = await readScenario(options.scenario ?? SCENARIO);
      const level = logLevels.find((one) => one === io.env.LENSWATCH_LOG_LEVEL) ?? "error";
      const context: DemoContext = {
        io,
        closer: new Closer(),
        log: createLogger({ level, destination: io.stderr }),
        paint: paintFor(io.stdout, io.env),
        scenario,
      };
      try {
        await play(context, startDaemon, options.scenario === undefined);
      } finally {
        io.stdout.write("\nStopping …\n");
        await context.closer.close();
        io.stdout.write("Stopped. Nothing is left running.\n");
      }
    });
}

/** The demo's own day has a camera that fails to count beside its scenario. */
async function play(context: DemoContext, startDaemon: StartDaemon, isOwnDay: boolean): Promise<void> {
  const { io, closer, log } = context;
  const redis = await startRedis(context);
  io.signal.throwIfAborted();
  const inbox = await startInbox({
    port: await freePort(INBOX_PORT),
    onEvent: (event) => io.stdout.write(printEvent(event, context.paint)),
  });
  closer.add("inbox", () => inbox.close());
  const listen = `127.0.0.1:${await freePort(DAEMON_PORT)}`;
  io.signal.throwIfAborted();
  const locations = FLEET.locations - (isOwnDay ? 1 : 0);
  const simulator = await startSimulator({ ...FLEET, locations, scenario: context.scenario });
  closer.add("simulated service", () => simulator.close());
  const [shops, names] = [join(redis.dir, "shops.csv"), join(redis.dir, "names.csv")];
  io.stdout.write(welcome(context, { inbox, listen, simulator, shops }));
  narrate(context, simulator);
  if (isOwnDay) addShop(simulator.world, Date.now());
  await writeFile(shops, shopsCsv(simulator.world.locations));
  await writeFile(names, namesCsv(simulator.world.locations));
  const files = { LENSWATCH_DEMO_DIRECTORY: shops, LENSWATCH_DEMO_NAMES: names };
  const env = { ...io.env, ...placeholders({ simulator, inbox, listen }), ...files };
  const loaded = await loadConfig(CONFIG, env);
  const config = { ...loaded, redis: { ...loaded.redis, url: redis.url } };
  if (isOwnDay) await storePast(context, simulator, config);
  const daemon = await startDaemon({ config, log });
  closer.add("daemon", () => daemon.stop(), 15_000);
  await untilAborted(context, `http://${listen}`);
}

/** A location where it is afternoon now, whose entrance counts nobody since noon. */
export function addShop(world: Simulator["world"], now: number): void {
  const { name, timezone, noon } = openShop(now);
  const { recordings } = world.addLocation({ name, timezone, recordings: FLEET.recordingsPerLocation });
  world.impair(recordings[0]?.id ?? "", "sees", 0, noon);
}

/** So that the daemon finds what it would have read in eight weeks. */
async function storePast({ io, log }: DemoContext, { world }: Simulator, { service: given, redis: place }: Config) {
  const service = createService({ config: given, log, clock: systemClock });
  const redis = connectRedis(place, log, "lenswatch-demo");
  try {
    const store = createStore(redis, place.prefix).counts;
    await storePastCounts(world.locations, { service, store, now: Date.now(), signal: io.signal });
  } finally {
    await service.close();
    redis.disconnect();
  }
}

/** With a temporary directory that is removed with it. */
async function startRedis({ io, closer, log }: DemoContext) {
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-demo-"));
  closer.add("temporary directory", () => rm(dir, { recursive: true, force: true }));
  io.signal.throwIfAborted();
  const redis = await startEmbeddedRedis({ dir, log, env: io.env });
  let running = true;
  closer.add("Redis", () => redis.stop().then(() => (running = false)), 12_000);
  io.atExit?.(() => {
    if (!running) return;
    redis.kill();
    rmSync(dir, { recursive: true, force: true });
  });
  return { url: redis.url, dir };
}

function placeholders(parts: { simulator: Simulator; inbox: Inbox; listen: string }) {
  const { simulator, inbox } = parts;
  const settings = Object.entries(settingsOf(simulator));
  return {
    ...Object.fromEntries(settings.map(([key, value]) => [`LENSWATCH_DEMO_${key.toUpperCase()}`, value])),
    LENSWATCH_DEMO_SLACK_API_URL: inbox.slack.apiUrl,
    LENSWATCH_DEMO_SLACK_BOT_TOKEN: inbox.slack.tokens.bot,
    LENSWATCH_DEMO_SLACK_APP_TOKEN: inbox.slack.tokens.app,
    LENSWATCH_DEMO_SMTP_HOST: inbox.smtp.host,
    LENSWATCH_DEMO_SMTP_PORT: String(inbox.smtp.port),
    LENSWATCH_DEMO_LISTEN: parts.listen,
  };
}

function welcome(
  { io, paint, scenario }: DemoContext,
  { inbox, listen, simulator, shops }: { inbox: Inbox; listen: string; simulator: Simulator; shops: string },
): string {
  const cameras = FLEET.locations * FLEET.recordingsPerLocation;
  const rows = [
    ["inbox", inbox.url, "messages as people receive them; press their buttons"],
    [
      "page",
      `http://${listen}/`,
      "the status page; sign in with the token lenswatch-demo-token to acknowledge and silence",
    ],
    ["metrics", `http://${listen}/metrics`, "for Prometheus"],
    ["alerts", `http://${listen}/api/v2/alerts`, "Alertmanager's API"],
    ["fleet", `${commandIn(io)} status --url http://${listen}`, "the fleet as a table"],
    ["storm", `http://${listen}/incidents`, "the day ends with four locations at once: one incident, one message"],
    ["handover", `http://${listen}/handover`, "what one shift tells the next, after such a day"],
    ["shops", shops, "the directory: regions, managers, phones; a change is read within seconds"],
    [
      "silence",
      `LENSWATCH_ADMIN_TOKEN=lenswatch-demo-token ${commandIn(io)} silence add "Leeds Briggate" --comment test --by you --url http://${listen}`,
      "a change from the command line",
    ],
    ["faults", `${simulator.controlUrl}/faults`, "faults of the simulated service"],
  ].map(([name = "", where = "", what = ""]) => `  ${name.padEnd(8)} ${paint("cyan", where)}  ${paint("dim", what)}\n`);
  return (
    `${paint("bold", "lenswatch demo")}: ${cameras} cameras at ${FLEET.locations} locations, with outages ` +
    `for ${humanDuration(scenarioLength(scenario))}. Ctrl-C stops it.\n\n${rows.join("")}\n`
  );
}

/** The command to type here: npm sets `npm_command` for what it starts, by `npm run` in a checkout and by npx. */
function commandIn({ env }: CommandIo): string {
  if (env.npm_command === "run-script") return "npm run --silent lenswatch --";
  return env.npm_command === "exec" ? "npx lenswatch" : "lenswatch";
}

function narrate({ io, paint }: DemoContext, { events, world }: Simulator): void {
  const add = createNarrator((sentence) => {
    io.stdout.write(`${paint("dim", `${localTime(Date.now())}  event: ${sentence}`)}\n`);
  });
  events.on("fault", ({ name, type }) => add({ of: "the service", name: name.replaceAll("_", " "), became: type }));
  events.on("change", ({ recordingId, status, change }) => {
    const recording = world.recording(recordingId);
    const became = {
      status,
      quality: `at ${Math.round((recording?.quality ?? 0) * 100)} % quality`,
      sees: `${status} and has counted nobody since noon there; only the counts of its neighbours can show it`,
    }[change as string];
    if (!recording || became === undefined) return;
    const { location, name } = recording;
    add({ of: location.name, size: location.recordings.length, name, became });
  });
}

async function untilAborted({ io, paint, scenario }: DemoContext, page: string): Promise<void> {
  const wait = (ms: number) => sleep(ms, undefined, { signal: io.signal }).catch(() => {});
  await wait(scenarioLength(scenario) + AFTERMATH_MS);
  if (!io.signal.aborted) {
    const look = `What it leaves: ${paint("cyan", `${page}/incidents`)} and ${paint("cyan", `${page}/handover`)}`;
    io.stdout.write(`\n${paint("bold", "The scenario is over.")} lenswatch keeps watching until Ctrl-C.\n${look}\n\n`);
  }
  while (!io.signal.aborted) await wait(3_600_000);
}

function scenarioLength(scenario: Scenario): number {
  return stepsOf(scenario, 0).at(-1)?.at ?? 0;
}
