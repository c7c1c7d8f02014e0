/** `digest preview|send NAME`: renders a digest from the stored state to a file, or sends it now. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Command } from "commander";
import { identifyRules } from "../app/identities.ts";
import { createSenders } from "../app/integrations.ts";
import { intervalsOf } from "../app/job-context.ts";
import { directoryNow } from "../app/read-directory.ts";
import { connectToDaemons } from "../app/runtime.ts";
import type { Config, DigestConfig } from "../config/config.ts";
import { configFile, loadConfig } from "../config/load.ts";
import { forReader, letterFor, type MadeDigest } from "../digest/mail.ts";
import { makeDigest } from "../digest/send.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/log.ts";
import { renderHtml } from "../notify/email/render.ts";
import { createService } from "../service/service.ts";
import { readFleet } from "../store/read-fleet.ts";
import { createStore } from "../store/store.ts";
import {
  attempt,
  type CommandIo,
  type ConfigOptions,
  describeAttempt,
  fail,
  print,
  readsConfig,
} from "./cli/command.ts";

/** Exit code 1 when a recipient's server refused it, 2 for an unknown digest. Throws StoreError without Redis. */
export function digestCommand(io: CommandIo): Command {
  const command = new Command("digest").description("Render a digest to a file, or send it now.");
  const preview = command
    .command("preview")
    .description("Render the digest of the last whole period to an HTML file.")
    .argument("<name>", "a digest's name in the configuration")
    .option("--out <file>", "the file to write (default: digest-NAME.html)")
    .option("--open", "open it in a browser");
  const example = "lenswatch digest preview daily-ops --open";
  readsConfig(preview, example).action((name: string, options: PreviewOptions) =>
    withDigest(io, name, options.config, (_config, _digest, made) => writePreview(io, name, made, options)),
  );
  const send = command
    .command("send")
    .description("Send the digest of the last whole period to all its recipients now, even if sent before.")
    .argument("<name>", "a digest's name in the configuration");
  readsConfig(send, "lenswatch digest send daily-ops").action((name: string, options: ConfigOptions) =>
    withDigest(io, name, options.config, async (config, digest, made) => {
      const results = await sendNow(config, digest, made);
      if (results.some(({ accepted }) => !accepted)) io.setExitCode(1);
      const text = () => results.map(({ to, ...result }) => describeAttempt(to, result)).join("");
      print(io, options.output, results, text);
    }),
  );
  return command;
}

type PreviewOptions = ConfigOptions & Readonly<{ out?: string; open?: true }>;

async function writePreview(
  io: CommandIo,
  name: string,
  made: MadeDigest,
  { out, open, output }: PreviewOptions,
): Promise<void> {
  const file = out ?? `digest-${name}.html`;
  // A click in the preview must not unsubscribe a recipient.
  const { html } = forReader(made, made.unsubscribeUrl && "#");
  await writeFile(file, html);
  print(io, output, { subject: made.subject, files: [file] }, () => `${made.subject}\nwritten to ${file}\n`);
  if (open && !(await openInBrowser(resolve(file), io.env)))
    io.stderr.write("lenswatch: no browser could be started; open the file yourself\n");
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
    return fail(io, 2, `there is no digest "${name}"; the configuration has ${names}`);
  }
  const redis = await connectToDaemons(config.redis, silentLogger, "lenswatch-digest");
  const service = createService({ config: config.service, clock: systemClock, log: silentLogger });
  try {
    const store = createStore(redis, config.redis.prefix);
    const rules = identifyRules(config.rules, (await store.identities.read()).rules);
    const deps = { config: { ...config, rules }, renderHtml, store, service, clock: systemClock, log: silentLogger };
    const shardNumbers = [...new Set((await store.assignments.read()).values())];
    if (shardNumbers.length === 0)
      return fail(
        io,
        2,
        "this Redis knows no recordings: digests are made from the daemon's, so use its configuration",
      );
    if (config.directory) store.inventory.useDirectory(await directoryNow(config.directory));
    const fleet = () => readFleet({ ...deps, intervals: intervalsOf(config), shardNumbers });
    await use(config, digest, await makeDigest({ ...deps, fleet }, digest, systemClock.now()));
  } finally {
    await service.close();
    redis.disconnect();
  }
}

async function sendNow(config: Config, digest: DigestConfig, made: MadeDigest) {
  const integrations = createSenders(config, silentLogger);
  try {
    const results = [];
    for (const to of digest.to) {
      const send = async () => integrations.digestMail?.send(letterFor(made, to, crypto.randomUUID()));
      results.push({ to, ...(await attempt(send)) });
    }
    return results;
  } finally {
    await integrations.close();
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

function openersOf(platform: NodeJS.Platform, env: Environment): readonly (readonly string[])[] {
  if (platform === "darwin") return [["open"]];
  if (platform === "win32") return [["rundll32", "url.dll,FileProtocolHandler"]];
  return [...(env.BROWSER ? [[env.BROWSER]] : []), ["xdg-open"]];
}

/** False where no browser can be started. The browser is detached. */
export async function openInBrowser(
  path: string,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const url = pathToFileURL(path).href;
  for (const [program = "", ...args] of openersOf(platform, env)) {
    if (await starts(program, [...args, url], env)) return true;
  }
  return false;
}

/** A program that exits with an error in this time has opened nothing. */
const FAILS_WITHIN_MS = 1_000;

function starts(program: string, args: readonly string[], env: Environment): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, args, { stdio: "ignore", detached: true, env: { ...env } });
  const timer = setTimeout(() => resolve(true), FAILS_WITHIN_MS);
  child.once("error", () => resolve(false));
  child.once("exit", (code) => resolve(code === 0));
  child.unref();
  return promise.finally(() => clearTimeout(timer));
}
