/** `lenswatch digest preview|send NAME`: a digest from what is remembered, to a file or to its readers, now. */
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { createSenders } from "../app/integrations.ts";
import { openRedis } from "../app/open-redis.ts";
import type { Config, DigestConfig } from "../config/config.ts";
import { configFile, loadConfig } from "../config/load.ts";
import { forReader, letterFor, type MadeDigest } from "../digest/mail.ts";
import { makeDigest } from "../digest/send.ts";
import { systemClock } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { silentLogger } from "../lib/log.ts";
import { createService } from "../service/service.ts";
import { readFleet } from "../store/read-fleet.ts";
import { connected } from "../store/redis.ts";
import { createStore } from "../store/store.ts";
import type { CommandIo } from "./cli/io.ts";
import { openInBrowser } from "./cli/open-in-browser.ts";
import { asJson, outputOption } from "./cli/output.ts";

/** Exit code 1 when a recipient's server refused it, 2 for a digest that is not there. Throws StoreError without Redis. */
export function digestCommand(io: CommandIo): Command {
  const command = new Command("digest").description("Render a digest to a file, or send it now.");
  const configOption = "the configuration (default: $LENSWATCH_CONFIG or config/lenswatch.yaml)";
  command
    .command("preview")
    .description("Render the last whole period's digest to an HTML file.")
    .argument("<name>", "a digest's name in the configuration")
    .option("--config <file>", configOption)
    .option("--out <file>", "where to write it (default: digest-NAME.html)")
    .option("--csv", "write its CSV files beside it")
    .option("--open", "open it in a browser")
    .addOption(outputOption("text"))
    .addHelpText("after", "\nExample:\n  lenswatch digest preview daily-ops --open")
    .action((name: string, options: PreviewOptions) =>
      withDigest(io, name, options.config, (_config, _digest, made) => preview(io, name, made, options)),
    );
  command
    .command("send")
    .description("Send the last whole period's digest to its readers now, also to who has it already.")
    .argument("<name>", "a digest's name in the configuration")
    .option("--config <file>", configOption)
    .addOption(outputOption("text"))
    .addHelpText("after", "\nExample:\n  lenswatch digest send daily-ops")
    .action((name: string, options: { config?: string; output: "text" | "json" }) =>
      withDigest(io, name, options.config, async (config, digest, rendered) => {
        const told = await sendNow(config, digest, rendered);
        if (told.some(({ accepted }) => !accepted)) io.setExitCode(1);
        io.stdout.write(options.output === "json" ? asJson(told) : told.map(lineOf).join(""));
      }),
    );
  return command;
}

interface PreviewOptions {
  readonly config?: string;
  readonly out?: string;
  readonly csv?: true;
  readonly open?: true;
  readonly output: "text" | "json";
}

async function preview(
  io: CommandIo,
  name: string,
  made: MadeDigest,
  { out, csv, open, output }: PreviewOptions,
): Promise<void> {
  const file = out ?? `digest-${name}.html`;
  // Whoever looks at it must not end it for a reader by a click.
  const { html } = forReader(made, made.unsubscribeUrl && "#");
  await writeFile(file, html);
  const files = [file];
  for (const { filename, content } of csv ? made.attachments : []) {
    const beside = join(dirname(file), filename);
    await writeFile(beside, content);
    files.push(beside);
  }
  const text = () => `${made.subject}\n${files.map((one) => `written to ${one}\n`).join("")}`;
  io.stdout.write(output === "json" ? asJson({ subject: made.subject, files }) : text());
  if (open && !(await openInBrowser(resolve(file), io.env)))
    io.stderr.write("lenswatch: no browser could be started here; open the file yourself\n");
}

async function withDigest(
  io: CommandIo,
  name: string,
  file: string | undefined,
  use: (config: Config, digest: DigestConfig, rendered: MadeDigest) => Promise<void>,
): Promise<void> {
  const config = await loadConfig(configFile(file, io.env), io.env);
  const digest = config.digests.find((one) => one.name === name);
  if (!digest) {
    const names = config.digests.map((one) => one.name).join(", ") || "none";
    io.stderr.write(`lenswatch: there is no digest "${name}"; the configuration has ${names}\n`);
    return io.setExitCode(2);
  }
  const opened = await openRedis(config.redis, silentLogger);
  const redis = opened.connect("lenswatch-digest");
  const service = createService({ config: config.service, clock: systemClock, log: silentLogger });
  try {
    await connected(redis);
    const store = createStore(redis, config.redis.prefix);
    await store.inventory.load();
    const deps = { config, store, service, clock: systemClock, log: silentLogger };
    const fleet = async () =>
      readFleet({ ...deps, watch: config.watch, shardNumbers: await shardsOf(store) });
    await use(config, digest, await makeDigest({ ...deps, fleet }, digest, systemClock.now()));
  } finally {
    await service.close();
    redis.disconnect();
    await opened.close();
  }
}

async function shardsOf(store: ReturnType<typeof createStore>): Promise<number[]> {
  return [...new Set((await store.assignments.read()).values())];
}

interface Told {
  readonly to: string;
  readonly accepted: boolean;
  readonly problem: string | null;
}

const lineOf = ({ to, accepted, problem }: Told) =>
  `${to}: ${accepted ? "accepted" : `not accepted: ${problem}`}\n`;

async function sendNow(config: Config, digest: DigestConfig, rendered: MadeDigest): Promise<Told[]> {
  const channels = createSenders(config, silentLogger);
  const told: Told[] = [];
  try {
    for (const to of digest.to) {
      try {
        await channels.digestMail?.send(letterFor(rendered, to, crypto.randomUUID()));
        told.push({ to, accepted: true, problem: null });
      } catch (thrown) {
        told.push({ to, accepted: false, problem: toError(thrown).message });
      }
    }
    return told;
  } finally {
    await channels.close();
  }
}
